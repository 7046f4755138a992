//! Checks `knowledge/` and embeds it, so that the program parses no built-in YAML at run time.
//!
//! Mistakes fail the build. All of them are reported at once, with file, line and column.

#[allow(
    dead_code,
    unreachable_pub,
    reason = "the program's own module; it uses more of it than this"
)]
#[path = "src/characters.rs"]
mod characters;
#[allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the program's own module; it uses more of it than this"
)]
#[path = "src/command/mod.rs"]
mod command;
#[path = "build/embed.rs"]
mod embed;
#[allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the program's own module; it uses more of it than this"
)]
#[path = "src/knowledge/schema/mod.rs"]
mod schema;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use schema::{Located, Mistake};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=knowledge");
    println!("cargo::rerun-if-changed=src/knowledge/schema");
    println!("cargo::rerun-if-changed=src/command");
    println!("cargo::rerun-if-changed=src/characters.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=build.rs");

    match read_all(Path::new("knowledge")) {
        Ok(Ok(entries)) => match embed::write(
            &entries,
            &PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()),
        ) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&[format!("cannot write the embedded catalogue: {error}")]),
        },
        Ok(Err(mistakes)) => fail(&mistakes.iter().map(ToString::to_string).collect::<Vec<_>>()),
        Err(error) => fail(&[format!("cannot read knowledge/: {error}")]),
    }
}

fn fail(messages: &[String]) -> ExitCode {
    for message in messages {
        println!("cargo::error={message}");
    }
    ExitCode::FAILURE
}

fn read_all(folder: &Path) -> io::Result<Result<Vec<Located>, Vec<Mistake>>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|item| Ok(item?.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();

    let (mut entries, mut mistakes) = (Vec::new(), Vec::new());
    for path in paths {
        if path.ends_with("NAMES") || path.ends_with("README.md") {
            continue;
        }
        if path.extension().is_none_or(|extension| extension != "yaml") {
            // Do not skip it: an ignored `.yml` would look like a part of the catalogue.
            let message = "only .yaml files belong here".to_owned();
            mistakes.push(Mistake {
                file: path.display().to_string(),
                line: 0,
                column: 0,
                message,
            });
            continue;
        }
        match schema::read(&path.display().to_string(), &fs::read_to_string(&path)?) {
            Ok(read) => entries.extend(read),
            Err(found) => mistakes.extend(found),
        }
    }
    mistakes.extend(schema::conflicts(&entries));
    Ok(if mistakes.is_empty() {
        Ok(entries)
    } else {
        Err(mistakes)
    })
}
