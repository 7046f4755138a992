//! How to reach etcd, as text.

use std::io::{self, Write};

use super::{
    Style, paste,
    sheet::{Sheet, WIDTH_IN_PIPE},
};
use crate::{command::Shown, plan::Reach};

/// Columns before a command.
const INDENT: usize = 21;

/// Writes the steps, for each place where etcd runs.
pub fn write(all: &[Reach], style: &Style, out: &mut impl Write) -> io::Result<()> {
    let mut sheet = Sheet::new(style, out);
    for (at, one) in all.iter().enumerate() {
        if at > 0 {
            sheet.gap()?;
        }
        sheet.heading(&one.place)?;
        sheet.fact("etcd of", &one.name)?;
        let width = style.width.unwrap_or(WIDTH_IN_PIPE).saturating_sub(INDENT);
        let commands: Vec<_> = one
            .steps
            .iter()
            .map(|(_, command)| {
                let shown = Shown::from(command.as_ref());
                paste::lines(&shown, 0, Some(width)).join("\n")
            })
            .collect();
        let texts = one.steps.iter().map(|(text, _)| text.clone());
        let steps = texts.zip(commands.iter().map(|command| Some(command.as_str())));
        sheet.steps("steps", steps)?;
    }
    Ok(())
}
