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
    knowledge::Consequence, object::ObjectRef, output::safe::harmless, plan::Plan, run::target::watch::Watch,
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
                "the plan is not, or is no longer, the one with digest {given}; look at it again, and confirm {digest}"
            ))
        };
    }
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        return Confirmed::No(format!(
            "there is no terminal to type at; after reading the plan, give the same command with --confirm {digest}"
        ));
    }
    let (objects, what, word) = required_input(plans);
    let prompt = prompt(asked.wanted.action().word(), &objects, what, &word);
    match watch.without_progress(read_line(prompt)).await {
        None => Confirmed::Stopped,
        Some(Some(line)) if typed_text(&line) == Some(word.as_str()) => Confirmed::Yes,
        Some(Some(_)) => Confirmed::No(format!("what was typed is not {word}")),
        Some(None) => Confirmed::No("nothing was typed".into()),
    }
}

/// The question. The objects are text from the server.
fn prompt(verb: &str, objects: &str, what: &str, word: &str) -> String {
    format!(
        "To {verb} {}: type {what}, {}\n> ",
        harmless(objects),
        harmless(word)
    )
}

/// One question for the whole plan: the objects, what to type, and the text itself. For several objects that is their
/// number, which shows that the plan was read to its end.
fn required_input(plans: &[Plan]) -> (String, &'static str, String) {
    let objects = match plans {
        [plan] => in_words(&plan.target),
        plans => format!("{} objects", plans.len()),
    };
    let worst = plans.iter().map(|plan| plan.cost.consequence).max();
    match (worst, plans) {
        (Some(Consequence::DataLoss), _) => (objects, "what it costs", Consequence::DataLoss.typed()),
        (_, [plan]) => (objects, "its name", plan.target.name.clone()),
        (_, plans) => (objects, "how many they are", plans.len().to_string()),
    }
}

fn in_words(target: &ObjectRef) -> String {
    format!("{} {}", target.kind, target.name)
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

/// The typed or pasted text of a line; none unless the user pressed Enter after it.
fn typed_text(line: &str) -> Option<&str> {
    let line = line.strip_suffix('\n')?;
    match line.strip_prefix(PASTE_BRACKETS.0) {
        Some(pasted) => pasted.strip_suffix(PASTE_BRACKETS.1),
        None => Some(line),
    }
}

#[cfg(test)]
mod tests {
    use super::{in_words, prompt, typed_text};
    use crate::object::ObjectRef;

    #[test]
    fn the_question_holds_nothing_that_acts_on_a_terminal() {
        let target = ObjectRef {
            kind: "Wid\u{1b}[2Jget\u{ad}".into(),
            name: "w\u{202e}\u{3164}".into(),
            ..ObjectRef::default()
        };
        let objects = in_words(&target);
        let asked = prompt("remove", &objects, "its name", &target.name);
        let question = asked.strip_suffix("\n> ").expect("a line of its own");
        assert!(!question.contains(crate::characters::is_unseen), "{question:?}");
    }

    #[test]
    fn accepts_a_paste_only_if_enter_follows_it() {
        assert_eq!(typed_text("data-0\n"), Some("data-0"));
        assert_eq!(typed_text("\x1b[200~data-0\x1b[201~\n"), Some("data-0"));
        assert_eq!(typed_text("\x1b[200~data-0\n"), None);
        assert_eq!(typed_text("data-0"), None, "the terminal went away");
        assert_eq!(typed_text(" data-0\n"), Some(" data-0"));
    }
}
