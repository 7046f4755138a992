//! Files that only their owner can read: new files, which replace nothing, and lines at the end of a file.
//!
//! Other users of the machine may write to the same directory. So no link is followed, no file is overwritten, and a
//! place where everybody could exchange what was written is refused.

mod append;
mod new_file;
mod platform;

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

pub(super) use self::append::append_line;
pub use self::{new_file::NewFile, platform::Platform};
use crate::error::Error;

/// The paths of backups and receipts.
#[derive(Clone, Debug)]
pub struct RecordPaths {
    /// The directory of the backups.
    pub backups: PathBuf,
    /// The file of the receipts.
    pub receipts: PathBuf,
}

/// The given paths, or paths in the user's folder for the files of programs.
pub fn record_paths(
    backups: Option<&Path>,
    receipts: Option<&Path>,
    variable: impl Fn(&str) -> Option<PathBuf>,
) -> Result<RecordPaths, Error> {
    let nowhere = |why: &str| Error::Usage {
        message: format!("there is no place for a backup and a receipt: {why}"),
        hint: Some("name them: --backup-dir DIR --audit-file FILE".into()),
    };
    let or_state = |given: Option<&Path>, name: &str| -> Result<PathBuf, Error> {
        if let Some(path) = given {
            return Ok(path.to_owned());
        }
        let state = Platform::HERE.state(&variable).map_err(nowhere)?;
        Ok(state.join(name))
    };
    Ok(RecordPaths {
        backups: or_state(backups, "backups")?,
        receipts: or_state(receipts, "receipts.jsonl")?,
    })
}

/// Creates the directory of a file if it is missing, and returns it.
pub(super) fn directory_for(path: &Path) -> io::Result<&Path> {
    let directory = directory_of(path);
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(directory)?.permissions().mode();
        // With the sticky bit, as in /tmp, nobody can rename or remove the files of others.
        if mode & 0o002 != 0 && mode & 0o1000 == 0 {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!(
                    "everybody can change the files in {} (mode {:o})",
                    directory.display(),
                    mode & 0o7777
                ),
            ));
        }
    }
    Ok(directory)
}

/// The directory of a file. A name alone is in the current directory.
fn directory_of(path: &Path) -> &Path {
    let named = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    named.unwrap_or(Path::new("."))
}

/// Options to write a file that only its owner can read.
fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes the options fail at a symbolic link.
fn follow_no_link(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        options,
        rustix::fs::OFlags::NOFOLLOW.bits().cast_signed(),
    );
    options
}

/// Whether a file that only its owner can read has this content.
pub(super) fn has_content(path: &Path, expected: &[u8]) -> bool {
    let read = || -> io::Result<bool> {
        let mut file = follow_no_link(OpenOptions::new().read(true)).open(path)?;
        let about = file.metadata()?;
        if !(about.is_file() && new_file::is_only_for_owner(&about) && about.len() == expected.len() as u64) {
            return Ok(false);
        }
        let mut content = Vec::with_capacity(expected.len());
        file.read_to_end(&mut content)?;
        Ok(content == expected)
    };
    read().unwrap_or(false)
}

/// Syncs a directory, so that a new name in it is on the disk.
fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}
