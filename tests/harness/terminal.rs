//! The other end of a program's output: a pipe, a terminal of a given width, or a closed pipe.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read},
    os::unix::ffi::OsStrExt as _,
    process::Stdio,
    thread::{self, JoinHandle},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

/// Where the standard output or error of a program goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// A pipe that is read to its end.
    #[default]
    Pipe,
    /// A terminal with this many columns, and nobody at the keyboard.
    Terminal(u16),
    /// A pipe whose reader is gone before the program starts.
    Closed,
}

impl End {
    /// The program's side, and a thread that collects the output from the other side.
    pub(super) fn open(self) -> io::Result<(Stdio, JoinHandle<Vec<u8>>)> {
        match self {
            End::Pipe => {
                let (reader, writer) = io::pipe()?;
                Ok((writer.into(), read(reader)))
            }
            End::Closed => {
                let (reader, writer) = io::pipe()?;
                drop(reader);
                Ok((writer.into(), read(io::empty())))
            }
            End::Terminal(columns) => {
                let (ours, theirs) = pair(columns)?;
                Ok((theirs.into(), read(ours)))
            }
        }
    }
}

/// Both sides of a terminal with this many columns, the test's first.
pub(super) fn pair(columns: u16) -> io::Result<(File, File)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let path = ptsname(&ours, Vec::new())?;
    let theirs = File::options()
        .read(true)
        .write(true)
        .open(OsStr::from_bytes(path.as_bytes()))?;
    let size = Winsize {
        ws_row: 50,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&theirs, size)?;
    Ok((File::from(ours), theirs))
}

fn read(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Output before an error counts. Reading a terminal fails when its last writer is gone.
        let _ = from.read_to_end(&mut bytes);
        bytes
    })
}
