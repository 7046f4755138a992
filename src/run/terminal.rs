//! The style for stdout and stderr, from `--color`, the terminal and the environment.

use std::{env, io::stdout};

use anstream::{AutoStream, ColorChoice};

use crate::{cli::Color, output::Style};

/// Columns of a pipe. A saved output and a document then look like the terminal of most people.
const PIPE: usize = 100;

/// Rows of a terminal that does not say how many it has.
const USUAL_ROWS: usize = 24;

/// Applies `--color` to everything that the process prints.
pub(super) fn choose(color: Color) {
    let choice = match color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// The style for stdout. `--color` decides on colours. Without it, `NO_COLOR`, `CLICOLOR_FORCE` and `TERM` do
/// (<https://no-color.org>, <https://bixense.com/clicolors>). More than ASCII only if the locale says UTF-8 and
/// the terminal is not dumb.
pub(super) fn style() -> Style {
    Style {
        colour: AutoStream::choice(&stdout()) != ColorChoice::Never,
        width: Some(width(
            env::var("COLUMNS").ok().as_deref(),
            terminal_size::terminal_size_of(stdout()).map(|(width, _)| width.0),
        )),
        ..plain()
    }
}

/// The style for stderr: no colour, and lines of any length.
pub(super) fn plain() -> Style {
    Style {
        unicode: !is_dumb() && utf8(cfg!(windows), |name| env::var(name).ok()),
        ..Style::default()
    }
}

/// Whether the terminal can only print text: no colours, no cursor, no line drawing.
pub(super) fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The rows of the terminal.
pub(super) fn rows() -> usize {
    terminal_size::terminal_size_of(stdout())
        .map(|(_, height)| usize::from(height.0))
        .filter(|&rows| rows > 0)
        .unwrap_or(USUAL_ROWS)
}

/// `COLUMNS` decides also where there is no terminal. A size of 0 means that it is unknown.
fn width(columns: Option<&str>, terminal: Option<u16>) -> usize {
    columns
        .and_then(|text| text.trim().parse().ok())
        .or(terminal.map(usize::from))
        .filter(|&width| width > 0)
        .unwrap_or(PIPE)
}

/// The first variable that is set decides, as in `setlocale(3)`.
fn utf8(on_windows: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| variable(name).filter(|value| !value.is_empty()));
    match locale {
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        }
        // Without a locale: Windows terminals accept UTF-8; elsewhere it means ASCII.
        None => on_windows,
    }
}

#[cfg(test)]
mod tests {
    use super::{utf8, width};

    #[test]
    fn uses_the_first_locale_variable_that_is_set() {
        let on = |windows: bool, pairs: &'static [(&str, &str)]| {
            utf8(windows, |name| {
                pairs
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| (*value).to_owned())
            })
        };
        let with = |pairs| on(false, pairs);
        // Only where nothing is set, the platform decides.
        assert!(on(true, &[]) && !on(false, &[]));
        assert!(!on(true, &[("LC_ALL", "C")]));
        assert!(with(&[("LANG", "en_US.UTF-8")]));
        assert!(with(&[("LC_ALL", ""), ("LANG", "C.utf8")]));
        assert!(!with(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]));
    }

    #[test]
    fn the_width_is_that_of_columns_then_of_the_terminal_then_of_a_pipe() {
        assert_eq!(width(Some("72"), Some(132)), 72);
        assert_eq!(width(None, Some(132)), 132);
        assert_eq!(width(Some("wide"), Some(132)), 132);
        assert_eq!(width(Some(""), None), 100);
        assert_eq!(width(Some("0"), Some(132)), 100);
        assert_eq!(width(None, Some(0)), 100);
        assert_eq!(width(None, None), 100);
    }
}
