//! Files that are there as a whole or not at all, that survive a power cut, and that only their owner can read.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use crate::error::Error;

/// Where backups and receipts go.
#[derive(Clone, Debug)]
pub struct Place {
    /// The directory of the backups.
    pub backups: PathBuf,
    /// The file of the receipts.
    pub receipts: PathBuf,
}

/// The places that were named, or else below the user's own state directory
/// (`$XDG_STATE_HOME`, <https://specifications.freedesktop.org/basedir-spec/latest/>).
pub fn place(
    backups: Option<&Path>,
    receipts: Option<&Path>,
    variable: impl Fn(&str) -> Option<PathBuf>,
) -> Result<Place, Error> {
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
    Ok(Place {
        backups: or_state(backups, "backups")?,
        receipts: or_state(receipts, "receipts.jsonl")?,
    })
}

/// Writes a new file: under another name first, then to the disk, then under its own.
pub(super) fn whole(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    make(directory)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = directory.join(format!(".{name}.{}.part", std::process::id()));
    let written = fill(&temporary, text).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // What cannot be removed can only be left.
        drop(fs::remove_file(&temporary));
    }
    written?;
    settle(directory)
}

fn fill(path: &Path, text: &str) -> io::Result<()> {
    let mut file = private().create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Adds a line to the end of a file that grows, and waits until it is on the disk.
pub(super) fn line(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    make(directory)?;
    let is_new = !path.exists();
    let mut file = private().append(true).create(true).read(true).open(path)?;
    let start = if is_torn(&mut file)? { "\n" } else { "" };
    file.write_all(format!("{start}{text}\n").as_bytes())?;
    file.sync_all()?;
    if is_new { settle(directory) } else { Ok(()) }
}

/// Whether its last line has no end: a disk that is full cuts it short. It stays as it is, and is not run together with
/// the next one.
fn is_torn(file: &mut File) -> io::Result<bool> {
    let about = file.metadata()?;
    if !about.is_file() || about.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn make(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// A new name is on the disk once its directory is.
fn settle(directory: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}
