//! A program on a terminal, with a user who reads and types.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    os::unix::process::ExitStatusExt as _,
    process::{Child, Command},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{Output, terminal, wait};

/// A program whose input and output are one terminal.
pub struct Session {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    limit: Duration,
}

impl Session {
    /// Starts a program.
    pub fn start(mut command: Command, limit: Duration) -> Self {
        let (ours, theirs) = terminal::pair(100).expect("a terminal can be opened");
        let end = || theirs.try_clone().expect("a terminal can be shared");
        command.stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().expect("the program starts");
        drop((command, theirs));
        let screen = Arc::new(Mutex::new(Vec::new()));
        let (mut from, shown) = (ours.try_clone().expect("a file"), Arc::clone(&screen));
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading a terminal fails when its last writer is gone.
            while let Ok(read @ 1..) = from.read(&mut bytes) {
                shown.lock().unwrap().extend_from_slice(&bytes[..read]);
            }
        });
        Session {
            child,
            keyboard: ours,
            screen,
            reader,
            limit,
        }
    }

    /// The whole screen so far, with the typed text.
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    /// Waits until this text is on the screen.
    #[track_caller]
    pub fn see(&self, text: &str) -> &Self {
        wait(&format!("{text:?} is shown"), self.limit, || {
            self.shown().contains(text)
        });
        self
    }

    /// Waits for the question.
    #[track_caller]
    pub fn asked(&self) -> &Self {
        self.see("\n> ")
    }

    /// Types this text, and nothing after it.
    pub fn types(&self, text: &str) -> &Self {
        (&self.keyboard)
            .write_all(text.as_bytes())
            .expect("the terminal can be read");
        self
    }

    /// Sends a signal, such as `Signal::INT` for Ctrl-C or `Signal::HUP` for a closed window.
    pub fn signal(&self, signal: Signal) -> &Self {
        // The program may have ended.
        let _ = kill_process(Pid::from_child(&self.child), signal);
        self
    }

    /// Waits for the end and returns the screen as standard output.
    #[track_caller]
    pub fn finish(mut self) -> Output {
        let until = Instant::now() + self.limit;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                break status;
            }
            if Instant::now() > until {
                let _ = self.child.kill();
                panic!("the program did not end:\n{}", self.shown());
            }
            thread::sleep(Duration::from_millis(5));
        };
        self.reader.join().expect("the reader does not panic");
        let screen = self.screen.lock().unwrap();
        Output {
            stdout: String::from_utf8_lossy(&screen).into_owned(),
            stderr: String::new(),
            code: status
                .code()
                .or_else(|| Some(128 + status.signal()?))
                .unwrap_or(-1),
        }
    }
}
