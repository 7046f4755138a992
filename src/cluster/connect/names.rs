//! Hints for a name that does not exist: the closest name, or the existing names.

/// How many names are listed, because a hint is one line.
const MAX_LISTED: usize = 8;

/// How similar two names must be to count as a typing error.
const MIN_SIMILARITY: f64 = 0.85;

/// The hint if `wanted` is not among `existing`.
pub(super) fn hint<'a>(wanted: &str, existing: impl Iterator<Item = &'a str>, plural: &str) -> String {
    let existing: Vec<&str> = existing.collect();
    if existing.is_empty() {
        return format!("it has no {plural}");
    }
    let similarity = |name: &str| strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase());
    let closest = existing
        .iter()
        .map(|name| (similarity(name), *name))
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .filter(|(similarity, _)| !wanted.is_empty() && *similarity >= MIN_SIMILARITY);
    if let Some((_, name)) = closest {
        return format!("did you mean {name:?}?");
    }
    let listed = existing.get(..MAX_LISTED).unwrap_or(&existing).join(", ");
    match existing.len().saturating_sub(MAX_LISTED) {
        0 => format!("its {plural}: {listed}"),
        more => format!("its {plural}: {listed} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn suggests_the_closest_name_or_lists_the_existing_ones() {
        let hint_for = |wanted| hint(wanted, ["production", "staging"].into_iter(), "contexts");
        assert_eq!(hint_for("prodution"), "did you mean \"production\"?");
        assert_eq!(hint_for("Staging"), "did you mean \"staging\"?");
        assert_eq!(hint_for("minikube"), "its contexts: production, staging");
        assert_eq!(hint("x", [].into_iter(), "contexts"), "it has no contexts");
        let many: Vec<String> = (10..30).map(|n| format!("cluster-{n}")).collect();
        let text = hint("zzz", many.iter().map(String::as_str), "clusters");
        assert!(text.ends_with("cluster-17 and 12 more"), "{text}");
    }
}
