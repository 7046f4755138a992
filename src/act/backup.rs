//! Saves a copy of the object before the change, as YAML that `kubectl apply` accepts once the object is
//! gone.
//!
//! The copy leaves out the fields that the server sets itself, because no server accepts them, and lists them
//! in its header. For a Secret, it contains only the metadata unless the user asks for the data.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{error::Error, plan::Plan, snapshot::facts::Object};

/// Metadata fields that the server sets itself.
const FILLED_IN: &[&str] = &[
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Writes the copy and returns its path.
pub fn backup(object: &Object, plan: &Plan, directory: &Path) -> Result<PathBuf, Error> {
    let path = directory.join(file_name(plan));
    let failed = |cause| Error::Write {
        path: path.clone(),
        cause,
    };
    let text = text(object).map_err(|error| failed(std::io::Error::other(error)))?;
    super::files::write_atomically(&path, &text).map_err(failed)?;
    Ok(path)
}

/// One file for each version of each object: a repeated run writes the same bytes.
fn file_name(plan: &Plan) -> String {
    let target = &plan.target;
    let place = target.namespace.as_deref().unwrap_or("-");
    let safe = |text: &str| -> String {
        let keep = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        text.chars().map(|c| if keep(c) { c } else { '_' }).collect()
    };
    // A file name is limited to 255 bytes, and a name with a namespace can be longer.
    let short = |text: &str| safe(text).chars().take(60).collect::<String>();
    format!(
        "{}_{}_{}_{}_{}.yaml",
        short(&target.type_name),
        short(place),
        short(&target.name),
        safe(&target.uid),
        safe(&plan.resource_version)
    )
}

fn text(object: &Object) -> Result<String, serde_saphyr::ser::Error> {
    let mut copy = object.value.clone();
    if let Some(fields) = copy.as_object_mut() {
        fields.insert("apiVersion".into(), object.api_version.clone().into());
        fields.insert("kind".into(), object.kind.clone().into());
    }
    let mut filled_in = serde_json::Map::new();
    if let Some(metadata) = copy.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in FILLED_IN {
            if let Some(value) = metadata.remove(*field)
                && *field != "managedFields"
            {
                filled_in.insert((*field).to_owned(), value);
            }
        }
    }
    let partly = if object.text("/kind") == "PartialObjectMetadata" {
        "# Metadata only: --backup-secrets saves its data, too.\n"
    } else {
        ""
    };
    Ok(format!(
        "# Saved by kubectl finalizers before it was changed. Apply it again: kubectl apply --server-side -f FILE\n\
         # Left out, because the server fills it in: {}\n{partly}{}",
        Value::Object(filled_in),
        serde_saphyr::to_string(&copy)?
    ))
}
