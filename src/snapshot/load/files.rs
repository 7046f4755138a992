//! Which files belong to a dump, and when each was written.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;

/// Something below a directory.
pub(super) enum Entry {
    /// A file whose name says that it holds objects.
    File(PathBuf),
    /// A packed file whose name says so.
    Packed(PathBuf),
    /// A directory or link that cannot be looked at.
    Unreadable(PathBuf, io::Error),
}

/// A file that can be read, and when it was written.
pub(super) struct OpenFile {
    pub(super) reader: File,
    pub(super) written: Timestamp,
}

/// Opens a file. What is no regular file, such as the pipe of `<(kubectl get …)`, is being written `now`.
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

/// Everything of interest below a directory, in the order of its path.
///
/// Other files are passed over without a word: most of a `cluster-info dump` is logs. So are pipes and devices,
/// which would block or never end. Links are followed, as in a mounted ConfigMap, and each real directory is
/// entered once, so that a link to a parent ends the walk there.
pub(super) fn below(root: &Path) -> io::Result<Vec<Entry>> {
    let mut found = Vec::new();
    let mut entered = BTreeSet::from([fs::canonicalize(root)?]);
    // The named directory itself must be readable; those below it may fail.
    let mut open = sorted(root)?;
    while let Some(path) = open.pop() {
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => metadata,
            // A dangling link with another name would not have been read anyway.
            Err(cause) if interesting(&path) != Interest::None => {
                found.push(Entry::Unreadable(path, cause));
                continue;
            }
            Err(_) => continue,
        };
        if metadata.is_dir() {
            match fs::canonicalize(&path).map(|real| entered.insert(real)) {
                Ok(true) => match sorted(&path) {
                    Ok(entries) => open.extend(entries),
                    Err(cause) => found.push(Entry::Unreadable(path, cause)),
                },
                Ok(false) => {}
                Err(cause) => found.push(Entry::Unreadable(path, cause)),
            }
        } else if metadata.is_file() {
            match interesting(&path) {
                Interest::Objects => found.push(Entry::File(path)),
                Interest::Packed => found.push(Entry::Packed(path)),
                Interest::None => {}
            }
        }
    }
    Ok(found)
}

/// The entries of a directory, last first, so that taking from the end goes in order.
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

fn interesting(path: &Path) -> Interest {
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
