//! How old a Linux may be.

use crate::Result;

/// Archives run on this glibc and newer ones. RHEL 7 has it. RHEL 8, Ubuntu 20.04 and Amazon Linux 2 have newer ones.
/// `scripts/package` builds for it.
const BASELINE: (u32, u32) = (2, 17);

/// The newest version of a symbol that a program of this target takes from glibc. More than the baseline is an error, but
/// for an archive for one's own machine.
pub(crate) fn needed(program: &[u8], target: &str, local: bool) -> Result<Option<String>> {
    let newest = newest(program).filter(|_| target.ends_with("linux-gnu"));
    let text = newest.map(|(major, minor)| format!("{major}.{minor}"));
    if newest.is_some_and(|newest| newest > BASELINE) && !local {
        let (major, minor) = BASELINE;
        let needs = text.unwrap_or_default();
        return Err(
            format!("the program needs glibc {needs}, but a release must run on {major}.{minor}").into(),
        );
    }
    Ok(text)
}

/// Names of versions are plain text in the table of strings: `GLIBC_2.17`.
fn newest(program: &[u8]) -> Option<(u32, u32)> {
    const PREFIX: &[u8] = b"GLIBC_";
    let starts = program.windows(PREFIX.len()).enumerate();
    starts
        .filter(|(_, window)| *window == PREFIX)
        .filter_map(|(at, _)| {
            let rest = program.get(at + PREFIX.len()..)?;
            let end = rest
                .iter()
                .position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
            let mut numbers = std::str::from_utf8(rest.get(..end)?).ok()?.split('.');
            Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
        })
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_counts_as_numbers() {
        let program = b"\0GLIBC_2.9\0GLIBC_2.17\0GLIBC_2.2.5\0GLIBC_PRIVATE\0";
        assert_eq!(newest(program), Some((2, 17)));
        assert_eq!(newest(b"static"), None);
    }

    #[test]
    fn a_program_for_newer_systems_is_only_for_this_machine() {
        let needs = |target, local| needed(b"\0GLIBC_2.34\0", target, local);
        let error = needs("x86_64-unknown-linux-gnu", false).unwrap_err();
        assert!(error.to_string().contains("2.34"), "{error}");
        assert_eq!(
            needs("x86_64-unknown-linux-gnu", true).unwrap().as_deref(),
            Some("2.34")
        );
        assert_eq!(needs("aarch64-apple-darwin", false).unwrap(), None);
    }
}
