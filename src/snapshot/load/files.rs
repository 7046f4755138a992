//! Finds the files of a dump, and when each was written.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;

/// An entry of a directory tree.
pub(super) enum Entry {
    /// A file whose name ends like YAML or JSON.
    File(PathBuf),
    /// A compressed file whose name suggests objects.
    Packed(PathBuf),
    /// A directory or link that cannot be read.
    Unreadable(PathBuf, io::Error),
}

/// An open file, and when it was written.
pub(super) struct OpenFile {
    pub(super) reader: File,
    pub(super) written: Timestamp,
}

/// Opens a file. A pipe, such as `<(kubectl get …)`, counts as written `now`.
pub(super) fn open(path: &Path, now: Timestamp) -> io::Result<OpenFile> {
    let reader = File::open(path)?;
    let metadata = reader.metadata()?;
    let written = if metadata.is_file() {
        metadata.modified().ok().and_then(|time| time.try_into().ok())
    } else {
        None
    };
    Ok(OpenFile {
        reader,
        written: written.unwrap_or(now).min(now),
    })
}

/// All relevant files below a directory, ordered by path.
///
/// Other files are skipped without a note: most of a `cluster-info dump` is logs. Pipes and devices are skipped too,
/// because they would block or never end. Links are followed, as in a mounted ConfigMap. Each real directory is entered
/// once, so that a link to a parent does not loop.
pub(super) fn files_below(root: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut entered = BTreeSet::from([fs::canonicalize(root)?]);
    // The named directory itself must be readable; those in it may fail.
    let mut open = sorted(root)?;
    while let Some(path) = open.pop() {
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => metadata,
            // A dangling link with another ending would not be read anyway.
            Err(cause) if interest_in(&path) != Interest::None => {
                entries.push(Entry::Unreadable(path, cause));
                continue;
            }
            Err(_) => continue,
        };
        if metadata.is_dir() {
            match fs::canonicalize(&path).map(|real| entered.insert(real)) {
                Ok(true) => match sorted(&path) {
                    Ok(children) => open.extend(children),
                    Err(cause) => entries.push(Entry::Unreadable(path, cause)),
                },
                Ok(false) => {}
                Err(cause) => entries.push(Entry::Unreadable(path, cause)),
            }
        } else if metadata.is_file() {
            match interest_in(&path) {
                Interest::Objects => entries.push(Entry::File(path)),
                Interest::Packed => entries.push(Entry::Packed(path)),
                Interest::None => {}
            }
        }
    }
    Ok(entries)
}

/// The entries of a directory in reverse order, so that `pop` takes them in order.
fn sorted(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    entries.sort_by(|one, other| other.cmp(one));
    Ok(entries)
}

#[derive(PartialEq)]
enum Interest {
    None,
    Objects,
    Packed,
}

fn interest_in(path: &Path) -> Interest {
    let ending = |path: &Path| {
        path.extension()
            .map(|ending| ending.to_string_lossy().to_lowercase())
            .unwrap_or_default()
    };
    let objects = |ending: &str| matches!(ending, "yaml" | "yml" | "json");
    match ending(path).as_str() {
        own if objects(own) => Interest::Objects,
        "tgz" | "zip" => Interest::Packed,
        "gz" | "zst" | "xz" | "bz2" => {
            let inner = path.file_stem().map(|stem| ending(Path::new(stem)));
            match inner.as_deref() {
                Some("tar") => Interest::Packed,
                Some(inner) if objects(inner) => Interest::Packed,
                _ => Interest::None,
            }
        }
        _ => Interest::None,
    }
}
