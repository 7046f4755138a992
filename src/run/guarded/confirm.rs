//! Confirmation of exactly this plan: typed at a terminal after the plan was shown, or given as its digest.
//!
//! The user types the object's name, or the word of the consequence if data is lost, or the number of several objects,
//! once for the whole plan; people type `y` without reading. Input from before the question is thrown away. The terminal
//! is asked to mark pasted text. A pasted name followed by Enter counts; a paste that contains the Enter does not.

use std::{
    io::{IsTerminal, Write, stderr, stdin},
    thread,
};

use crate::{
    knowledge::Consequence,
    output::plan::question,
    plan::Plan,
    run::{target::watch::Watch, terminal},
    settings::Guarded,
};
use futures::channel::oneshot;

/// Makes the terminal mark pasted text, and turns that off again (bracketed paste).
const ENABLE_BRACKETED_PASTE: &str = "\x1b[?2004h";
const DISABLE_BRACKETED_PASTE: &str = "\x1b[?2004l";
/// The marks around pasted text.
const PASTE_BRACKETS: (&str, &str) = ("\x1b[200~", "\x1b[201~");

/// The answer to the confirmation.
pub(super) enum Confirmed {
    Yes,
    No(String),
    Stopped,
}

/// Whether the user confirms these plans.
pub(super) async fn confirm(asked: &Guarded, digest: &str, plans: &[Plan], watch: &mut Watch) -> Confirmed {
    if let Some(given) = &asked.confirmed {
        return if given.trim() == digest {
            Confirmed::Yes
        } else {
            Confirmed::No(format!(
                "its digest is {digest} and not {given}, so it has changed. Read it again, then give --confirm {digest}"
            ))
        };
    }
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        return Confirmed::No(format!(
            "there is no terminal to type at. Read the plan, then give the same command with --confirm {digest}"
        ));
    }
    let word = required_input(plans);
    let question = question(plans, &word, &terminal::style());
    match watch.without_progress(read_line(question)).await {
        None => Confirmed::Stopped,
        Some(Some(line)) if typed_text(&line) == Some(word.as_str()) => Confirmed::Yes,
        Some(Some(line)) if typed_text(&line) == Some("") => Confirmed::No("it was cancelled".into()),
        Some(Some(_)) => Confirmed::No(format!("what was typed is not {word}")),
        Some(None) => Confirmed::No("nothing was typed".into()),
    }
}

/// What the user types. For several objects that is their number, which shows that the plan was read to its end.
fn required_input(plans: &[Plan]) -> String {
    let worst = plans.iter().map(|plan| plan.cost.consequence).max();
    match (worst, plans) {
        (Some(Consequence::DataLoss), _) => Consequence::DataLoss.typed(),
        (_, [plan]) => plan.target.name.clone(),
        (_, plans) => plans.len().to_string(),
    }
}

/// Reads one line from the terminal; none at end of input. A thread reads it, so that Ctrl-C still works.
async fn read_line(prompt: String) -> Option<String> {
    let (answer, coming) = oneshot::channel();
    thread::spawn(move || {
        discard_input();
        write_to_terminal(&format!("{ENABLE_BRACKETED_PASTE}{prompt}"));
        let mut line = String::new();
        let read = stdin().read_line(&mut line);
        write_to_terminal(DISABLE_BRACKETED_PASTE);
        discard_input();
        let line = read.ok().filter(|bytes| *bytes > 0).map(|_| line);
        drop(answer.send(line));
    });
    coming.await.ok().flatten()
}

/// Throws away unread input. Input from before a question does not answer it, and neither does text after a
/// pasted line.
fn discard_input() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush);
}

fn write_to_terminal(text: &str) {
    let mut stderr = stderr().lock();
    drop(write!(stderr, "{text}"));
    drop(stderr.flush());
}

/// The typed or pasted text of a line; none unless the user pressed Enter after it. The console of Windows ends a line with two
/// characters.
fn typed_text(line: &str) -> Option<&str> {
    let line = line.strip_suffix('\n')?;
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line.strip_prefix(PASTE_BRACKETS.0) {
        Some(pasted) => pasted.strip_suffix(PASTE_BRACKETS.1),
        None => Some(line),
    }
}

#[cfg(test)]
mod tests {
    use super::typed_text;

    #[test]
    fn accepts_a_paste_only_if_enter_follows_it() {
        assert_eq!(typed_text("data-0\n"), Some("data-0"));
        assert_eq!(typed_text("\x1b[200~data-0\x1b[201~\n"), Some("data-0"));
        assert_eq!(typed_text("\x1b[200~data-0\n"), None);
        assert_eq!(typed_text("data-0"), None, "the terminal went away");
        assert_eq!(typed_text(" data-0\n"), Some(" data-0"));
        assert_eq!(typed_text("\n"), Some(""));
    }

    #[test]
    fn a_line_of_the_console_of_windows_is_read_without_its_end() {
        assert_eq!(typed_text("data-0\r\n"), Some("data-0"));
        assert_eq!(typed_text("\x1b[200~data-0\x1b[201~\r\n"), Some("data-0"));
        assert_eq!(typed_text("\r\n"), Some(""));
        assert_eq!(typed_text("data-0\r"), None, "the terminal went away");
    }
}
