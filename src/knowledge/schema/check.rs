//! Checks the content of each entry, and of all entries together.

use super::orders::check_orders;
use super::steps::{self, check_step};
use super::{
    Consequence, Entry, HolderDescription, KindPattern, Located, Match, Mistake, OF_OBJECT, PLACEHOLDERS,
    SameAs, Wait, is_telling, placeholders, product_words,
};
use crate::command::Template;

/// The longest phrase for the column "protects" that fits a terminal of 80 columns beside the other columns.
pub(super) const PROTECTS_LIMIT: usize = 60;

/// A problem, and the words in the file that locate it.
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) needle: String,
}

pub(super) fn check(entry: &Entry, example_given: bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut add_problem = |needle: &str, message: String| {
        problems.push(Problem {
            message,
            needle: needle.to_owned(),
        });
    };

    check_name(entry, example_given, &mut add_problem);
    if entry.last_resort && entry.if_removed.consequence != Consequence::DataLoss {
        let message = "a last resort tells nothing of this very finalizer, so its consequence is `data loss`";
        add_problem("consequence:", message.into());
    }
    for (key, text) in texts(entry) {
        if text.trim().is_empty() {
            add_problem(&format!("{key}:"), format!("`{key}` is empty"));
        }
    }
    // An unverified entry may have no sources if its note explains that.
    let no_source = entry.sources.is_empty() && (entry.verified || entry.note.is_none());
    for (key, is_empty) in [
        ("kinds", entry.kinds.is_empty()),
        ("fix", entry.fix.is_empty()),
        ("sources", no_source),
    ] {
        if is_empty {
            add_problem(&format!("{key}:"), format!("`{key}` needs at least one item"));
        }
    }
    check_protects(&entry.protects, &mut add_problem);
    for source in &entry.sources {
        if !is_source(source) {
            add_problem(
                source,
                format!("source `{source}` is not of the form `owner/repo:path`"),
            );
        }
    }
    for (_, text) in texts(entry) {
        for word in placeholders(text) {
            if !PLACEHOLDERS.iter().any(|&(known, _)| known == word) {
                let known: Vec<_> = PLACEHOLDERS.iter().map(|&(word, _)| word).collect();
                add_problem(
                    &format!("{{{word}}}"),
                    format!(
                        "there is no placeholder `{{{word}}}`; there are {}",
                        known.join(", ")
                    ),
                );
            }
        }
    }
    check_waits(entry, &mut add_problem);
    for step in &entry.fix {
        for word in step.command.iter().flat_map(Template::for_the_reader) {
            if !step.text.contains(&word) {
                add_problem(
                    &format!("{{{word}}}"),
                    format!("the text of the step does not tell what {word} is"),
                );
            }
        }
        if let Some(message) = check_step(entry, step) {
            // The first line of a text is enough to find it.
            let needle = step.text.chars().take(40).collect::<String>();
            add_problem(&needle, message);
        }
    }
    for (needle, message) in check_orders(entry) {
        add_problem(&needle, message);
    }
    check_holder(&entry.holder, &mut add_problem);
    check_selectors(entry, &mut add_problem);
    problems
}

/// Every word must be one that the program can look up, or that says that nobody can.
fn check_waits(entry: &Entry, add_problem: &mut impl FnMut(&str, String)) {
    for wait in &entry.waits_for.on {
        if let Wait::Condition { status, .. } = wait
            && !steps::is_status(status)
        {
            add_problem(
                status,
                format!("the status of a condition is `True`, `False` or `Unknown`, not `{status}`"),
            );
        }
        if let Wait::Phase(words) | Wait::PhaseNot(words) = wait
            && words.is_empty()
        {
            add_problem("phase", "`phase` needs at least one word".to_owned());
        }
        if let Some(only) = wait.only_for()
            && !only.contains(&entry.name.as_str())
        {
            let word = serde_json::to_value(wait).ok();
            let word = word
                .as_ref()
                .and_then(serde_json::Value::as_str)
                .unwrap_or_default();
            add_problem(
                word,
                format!(
                    "`{word}` is looked up for {} alone; `used-by`, `child-objects` and `named` are looked up for all",
                    only.join(", ")
                ),
            );
        }
    }
}

