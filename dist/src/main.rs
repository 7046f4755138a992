//! Packs a built program for a release. `scripts/package` builds it and runs this in the root of the repository:
//!
//! - `dist archive TARGET BINARY OUT` writes the archive of a target and its bill of materials.
//! - `dist local TARGET BINARY OUT` does it for this machine: the program may need its glibc.
//! - `dist sums OUT` writes the krew manifest with the sums of the archives in OUT, and `SHA256SUMS`.
//! - `dist release OUT` is the same, but refuses if an archive of the manifest is missing.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod archive;
mod bill;
mod crates;
mod glibc;
mod licences;
mod sums;
mod zip;

use std::{
    env, fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use crates::Tree;

/// Every error goes to a developer, who mends the cause.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let words: Vec<_> = env::args().skip(1).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let written = match words[..] {
        [kind @ ("archive" | "local"), target, binary, out] => {
            write_archive(target, Path::new(binary), Path::new(out), kind == "local")
        }
        ["sums", out] => sums::write(Path::new(out), false),
        ["release", out] => sums::write(Path::new(out), true),
        _ => Err("usage: dist archive|local TARGET BINARY OUT | sums OUT | release OUT".into()),
    };
    match written {
        Ok(paths) => {
            for path in paths {
                drop(writeln!(io::stdout(), "{}", path.display()));
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            drop(writeln!(io::stderr(), "dist: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The files of a folder with their names, in the order of the names.
fn files_of(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().is_file() {
            files.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    files.sort();
    Ok(files)
}

fn write_archive(target: &str, binary: &Path, out: &Path, local: bool) -> Result<Vec<PathBuf>> {
    let tree = Tree::of(target)?;
    let program = fs::read(binary).map_err(|error| format!("cannot read {}: {error}", binary.display()))?;
    if let Some(newest) = glibc::needed(&program, target, local)? {
        drop(writeln!(io::stderr(), "{target} needs glibc {newest} or newer"));
    }
    let name = format!("kubectl-finalizers-v{}-{target}", tree.version);
    let files = archive::files(target, program, licences::text(&tree)?)?;
    let (packed, extension) = if target.contains("windows") {
        (zip::pack(&files)?, "zip")
    } else {
        (archive::tar_gz(&files)?, "tar.gz")
    };
    fs::create_dir_all(out)?;
    let archive = out.join(format!("{name}.{extension}"));
    let bill = out.join(format!("{name}.cdx.json"));
    fs::write(&archive, packed)?;
    fs::write(
        &bill,
        serde_json::to_string_pretty(&bill::of(&tree, target))? + "\n",
    )?;
    Ok(vec![archive, bill])
}
