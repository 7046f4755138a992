//! The style for stdout and stderr, from the terminal and the environment.

use std::{
    env,
    io::{IsTerminal, stdout},
};

use crate::output::Style;

/// The style for stdout. Colour only on a terminal that supports it, and never with `NO_COLOR`
/// (<https://no-color.org>). More than ASCII only if the locale says UTF-8.
pub(super) fn style() -> Style {
    let terminal = stdout().is_terminal();
    let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    Style {
        colour: terminal && !dumb && !set("NO_COLOR"),
        unicode: utf8(|name| env::var(name).ok()),
        width: terminal
            .then(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
            .flatten(),
    }
}

/// The style for stderr: no colour, and lines of any length.
pub(super) fn plain() -> Style {
    Style {
        unicode: utf8(|name| env::var(name).ok()),
        ..Style::default()
    }
}

/// The first variable that is set decides, as in `setlocale(3)`.
fn utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| variable(name).filter(|value| !value.is_empty()));
    match locale {
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        }
        // Without a locale: Windows terminals accept UTF-8; elsewhere it means ASCII.
        None => cfg!(windows),
    }
}

#[cfg(test)]
mod tests {
    use super::utf8;

    #[test]
    fn uses_the_first_locale_variable_that_is_set() {
        let with = |pairs: &'static [(&str, &str)]| {
            utf8(|name| {
                pairs
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(with(&[("LANG", "en_US.UTF-8")]));
        assert!(with(&[("LC_ALL", ""), ("LANG", "C.utf8")]));
        assert!(!with(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]));
    }
}
