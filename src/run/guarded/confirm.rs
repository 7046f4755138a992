//! Whether a person wants this very plan: typed at a terminal after it was shown, or by its digest.
//!
//! What is typed is the object's name, or the word of the consequence where data is lost: `y` is typed without reading.
//! What was typed before the question is thrown away. A terminal that can mark what is pasted is asked to: pasting a
//! name and pressing Enter is fine, a paste that brings its own Enter is not.

use std::{
    io::{IsTerminal, Write, stderr, stdin},
    thread,
};

use crate::{
    knowledge::Consequence, output::safe::harmless, plan::Plan, run::target::watch::Watch, settings::Guarded,
};
use futures::channel::oneshot;

/// Asks the terminal to mark what is pasted, and not to.
const MARK: &str = "\x1b[?2004h";
const MARK_NO_MORE: &str = "\x1b[?2004l";
/// How it marks it.
const PASTED: (&str, &str) = ("\x1b[200~", "\x1b[201~");

/// What came of asking.
pub(super) enum Confirmed {
    Yes,
    No(String),
    Stopped,
}

/// Whether these plans are wanted.
pub(super) async fn confirm(asked: &Guarded, digest: &str, plans: &[Plan], watch: &mut Watch) -> Confirmed {
    if let Some(given) = &asked.confirmed {
        return if given.trim() == digest {
            Confirmed::Yes
        } else {
            Confirmed::No(format!(
                "the plan is not, or is no longer, the one with digest {given}; look at it again, and confirm {digest}"
            ))
        };
    }
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        return Confirmed::No(format!(
            "there is no terminal to type at; after reading the plan, give the same command with --confirm {digest}"
        ));
    }
    for plan in plans {
        let (what, word) = wanted(plan);
        let prompt = format!(
            "To {} {} {}: type {what}, {}\n> ",
            plan.action.word(),
            plan.target.kind,
            harmless(&plan.target.name),
            harmless(&word),
        );
        match watch.quietly(ask(prompt)).await {
            None => return Confirmed::Stopped,
            Some(Some(line)) if typed(&line) == Some(word.as_str()) => {}
            Some(Some(_)) => return Confirmed::No(format!("what was typed is not {word}")),
            Some(None) => return Confirmed::No("nothing was typed".into()),
        }
    }
    Confirmed::Yes
}

fn wanted(plan: &Plan) -> (&'static str, String) {
    if plan.cost.consequence == Consequence::DataLoss {
        ("what it costs", plan.cost.consequence.typed())
    } else {
        ("its name", plan.target.name.clone())
    }
}

/// One line from the terminal; none at its end. Read beside everything else, so that Ctrl-C is still heard.
async fn ask(prompt: String) -> Option<String> {
    let (answer, coming) = oneshot::channel();
    thread::spawn(move || {
        forget_input();
        say(&format!("{MARK}{prompt}"));
        let mut line = String::new();
        let read = stdin().read_line(&mut line);
        say(MARK_NO_MORE);
        forget_input();
        let line = read.ok().filter(|bytes| *bytes > 0).map(|_| line);
        drop(answer.send(line));
    });
    coming.await.ok().flatten()
}

/// Throws away what was typed and not read: nobody answers a question before it was asked, and what follows a pasted line
/// is no answer either.
fn forget_input() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush);
}

fn say(text: &str) {
    let mut stderr = stderr().lock();
    drop(write!(stderr, "{text}"));
    drop(stderr.flush());
}

/// What was meant by a line: as it is, or as it was pasted, if the Enter behind it was pressed.
fn typed(line: &str) -> Option<&str> {
    let line = line.strip_suffix('\n')?;
    match line.strip_prefix(PASTED.0) {
        Some(pasted) => pasted.strip_suffix(PASTED.1),
        None => Some(line),
    }
}

#[cfg(test)]
mod tests {
    use super::typed;

    #[test]
    fn a_paste_counts_if_enter_was_pressed_behind_it() {
        assert_eq!(typed("data-0\n"), Some("data-0"));
        assert_eq!(typed("\x1b[200~data-0\x1b[201~\n"), Some("data-0"));
        assert_eq!(typed("\x1b[200~data-0\n"), None);
        assert_eq!(typed("data-0"), None, "the terminal went away");
        assert_eq!(typed(" data-0\n"), Some(" data-0"));
    }
}