fn check_name(entry: &Entry, example_given: bool, add_problem: &mut impl FnMut(&str, String)) {
    let stars = entry.name.contains('*');
    match entry.r#match {
        Match::Glob if !stars => {
            add_problem(&entry.name, "match is `glob` but the name has no `*`".to_owned());
        }
        Match::Exact | Match::Prefix | Match::Suffix if stars => {
            add_problem(&entry.name, "a name with `*` needs `match: glob`".to_owned());
        }
        _ => {}
    }
    if entry.r#match != Match::Exact && !example_given {
        add_problem(
            &entry.name,
            "a pattern needs an `example` of a real name".to_owned(),
        );
    }
    if !entry.names(&entry.example) {
        add_problem(
            &entry.example,
            format!("the example `{}` is not matched by the name", entry.example),
        );
    }
    if entry.name.len() > 253 + 1 + 63 || entry.name.chars().any(char::is_whitespace) {
        add_problem(&entry.name, "not a possible name of a finalizer".to_owned());
    }
}

fn check_protects(text: &str, add_problem: &mut impl FnMut(&str, String)) {
    let length = text.chars().count();
    if length > PROTECTS_LIMIT {
        add_problem(
            text,
            format!("`protects` has {length} characters; the column of a table holds {PROTECTS_LIMIT}"),
        );
    }
    if text.ends_with(['.', '…']) {
        add_problem(text, "`protects` is a phrase, without a full stop".to_owned());
    }
}

fn check_holder(holder: &HolderDescription, add_problem: &mut impl FnMut(&str, String)) {
    let has_groups =
        !holder.api_groups.is_empty() && !holder.api_groups.iter().any(|group| group.contains('*'));
    if holder.needs_types && !(has_groups && holder.runs == super::Runs::InCluster) {
        add_problem(
            "needs-types:",
            "`needs-types` is for a controller in this cluster, with `api-groups` that have no `*`"
                .to_owned(),
        );
    }
    for workload in &holder.workloads {
        if workload.name.is_none() && workload.selector.is_none() && workload.container.is_none() {
            add_problem(
                "workloads:",
                "a workload needs a name, a selector or a container".to_owned(),
            );
        }
        if let Some(selector) = &workload.selector
            && !is_selector(selector)
        {
            add_problem(selector, format!("`{selector}` is not a label selector"));
        }
        for SameAs { label, field } in &workload.instance {
            if !is_selector(&format!("{label}=x")) {
                add_problem(label, format!("`{label}` is not a label"));
            }
            if !field.starts_with('/') {
                add_problem(
                    field,
                    format!("`{field}` is not a JSON pointer, which begins with a slash"),
                );
            }
        }
    }
}

/// What operators of several products manage, and name themselves after.
const SHARED: &[&str] = &[
    "backup",
    "certificate",
    "chaos",
    "container",
    "credential",
    "database",
    "db",
    "deployer",
    "dns",
    "eventing",
    "events",
    "gateway",
    "gpu",
    "image",
    "ingress",
    "keycloak",
    "logging",
    "maintenance",
    "metal",
    "monitoring",
    "mysql",
    "network",
    "pg",
    "policy",
    "postgres",
    "postgresql",
    "profile",
    "profiles",
    "ps",
    "redis",
    "registry",
    "secrets",
    "security",
    "site",
    "storage",
    "virt",
    "virtualization",
    "workflow",
    "zookeeper",
];

/// A selector without the name of the product makes any operator the holder: kubebuilder writes
/// `control-plane=controller-manager` into each, and many are called `chaos-controller`. An image, or a namespace in which
/// nothing else runs, names the product as well.
fn check_selectors(entry: &Entry, add_problem: &mut impl FnMut(&str, String)) {
    let names = product_words(entry);
    for workload in &entry.holder.workloads {
        let Some(selector) = &workload.selector else {
            continue;
        };
        let instance = workload.instance.iter().map(|same| same.label.as_str());
        let labels: Vec<_> = [selector.as_str()]
            .into_iter()
            .chain(instance)
            .map(str::to_lowercase)
            .collect();
        let has_place = workload
            .namespace
            .as_deref()
            .is_some_and(|place| place != OF_OBJECT);
        let is_certain = has_place || !workload.images.is_empty();
        let says = |text: &str| {
            let mut names = names.iter().filter(|name| is_certain || is_telling(name, SHARED));
            names.any(|name| text.contains(name.as_str()))
        };
        // A key in the domain of the product: `cluster.x-k8s.io/provider`.
        let is_own_key = |label: &str| {
            let domain = label.split_once('/').map_or("", |(domain, _)| domain);
            let mut groups = entry.kinds.iter().map(KindPattern::group);
            !domain.is_empty()
                && groups.any(|group| {
                    group
                        .strip_suffix(domain)
                        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
                })
        };
        // The labels then only count on workloads whose name fits.
        let pattern = workload.name.as_deref().filter(|name| name.contains('*'));
        let mut all = labels.iter().flat_map(|labels| labels.split(','));
        if !all.any(|label| says(label) || is_own_key(label)) && !pattern.is_some_and(says) {
            add_problem(
                selector,
                format!(
                    "`{selector}` does not name the product, so that any program may have these labels: add a label that does, \
                     or `images`, or its fixed `namespace`, or leave the selector out; `known-as` has short names"
                ),
            );
        }
    }
}

