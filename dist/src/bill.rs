//! The bill of materials, in the form of CycloneDX 1.5.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::crates::{Id, Tree};

/// It has no time and no random number, so that the same commit gives the same file.
pub(crate) fn of(tree: &Tree, target: &str) -> Value {
    let program = ("kubectl-finalizers".to_owned(), tree.version.clone());
    let components: Vec<_> = tree
        .crates
        .iter()
        .map(|(id, one)| {
            let mut component = json!({
                "type": "library",
                "bom-ref": address(id),
                "name": id.0,
                "version": id.1,
                "scope": "required",
                "purl": address(id),
                "licenses": [{ "expression": one.licence }],
            });
            if let Some(sum) = &one.checksum {
                component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
            }
            if let Some(repository) = &one.repository {
                component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
            }
            component
        })
        .collect();
    let uses = |id: &Id, uses: &BTreeSet<Id>| json!({ "ref": address(id), "dependsOn": uses.iter().map(address).collect::<Vec<_>>() });
    let mut dependencies = vec![uses(&program, &tree.direct)];
    dependencies.extend(tree.crates.iter().map(|(id, one)| uses(id, &one.uses)));
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": address(&program),
                "name": program.0,
                "version": program.1,
                "purl": address(&program),
                "licenses": [{ "expression": tree.licence }],
                "externalReferences": [{ "type": "vcs", "url": tree.repository }],
            },
            "properties": [{ "name": "cdx:rustc:target", "value": target }],
        },
        "components": components,
        "dependencies": dependencies,
    })
}

fn address((name, version): &Id) -> String {
    format!("pkg:cargo/{name}@{version}")
}
