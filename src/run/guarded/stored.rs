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
/// How many prefixes an etcd is searched for. It rarely serves more than one API server and a network plugin.
const MAX_PREFIXES: usize = 32;

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
        if entry.mod_revision.to_string() == object.resource_version() {
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
    let found = first_of(etcd, keys(access, object)).await?;
    if found.is_some() || access.prefix.is_some() {
        return Ok(found);
    }
    find_elsewhere(etcd, object).await
}

/// Looks for the prefixes of API servers, and for the object below each. A prefix is what stands before the namespace that
/// every API server makes. Keys alone are read, and each step passes by all keys of one prefix, so this is short however
/// many keys there are.
async fn find_elsewhere(etcd: &Etcd, object: &Object) -> Result<Option<Entry>, String> {
    let mut from = vec![0];
    for _ in 0..MAX_PREFIXES {
        let Some(key) = etcd.first_key(&from).await? else {
            break;
        };
        let possible = stored::possible_prefixes(&key);
        // What no API server has is passed by as a whole.
        let mut passed = possible.first().copied().unwrap_or(&key);
        for prefix in possible {
            let mark = stored::mark_of_prefix(prefix);
            if etcd.first_key(mark.as_bytes()).await?.as_ref() != Some(&mark) {
                continue;
            }
            if let Some(found) = first_of(etcd, keys_below(prefix, object)).await? {
                return Ok(Some(found));
            }
            passed = prefix;
            break;
        }
        // The first key that does not begin with this prefix and a slash.
        from = [passed.as_bytes(), b"0"].concat();
    }
    Ok(None)
}

async fn first_of(etcd: &Etcd, keys: Vec<String>) -> Result<Option<Entry>, String> {
    for key in keys {
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
    let all = prefixes.iter().flat_map(|prefix| keys_below(prefix, object));
    all.collect()
}

fn keys_below(prefix: &str, object: &Object) -> Vec<String> {
    let (ty, namespace, name) = (&object.resource, object.namespace(), object.name());
    stored::keys(prefix, &ty.group, &ty.plural, namespace, name)
}

fn etcd_commands(target: &ObjectRef) -> Command {
    Command::of(
        "kubectl finalizers rescue {}/{} -n {} --print-etcd-commands",
        [short_type(&target.type_name), &target.name, target.place()],
    )
}
