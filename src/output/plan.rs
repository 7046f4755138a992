//! A plan as text: what is removed, what happens then, what it costs, why, what is safer, and the exact request. The user
//! confirms this text. A refusal has three lines: why, what would have to be true, and what to do instead.

mod outcome;
mod question;

use std::io::{self, Write};

pub use self::{outcome::write as write_outcome, question::question};
use super::{Style, sheet::Sheet};
use crate::{
    command::{Command, Shown},
    object::{Finalizer, short_type},
    plan::Lost,
    report::{
        ObjectName, PlanReport,
        plan::{CostReport, LineReport, OutsideReport, RefusalReport, RetentionReport, StoredReport},
    },
};

/// Writes what the plan would send, or why it will send nothing.
pub fn write(report: &PlanReport, style: &Style, out: &mut impl Write) -> io::Result<()> {
    let mut sheet = Sheet::new(style, out);
    let is_accepted = report.digest.is_some();
    for line in &report.plans {
        write_plan(line, is_accepted, &mut sheet)?;
        sheet.gap()?;
    }
    for refusal in &report.refused {
        write_refusal(refusal, &mut sheet)?;
        sheet.gap()?;
    }
    for one in &report.unchanged {
        sheet.heading(&one.target.pasteable())?;
        sheet.fact("unchanged", "its policy is Retain already")?;
        sheet.facts("then", &one.then)?;
        sheet.gap()?;
    }
    match &report.digest {
        Some(digest) => {
            sheet.fact("server", &report.server)?;
            sheet.fact("digest", digest)
        }
        None if report.plans.is_empty() && report.refused.is_empty() => Ok(()),
        None => sheet.sentence("Nothing was sent."),
    }
}

fn write_plan<W: Write>(line: &LineReport, is_accepted: bool, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    sheet.heading(&line.target.pasteable())?;
    if let Some(retention) = &line.retention {
        write_retention(retention, sheet)?;
        write_cost(&line.cost, "disk", sheet)?;
    } else if let Some(stored) = &line.stored {
        write_stored(stored, sheet)?;
        write_cost(&line.cost, "left outside", sheet)?;
    } else {
        match &line.finalizer {
            Some(finalizer) => {
                sheet.fact("removes", &finalizer.to_string())?;
                sheet.fact(
                    "then",
                    &then(&line.target.kind, &line.stays, line.kubelet.as_deref()),
                )?;
            }
            None => sheet.fact("sets", "an annotation; the finalizers stay as they are")?,
        }
        write_cost(&line.cost, "left outside", sheet)?;
        if let Some(verdict) = line.verdict {
            sheet.fact("verdict", &format!("{}: {}", verdict.word(), line.says))?;
        }
        if !line.may_be.is_empty() {
            sheet.fact("may be it", &line.may_be.join(", "))?;
        }
        write_evidence(line, sheet)?;
        let safer = line.safer.iter();
        sheet.steps(
            "safer",
            safer.map(|step| {
                let text = format!("[{}] {}", step.safety.word(), step.text);
                (text, step.command.line())
            }),
        )?;
    }
    if let Some(why) = &line.untried {
        sheet.fact("dry run", &format!("only after you confirm: {why}"))?;
    }
    if let Some(stored) = line.stored.as_ref().filter(|_| is_accepted) {
        let request = format!(
            "one transaction in etcd: the new value, only if the key still has revision {}",
            stored.mod_revision
        );
        sheet.fact("request", &request)?;
    } else if is_accepted {
        let request = line.command.line().unwrap_or_default();
        let text = match line.retention.as_ref().and_then(|retention| retention.again) {
            Some(Lost::Volume) => "that makes the volume again, as kubectl would send it:",
            Some(Lost::Claim) => "that makes the claim again, as kubectl would send it:",
            None => "as kubectl would send it:",
        };
        sheet.command("request", text, request)?;
    }
    Ok(())
}

