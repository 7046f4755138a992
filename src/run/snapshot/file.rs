//! Writes a snapshot to a new file or to stdout.

use std::{
    fs,
    io::{self, BufWriter, Write, stdout},
    path::Path,
};

use crate::{
    act::NewFile,
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
    let save = || {
        let mut out = Writer::save(saved, Counting(BufWriter::new(NewFile::at(path)?), 0))?;
        out.flush()?;
        let file = out.0.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.publish()?;
        Ok(out.1)
    };
    // A file that appeared meanwhile is not overwritten, either.
    save().or_else(|cause| check(path).and(Err(failed(cause))))
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
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
