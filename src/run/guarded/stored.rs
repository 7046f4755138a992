//! Reads an object from etcd and from the API server, until both have the same version.

use crate::{
    act::Etcd,
    command::Command,
    object::{ObjectRef, short_type},
    plan::{Entry, Instead, Refusal},
    run::witness::Witness,
    settings::EtcdAccess,
    snapshot::facts::{Answer, Facts, Object, Query},
    stored,
};

/// How often an object is read that changes all the time.
const MAX_TRIES: usize = 3;

/// What etcd has for this object, and the object of that version, if the API server shows it.
pub(super) async fn read(
    witness: Witness<'_>,
    access: &EtcdAccess,
    object: &Object,
    facts: &mut Facts,
) -> Result<(Object, Entry), Refusal> {
    let target = object.reference();
    let refuse = |why: String, needs: &str| {
        let look = etcd_commands(&target);
        Refusal::new(
            &target,
            why,
            needs,
            Instead::run("See how to reach the etcd of this cluster:", look),
        )
    };
    let failed = |why: String| {
        refuse(
            format!("etcd cannot be read: {why}"),
            "etcd answers at that address, and accepts these certificates",
        )
    };
    let etcd = Etcd::new(access).map_err(|error| failed(error.to_string()))?;
    let find = async |object: &Object| {
        let found = find(&etcd, access, object).await.map_err(failed)?;
        found.ok_or_else(|| {
            refuse(
                format!(
                    "this etcd has none of these keys: {}",
                    keys(access, object).join(", ")
                ),
                "this is the etcd that stores the object, with the API server's --etcd-prefix",
            )
        })
    };
    let (mut object, mut entry) = (object.clone(), find(object).await?);
    let query = Query::of(&target);
    for _ in 1..MAX_TRIES {
        if entry.mod_revision.to_string() == object.text("/metadata/resourceVersion") {
            break;
        }
        facts.answers.clear();
        witness.answer([query.clone()], facts).await;
        if let Some(Ok(Answer::Object(Some(now)))) = facts.answers.get(&query) {
            object = (**now).clone();
        }
        entry = find(&object).await?;
    }
    Ok((object, entry))
}

/// The first of the possible keys that exists.
async fn find(etcd: &Etcd, access: &EtcdAccess, object: &Object) -> Result<Option<Entry>, String> {
    for key in keys(access, object) {
        if let Some(entry) = etcd.get(&key).await? {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}

fn keys(access: &EtcdAccess, object: &Object) -> Vec<String> {
    let prefixes = match &access.prefix {
        Some(prefix) => vec![prefix.as_str()],
        None => stored::PREFIXES.to_vec(),
    };
    let (ty, namespace, name) = (&object.resource, object.namespace(), object.name());
    prefixes
        .iter()
        .flat_map(|prefix| stored::keys(prefix, &ty.group, &ty.plural, namespace, name))
        .collect()
}

fn etcd_commands(target: &ObjectRef) -> Command {
    Command::of(
        "kubectl finalizers rescue {}/{} -n {} --print-etcd-commands",
        [short_type(&target.type_name), &target.name, target.place()],
    )
}
