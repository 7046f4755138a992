//! Reading files instead of a cluster: what `kubectl get -o yaml` or `-o json` printed, directories of such
//! files, `kubectl cluster-info dump`, and stdin.
//!
//! A dump differs from a cluster in three ways, and each decides something here.
//!
//! *It does not say what it lacks.* A server lists its types; a file holds what somebody thought of saving.
//! So every type that explaining a stuck deletion needs and that the dump does not hold becomes a
//! [`Gap`](super::Gap), and so does every file, document and object that could not be used. Only a file that
//! was named and cannot be opened, and a dump in which nothing is an object, are errors.
//!
//! *It says things late.* kubectl sorts keys, so a list names its kind after its items, and the
//! CustomResourceDefinition that knows a plural may stand in the last file. Files are therefore read once,
//! in any order, into a `Collector` that holds what carries a finalizer or a deletion
//! mark and counts the rest; types, time and filters are settled at the end (`finish.rs`).
//!
//! *It may be as large as its author liked.* JSON is read whole as bytes and walked without being built. YAML
//! is cut into documents, and lists into items, line by line, and only the lines that matter reach the
//! parser, which is slow; data of Secrets never gets that far.

mod collect;
mod files;
mod finish;
mod form;
mod json;
mod kinds;
mod place;
mod time;
mod whole;
mod yaml;

use std::{
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use jiff::Timestamp;

pub use self::whole::Dump;
use self::{
    collect::Collector,
    files::{Entry, OpenFile},
    whole::Whole,
};
use super::{
    Filter, Snapshot,
    saved::{Fault, Saved},
};
use crate::error::Error;

/// What is to be found in a dump.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// One namespace; none for all and for what is in no namespace.
    pub namespace: Option<&'a str>,
    /// Types as typed; empty for all.
    pub types: &'a [String],
    /// Types to leave out, as typed.
    pub exclude: &'a [String],
    /// Every object with a finalizer, not only those being deleted.
    pub all: bool,
    /// Whether it is asked who holds them.
    pub by_holder: bool,
    /// Which objects count.
    pub filter: &'a Filter,
    /// The present, for a dump that comes from a pipe and has no time of its own.
    pub now: Timestamp,
}

/// Reads files and directories, `-` being stdin, as if they were one dump.
pub fn load(paths: &[PathBuf], stdin: &mut dyn Read, wanted: &Wanted<'_>) -> Result<Snapshot, Error> {
    let mut found = Collector::new(wanted.namespace, wanted.filter);
    collect(&mut found, paths, stdin, wanted.now)?;
    finish::snapshot(found, paths, wanted)
}

/// The same with the objects themselves, for explaining them.
pub fn dump(paths: &[PathBuf], stdin: &mut dyn Read, now: Timestamp) -> Result<Dump, Error> {
    let filter = Filter::default();
    let mut found = Collector::new(None, &filter);
    found.whole = Some(Whole::default());
    collect(&mut found, paths, stdin, now)?;
    let whole = found.whole.take().unwrap_or_default();
    Ok(Dump::new(found, whole, now))
}

fn collect(
    found: &mut Collector<'_>,
    paths: &[PathBuf],
    stdin: &mut dyn Read,
    now: Timestamp,
) -> Result<(), Error> {
    let mut stdin = Some(stdin);
    for path in paths {
        if path == Path::new("-") {
            // A second `-` has nothing left to read, and nothing is missing for it.
            if let Some(stdin) = stdin.take() {
                let failed = read(found, "stdin", stdin, now).err();
                failed.map_or(Ok(()), |cause| Err(unreadable(Path::new("stdin"), cause)))?;
            }
        } else if path.is_dir() {
            directory(found, path, now)?;
        } else {
            let file = files::open(path, now).map_err(|cause| unreadable(path, cause))?;
            one(found, path, file).map_err(|cause| unreadable(path, cause))?;
        }
    }
    if found.is_empty() {
        return Err(nothing(paths, found));
    }
    Ok(())
}

