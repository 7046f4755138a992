//! Hints for a name that does not exist: the one that was meant, or those that there are.

/// How many names are listed; a hint is one line.
const LISTED: usize = 8;

/// How alike two names must be to be taken for a slip of the finger.
const ALIKE: f64 = 0.85;

/// What to say when `wanted` is not among `existing`.
pub(super) fn hint<'a>(wanted: &str, existing: impl Iterator<Item = &'a str>, plural: &str) -> String {
    let existing: Vec<&str> = existing.collect();
    if existing.is_empty() {
        return format!("it has no {plural}");
    }
    let likeness = |name: &str| strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase());
    let closest = existing
        .iter()
        .map(|name| (likeness(name), *name))
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .filter(|(likeness, _)| !wanted.is_empty() && *likeness >= ALIKE);
    if let Some((_, name)) = closest {
        return format!("did you mean {name:?}?");
    }
    let listed = existing[..existing.len().min(LISTED)].join(", ");
    match existing.len().saturating_sub(LISTED) {
        0 => format!("its {plural}: {listed}"),
        more => format!("its {plural}: {listed} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn the_name_that_was_meant_or_those_that_there_are() {
        let say = |wanted| hint(wanted, ["production", "staging"].into_iter(), "contexts");
        assert_eq!(say("prodution"), "did you mean \"production\"?");
        assert_eq!(say("Staging"), "did you mean \"staging\"?");
        assert_eq!(say("minikube"), "its contexts: production, staging");
        assert_eq!(hint("x", [].into_iter(), "contexts"), "it has no contexts");
        let many: Vec<String> = (10..30).map(|n| format!("cluster-{n}")).collect();
        let text = hint("zzz", many.iter().map(String::as_str), "clusters");
        assert!(text.ends_with("cluster-17 and 12 more"), "{text}");
    }
}
