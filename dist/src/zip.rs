//! A zip, for Windows. The crate `zip` brings six more crates, mostly to encrypt, and this needs none of it. The format is
//! PKWARE's APPNOTE, 4.3.

use std::io::Write as _;

use flate2::{Compression, Crc, write::DeflateEncoder};

use crate::{Result, archive::File};

/// The version that can read deflated files: 2.0.
const VERSION: u16 = 20;
/// Modes are those of Unix.
const MADE_ON: u16 = 3 << 8;
const DEFLATED: u16 = 8;
/// 1980-01-01, the first day that there is.
const DATE: u16 = (1 << 5) | 1;
const REGULAR_FILE: u32 = 0o100_000;

/// Nothing of the machine or the day goes in.
pub(crate) fn pack(files: &[File]) -> Result<Vec<u8>> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for file in files {
        let offset = u32::try_from(zip.len())?;
        let mut sum = Crc::new();
        sum.update(&file.bytes);
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
        deflate.write_all(&file.bytes)?;
        let packed = deflate.finish()?;

        // The same fields stand before the file and in the directory.
        let mut fields = Vec::new();
        // Version, flags, method, time, date.
        short(&mut fields, &[VERSION, 0, DEFLATED, 0, DATE]);
        long(
            &mut fields,
            &[sum.sum(), packed.len().try_into()?, file.bytes.len().try_into()?],
        );
        // The lengths of the name and of more fields.
        short(&mut fields, &[file.path.len().try_into()?, 0]);

        zip.extend(b"PK\x03\x04");
        zip.extend(&fields);
        zip.extend(file.path.as_bytes());
        zip.extend(packed);

        directory.extend(b"PK\x01\x02");
        short(&mut directory, &[MADE_ON | VERSION]);
        directory.extend(&fields);
        // The length of the comment, the number of the disk, what the file holds.
        short(&mut directory, &[0, 0, 0]);
        long(&mut directory, &[(REGULAR_FILE | file.mode()) << 16, offset]);
        directory.extend(file.path.as_bytes());
    }
    let (at, length, count) = (zip.len(), directory.len(), u16::try_from(files.len())?);
    zip.extend(directory);
    zip.extend(b"PK\x05\x06");
    short(&mut zip, &[0, 0, count, count]);
    long(&mut zip, &[length.try_into()?, at.try_into()?]);
    short(&mut zip, &[0]);
    Ok(zip)
}

fn short(bytes: &mut Vec<u8>, numbers: &[u16]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn long(bytes: &mut Vec<u8>, numbers: &[u32]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Read as _, process::Command};

    use super::*;

    fn some() -> Vec<File> {
        let file = |path: &str, executable, bytes: &[u8]| File {
            path: path.into(),
            executable,
            bytes: bytes.into(),
        };
        vec![
            file("LICENSE", false, &b"text ".repeat(1000)),
            file("kubectl-finalizers.exe", true, b"program"),
        ]
    }

    fn number(bytes: &[u8]) -> usize {
        bytes
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | usize::from(*byte))
    }

    /// Reads it from its end, as programs do.
    #[test]
    fn the_directory_leads_to_each_file() {
        let zip = pack(&some()).unwrap();
        let end = &zip[zip.len() - 22..];
        assert_eq!((&end[..4], number(&end[10..12])), (&b"PK\x05\x06"[..], 2));
        let mut entry = &zip[number(&end[16..20])..][..number(&end[12..16])];
        for file in some() {
            assert_eq!(&entry[..4], b"PK\x01\x02");
            let name = number(&entry[28..30]);
            assert_eq!(&entry[46..46 + name], file.path.as_bytes());
            assert_eq!(number(&entry[38..42]) >> 16, 0o100_000 | file.mode() as usize);
            let start = &zip[number(&entry[42..46])..];
            assert_eq!(start[30..30 + name], entry[46..46 + name]);
            let packed = &start[30 + name..][..number(&entry[20..24])];
            let mut bytes = Vec::new();
            let mut inflate = flate2::read::DeflateDecoder::new(packed);
            inflate.read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, file.bytes);
            entry = &entry[46 + name..];
        }
        assert!(entry.is_empty());
    }

    #[test]
    fn python_reads_it() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a.zip");
        fs::write(&path, pack(&some()).unwrap()).unwrap();
        let test = Command::new("python3")
            .args(["-m", "zipfile", "-t"])
            .arg(path)
            .output();
        // A machine without Python has the test above.
        if let Ok(test) = test {
            let said = String::from_utf8_lossy(&test.stdout).into_owned();
            assert!(test.status.success() && !said.contains("bad"), "{said}");
        }
    }
}
