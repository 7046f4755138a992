use super::super::{Command, Shell, Withheld};
use super::{BLOCK, END_OF_BLOCK};

/// How a version of PowerShell makes the line of a program.
#[derive(Clone, Copy, PartialEq)]
enum Gives {
    /// 5.1, and later ones in a block that says so: no escapes.
    Legacy { doubles_last_backslash: bool },
    /// 7.3 and newer.
    Exactly,
}

/// The words of a line, as PowerShell reads them; an error if it would act on anything else.
fn split(line: &str) -> Result<Vec<String>, String> {
    let is_quote = |c: char| c == '\'' || ('\u{2018}'..='\u{201b}').contains(&c);
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.extend(word.take()),
            c if is_quote(c) && word.is_none() => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some(c) if is_quote(c) => match chars.next_if(|next| is_quote(*next)) {
                            Some(_) => word.push(c),
                            None => break,
                        },
                        Some(c) => word.push(c),
                        None => return Err(format!("an open quote in {line}")),
                    }
                }
                if !matches!(chars.peek(), None | Some(' ' | ',')) {
                    return Err(format!("two words in one in {line}"));
                }
            }
            c if c.is_ascii_alphanumeric() || "-_./:+=".contains(c) => {
                word.get_or_insert_default().push(c);
            }
            '|' if word.is_none() => words.push(c.to_string()),
            ',' => {
                words.extend(word.take());
                words.push(",".to_owned());
            }
            _ => return Err(format!("{c:?} in {line}")),
        }
    }
    words.extend(word.take());
    Ok(words)
}

