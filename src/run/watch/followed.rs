//! One object that is watched.

use crate::{
    object::ResourceType,
    report::{ExplainReport, ObjectName, watch::holding},
    run::{target::find, witness::Witness},
    snapshot::{
        Why,
        facts::{Facts, Object},
    },
};

/// An object, and what is known about it.
pub(super) struct Followed {
    pub(super) target: ObjectName,
    pub(super) ty: ResourceType,
    /// The last explanation.
    pub(super) report: Option<ExplainReport>,
    /// Whether it is gone, or never was there.
    pub(super) gone: bool,
    /// The objects of the last explanation that are gone since.
    told: Vec<ObjectName>,
}

impl Followed {
    pub(super) fn new(ty: &ResourceType, namespace: Option<String>, name: &str) -> Self {
        Followed {
            target: ObjectName {
                api_version: ty.api_version(),
                kind: ty.kind.clone(),
                resource: ty.name(),
                namespace,
                name: name.to_owned(),
                uid: None,
            },
            ty: ty.clone(),
            report: None,
            gone: false,
            told: Vec::new(),
        }
    }

    /// Reads the object; none if it does not exist.
    pub(super) async fn read(&self, witness: Witness<'_>, facts: &mut Facts) -> Result<Option<Object>, Why> {
        let namespace = self.target.namespace.as_deref();
        find::look_up(witness, &self.ty, namespace, &self.target.name, facts).await
    }

    /// Takes the newest explanation.
    pub(super) fn update(&mut self, report: ExplainReport) {
        self.target = report.target.clone();
        self.report = Some(report);
        self.told.clear();
    }

    /// The objects that hold it, as far as known.
    pub(super) fn holding(&self) -> Vec<&ObjectName> {
        self.report.as_ref().map(holding).unwrap_or_default()
    }

    /// Whether the end of this object is already reported.
    pub(super) fn is_told(&self, object: &ObjectName) -> bool {
        self.told.contains(object)
    }

    /// Remembers that this object is gone. False if that is not new.
    pub(super) fn is_new_loss(&mut self, object: &ObjectName) -> bool {
        let is_new = !self.is_told(object);
        if is_new {
            self.told.push(object.clone());
        }
        is_new
    }
}
