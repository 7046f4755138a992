//! Names that kubectl accepts, one per line.

use std::io::{self, Write};

use crate::report::ObjectReport;

/// Writes `TYPE/NAME`, and `-n NAMESPACE` after it if the user did not choose the namespace. So each line is
/// the arguments of a kubectl command: `… -o name | xargs -L1 kubectl get`. `place` are further arguments, to reach the
/// cluster of the objects.
///
/// Leaves out an object whose name a shell or `xargs` would misread. Returns the number of these.
pub fn write<'a>(
    objects: impl Iterator<Item = &'a ObjectReport>,
    one_namespace: bool,
    place: &[String],
    out: &mut impl Write,
) -> io::Result<usize> {
    let mut left_out = 0;
    for object in objects {
        let name = &object.object;
        let namespace = name.namespace.as_deref().filter(|_| !one_namespace);
        let words = [object.kubectl_type.as_str(), name.name.as_str()];
        let is_readable = words.into_iter().chain(namespace).all(is_plain);
        if !is_readable || !place.iter().all(|word| is_plain_value(word)) {
            left_out += 1;
            continue;
        }
        write!(out, "{}/{}", object.kubectl_type, name.name)?;
        if let Some(namespace) = namespace {
            write!(out, " -n {namespace}")?;
        }
        for word in place {
            write!(out, " {word}")?;
        }
        writeln!(out)?;
    }
    Ok(left_out)
}

/// The same for the value of a flag, which may be a path, or a context with a slash in its name.
fn is_plain_value(text: &str) -> bool {
    !text.is_empty()
        && text
            .split('/')
            .all(|part| part.is_empty() || is_plain(part.trim_start_matches('-')))
}

/// Whether every shell takes this for one word and not for a flag. Nearly all names qualify: those of most
/// types are DNS labels, but a ClusterRole can be called `a b`
/// (`kubernetes/apimachinery:pkg/api/validation/path/name.go`).
pub(super) fn is_plain(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || "-._:@+,=".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(inside)
}
