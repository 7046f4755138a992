//! A new file, which appears complete or not at all and replaces nothing.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{directory_of, owner_only, sync_directory};

/// A file that gets its name when it is complete. Until then it has a temporary name, and it is deleted when it is
/// dropped.
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
}

impl NewFile {
    /// Creates the file in the directory of `path`, readable only by its owner.
    pub fn at(path: &Path) -> io::Result<Self> {
        let name = path
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
        let mut own = std::ffi::OsString::from(".");
        own.push(name);
        own.push(format!(".{}.part", std::process::id()));
        let temporary = path.with_file_name(own);
        Ok(NewFile {
            file: owner_only().create_new(true).open(&temporary)?,
            path: path.to_owned(),
            temporary,
        })
    }

    /// Fails if others can read the file although it was created for its owner only. Some file systems, such as FAT,
    /// have no permissions of their own.
    pub fn check_mode(&self) -> io::Result<()> {
        if is_only_for_owner(&self.file.metadata()?) {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "this file system lets others read the file; name another directory",
        ))
    }

    /// Waits until the content is on the disk, and gives the file its name. Fails if a file has that name.
    pub fn publish(self) -> io::Result<()> {
        self.file.sync_all()?;
        name_without_replacing(&self.temporary, &self.path)?;
        sync_directory(directory_of(&self.path))
    }
}

/// Whether nobody but the owner can read or change a file.
#[cfg(unix)]
#[allow(
    clippy::verbose_bit_mask,
    reason = "the mask of group and others is what people know"
)]
pub(in crate::act) fn is_only_for_owner(about: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o077 == 0
}

/// Whether nobody but the owner can read or change a file. Other systems inherit that from the directory.
#[cfg(not(unix))]
pub(in crate::act) fn is_only_for_owner(_: &fs::Metadata) -> bool {
    true
}

/// `rename` would replace a file that appeared meanwhile. A link fails then, but some file systems have no links.
fn name_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::{
            fs::{CWD, RenameFlags, renameat_with},
            io::Errno,
        };
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // This file system cannot do that, for example NFS.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            result => return Ok(result?),
        }
    }
    fs::hard_link(from, to)
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // After a rename there is no such file. If the removal fails, the temporary file stays.
        drop(fs::remove_file(&self.temporary));
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use super::NewFile;

    #[test]
    fn a_new_file_replaces_nothing_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("copy");
        let write = |text: &str| {
            let mut file = NewFile::at(&path)?;
            file.check_mode()?;
            file.write_all(text.as_bytes())?;
            file.publish()
        };
        write("first").expect("a new file");
        let error = write("second").expect_err("the name is taken");
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).expect("a file"), "first");

        // A link to nowhere is a name as well.
        #[cfg(unix)]
        {
            fs::remove_file(&path).expect("removed");
            let elsewhere = folder.path().join("elsewhere");
            std::os::unix::fs::symlink(&elsewhere, &path).expect("a link");
            write("third").expect_err("the name is taken");
            assert!(!elsewhere.exists());
        }
        drop(NewFile::at(&folder.path().join("dropped")).expect("a new file"));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
}
