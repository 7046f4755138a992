//! Labels of steps are true, as far as words show. The build already compares them with the commands.

use super::*;

/// The steps of all entries, each with its entry.
fn steps() -> Vec<(Entry, FixStep)> {
    all()
        .into_iter()
        .flat_map(|entry| {
            let steps = entry.fix.clone();
            steps.into_iter().map(move |step| (entry.clone(), step))
        })
        .collect()
}

/// Whether a sentence, or the part behind a colon or "then", tells the reader to delete something.
fn tells_to_delete(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map_or(".", |before| words[before]);
        ["delete", "remove", "Delete", "Remove"].contains(word)
            && (before.ends_with(['.', '?', ':', ';', ',']) || ["then", "and"].contains(&before))
    })
}

/// A loss stands in capitals, so that a tired reader sees it.
fn names_a_loss(text: &str) -> bool {
    const LOSSES: [&str; 19] = [
        "CHECKED", "CUT", "DAMAGED", "DELET", "DESTR", "DROP", "END", "ENFORCED", "EVICT", "KILL", "LEAK",
        "LOS", "RELEASED", "REMOVE", "REVOKE", "SHUT", "STOP", "WIPE", "WRITERS",
    ];
    text.split(|c: char| !c.is_alphanumeric())
        .any(|word| word.len() > 2 && LOSSES.iter().any(|loss| word.starts_with(loss)))
}

/// Whether the step brings a controller back that was uninstalled or that stopped.
fn restores(step: &FixStep) -> bool {
    let text = step.text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    step.if_holder == Some(IfHolder::Gone)
        && (words.contains(&"restore")
            || ["install", "enable", "start"]
                .iter()
                .any(|verb| words.contains(verb) && words.iter().any(|word| word.starts_with("again"))))
}

#[test]
fn a_step_that_deletes_something_is_neither_read_only_nor_safe() {
    for (entry, step) in steps() {
        assert!(
            step.label > Label::Safe || !tells_to_delete(&step.text),
            "{}: {}",
            entry.name,
            step.text
        );
    }
}

#[test]
fn a_destructive_step_says_in_capitals_what_is_lost() {
    let mut found = 0;
    for (entry, step) in steps() {
        let is_destructive = step.label == Label::Destructive;
        assert!(
            !is_destructive || names_a_loss(&step.text),
            "{}: {}",
            entry.name,
            step.text
        );
        found += usize::from(is_destructive);
    }
    assert!(found > 500, "{found}");
}

/// Where removal by hand leaves something outside or loses data, the regular removal deletes that. So a controller
/// that comes back does it at once, unless the text says that it only waits, finishes or lets go.
#[test]
fn a_controller_that_comes_back_may_delete_data() {
    let mut found = 0;
    for (entry, step) in steps().iter().filter(|(entry, step)| {
        entry.if_removed.consequence >= Consequence::LeakedInfrastructure && restores(step)
    }) {
        found += 1;
        if step.label == Label::Destructive {
            continue;
        }
        let is_mild = ["lets go", "goes on", "stay", "not touched", "releases the Secret"]
            .iter()
            .any(|word| step.text.contains(word))
            && !["cleans up", "deletes"]
                .iter()
                .any(|word| step.text.contains(word));
        assert!(
            step.label == Label::Reversible && is_mild,
            "{}: {} is not {}: say what it deletes, or what it does instead",
            entry.name,
            step.text,
            step.label.word()
        );
    }
    assert!(found > 100, "{found}");
}
