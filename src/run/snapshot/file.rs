//! Writes a snapshot file atomically and readable only by its owner.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write, stdout},
    path::{Path, PathBuf},
};

use crate::{
    error::Error,
    snapshot::saved::{Saved, Writer},
};

/// Fails if the file already exists.
pub(super) fn check(path: &Path) -> Result<(), Error> {
    if is_stdout(path) || fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    Err(Error::Usage {
        message: format!("{} exists, and is not overwritten", path.display()),
        hint: Some("name another file, or remove that one first".into()),
    })
}

/// Writes the snapshot and returns its size in bytes. `-` is stdout.
pub(super) fn write(saved: &Saved, path: &Path) -> Result<u64, Error> {
    if is_stdout(path) {
        let mut out = Counting(BufWriter::new(stdout().lock()), 0);
        out = Writer::save(saved, out)?;
        out.flush()?;
        return Ok(out.1);
    }
    let failed = |cause| Error::Write {
        path: path.to_owned(),
        cause,
    };
    let mut temporary = Temporary::beside(path).map_err(failed)?;
    let written = temporary.fill(saved).map_err(failed)?;
    check(path)?;
    temporary.become_file(path).map_err(failed)?;
    Ok(written)
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// A temporary file that is deleted unless it becomes the requested file.
struct Temporary {
    path: PathBuf,
    file: Option<File>,
}

impl Temporary {
    /// Creates it in the same directory, so that it can be renamed.
    fn beside(path: &Path) -> io::Result<Self> {
        let name = path
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
        let mut own = std::ffi::OsString::from(".");
        own.push(name);
        own.push(format!(".{}.part", std::process::id()));
        let path = path.with_file_name(own);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        Ok(Temporary {
            path,
            file: Some(file),
        })
    }

    fn fill(&mut self, saved: &Saved) -> io::Result<u64> {
        let Some(file) = self.file.take() else {
            return Ok(0);
        };
        let mut out = Writer::save(saved, Counting(BufWriter::new(file), 0))?;
        out.flush()?;
        let written = out.1;
        // A full disk can show only now, and then there must be no file.
        out.0.get_ref().sync_all()?;
        Ok(written)
    }

    fn become_file(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After the rename there is no such file. If the removal fails, the file stays.
        drop(fs::remove_file(&self.path));
    }
}

/// Counts the bytes that are written.
struct Counting<W: Write>(W, u64);

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1 += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
