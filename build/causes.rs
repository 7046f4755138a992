//! Lists the causes: each constant of type `Cause` below `src/diagnose/causes/`, in the order of its files.
//!
//! So a cause is declared in one place, its file. A file that no `mod` line names fails to compile, because the list
//! names it.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

/// Where the causes are.
pub(crate) const FOLDER: &str = "src/diagnose/causes";

/// Writes the list as a constant.
pub(crate) fn write(to: &Path) -> io::Result<()> {
    let mut files = Vec::new();
    add_files(Path::new(FOLDER), &mut files)?;
    files.sort();
    let mut list = String::from("/// All causes.\nstatic CAUSES: &[&Cause] = &[\n");
    for file in files {
        let module = module(&file);
        for name in declared(&fs::read_to_string(&file)?) {
            let _ = writeln!(list, "    &crate::diagnose::causes::{module}::{name},");
        }
    }
    list += "];\n";
    fs::write(to.join("causes.rs"), list)
}

fn add_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// The module of a file: `storage::pvc_protection`.
fn module(file: &Path) -> String {
    let below = file.strip_prefix(FOLDER).unwrap_or(file).with_extension("");
    let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("::")
}

/// The names of the constants that declare a cause.
fn declared(code: &str) -> impl Iterator<Item = &str> {
    let lines = code.lines();
    lines.filter_map(|line| {
        line.strip_prefix("pub(crate) const ")?
            .strip_suffix(": Cause = Cause {")
    })
}
