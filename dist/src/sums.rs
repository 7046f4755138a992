//! The sums of the archives: for krew in its manifest, for people in `SHA256SUMS`.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use ring::digest::{SHA256, digest};

use crate::{Result, files_of};

/// The sum in the committed manifest. An archive holds its version's README, so no sum is known before.
const UNKNOWN: &str = "0000000000000000000000000000000000000000000000000000000000000000";

pub(crate) fn write(out: &Path, complete: bool) -> Result<Vec<PathBuf>> {
    let manifest = out.join("krew-manifest.yaml");
    let rendered = rendered(&fs::read_to_string("krew-manifest.yaml")?, out, complete)?;
    fs::write(&manifest, rendered)?;
    let mut lines = String::new();
    for (name, path) in files_of(out)? {
        let published = [".tar.gz", ".zip", ".cdx.json", ".oci.tar", ".yaml"];
        if published.iter().any(|end| name.ends_with(end)) {
            lines += &[&sum(&path)?, "  ", &name, "\n"].concat();
        }
    }
    let sums = out.join("SHA256SUMS");
    fs::write(&sums, lines)?;
    Ok(vec![manifest, sums])
}

/// The manifest with the sum of each archive that is there. A sum follows the address of its archive.
fn rendered(manifest: &str, out: &Path, complete: bool) -> Result<String> {
    let mut text = String::new();
    let mut archive = None;
    let mut found = 0;
    for line in manifest.lines() {
        if let Some((_, uri)) = line.split_once("uri: ") {
            archive = uri.rsplit('/').next().map(|name| out.join(name));
        }
        match archive.as_ref().filter(|_| line.contains("sha256: ")) {
            Some(path) if path.is_file() => {
                text += &line.replace(UNKNOWN, &sum(path)?);
                found += 1;
            }
            Some(path) if complete => return Err(format!("{} is missing", path.display()).into()),
            _ => text += line,
        }
        text.push('\n');
    }
    if found == 0 {
        return Err(format!("krew-manifest.yaml names no archive of {}", out.display()).into());
    }
    Ok(text)
}

fn sum(path: &Path) -> Result<String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let mut digits = String::new();
    for byte in digest(&SHA256, &bytes).as_ref() {
        let _ = write!(digits, "{byte:02x}");
    }
    Ok(digits)
}