/// The number of observations, and where to read them: the verdict names those that decide.
fn write_evidence<W: Write>(line: &LineReport, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    let count = match line.evidence.len() {
        0 => return Ok(()),
        1 => "1 observation:".to_owned(),
        more => format!("{more} observations:"),
    };
    sheet.command("evidence", &count, &format!("{} -o wide", explain(&line.target)))
}

/// What becomes of the object once the finalizer is removed.
fn then(kind: &str, stays: &[Finalizer], kubelet: Option<&str>) -> String {
    let names = joined(stays);
    match (stays.len(), kubelet) {
        (0, None) => format!("The {} is then deleted.", noun(kind)),
        (0, Some("")) => format!(
            "The {} stays until its kubelet confirms that it has stopped.",
            noun(kind)
        ),
        (0, Some(node)) => format!(
            "The {} stays until the kubelet of {node} confirms that it has stopped.",
            noun(kind)
        ),
        (1, _) => format!("1 other finalizer still holds it: {names}."),
        (more, _) => format!("{more} other finalizers still hold it: {names}."),
    }
}

/// The kind as people say it in a sentence.
fn noun(kind: &str) -> &str {
    match kind {
        "PersistentVolumeClaim" => "claim",
        "PersistentVolume" => "volume",
        "Namespace" => "namespace",
        "Node" => "node",
        "Pod" => "pod",
        other => other,
    }
}

fn write_retention<W: Write>(retention: &RetentionReport, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    if let Some(lost) = retention.again {
        let what = match lost {
            Lost::Volume => "the volume, for the same disk and the same claim",
            Lost::Claim => "its claim, for the same disk and the same volume",
        };
        sheet.fact("makes again", what)?;
        sheet.facts("now", &retention.now)?;
        return sheet.facts("steps", &retention.then);
    }
    let sets = format!(
        "the reclaim policy to Retain; now it is {}. Nothing else changes.",
        retention.policy
    );
    sheet.fact("sets", &sets)?;
    sheet.facts("now", &retention.now)?;
    sheet.facts("then", &retention.then)
}

fn write_stored<W: Write>(stored: &StoredReport, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    sheet.fact("takes back", "the deletion, in etcd; every other byte stays")?;
    sheet.facts("now", &stored.now)?;
    sheet.fact("key", &stored.key)?;
    sheet.fact("before", &format!("{} ({})", stored.before, stored.form))?;
    sheet.fact("after", &stored.after)?;
    sheet.facts("both have", &stored.metadata)?;
    let difference: Vec<_> = stored.difference.iter().map(|cut| format!("-{cut}")).collect();
    sheet.facts("difference", &difference)?;
    sheet.facts("then", &stored.then)
}

fn write_cost<W: Write>(cost: &CostReport, outside: &str, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    if cost.consequence == "none" {
        sheet.fact("costs", &format!("nothing: {}", cost.text))?;
    } else {
        sheet.warning_fact("costs", &cost.consequence, &cost.text)?;
    }
    write_outside(&cost.outside, outside, sheet)
}

fn write_outside<W: Write>(
    outside: &[OutsideReport],
    label: &str,
    sheet: &mut Sheet<'_, W>,
) -> io::Result<()> {
    sheet.bullets(
        label,
        outside
            .iter()
            .map(|one| format!("{}: {} ({})", one.what, one.id, one.field)),
    )
}

fn write_refusal<W: Write>(refusal: &RefusalReport, sheet: &mut Sheet<'_, W>) -> io::Result<()> {
    sheet.verdict("REFUSED", &refusal.target.pasteable())?;
    sheet.fact("why", &refusal.why)?;
    sheet.fact("needs", &refusal.needs)?;
    match refusal.instead.command.line() {
        Some(command) => sheet.command("instead", &refusal.instead.text, command),
        None => sheet.fact("instead", &refusal.instead.text),
    }
}

