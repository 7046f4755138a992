//! The files of an archive, and the archive.

use std::{fs, path::Path};

use flate2::{Compression, GzBuilder};
use tar::{EntryType, Header};

use crate::{Result, files_of};

/// A file with its path in the archive.
pub(crate) struct File {
    pub path: String,
    pub executable: bool,
    pub bytes: Vec<u8>,
}

/// 1980-01-01, as in a zip, which has no earlier day. The time of a build must not be in the archive.
const TIME: u64 = 315_532_800;

/// The files of every archive, sorted by path.
pub(crate) fn files(target: &str, program: Vec<u8>, licences: String) -> Result<Vec<File>> {
    let windows = target.contains("windows");
    let program_name = if windows {
        "kubectl-finalizers.exe"
    } else {
        "kubectl-finalizers"
    };
    let mut files = vec![
        File {
            path: program_name.into(),
            executable: true,
            bytes: program,
        },
        File {
            path: "THIRD-PARTY-LICENSES".into(),
            executable: false,
            bytes: licences.into(),
        },
    ];
    for name in ["LICENSE", "README.md"] {
        files.push(plain(name.into(), Path::new(name))?);
    }
    if !windows {
        files.push(File {
            executable: true,
            ..plain("install.sh".into(), Path::new("dist/install.sh"))?
        });
    }
    for (folder, from) in [("completions", "docs/completions"), ("man", "docs/man")] {
        for (name, path) in files_of(Path::new(from))? {
            if name != COMPLETES_KUBECTL {
                files.push(plain(format!("{folder}/{name}"), &path)?);
            } else if !windows {
                // A shell script, which kubectl looks for beside the program.
                files.push(File {
                    executable: true,
                    ..plain(name, &path)?
                });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The program that kubectl runs to complete a plugin.
const COMPLETES_KUBECTL: &str = "kubectl_complete-finalizers";

fn plain(path: String, from: &Path) -> Result<File> {
    let bytes = fs::read(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    Ok(File {
        path,
        executable: false,
        bytes,
    })
}

impl File {
    pub(crate) fn mode(&self) -> u32 {
        if self.executable { 0o755 } else { 0o644 }
    }
}

/// Nothing of the machine or the day goes in: no owner, no time.
pub(crate) fn tar_gz(files: &[File]) -> Result<Vec<u8>> {
    let gzip = GzBuilder::new().write(Vec::new(), Compression::best());
    let mut tar = tar::Builder::new(gzip);
    for file in files {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(file.mode());
        header.set_mtime(TIME);
        header.set_uid(0);
        header.set_gid(0);
        header.set_size(file.bytes.len().try_into()?);
        tar.append_data(&mut header, &file.path, file.bytes.as_slice())?;
    }
    Ok(tar.into_inner()?.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_give_the_same_bytes_and_come_back() {
        let files = [File {
            path: "man/a.1".into(),
            executable: false,
            bytes: b".TH".into(),
        }];
        let packed = tar_gz(&files).unwrap();
        assert!(packed == tar_gz(&files).unwrap());
        let mut read = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
        let entry = read.entries().unwrap().next().unwrap().unwrap();
        assert_eq!(entry.path().unwrap(), Path::new("man/a.1"));
        assert_eq!(
            (entry.header().mode().unwrap(), entry.header().mtime().unwrap()),
            (0o644, TIME)
        );
    }
}
