//! Saves a copy of the object before the change, as YAML that `kubectl apply` accepts once the object is
//! gone.
//!
//! The copy leaves out the fields that the server sets itself, because no server accepts them, and lists them
//! in its header. A volume has policy Retain in its copy. For a Secret, it contains only the metadata unless the user
//! asks for the data.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::files::{self, NewFile};
use crate::{
    diagnose::reclaim_policy,
    error::Error,
    object::ObjectRef,
    plan::{Plan, RETAIN},
    snapshot::{confidential, facts::Object},
};

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

/// Annotations that the volume binder sets once a claim is bound. A claim that is made again has a new uid and is not
/// bound yet; with these annotations it would be Lost
/// (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` syncBoundClaim).
const BINDING: &[&str] = &[
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
];

/// How many copies of one version can differ: with and without the data of a Secret, and from several versions of this
/// program.
const MAX_COPIES: u32 = 20;

/// Writes the copy and returns its path. Overwrites nothing: an equal copy of an earlier run is used again, and a
/// different one keeps its name.
pub fn backup(object: &Object, plan: &Plan, directory: &Path) -> Result<PathBuf, Error> {
    save(object, &plan.target, &plan.resource_version, directory)
}

/// Writes the copy of a claim whose volume is changed, and returns its path. The claim itself is not changed; the copy
/// is for making it again.
pub fn backup_claim(claim: &Object, directory: &Path) -> Result<PathBuf, Error> {
    let version = claim.resource_version();
    save(claim, &claim.reference(), version, directory)
}

/// Writes the value that etcd has for the object of a plan, byte for byte, and returns its path.
pub fn backup_stored(value: &[u8], plan: &Plan, directory: &Path) -> Result<PathBuf, Error> {
    let name = |number| file_name(&plan.target, &plan.resource_version, number, "etcd");
    publish(value, directory, name)
}

fn save(object: &Object, target: &ObjectRef, version: &str, directory: &Path) -> Result<PathBuf, Error> {
    let name = |number| file_name(target, version, number, "yaml");
    let text = text(object).map_err(|error| Error::Write {
        path: directory.join(name(1)),
        cause: io::Error::other(error),
    })?;
    publish(text.as_bytes(), directory, name)
}

/// Writes a file with the first of these names that is free.
fn publish(content: &[u8], directory: &Path, name: impl Fn(u32) -> String) -> Result<PathBuf, Error> {
    let first = directory.join(name(1));
    let failed = |cause| Error::Write {
        path: first.clone(),
        cause,
    };
    files::directory_for(&first).map_err(failed)?;
    let mut result = Err(io::ErrorKind::AlreadyExists.into());
    for number in 1..=MAX_COPIES {
        let path = directory.join(name(number));
        result = write(&path, content);
        match &result {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if files::has_content(&path, content) {
                    return Ok(path);
                }
            }
            Err(_) => break,
            Ok(()) => return Ok(path),
        }
    }
    result.map(|()| first.clone()).map_err(failed)
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = NewFile::at(path)?;
    file.check_mode()?;
    file.write_all(content)?;
    file.publish()
}

/// The file of the copy: one for each version of each object, and a number if there are several.
fn file_name(target: &ObjectRef, version: &str, number: u32, form: &str) -> String {
    let place = target.namespace.as_deref().unwrap_or("-");
    let safe = |text: &str| -> String {
        let keep = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        text.chars().map(|c| if keep(c) { c } else { '_' }).collect()
    };
    // A file name is limited to 255 bytes, and a name with a namespace can be longer.
    let short = |text: &str| safe(text).chars().take(60).collect::<String>();
    let number = match number {
        1 => String::new(),
        more => format!("_{more}"),
    };
    format!(
        "{}_{}_{}_{}_{}{number}.{form}",
        short(&target.type_name),
        short(place),
        short(&target.name),
        safe(&target.uid),
        safe(version)
    )
}

/// Sets the reclaim policy of a volume to Retain in its copy, and says so. A volume that is made again has no claim of its
/// uid, and is Released at once. With policy Delete its provisioner would then delete the disk
/// (`kubernetes/kubernetes:pkg/controller/volume/persistentvolume/pv_controller.go` syncVolume).
fn keep_disk(object: &Object, copy: &mut Value) -> String {
    let policy = reclaim_policy::policy(object);
    if !object.is("", "persistentvolumes") || policy == RETAIN {
        return String::new();
    }
    let Some(field) = copy.pointer_mut("/spec/persistentVolumeReclaimPolicy") else {
        return String::new();
    };
    *field = RETAIN.into();
    format!(
        "# Its reclaim policy was {policy}. Here it is Retain: otherwise the disk would be deleted after you apply it.\n"
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
    if object.is("", "persistentvolumeclaims")
        && let Some(annotations) = copy.pointer_mut("/metadata/annotations")
        && let Some(annotations) = annotations.as_object_mut()
    {
        for name in BINDING {
            filled_in.extend(annotations.remove_entry(*name));
        }
    }
    let policy = keep_disk(object, &mut copy);
    let partly = if object.text("/kind") == "PartialObjectMetadata" {
        metadata_only(&mut copy)
    } else {
        String::new()
    };
    Ok(format!(
        "# Saved by kubectl finalizers before it was changed. Apply it again: kubectl apply --server-side -f FILE\n\
         # Left out, because the server fills it in: {}\n{policy}{partly}{}",
        Value::Object(filled_in),
        serde_saphyr::to_string(&copy)?
    ))
}

/// Removes the annotations that may hold the data, and returns the header lines that say so.
fn metadata_only(copy: &mut Value) -> String {
    let mut header = "# Metadata only: --backup-secrets saves its data, too.\n".to_owned();
    let removed = copy.as_object_mut().map(confidential::strip_annotations);
    let removed = removed.filter(|names| !names.is_empty());
    if let Some(names) = removed {
        let names = Value::from(names).to_string();
        header.extend([
            "# Left out, because they may hold its data: annotations ",
            &names,
            "\n",
        ]);
    }
    header
}
