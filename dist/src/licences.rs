//! The licences of what is compiled in, as one text.

use std::{collections::BTreeMap, fs, path::Path};

use crate::{Result, crates::Tree, files_of};

/// How files with a licence or a notice begin.
const NAMES: [&str; 5] = ["LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// Files whose text several crates share stand there once.
pub(crate) fn text(tree: &Tree) -> Result<String> {
    let mut list = String::new();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((name, version), one) in &tree.crates {
        let from = one.repository.as_deref().unwrap_or_default();
        list += format!("{name} {version}: {} {from}", one.licence).trim_end();
        list.push('\n');
        let mut found = in_folder(&one.folder)?;
        if found.is_empty() && one.licence.contains("Apache-2.0") {
            // The archives of some crates lack the text. Apache-2.0 is always the same text, and our own licence.
            found.push(fs::read_to_string("LICENSE")?);
        }
        if found.is_empty() {
            return Err(format!("{name} {version} ({}) has no text of its licence", one.licence).into());
        }
        for text in found {
            texts.entry(text).or_default().push(format!("{name} {version}"));
        }
    }
    let mut sorted: Vec<_> = texts.into_iter().map(|(text, crates)| (crates, text)).collect();
    sorted.sort();
    let mut all = format!(
        "kubectl-finalizers {} contains these crates, and Rust's standard library (MIT OR Apache-2.0).\n\
         Each stands with its licence and its source. The texts follow.\n\n{list}",
        tree.version
    );
    for (crates, text) in sorted {
        let rule = "=".repeat(80);
        all += &["\n", &rule, "\n", &crates.join(", "), "\n\n", text.trim(), "\n"].concat();
    }
    Ok(all)
}

fn in_folder(folder: &Path) -> Result<Vec<String>> {
    let is_licence = |name: &str| NAMES.iter().any(|start| name.to_uppercase().starts_with(start));
    let files = files_of(folder)?.into_iter();
    // Windows' ends of lines would make the same text another one.
    let read = |path| Ok(fs::read_to_string(path)?.replace("\r\n", "\n"));
    files
        .filter(|(name, _)| is_licence(name))
        .map(|(_, path)| read(path))
        .collect()
}
