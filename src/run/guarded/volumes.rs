//! The volumes that `rescue` is about: those that were named, those of the claims that were named, or all that are being
//! deleted.

use std::collections::BTreeSet;

use crate::{
    cluster::Server,
    command::Command,
    diagnose::{
        kinds::{PersistentVolume, PersistentVolumeClaim},
        uses_claim,
    },
    error::Error,
    plan::{Claim, Instead, Lost, Refusal, Rescue, Users},
    run::{target::find, witness::Witness},
    snapshot::{
        Why,
        facts::{Answer, Facts, Object, Query, Resource},
    },
};

const VOLUMES: &str = "persistentvolumes";
const CLAIMS: &str = "persistentvolumeclaims";

/// The volume that a named object stands for, or why there is no disk to keep.
pub(super) async fn volume_of(
    witness: Witness<'_>,
    object: Object,
    facts: &mut Facts,
) -> Result<Result<Object, Refusal>, Error> {
    if object.is("", VOLUMES) {
        return Ok(Ok(object));
    }
    if !object.is("", CLAIMS) {
        return Err(no_volume_type(&object.resource.name()));
    }
    let refuse = |why: String, needs: &str, instead: Instead| {
        Ok(Err(Refusal::new(&object.reference(), why, needs, instead)))
    };
    let explained = |text: &str| Instead::explain(&object.reference(), text);
    let name = PersistentVolumeClaim(&object).volume();
    if name.is_empty() {
        return refuse(
            "it has no volume, so there is no disk to keep".into(),
            "it is bound to a volume",
            explained("See what the claim waits for:"),
        );
    }
    let volume = match read(witness, VOLUMES, None, name, facts).await {
        Ok(Some(volume)) => volume,
        Ok(None) => {
            return refuse(
                format!("its volume {name} does not exist any more"),
                "the volume exists",
                Instead::only("Check at the storage provider whether the disk still exists."),
            );
        }
        Err(why) => {
            return Err(Error::Server {
                message: format!(
                    "cannot read pv/{name}, the volume of {}: {}",
                    object.name(),
                    why.message()
                ),
                hint: None,
            });
        }
    };
    if is_bound_to(&volume, &object) {
        Ok(Ok(volume))
    } else {
        refuse(
            format!("volume {name} belongs to another claim"),
            "the volume belongs to this claim",
            Instead::run(
                "To keep the disk of that volume, see the plan for it:",
                Command::of("kubectl finalizers rescue pv/{} --only-retain --plan", [name]),
            ),
        )
    }
}

/// The claim that a volume names.
pub(super) async fn claim_of(witness: Witness<'_>, volume: &Object, facts: &mut Facts) -> Claim {
    let name = PersistentVolume(volume).claim_name();
    if name.is_empty() {
        return Claim::None;
    }
    let namespace = PersistentVolume(volume).claim_namespace();
    match read(witness, CLAIMS, Some(namespace), name, facts).await {
        Ok(Some(claim)) if is_bound_to(volume, &claim) => Claim::Found(claim.into()),
        Ok(_) => Claim::Gone,
        Err(why) => Claim::Unread(why.message()),
    }
}

/// The pods that use a claim that is made again.
pub(super) async fn users(witness: Witness<'_>, rescue: &Rescue, facts: &mut Facts) -> Users {
    if rescue.lost() == Lost::Volume {
        return Ok(Vec::new());
    }
    let claim = rescue.claim();
    let pods = list(witness, Resource::new("", "pods"), claim, facts).await?;
    let users = pods.iter().filter(|pod| uses_claim(pod, claim));
    Ok(users.map(Object::reference).collect())
}

/// The StatefulSets of the namespace of the claim; or why they could not be read.
pub(super) async fn sets(
    witness: Witness<'_>,
    rescue: &Rescue,
    facts: &mut Facts,
) -> Result<Vec<Object>, String> {
    list(
        witness,
        Resource::new("apps", "statefulsets"),
        rescue.claim(),
        facts,
    )
    .await
}

/// The objects of this type in the namespace of the claim; or why they could not be read.
async fn list(
    witness: Witness<'_>,
    resource: Resource,
    claim: &Object,
    facts: &mut Facts,
) -> Result<Vec<Object>, String> {
    let query = Query::List {
        resource,
        namespace: Some(claim.namespace().to_owned()),
    };
    witness.answer([query.clone()], facts).await;
    match facts.answers.get(&query) {
        Some(Ok(Answer::List(found))) => Ok(found.clone()),
        Some(Err(why)) => Err(why.message()),
        _ => Err(Why::Interrupted.message()),
    }
}

/// All volumes that are being deleted. `word` is the type as the user typed it.
pub(super) async fn in_deletion(
    witness: Witness<'_>,
    word: &str,
    facts: &mut Facts,
    notes: &mut BTreeSet<String>,
) -> Result<Vec<Object>, Error> {
    let ty = find::type_of(word, facts, notes)?;
    if !ty.is("", VOLUMES) {
        return Err(no_volume_type(&ty.name()));
    }
    let query = Query::List {
        resource: Resource::new("", VOLUMES),
        namespace: None,
    };
    witness.answer([query.clone()], facts).await;
    let why = match facts.answers.get(&query) {
        Some(Ok(Answer::List(volumes))) => {
            let going = volumes.iter().filter(|volume| volume.deletion().is_some());
            return Ok(going.cloned().collect());
        }
        Some(Err(why)) => why.message(),
        _ => Why::Interrupted.message(),
    };
    Err(Error::Server {
        message: format!("cannot list {VOLUMES}: {why}"),
        hint: Some(
            "name the volumes that you know of: kubectl finalizers rescue pv/NAME --only-retain".into(),
        ),
    })
}

/// A volume and its claim, as far as they exist.
pub(super) struct Pair {
    pub(super) volume: Option<Object>,
    pub(super) claim: Option<Object>,
}

/// Reads the volume and the claim of a rescue again.
pub(super) async fn read_pair(server: &Server, facts: &Facts, steps: &Rescue) -> Result<Pair, Why> {
    let mut facts = facts.unasked();
    let witness = Witness::Server(server);
    let claim = steps.claim();
    Ok(Pair {
        volume: read(witness, VOLUMES, None, steps.volume().name(), &mut facts).await?,
        claim: read(witness, CLAIMS, Some(claim.namespace()), claim.name(), &mut facts).await?,
    })
}

async fn read(
    witness: Witness<'_>,
    plural: &str,
    namespace: Option<&str>,
    name: &str,
    facts: &mut Facts,
) -> Result<Option<Object>, Why> {
    let query = Query::Object {
        resource: Resource::new("", plural),
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    };
    if !facts.answers.contains_key(&query) {
        witness.answer([query.clone()], facts).await;
    }
    match facts.answers.get(&query) {
        Some(Ok(Answer::Object(found))) => Ok(found.as_deref().cloned()),
        Some(Err(why)) => Err(why.clone()),
        _ => Err(Why::Interrupted),
    }
}

/// Whether the volume names this claim. Before it is bound, it may name the claim without a uid.
fn is_bound_to(volume: &Object, claim: &Object) -> bool {
    let uid = PersistentVolume(volume).claim_uid();
    PersistentVolume(volume).claim_name() == claim.name()
        && PersistentVolume(volume).claim_namespace() == claim.namespace()
        && (uid.is_empty() || uid == claim.uid())
}

fn no_volume_type(name: &str) -> Error {
    Error::Usage {
        message: format!("rescue is for volumes and claims, not for {name}"),
        hint: Some("write pv/NAME or pvc/NAME".into()),
    }
}