/// Every text of an entry, with its key.
fn texts(entry: &Entry) -> Vec<(&'static str, &str)> {
    let mut texts = vec![
        ("name", entry.name.as_str()),
        ("protects", &entry.protects),
        ("text", &entry.waits_for.text),
        ("removed-by", &entry.removed_by),
        ("text", &entry.if_removed.text),
    ];
    let optional = [
        ("example", Some(&entry.example)),
        ("part-of", entry.part_of.as_ref()),
        ("found-on", entry.found_on.as_ref()),
        ("done-when", entry.done_when.as_ref()),
        (
            "because",
            entry.never_by_hand.as_ref().map(|never| &never.because),
        ),
        ("since", entry.since.as_ref()),
        ("until", entry.until.as_ref()),
        ("renamed-to", entry.renamed_to.as_ref()),
        ("note", entry.note.as_ref()),
        ("note", entry.holder.note.as_ref()),
    ];
    texts.extend(
        optional
            .into_iter()
            .filter_map(|(key, text)| Some((key, text?.as_str()))),
    );
    for step in &entry.fix {
        texts.push(("text", &step.text));
        texts.extend(step.command.as_ref().map(|command| ("command", command.text())));
    }
    texts.extend(entry.warnings.iter().map(|text| ("warnings", text.as_str())));
    texts.extend(
        entry
            .renamed_from
            .iter()
            .map(|text| ("renamed-from", text.as_str())),
    );
    let holder = &entry.holder;
    for (key, list) in [
        ("hidden-on", &holder.hidden_on),
        ("known-as", &holder.known_as),
        ("namespaces", &holder.namespaces),
        ("service-accounts", &holder.service_accounts),
        ("managers", &holder.managers),
        ("reporters", &holder.reporters),
        ("webhooks", &holder.webhooks),
        ("api-services", &holder.api_services),
        ("api-groups", &holder.api_groups),
    ] {
        texts.extend(list.iter().map(|text| (key, text.as_str())));
    }
    texts.extend(holder.leases.iter().map(|lease| ("leases", lease.name.as_str())));
    texts.extend(
        holder
            .workloads
            .iter()
            .filter_map(|work| Some(("workloads", work.name.as_deref()?))),
    );
    for wait in &entry.waits_for.on {
        match wait {
            Wait::External { what, .. } => texts.push(("what", what)),
            Wait::OtherCluster(what) | Wait::Activity(what) | Wait::FieldEmpty(what) => {
                texts.push(("on", what));
            }
            _ => {}
        }
    }
    texts
}

/// `owner/repo:path`, as on GitHub, with nothing after the path.
fn is_source(source: &str) -> bool {
    let word = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    source.split_once(':').is_some_and(|(repository, path)| {
        repository
            .split_once('/')
            .is_some_and(|(owner, repo)| word(owner) && word(repo))
            && !path.is_empty()
            && !path.starts_with('/')
            && !path.contains(char::is_whitespace)
    })
}

fn is_selector(selector: &str) -> bool {
    !selector.contains(char::is_whitespace)
        && selector
            .split(',')
            .all(|part| !part.is_empty() && !part.starts_with('='))
}

/// Every pair of entries that match the same finalizers: the same name, match and list, and a common kind.
/// Patterns that only overlap are fine, because the more specific one wins.
pub fn conflicts(entries: &[Located]) -> Vec<Mistake> {
    let mut sorted: Vec<&Located> = entries.iter().collect();
    sorted.sort_by(|a, b| key(&a.entry).cmp(&key(&b.entry)));
    let mut mistakes = Vec::new();
    for (at, first) in sorted.iter().enumerate() {
        for second in sorted
            .iter()
            .skip(at + 1)
            .take_while(|second| key(&second.entry) == key(&first.entry))
        {
            let common = first
                .entry
                .kinds
                .iter()
                .find(|kind| second.entry.kinds.iter().any(|other| kind.overlaps(other)));
            if let Some(kind) = common {
                mistakes.push(Mistake {
                    file: second.file.clone(),
                    line: second.line,
                    column: 1,
                    message: format!(
                        "`{}` on {kind} is described a second time; the first is {}:{}",
                        second.entry.name, first.file, first.line
                    ),
                });
            }
        }
    }
    mistakes
}

fn key(entry: &Entry) -> (&str, Match, super::List) {
    (&entry.name, entry.r#match, entry.list)
}
