//! Reads files instead of a cluster: output of `kubectl get -o yaml` or `-o json`, directories of such files, `kubectl
//! cluster-info dump`, and stdin.
//!
//! A dump differs from a cluster in three ways.
//!
//! *It does not say what it lacks.* A server lists its types; a file holds what somebody saved. So the loader adds a
//! [`Gap`](super::Gap) for each type that a diagnosis needs and that the dump lacks. It also adds one for each file,
//! document and object that it cannot use. Only two things are errors: a named file that cannot be opened, and a dump
//! without any object.
//!
//! *It names things late.* kubectl sorts keys, so a list names its kind after its items. The CustomResourceDefinition
//! that holds a plural may be in the last file. So the loader reads files once, in any order, into a `Collector`. The
//! collector keeps objects with a finalizer or a deletion mark, and counts the rest. `finish.rs` settles types, time
//! and filters at the end.
//!
//! *It may be large.* JSON is read whole as bytes and parsed without building it. YAML is cut into documents, and lists
//! into items, line by line. Only the lines that matter reach the parser, which is slow. Data of Secrets never reaches
//! it.

mod collect;
mod dump;
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

use self::{
    collect::Collector,
    files::{Entry, OpenFile},
    whole::Whole,
};
pub use self::{dump::Dump, finish::source_name};
pub use super::Wanted;
use super::{
    Filter, Snapshot,
    saved::{Fault, Saved},
};
use crate::error::Error;

/// How the name of a snapshot ends.
pub const RECORDING: &str = "snapshot";

/// Reads files and directories as one dump. `-` is stdin.
pub fn load(paths: &[PathBuf], stdin: &mut dyn Read, wanted: &Wanted<'_>) -> Result<Snapshot, Error> {
    let mut collector = Collector::new(wanted.namespace, wanted.filter);
    collect(&mut collector, paths, stdin, wanted.now)?;
    finish::snapshot(collector, paths, wanted)
}

/// Reads a dump with its whole objects, for `explain`.
pub fn dump(paths: &[PathBuf], stdin: &mut dyn Read, now: Timestamp) -> Result<Dump, Error> {
    let filter = Filter::default();
    let mut collector = Collector::new(None, &filter);
    collector.whole = Some(Whole::default());
    collect(&mut collector, paths, stdin, now)?;
    let whole = collector.whole.take().unwrap_or_default();
    Ok(Dump::new(collector, whole, now))
}

fn collect(
    collector: &mut Collector<'_>,
    paths: &[PathBuf],
    stdin: &mut dyn Read,
    now: Timestamp,
) -> Result<(), Error> {
    let mut stdin = Some(stdin);
    for path in paths {
        if path == Path::new("-") {
            // A second `-` reads nothing, and nothing is missing because of it.
            if let Some(stdin) = stdin.take() {
                let failed = read(collector, "stdin", stdin, now).err();
                failed.map_or(Ok(()), |cause| Err(read_error(Path::new("stdin"), cause)))?;
            }
        } else if path.is_dir() {
            read_directory(collector, path, now)?;
        } else {
            let file = files::open(path, now).map_err(|cause| read_error(path, cause))?;
            read_file(collector, path, file).map_err(|cause| read_error(path, cause))?;
        }
    }
    if collector.is_empty() {
        return Err(no_objects_error(paths, collector));
    }
    Ok(())
}

/// The snapshots in a directory, in the order of their names; none if the paths are not one directory with snapshots. Such
/// a directory can hold no files from kubectl, because these are one cluster together.
pub fn recordings(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let [directory] = paths else { return Ok(Vec::new()) };
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |cause| read_error(directory, cause);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == RECORDING) {
            found.push(path);
        }
    }
    found.sort();
    let is_dump = |entry: &Entry| matches!(entry, Entry::File(_));
    if !found.is_empty() && files::files_below(directory).map_err(failed)?.iter().any(is_dump) {
        return Err(Error::Usage {
            message: format!(
                "--from: {} holds snapshots, and files from kubectl as well",
                directory.display()
            ),
            hint: Some("name one snapshot, or move the other files to a directory of their own".into()),
        });
    }
    Ok(found)
}

/// The saved snapshot, if one of the paths is one. A saved snapshot is complete, so it cannot be combined with other
/// files.
pub fn saved(paths: &[PathBuf], stdin: &mut dyn BufRead) -> Result<Option<Saved>, Error> {
    let mut found = None;
    for path in paths {
        let read = if path == Path::new("-") {
            let head = stdin.fill_buf().map_err(|cause| read_error(path, cause))?;
            // Bytes that are read here are lost for a dump on stdin, so only look at the first bytes.
            if !may_be_saved(head) {
                continue;
            }
            Saved::read(stdin)
        } else if path.is_dir() {
            continue;
        } else {
            let file = std::fs::File::open(path).map_err(|cause| read_error(path, cause))?;
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
                return Err(read_error(
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

/// Reads everything below a directory. A failure there is a gap and does not stop the dump.
fn read_directory(collector: &mut Collector<'_>, path: &Path, now: Timestamp) -> Result<(), Error> {
    for entry in files::files_below(path).map_err(|cause| read_error(path, cause))? {
        let (path, result) = match entry {
            Entry::File(path) => {
                let result = files::open(&path, now).and_then(|file| read_file(collector, &path, file));
                (path, result)
            }
            Entry::Unreadable(path, cause) => (path, Err(cause)),
            Entry::Packed(path) => {
                collector.begin_file(&path.display().to_string());
                collector.gap(None, "compressed; unpack it first".into());
                continue;
            }
        };
        if let Err(cause) = result {
            collector.begin_file(&path.display().to_string());
            collector.gap(None, format!("cannot be read: {cause}"));
        }
    }
    Ok(())
}

fn read_file(collector: &mut Collector<'_>, path: &Path, mut file: OpenFile) -> io::Result<()> {
    read(
        collector,
        &path.display().to_string(),
        &mut file.reader,
        file.written,
    )
}

fn read(
    collector: &mut Collector<'_>,
    name: &str,
    reader: &mut dyn Read,
    written: Timestamp,
) -> io::Result<()> {
    collector.begin_file(name);
    collector.time.file(name, written);
    let result = form::read(collector, reader);
    collector.end_file();
    result
}

fn read_error(path: &Path, cause: io::Error) -> Error {
    Error::Read {
        path: path.to_owned(),
        cause,
    }
}

/// The error for a dump without objects. If there was only one fault, it is the reason.
fn no_objects_error(paths: &[PathBuf], collector: &Collector<'_>) -> Error {
    let reason = match collector.gaps.as_slice() {
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
    read_error(
        Path::new(&finish::source_name(paths)),
        io::Error::new(io::ErrorKind::InvalidData, reason),
    )
}

#[cfg(test)]
mod tests;
