//! Names that kubectl takes, a line each.

use std::io::{self, Write};

use crate::report::ObjectReport;

/// Writes `TYPE/NAME`, and `-n NAMESPACE` behind it where the namespace is not the reader's own choice, so that
/// each line is the arguments of a kubectl command: `… -o name | xargs -L1 kubectl get`.
pub fn write<'a>(
    objects: impl Iterator<Item = &'a ObjectReport>,
    one_namespace: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    for object in objects {
        match &object.object.namespace {
            Some(namespace) if !one_namespace => {
                writeln!(
                    out,
                    "{}/{} -n {namespace}",
                    object.kubectl_type, object.object.name
                )?;
            }
            _ => writeln!(out, "{}/{}", object.kubectl_type, object.object.name)?,
        }
    }
    Ok(())
}
