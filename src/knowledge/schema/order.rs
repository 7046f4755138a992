//! The order of steps: what may do harm comes after what may do.

/// How a step begins that goes on from the one before it.
const GOES_ON: [&str; 11] = [
    "then ",
    "otherwise",
    "else ",
    "or ",
    "once ",
    "after ",
    "now ",
    "with no ",
    "if no ",
    "if none ",
    "if it still ",
];
/// What a step has in its text if it belongs to the one behind it.
const PREPARES: &str = "next step";

/// The same steps with each destructive one behind all harmless ones that do not go on from it. Otherwise they keep their
/// order. `text` is the text of a step, and `is_destructive` whether something is lost by it.
pub fn gentle_first<T>(
    steps: Vec<T>,
    text: impl Fn(&T) -> &str,
    is_destructive: impl Fn(&T) -> bool,
) -> Vec<T> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut prepares = false;
    for step in steps {
        let said = text(&step).to_lowercase();
        let goes_on = prepares || GOES_ON.iter().any(|begin| said.starts_with(begin));
        prepares = said.contains(PREPARES);
        match groups.last_mut() {
            Some(group) if goes_on => group.push(step),
            _ => groups.push(vec![step]),
        }
    }
    let (harmful, harmless): (Vec<_>, Vec<_>) = groups
        .into_iter()
        .partition(|group| group.iter().any(&is_destructive));
    harmless.into_iter().chain(harmful).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::gentle_first;

    fn ordered(steps: &[(&'static str, bool)]) -> Vec<&'static str> {
        let steps = gentle_first(steps.to_vec(), |step| step.0, |step| step.1);
        steps.into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn a_destructive_step_stands_behind_the_harmless_ones() {
        let steps = [
            ("Delete what is left.", true),
            ("See that it runs.", false),
            ("Read its log.", false),
        ];
        assert_eq!(
            ordered(&steps),
            ["See that it runs.", "Read its log.", "Delete what is left."]
        );
    }

    #[test]
    fn steps_that_belong_together_stay_together() {
        let steps = [
            ("Delete the member.", true),
            ("Then see that the others are well.", false),
            ("Keep the data: set the policy.", false),
            ("Save it; the next step cannot be undone.", false),
            ("Delete it.", true),
            ("Otherwise wait.", false),
        ];
        assert_eq!(
            ordered(&steps),
            [
                "Keep the data: set the policy.",
                "Delete the member.",
                "Then see that the others are well.",
                "Save it; the next step cannot be undone.",
                "Delete it.",
                "Otherwise wait.",
            ]
        );
        // A word that only begins alike goes on from nothing.
        let steps = [("Delete it.", true), ("Orders stay: read them.", false)];
        assert_eq!(ordered(&steps), ["Orders stay: read them.", "Delete it."]);
    }
}
