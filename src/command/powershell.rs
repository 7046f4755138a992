//! A command as PowerShell reads it: its forms of `printf`, `grep` and `>`, and the words that it gives to a program.
//!
//! Windows gives a program one line, which the program splits itself. Windows PowerShell 5.1 writes that line without
//! escaping quotes in words, and drops empty words. PowerShell 7.3 escapes them, unless
//! `$PSNativeCommandArgumentPassing` is `Legacy`. So a command with such a word escapes by itself, in a block that
//! sets the variable. 5.1 does not know it. Then all versions write the same line.
//! (`NativeCommandParameterBinder.cs` of PowerShell; "Parsing C++ command-line arguments" of Microsoft.)

use super::{Word, shell::in_powershell_quotes};

/// The beginning of a command that escapes by itself.
pub(super) const BLOCK: [&str; 2] = ["& {", "$PSNativeCommandArgumentPassing = 'Legacy';"];
/// Its end.
pub(super) const END_OF_BLOCK: &str = "}";

/// Whether the versions of PowerShell would give this word to the program in different ways.
pub(super) fn is_given_differently(text: &str) -> bool {
    text.is_empty() || text.contains('"') || text.ends_with('\\') && text.contains(char::is_whitespace)
}

/// The word as a program on Windows finds it in its line. Backslashes are plain, unless a quote is behind them.
pub(super) fn escaped(text: &str) -> String {
    if !text.is_empty() && !text.contains(|c: char| c == '"' || c.is_whitespace()) {
        return text.to_owned();
    }
    let mut line = String::from("\"");
    let mut backslashes = 0;
    for c in text.chars() {
        if c == '"' {
            line.push_str(&"\\".repeat(backslashes + 1));
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        line.push(c);
    }
    line.push_str(&"\\".repeat(backslashes));
    line.push('"');
    line
}

/// The text as the input of a program. Windows PowerShell 5.1 sends other characters as question marks.
pub(super) fn input(text: &str) -> Option<String> {
    text.is_ascii().then(|| in_powershell_quotes(text))
}

/// The `Select-String` that keeps the same lines as this `grep`; none if there is none.
pub(super) fn select_string(words: &[Word]) -> Option<String> {
    let mut patterns = Vec::new();
    let (mut is_extended, mut is_literal, mut any_case) = (false, false, false);
    let mut words = words.iter().map(Word::text);
    let mut flags_ended = false;
    while let Some(word) = words.next() {
        match &*word {
            _ if flags_ended => patterns.push(word),
            "--" => flags_ended = true,
            "-e" => patterns.push(words.next()?),
            "-E" => is_extended = true,
            "-F" => is_literal = true,
            "-i" => any_case = true,
            // The number of a line helps the eye, and no more.
            "-n" => {}
            flag if flag.starts_with('-') => return None,
            _ => patterns.push(word),
        }
    }
    let has = |characters: &str| {
        patterns
            .iter()
            .any(|pattern| pattern.contains(|c| characters.contains(c)))
    };
    is_literal |= !is_extended && !has(".*[]^$\\");
    // The regular expressions of grep and of .NET agree without these.
    let differ = if is_extended { "\\" } else { "+?(){}|\\" };
    let has_class = patterns.iter().any(|pattern| pattern.contains("[:"));
    if !is_literal && (has(differ) || has_class) {
        return None;
    }
    let mut said = String::from("Select-String");
    if is_literal {
        said.push_str(" -SimpleMatch");
    }
    if !any_case {
        said.push_str(" -CaseSensitive");
    }
    let patterns: Vec<_> = patterns
        .iter()
        .map(|pattern| in_powershell_quotes(pattern))
        .collect();
    Some(format!("{said} -Pattern {}", patterns.join(",")))
}

/// The end of a pipe that writes a file. `>` of Windows PowerShell 5.1 would write UTF-16.
pub(super) fn into_file(name: &str) -> String {
    format!(
        "| Out-File -Encoding utf8 -FilePath {}",
        in_powershell_quotes(name)
    )
}

#[cfg(test)]
pub(crate) mod tests;
