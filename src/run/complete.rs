//! Completion: the scripts for shells, and their answers.
//!
//! The engine of clap_complete knows commands and flags; [`values`] says what else an argument can be, and [`found`]
//! looks it up. A person is typing meanwhile. So nothing here prints an error, asks for a password, or takes long.

mod found;
mod typed;
mod values;

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{Write, stdout},
};

use clap_complete::{
    CompletionCandidate,
    engine::complete,
    env::{CompleteEnv, Shells},
};

use self::{typed::Typed, values::command};
use crate::{cli::Shell, error::Error, exit::Exit};

/// The name of the program, which the scripts look for in the PATH.
const PROGRAM: &str = "kubectl-finalizers";

/// The variable by which the scripts of shells ask.
const ASKED: &str = "KUBECTL_FINALIZERS_COMPLETE";

/// The program that kubectl runs, by its convention for plugins (`kubectl/pkg/cmd/plugin_completion.go`).
const FOR_KUBECTL: &str = "\
#!/bin/sh
# kubectl runs this to complete \"kubectl finalizers\". Save it in a directory of the PATH, executable, with the name
# kubectl_complete-finalizers.
exec kubectl-finalizers __complete \"$@\" 2>/dev/null
";

/// cobra's directives, which kubectl's scripts know: add no space, list no files, keep the order.
const NO_SPACE: u8 = 2;
const NO_FILES: u8 = 4;
const KEEP_ORDER: u8 = 32;

/// Prints the script.
pub(super) fn script(shell: Shell) -> Result<Exit, Error> {
    let name = match shell {
        Shell::Kubectl => {
            stdout().write_all(FOR_KUBECTL.as_bytes())?;
            return Ok(Exit::Done);
        }
        Shell::Bash => "bash",
        Shell::Zsh => "zsh",
        Shell::Fish => "fish",
        Shell::Powershell => "powershell",
    };
    let shells = Shells::builtins();
    let completer = shells.completer(name).into_iter();
    for completer in completer {
        completer.write_registration(ASKED, PROGRAM, PROGRAM, PROGRAM, &mut stdout())?;
    }
    Ok(Exit::Done)
}

/// Answers a shell's script, if one asks.
pub fn answer_shell() -> bool {
    if env::var_os(ASKED).is_none_or(|shell| shell.is_empty()) {
        return false;
    }
    let words: Vec<OsString> = env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let index = env::var("_CLAP_COMPLETE_INDEX").ok();
    let index = index.and_then(|index| index.parse().ok());
    let index = index.unwrap_or_else(|| words.len().saturating_sub(1));
    let current = words.get(index).cloned().unwrap_or_default();
    let before: Vec<_> = words.into_iter().take(index).collect();
    let answer = CompleteEnv::with_factory(|| command(Typed::new(&before), &current)).var(ASKED);
    // An error has no place in a line that somebody types.
    drop(answer.try_complete(env::args_os(), env::current_dir().ok().as_deref()));
    true
}

/// Answers kubectl: a line for each candidate, with a tab before its description, and a directive.
pub(super) fn answer_kubectl(mut words: Vec<OsString>) -> Result<Exit, Error> {
    words.insert(0, PROGRAM.into());
    let index = words.len().saturating_sub(1).max(1);
    words.resize(index.saturating_add(1), OsString::new());
    let current = words.last().cloned().unwrap_or_default();
    let before: Vec<_> = words.iter().take(index).cloned().collect();
    let mut command = command(Typed::new(&before), &current);
    let candidates = complete(&mut command, words, index, env::current_dir().ok().as_deref());
    write(&candidates.unwrap_or_default(), &mut stdout().lock())?;
    Ok(Exit::Done)
}

fn write(candidates: &[CompletionCandidate], out: &mut impl Write) -> Result<(), Error> {
    let goes_on = |candidate: &CompletionCandidate| ends_in_slash(candidate.get_value());
    let mut directive = NO_FILES | KEEP_ORDER;
    if candidates.iter().any(goes_on) {
        directive |= NO_SPACE;
    }
    for candidate in candidates {
        let value = candidate.get_value().to_string_lossy();
        let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
        match help.lines().next() {
            Some(line) => writeln!(out, "{value}\t{line}")?,
            None => writeln!(out, "{value}")?,
        }
    }
    writeln!(out, ":{directive}")?;
    Ok(())
}

/// A directory, whose files come next.
fn ends_in_slash(value: &OsStr) -> bool {
    value.to_string_lossy().ends_with('/')
}
