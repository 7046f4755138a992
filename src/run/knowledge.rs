//! The catalogue with the user's own entries: from the files in `--knowledge`, then from the config
//! directory.
//!
//! A mistake has different consequences in the two. A user who names a file wants exactly that file, so a
//! mistake in it ends the run. A file in the config directory applies to every run. It must not stand between
//! a user and a stuck namespace, so a warning on stderr says that it is skipped.

use std::{
    collections::BTreeSet,
    env, fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use crate::{
    error::Error,
    knowledge::{Knowledge, Mistake},
    output::safe::harmless,
};

/// Loads the catalogue and the user's entries.
pub(super) fn load(given: &[PathBuf]) -> Result<Knowledge, Error> {
    let mut knowledge = Knowledge::builtin();
    let mut mistakes = Vec::new();
    let mut seen = BTreeSet::new();
    for path in given {
        for file in files_at(path)? {
            if is_new(&file, &mut seen) {
                add(&mut knowledge, &file, &mut mistakes)?;
            }
        }
    }
    if !mistakes.is_empty() {
        let mistakes = mistakes.iter().map(ToString::to_string).collect();
        return Err(Error::Knowledge { mistakes });
    }
    for file in config_directory()
        .map(|dir| yaml_files(&dir))
        .transpose()
        .ok()
        .flatten()
        .unwrap_or_default()
    {
        if is_new(&file, &mut seen) {
            let unread = add(&mut knowledge, &file, &mut mistakes).err();
            warn(&file, unread.as_ref(), &mistakes);
            mistakes.clear();
        }
    }
    Ok(knowledge)
}

/// A directory and a path can name the same file, which can also be in the config directory.
fn is_new(file: &Path, seen: &mut BTreeSet<PathBuf>) -> bool {
    seen.insert(fs::canonicalize(file).unwrap_or_else(|_| file.to_owned()))
}

/// Adds the entries of a file, or its mistakes.
fn add(knowledge: &mut Knowledge, file: &Path, mistakes: &mut Vec<Mistake>) -> Result<(), Error> {
    let bytes = fs::read(file).map_err(|cause| unreadable(file, cause))?;
    let name = file.display().to_string();
    let text = match str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => {
            let good = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
            let last = good.rsplit('\n').next().unwrap_or_default();
            mistakes.push(Mistake {
                file: name,
                line: good.matches('\n').count() as u64 + 1,
                column: last.chars().count() as u64 + 1,
                message: "this is not UTF-8".into(),
            });
            return Ok(());
        }
    };
    match knowledge.clone().with_user(&name, text) {
        Ok(more) => *knowledge = more,
        Err(found) => mistakes.extend(found),
    }
    Ok(())
}

/// The files that one `--knowledge` names. A file can be anything readable, for example a pipe of the shell.
fn files_at(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let about = fs::metadata(path).map_err(|cause| unreadable(path, cause))?;
    if !about.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let files = yaml_files(path).map_err(|cause| unreadable(path, cause))?;
    if files.is_empty() {
        return Err(unreadable(
            path,
            io::Error::other("no .yaml file is in this directory"),
        ));
    }
    Ok(files)
}

/// The YAML files of a directory, sorted by name. Only regular files: reading others could block.
fn yaml_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for item in fs::read_dir(directory)? {
        let path = item?.path();
        let is_yaml = path
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml");
        if is_yaml && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// `$XDG_CONFIG_HOME/kubectl-finalizers`, otherwise `~/.config/kubectl-finalizers`
/// (<https://specifications.freedesktop.org/basedir-spec/latest/>: relative paths are ignored).
fn config_directory() -> Option<PathBuf> {
    let set = env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let config = set.or_else(|| Some(env::home_dir()?.join(".config")));
    config.map(|config| config.join("kubectl-finalizers"))
}

fn unreadable(path: &Path, cause: io::Error) -> Error {
    Error::Read {
        path: path.to_owned(),
        cause,
    }
}

fn warn(file: &Path, unread: Option<&Error>, mistakes: &[Mistake]) {
    let mut stderr = io::stderr().lock();
    let mut say = |line: &str| drop(writeln!(stderr, "{}", harmless(line)));
    if let Some(error) = unread {
        say(&format!("warning: {error}; going on without it"));
    }
    if !mistakes.is_empty() {
        say(&format!(
            "warning: {} has mistakes; going on without it",
            file.display()
        ));
    }
    for mistake in mistakes {
        say(&mistake.to_string());
    }
}
