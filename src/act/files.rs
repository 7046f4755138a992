//! Writes files atomically and durably, readable only by their owner.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use crate::error::Error;

/// The paths of backups and receipts.
#[derive(Clone, Debug)]
pub struct RecordPaths {
    /// The directory of the backups.
    pub backups: PathBuf,
    /// The file of the receipts.
    pub receipts: PathBuf,
}

/// The given paths, or paths in the user's state directory (`$XDG_STATE_HOME`,
/// <https://specifications.freedesktop.org/basedir-spec/latest/>).
pub fn record_paths(
    backups: Option<&Path>,
    receipts: Option<&Path>,
    variable: impl Fn(&str) -> Option<PathBuf>,
) -> Result<RecordPaths, Error> {
    let state = || {
        let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
        absolute("XDG_STATE_HOME")
            .or_else(|| Some(absolute("HOME")?.join(".local/state")))
            .map(|state| state.join("kubectl-finalizers"))
    };
    let nowhere = || Error::Usage {
        message: "there is no place for a backup and a receipt: neither XDG_STATE_HOME nor HOME is set"
            .into(),
        hint: Some("name them: --backup-dir DIR --audit-file FILE".into()),
    };
    let or_state = |given: Option<&Path>, name: &str| match given {
        Some(path) => Ok(path.to_owned()),
        None => state().map(|state| state.join(name)).ok_or_else(nowhere),
    };
    Ok(RecordPaths {
        backups: or_state(backups, "backups")?,
        receipts: or_state(receipts, "receipts.jsonl")?,
    })
}

/// Writes a new file: writes a temporary file, syncs it to the disk, renames it.
pub(super) fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    create_directory(directory)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = directory.join(format!(".{name}.{}.part", std::process::id()));
    let written = write_and_sync(&temporary, text).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // If the removal fails too, the temporary file stays.
        drop(fs::remove_file(&temporary));
    }
    written?;
    sync_directory(directory)
}

fn write_and_sync(path: &Path, text: &str) -> io::Result<()> {
    let mut file = owner_only().create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Appends a line to a file and waits until it is on the disk.
pub(super) fn append_line(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    create_directory(directory)?;
    let is_new = !path.exists();
    let mut file = owner_only().append(true).create(true).read(true).open(path)?;
    let start = if lacks_final_newline(&mut file)? { "\n" } else { "" };
    file.write_all(format!("{start}{text}\n").as_bytes())?;
    file.sync_all()?;
    if is_new { sync_directory(directory) } else { Ok(()) }
}

/// Whether the last line has no newline: a full disk cuts it short. That line stays, and the next one starts
/// on a new line.
fn lacks_final_newline(file: &mut File) -> io::Result<bool> {
    let about = file.metadata()?;
    if !about.is_file() || about.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn create_directory(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Syncs the directory, so that the new name is on the disk.
fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}
