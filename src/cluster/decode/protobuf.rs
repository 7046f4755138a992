//! Decodes a `PartialObjectMetadataList` in Kubernetes' protobuf.
//!
//! Field numbers: `kubernetes/apimachinery:pkg/apis/meta/v1/generated.proto` and
//! `kubernetes/apimachinery:pkg/runtime/generated.proto`. They are part of the storage format and never change.

use jiff::Timestamp;

use super::{
    PageMeta,
    wire::{Fields, Malformed},
};
use crate::snapshot::Item;

/// The envelope: these four bytes, then a `runtime.Unknown`.
const MAGIC: &[u8] = b"k8s\0";

/// The only kind that is requested in protobuf. Another message might be misread: a `Status` as an empty list.
const KIND: &str = "PartialObjectMetadataList";

pub(super) fn page(body: &[u8], each: &mut dyn FnMut(Item<'_>)) -> Result<PageMeta, Malformed> {
    let (mut kind, mut list) = ("", None);
    for field in Fields(body.strip_prefix(MAGIC).ok_or(Malformed)?) {
        match field? {
            (1, type_meta) => kind = kind_of(type_meta.bytes()?)?,
            (2, raw) => list = Some(raw.bytes()?),
            _ => {}
        }
    }
    if kind != KIND {
        return Err(Malformed);
    }
    let mut page = PageMeta::default();
    // Even an empty list has its ListMeta. Without `raw`, the answer was cut short.
    for field in Fields(list.ok_or(Malformed)?) {
        match field? {
            (1, meta) => list_meta(meta.bytes()?, &mut page)?,
            (2, object) => each(item(object.bytes()?)?),
            _ => {}
        }
    }
    Ok(page)
}

fn kind_of(type_meta: &[u8]) -> Result<&str, Malformed> {
    for field in Fields(type_meta) {
        if let (2, kind) = field? {
            return kind.text();
        }
    }
    Ok("")
}

fn list_meta(meta: &[u8], page: &mut PageMeta) -> Result<(), Malformed> {
    for field in Fields(meta) {
        let (into, text) = match field? {
            (2, version) => (&mut page.resource_version, version.text()?),
            (3, token) => (&mut page.next, token.text()?),
            _ => continue,
        };
        *into = Some(text.to_owned()).filter(|text| !text.is_empty());
    }
    Ok(())
}

fn item(object: &[u8]) -> Result<Item<'_>, Malformed> {
    let mut item = Item::default();
    for field in Fields(object) {
        if let (1, metadata) = field? {
            object_meta(metadata.bytes()?, &mut item)?;
        }
    }
    Ok(item)
}

fn object_meta<'a>(metadata: &'a [u8], item: &mut Item<'a>) -> Result<(), Malformed> {
    for field in Fields(metadata) {
        match field? {
            (1, name) => item.name = name.text()?.into(),
            (3, namespace) => item.namespace = namespace.text()?.into(),
            (5, uid) => item.uid = uid.text()?.into(),
            (8, time) => item.created = Some(timestamp(time.bytes()?)?),
            (9, time) => item.deletion = Some(timestamp(time.bytes()?)?),
            (10, seconds) => item.grace_seconds = Some(seconds.integer()?),
            (14, finalizer) => item.finalizers.push(finalizer.text()?.into()),
            _ => {}
        }
    }
    Ok(())
}

fn timestamp(time: &[u8]) -> Result<Timestamp, Malformed> {
    let mut seconds = 0;
    for field in Fields(time) {
        if let (1, value) = field? {
            seconds = value.integer()?;
        }
    }
    Timestamp::from_second(seconds).map_err(|_| Malformed)
}