/// The snapshot that was named, if it is one. A snapshot is the whole answer: it cannot be read together with
/// anything else.
pub fn saved(paths: &[PathBuf], stdin: &mut dyn BufRead) -> Result<Option<Saved>, Error> {
    let mut found = None;
    for path in paths {
        let read = if path == Path::new("-") {
            let head = stdin.fill_buf().map_err(|cause| unreadable(path, cause))?;
            // What is read from here is gone for whoever reads a dump, so the first bytes decide.
            if !may_be_saved(head) {
                continue;
            }
            Saved::read(stdin)
        } else if path.is_dir() {
            continue;
        } else {
            let file = std::fs::File::open(path).map_err(|cause| unreadable(path, cause))?;
            let mut file = BufReader::with_capacity(1 << 16, file);
            if !file.get_ref().metadata().is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            Saved::read(&mut file)
        };
        match read {
            Ok(saved) => found = Some(saved),
            Err(Fault::NotOne) => {}
            Err(Fault::Broken(message)) => {
                return Err(unreadable(
                    path,
                    io::Error::new(io::ErrorKind::InvalidData, message),
                ));
            }
        }
    }
    if found.is_some() && paths.len() > 1 {
        return Err(Error::Usage {
            message: "--from: a snapshot is read alone, and more was named".into(),
            hint: None,
        });
    }
    Ok(found)
}

fn may_be_saved(head: &[u8]) -> bool {
    head.first() == Some(&0x1f) || head.starts_with(b"{\"format\":\"kubectl-finalizers/")
}

/// Everything below a directory. What fails there is missing from the dump, but does not stop it.
fn directory(found: &mut Collector<'_>, path: &Path, now: Timestamp) -> Result<(), Error> {
    for entry in files::below(path).map_err(|cause| unreadable(path, cause))? {
        let (path, result) = match entry {
            Entry::File(path) => {
                let result = files::open(&path, now).and_then(|file| one(found, &path, file));
                (path, result)
            }
            Entry::Unreadable(path, cause) => (path, Err(cause)),
            Entry::Packed(path) => {
                found.begin_file(&path.display().to_string());
                found.gap(None, "compressed; unpack it first".into());
                continue;
            }
        };
        if let Err(cause) = result {
            found.begin_file(&path.display().to_string());
            found.gap(None, format!("cannot be read: {cause}"));
        }
    }
    Ok(())
}

fn one(found: &mut Collector<'_>, path: &Path, mut file: OpenFile) -> io::Result<()> {
    read(found, &path.display().to_string(), &mut file.reader, file.written)
}

fn read(found: &mut Collector<'_>, name: &str, reader: &mut dyn Read, written: Timestamp) -> io::Result<()> {
    found.begin_file(name);
    found.time.file(name, written);
    let result = form::read(found, reader);
    found.end_file();
    result
}

fn unreadable(path: &Path, cause: io::Error) -> Error {
    Error::Read {
        path: path.to_owned(),
        cause,
    }
}

/// The error for a dump that is none. If just one thing was wrong with it, that is the reason.
fn nothing(paths: &[PathBuf], found: &Collector<'_>) -> Error {
    let reason = match found.gaps.as_slice() {
        [] if paths.iter().any(|path| path.is_dir()) => {
            "nothing in it looks like Kubernetes objects; files ending in .yaml, .yml and .json were looked at"
                .into()
        }
        [] => "nothing in it looks like Kubernetes objects; save them with -o yaml or -o json".into(),
        [gap] => gap.why.message(),
        [first, rest @ ..] => format!(
            "nothing in it could be used as Kubernetes objects: {}, and {} more faults",
            first.why.message(),
            rest.len()
        ),
    };
    unreadable(
        Path::new(&finish::source(paths)),
        io::Error::new(io::ErrorKind::InvalidData, reason),
    )
}

#[cfg(test)]
mod tests;
