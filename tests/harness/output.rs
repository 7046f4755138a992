//! The output of a program and its exit code.

use std::{
    fmt,
    io::Write as _,
    os::unix::process::ExitStatusExt as _,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::terminal::End;

/// The result of a program.
#[derive(Debug, Clone)]
pub struct Output {
    /// Standard output, with replacement characters for invalid UTF-8.
    pub stdout: String,
    /// Standard error, with the same replacements.
    pub stderr: String,
    /// The exit code; as in a shell, 128 plus the number of the signal that ended it.
    pub code: i32,
}

impl Output {
    /// The standard output of a program that must succeed.
    #[track_caller]
    pub fn success(self) -> String {
        assert!(self.code == 0, "{self}");
        self.stdout
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "exit code {}\n--- stdout\n{}--- stderr\n{}",
            self.code, self.stdout, self.stderr
        )
    }
}

/// A child whose output is read all the time, so that it never blocks.
pub(super) struct Running {
    pub child: Child,
    what: String,
    stdout: JoinHandle<Vec<u8>>,
    stderr: JoinHandle<Vec<u8>>,
}

impl Running {
    pub fn start(command: Command, stdin: Option<&str>) -> Self {
        Self::start_with(command, stdin, End::Pipe, End::Pipe)
    }

    /// The same with other ends than pipes.
    pub fn start_with(mut command: Command, stdin: Option<&str>, stdout: End, stderr: End) -> Self {
        let what = format!("{command:?}");
        command.stdin(if stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        });
        let open = |end: End| {
            end.open()
                .unwrap_or_else(|error| panic!("cannot make {end:?} for {what}: {error}"))
        };
        let ((stdout_of_child, stdout), (stderr_of_child, stderr)) = (open(stdout), open(stderr));
        command.stdout(stdout_of_child).stderr(stderr_of_child);
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {what}: {error}"));
        if let (Some(mut pipe), Some(text)) = (child.stdin.take(), stdin.map(str::to_owned)) {
            // A program that ends without reading closes the pipe, and its exit code says enough. A program
            // that neither reads nor ends must not hide that from the test.
            thread::spawn(move || {
                let _ = pipe.write_all(text.as_bytes());
            });
        }
        Self {
            child,
            what,
            stdout,
            stderr,
        }
    }

    /// Waits for the end. A program that takes longer than `limit` is killed, and the test fails.
    pub fn finish(mut self, limit: Duration) -> Output {
        let until = Instant::now() + limit;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                break Some(status);
            }
            if Instant::now() > until {
                break None;
            }
            thread::sleep(Duration::from_millis(5));
        };
        if status.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        let text = |reader: JoinHandle<Vec<u8>>| {
            String::from_utf8_lossy(&reader.join().expect("the reader does not panic")).into_owned()
        };
        let (stdout, stderr) = (text(self.stdout), text(self.stderr));
        let Some(status) = status else {
            panic!(
                "{} did not end within {limit:?}\n--- stdout\n{stdout}--- stderr\n{stderr}",
                self.what
            )
        };
        let code = status
            .code()
            .or_else(|| Some(128 + status.signal()?))
            .expect("the program exited or was killed");
        Output { stdout, stderr, code }
    }
}
