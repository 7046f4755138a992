//! Appends lines to a file, each on the disk before the call returns.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use super::{directory_for, follow_no_link, owner_only, sync_directory};

/// Appends a line to a file and waits until it is on the disk. Follows no link, and refuses a file that everybody can
/// change.
pub(in crate::act) fn append_line(path: &Path, text: &str) -> io::Result<()> {
    let directory = directory_for(path)?;
    let is_new = std::fs::symlink_metadata(path).is_err();
    let mut file = open(owner_only().append(true).create(true).read(true), path)?;
    let start = if lacks_final_newline(&mut file)? { "\n" } else { "" };
    file.write_all(format!("{start}{text}\n").as_bytes())?;
    file.sync_all()?;
    if is_new { sync_directory(directory) } else { Ok(()) }
}

#[cfg(unix)]
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    use std::os::unix::fs::MetadataExt as _;

    let refused = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    let file = match follow_no_link(options).open(path) {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return refused("it is a symbolic link, and links are not followed");
        }
        file => file?,
    };
    let about = file.metadata()?;
    match about {
        _ if !about.is_file() => Ok(file),
        _ if about.nlink() > 1 => refused("the file has another name (a hard link)"),
        _ if about.mode() & 0o002 != 0 => refused("everybody can change the file; try: chmod 600"),
        _ => Ok(file),
    }
}

#[cfg(not(unix))]
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    follow_no_link(options).open(path)
}

/// Whether the last line has no newline: a full disk cuts it short. That line stays, and the next one starts
/// on a new line.
fn lacks_final_newline(file: &mut File) -> io::Result<bool> {
    let about = file.metadata()?;
    if !about.is_file() || about.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::append_line;

    #[test]
    fn a_receipt_follows_no_link_and_trusts_no_open_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        append_line(&at("own"), "1").expect("a new file");
        append_line(&at("own"), "2").expect("its second line");
        assert_eq!(fs::read_to_string(at("own")).expect("a file"), "1\n2\n");
        let mode = |name: &str| fs::metadata(at(name)).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode("own"), 0o600);

        fs::write(at("victim"), "mine\n").expect("a file");
        std::os::unix::fs::symlink(at("victim"), at("soft")).expect("a link");
        std::os::unix::fs::symlink(at("absent"), at("dangling")).expect("a link");
        fs::hard_link(at("victim"), at("hard")).expect("a link");
        fs::write(at("open"), "").expect("a file");
        fs::set_permissions(at("open"), fs::Permissions::from_mode(0o666)).expect("a mode");
        for (name, why) in [
            ("soft", "symbolic link"),
            ("dangling", "symbolic link"),
            ("hard", "another name"),
            ("open", "everybody can change"),
        ] {
            let error = append_line(&at(name), "x").expect_err(name);
            assert!(error.to_string().contains(why), "{name}: {error}");
        }
        assert_eq!(fs::read_to_string(at("victim")).expect("a file"), "mine\n");
        assert!(!at("absent").exists());

        let everybody = fs::Permissions::from_mode(0o777);
        fs::set_permissions(folder.path(), everybody).expect("a mode");
        let error = append_line(&at("new"), "x").expect_err("an open directory");
        assert!(error.to_string().contains("everybody can change"), "{error}");
    }
}