/// The words that a program on Windows finds in its line.
fn split_by_program(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let (mut in_quotes, mut backslashes) = (false, 0);
    for c in line.chars() {
        if c == '\\' {
            backslashes += 1;
            continue;
        }
        let count = if c == '"' { backslashes / 2 } else { backslashes };
        let is_escaped = backslashes % 2 == 1;
        if backslashes > 0 {
            word.get_or_insert_default().push_str(&"\\".repeat(count));
        }
        backslashes = 0;
        match c {
            '"' if is_escaped => word.get_or_insert_default().push('"'),
            '"' => {
                word.get_or_insert_default();
                in_quotes = !in_quotes;
            }
            ' ' if !in_quotes => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    if backslashes > 0 {
        word.get_or_insert_default().push_str(&"\\".repeat(backslashes));
    }
    words.extend(word);
    words
}

/// The words that a program gets from these.
fn given(words: &[String], gives: Gives) -> Vec<String> {
    let Gives::Legacy {
        doubles_last_backslash,
    } = gives
    else {
        return words.to_vec();
    };
    let needs_quotes = |word: &str| {
        let (mut before, mut quotes) = (' ', 0);
        word.chars().any(|c| {
            quotes += usize::from(c == '"' && before != '\\');
            before = c;
            c.is_whitespace() && quotes % 2 == 0
        })
    };
    let as_given = |word: &String| {
        let last = if doubles_last_backslash && word.ends_with('\\') {
            "\\"
        } else {
            ""
        };
        if needs_quotes(word) {
            format!("\"{word}{last}\"")
        } else {
            word.clone()
        }
    };
    split_by_program(&words.iter().map(as_given).collect::<Vec<_>>().join(" "))
}

/// That every version of PowerShell gives the program its words from this line, and acts on nothing in it.
#[track_caller]
pub(crate) fn check(command: &Command, line: &str) {
    let block = format!("{} ", BLOCK.join(" "));
    let in_block = line.strip_prefix(&block).map(|rest| {
        let end = rest.strip_suffix(END_OF_BLOCK);
        end.unwrap_or_else(|| panic!("no end of the block: {line}"))
    });
    let words = split(in_block.unwrap_or(line)).unwrap_or_else(|why| panic!("{why}"));
    let mut parts = words.split(|word| word == "|");
    if let Some(input) = command.input() {
        assert_eq!(parts.next(), Some(&[input][..]), "{line}");
    }
    let program = parts.next().unwrap_or_default();
    let legacy = |doubles_last_backslash| Gives::Legacy {
        doubles_last_backslash,
    };
    let newest = if in_block.is_some() {
        legacy(true)
    } else {
        Gives::Exactly
    };
    for gives in [legacy(false), legacy(true), newest] {
        assert_eq!(given(program, gives), command.argv(), "{line}");
    }
    if command.filter().is_some() {
        let filter = parts.next().unwrap_or_default();
        assert_eq!(
            filter.first().map(String::as_str),
            Some("Select-String"),
            "{line}"
        );
    }
    if let Some(file) = command.output() {
        let end = parts.next().unwrap_or_default();
        assert_eq!(
            end,
            ["Out-File", "-Encoding", "utf8", "-FilePath", &file],
            "{line}"
        );
    }
    assert_eq!(parts.next(), None, "{line}");
}

fn line(command: &Command) -> String {
    command.render_for(Shell::PowerShell).expect("a line")
}

#[test]
fn quotes_only_what_powershell_acts_on() {
    for (word, expected) in [
        ("db-0", "kubectl get db-0"),
        ("pvc/data-0", "kubectl get pvc/data-0"),
        ("a b", "kubectl get 'a b'"),
        ("it's", "kubectl get 'it''s'"),
        ("a\u{2019}b", "kubectl get 'a\u{2019}\u{2019}b'"),
        ("$env:x", "kubectl get '$env:x'"),
        ("@x", "kubectl get '@x'"),
        ("%x", "kubectl get '%x'"),
        ("a;b", "kubectl get 'a;b'"),
        ("a,b", "kubectl get 'a,b'"),
        ("(a)", "kubectl get '(a)'"),
        ("{a}", "kubectl get '{a}'"),
        ("#a", "kubectl get '#a'"),
        ("`a", "kubectl get '`a'"),
        (r"C:\a", r"kubectl get 'C:\a'"),
        ("--%", "kubectl get -- '--%'"),
        ("-a.b", "kubectl get -- '-a.b'"),
    ] {
        let command = Command::of("kubectl get {}", [word]);
        assert_eq!(line(&command), expected);
        check(&command, expected);
    }
    let remove = Command::remove("pods", "a", "n", "x.y/z");
    assert_eq!(
        line(&remove),
        "kubectl finalizers remove pods/a -n n --finalizer x.y/z"
    );
    assert_eq!(
        line(&Command::of("kubectl get pods --as={}", ["a.b c"])),
        "kubectl get pods '--as=a.b c'"
    );
}

/// Windows PowerShell 5.1 loses quotes and empty words, and 7.3 does not.
#[test]
fn a_word_with_quotes_arrives_in_every_version() {
    let patch = Command::of("kubectl patch pv {} -p {}", ["a", r#"{"a": "b\"c\\"}"#]);
    assert_eq!(
        line(&patch),
        "& { $PSNativeCommandArgumentPassing = 'Legacy'; kubectl patch pv/a -p \
         '\"{\\\"a\\\": \\\"b\\\\\\\"c\\\\\\\\\\\"}\"' }"
    );
    for word in [
        "",
        "\"",
        "\\\"",
        "a\\",
        "a b\\",
        "a \\\\",
        "{\"a\":1}",
        "\"a b\"",
        "\\\\\"",
    ] {
        let command = Command::of("kubectl -n {} get {} --as={}", ["n", word, word]);
        check(&command, &line(&command));
    }
}

#[test]
fn pipes_have_the_forms_of_powershell() {
    let input = Command::of("printf %s {} | kubectl replace --raw {} -f -", ["{}", "/api/x"]);
    assert_eq!(line(&input), "'{}' | kubectl replace --raw /api/x -f -");
    let saved = Command::save("pods", "a", "n");
    assert!(
        line(&saved).ends_with(" | Out-File -Encoding utf8 -FilePath 'a-backup.yaml'"),
        "{}",
        line(&saved)
    );
    for (grep, expected) in [
        ("grep -i csi", "Select-String -SimpleMatch -Pattern 'csi'"),
        (
            "grep -e a -e b",
            "Select-String -SimpleMatch -CaseSensitive -Pattern 'a','b'",
        ),
        (
            "grep -E 'a|b.*c'",
            "Select-String -CaseSensitive -Pattern 'a|b.*c'",
        ),
        (
            "grep -F 'a(b'",
            "Select-String -SimpleMatch -CaseSensitive -Pattern 'a(b'",
        ),
        (
            "grep -n False",
            "Select-String -SimpleMatch -CaseSensitive -Pattern 'False'",
        ),
    ] {
        let template = super::super::Template::try_from(format!("kubectl get pods | {grep}"));
        let command = template.expect("a command").fill(|_| None);
        assert_eq!(line(&command), format!("kubectl get pods | {expected}"));
    }
}

#[test]
fn withholds_commands_that_powershell_parses_differently() {
    for command in [
        // Windows PowerShell 5.1 would send a question mark.
        Command::of("printf %s {} | kubectl create -f -", ["größe"]),
        // In the regular expressions of .NET, the bracket opens a group.
        Command::of("kubectl get pods | grep {}", ["^a(b"]),
        Command::of("kubectl get pods | grep -c {}", ["a"]),
        Command::of("kubectl get pods | grep -E {}", ["[[:space:]]"]),
    ] {
        assert_eq!(
            command.render_for(Shell::PowerShell),
            Err(Withheld::NotInPowerShell)
        );
        assert!(command.render_for(Shell::Posix).is_ok());
    }
}