/// The command that explains the object, or why it is not shown.
fn explain(target: &ObjectName) -> String {
    let namespace = target.namespace.as_deref().unwrap_or_default();
    let explain = Command::explain(short_type(&target.resource), &target.name, namespace);
    Shown::from(&explain).line().unwrap_or_default().to_owned()
}

fn joined(finalizers: &[Finalizer]) -> String {
    let names: Vec<_> = finalizers.iter().map(ToString::to_string).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        characters::is_unseen,
        knowledge::Consequence,
        object::{List, ObjectRef},
        plan::{Action, Cost, Plan, Request},
    };

    fn finalizer(name: &str) -> Finalizer {
        Finalizer {
            list: List::Metadata,
            name: name.into(),
        }
    }

    fn claim(name: &str) -> Plan {
        Plan {
            action: Action::Remove,
            target: ObjectRef {
                type_name: "persistentvolumeclaims".into(),
                kind: "PersistentVolumeClaim".into(),
                namespace: Some("snap38".into()),
                name: name.into(),
                ..ObjectRef::default()
            },
            resource_version: "7".into(),
            finalizer: Some(finalizer("x.test/hold")),
            stays: Vec::new(),
            kubelet: None,
            verdict: crate::diagnose::Verdict::Orphaned,
            says: String::new(),
            unable: None,
            may_be: std::collections::BTreeSet::new(),
            blockers: Vec::new(),
            evidence: Vec::new(),
            cost: Cost {
                consequence: Consequence::DataLoss,
                text: String::new(),
                outside: Vec::new(),
                known: true,
            },
            safer: Vec::new(),
            retention: None,
            stored: None,
            untried: None,
            request: Request {
                method: "PATCH",
                path: String::new(),
                content_type: "",
                body: serde_json::Value::Null,
            },
        }
    }

    #[test]
    fn says_what_happens_once_the_finalizer_is_removed() {
        let others = [finalizer("x.test/a"), finalizer("x.test/b")];
        for (kind, stays, kubelet, expected) in [
            ("PersistentVolumeClaim", 0, None, "The claim is then deleted."),
            ("Challenge", 0, None, "The Challenge is then deleted."),
            (
                "Pod",
                0,
                Some("node-7"),
                "The pod stays until the kubelet of node-7 confirms that it has stopped.",
            ),
            (
                "Pod",
                1,
                Some("node-7"),
                "1 other finalizer still holds it: x.test/a.",
            ),
            (
                "Service",
                2,
                None,
                "2 other finalizers still hold it: x.test/a, x.test/b.",
            ),
        ] {
            assert_eq!(then(kind, &others[..stays], kubelet), expected);
        }
    }

    #[test]
    fn the_question_names_the_object_what_happens_and_what_confirms() {
        let style = Style {
            width: Some(200),
            ..Style::default()
        };
        assert_eq!(
            question(&[claim("src")], "data-loss", &style),
            "Remove x.test/hold from pvc/src -n snap38? The claim is then deleted. \
             Type data-loss to confirm, Enter to cancel:\n> "
        );
        let several = question(&[claim("a"), claim("b")], "2", &style);
        assert!(
            several.starts_with("Remove x.test/hold from 2 objects? Type 2 to confirm"),
            "{several}"
        );
        let narrow = question(
            &[claim("src")],
            "data-loss",
            &Style {
                width: Some(60),
                ..style
            },
        );
        assert!(narrow.lines().all(|line| line.len() <= 60), "{narrow}");
    }

    #[test]
    fn the_question_holds_nothing_that_acts_on_a_terminal() {
        let asked = question(
            &[claim("w\u{1b}[2J\u{202e}\u{3164}")],
            "w\u{ad}",
            &Style::default(),
        );
        let question = asked.strip_suffix("\n> ").expect("a line of its own");
        let unseen = |c: char| is_unseen(c) && c != '\n';
        assert!(!question.contains(unseen), "{question:?}");
    }
}
