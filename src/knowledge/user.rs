//! The user's own entries, which replace built-in ones.

use super::Knowledge;
use super::schema::{self, Entry, Mistake};

impl Knowledge {
    /// Adds a user's file. Its entries replace built-in ones with the same name, match and list that share a
    /// kind. Otherwise both exist, and the more specific one wins.
    ///
    /// `file` is the file name in mistakes. All mistakes are returned, in the order of the file.
    pub fn with_user(mut self, file: &str, yaml: &str) -> Result<Self, Vec<Mistake>> {
        self.user.extend(schema::read(file, yaml)?);
        let conflicts = schema::conflicts(&self.user);
        if conflicts.is_empty() {
            Ok(self)
        } else {
            Err(conflicts)
        }
    }

    /// Whether one of the user's entries replaces this built-in one.
    pub(super) fn replaces(&self, builtin: &Entry) -> bool {
        self.user.iter().map(|located| &located.entry).any(|own| {
            own.name == builtin.name
                && own.r#match == builtin.r#match
                && own.list == builtin.list
                && own
                    .kinds
                    .iter()
                    .any(|kind| builtin.kinds.iter().any(|other| kind.overlaps(other)))
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may fail so")]
mod tests {
    use super::*;
    use crate::knowledge::{GroupKind, List};

    fn file(name: &str, extra: &str) -> String {
        format!(
            "project: Ours\nfinalizers:\n  - name: {name}\n    kinds: [Widget.example.com]\n    protects: a widget\n    \
             waits-for: {{ text: the widget must stop }}\n    removed-by: widget-operator\n    \
             if-removed: {{ consequence: none, text: nothing happens }}\n    fix: [{{ label: reversible, text: restart it }}]\n    \
             sources: [example/widgets:main.go]\n    verified: true\n{extra}"
        )
    }

    #[test]
    fn finds_a_users_entry() {
        let knowledge = Knowledge::builtin()
            .with_user("own.yaml", &file("example.com/widget", ""))
            .unwrap();
        let found = knowledge
            .lookup("example.com/widget", List::Metadata, None)
            .unwrap();
        assert_eq!(found.project, "Ours");
    }

    #[test]
    fn replaces_a_builtin_entry_by_a_users_entry() {
        let yaml = file("kubernetes.io/pv-protection", "").replace("Widget.example.com", "PersistentVolume");
        let knowledge = Knowledge::builtin().with_user("own.yaml", &yaml).unwrap();
        let volume = GroupKind {
            group: "",
            kind: "PersistentVolume",
        };
        let found = knowledge
            .lookup("kubernetes.io/pv-protection", List::Metadata, Some(volume))
            .unwrap();
        assert_eq!(found.project, "Ours");
        assert_eq!(
            knowledge
                .all()
                .filter(|entry| entry.name == "kubernetes.io/pv-protection")
                .count(),
            1
        );
    }

    #[test]
    fn reports_the_place_of_each_mistake() {
        let check = |yaml: &str, line: u64, column: u64, words: &str| {
            let mistakes = Knowledge::builtin().with_user("own.yaml", yaml).unwrap_err();
            let mistake = mistakes.first().unwrap();
            assert_eq!((mistake.line, mistake.column), (line, column), "{mistake}");
            assert!(
                mistake.to_string().starts_with("own.yaml:") && mistake.message.contains(words),
                "{mistake}"
            );
        };
        let good = file("example.com/widget", "");
        check(
            &file("example.com/widget", "    verifyed: true\n"),
            12,
            5,
            "verifyed",
        );
        check(
            &good.replace("protects: a widget", "protects: ''"),
            5,
            5,
            "`protects` is empty",
        );
        check(
            &good.replace("consequence: none", "consequence: nothing"),
            8,
            32,
            "expected one of none, metadata",
        );
        check(
            &good.replace("restart it", "'restart {what}'"),
            9,
            47,
            "no placeholder `{what}`",
        );
        check(
            &good.replace("example/widgets:main.go", "https://example.com/x"),
            10,
            15,
            "owner/repo:path",
        );
        check(
            &good.replace("[Widget.example.com]", "[widget]"),
            4,
            13,
            "is not a kind",
        );
        check(
            &good.replace("text: the widget must stop", "text: x, on: [pods-that-mout]"),
            6,
            32,
            "pods-that-mout",
        );
        check(
            &good.replace("text: the widget must stop", "text: x, on: [pods-that-mount]"),
            6,
            32,
            "`pods-that-mount` is looked up for kubernetes.io/pvc-protection alone",
        );
        check(
            &good.replace("text: the widget must stop", "text: x, on: [phase: []]"),
            6,
            32,
            "`phase` needs at least one word",
        );
        check(
            &good.replace("example.com/widget\n", "example.com/\n    match: prefix\n"),
            3,
            11,
            "needs an `example`",
        );
        // Files for versions that had no labels.
        let hint = "`label: read-only`, `safe`, `reversible` or `destructive`";
        check(&good.replace("label: reversible, ", ""), 9, 13, hint);
        check(
            &good.replace("label: reversible", "label: destructive, destructive: true"),
            9,
            33,
            hint,
        );
        check(
            &good.replace("label: reversible", "label: mild"),
            9,
            20,
            "read-only",
        );
        check("project: [", 1, 10, "");
    }

    /// Asserts that a file with this step is refused at that step, with these words, or accepted if there are none.
    #[track_caller]
    fn check_step(step: &str, words: &str) {
        let yaml = file("example.com/widget", "").replace("{ label: reversible, text: restart it }", step);
        match Knowledge::builtin().with_user("own.yaml", &yaml) {
            Ok(_) => assert_eq!(words, "", "accepted: {step}"),
            Err(mistakes) => {
                let mistake = mistakes.first().unwrap();
                assert!(!words.is_empty() && mistake.message.contains(words), "{mistake}");
                assert_eq!(mistake.line, 9, "{mistake}");
            }
        }
    }

    #[test]
    fn rejects_a_label_that_the_command_contradicts() {
        let reads = "the command only reads";
        check_step(
            "{ label: safe, text: See it., command: kubectl -n a get pods -l b=c }",
            reads,
        );
        check_step(
            "{ label: destructive, text: See it., command: kubectl get pods | grep label }",
            reads,
        );
        check_step(
            "{ label: read-only, text: See it., command: oc describe nodes }",
            "",
        );
        let changes = "the command changes something";
        check_step(
            "{ label: read-only, text: Stop it., command: kubectl -n a delete pod b }",
            changes,
        );
        check_step(
            "{ label: read-only, text: Keep it., command: kubectl patch pv a -p b }",
            changes,
        );
        check_step(
            "{ label: safe, text: Keep it., command: kubectl patch pv a -p b }",
            "",
        );
        // Nothing is known of other programs and of plugins.
        check_step("{ label: read-only, text: See it., command: helm list }", "");
        check_step(
            "{ label: reversible, text: See it., command: helm rollback a }",
            "",
        );
        check_step(
            "{ label: reversible, text: Restore it., command: kubectl rook-ceph restore-deleted a }",
            "",
        );
    }

    #[test]
    fn rejects_a_step_that_brings_the_controller_back_while_it_may_run() {
        let needs_holder = "needs `if-holder`";
        for text in [
            "Restore the operator.",
            "See it. Install the widget-controller again.",
            "Scale its controller up.",
            "Gone? Bring the operator back, with its rights.",
            "Upgrade the operator.",
            "Run a version of the widget-controller that knows it.",
        ] {
            check_step(&format!("{{ label: reversible, text: {text:?} }}"), needs_holder);
            check_step(
                &format!("{{ if-holder: gone, label: reversible, text: {text:?} }}"),
                "",
            );
        }
        for text in [
            "Restore that webhook.",
            "Scale the claim up.",
            "Deleted by mistake? Bring the object back with the operator's plugin.",
            "The operator must run. It may restore the data.",
            "Upgrade the database.",
            "Run the operator's own check.",
        ] {
            check_step(&format!("{{ label: reversible, text: {text:?} }}"), "");
        }
    }

    #[test]
    fn rejects_a_step_that_removes_the_finalizer_by_hand() {
        let by_hand = "to remove the finalizer by hand is not a step";
        for text in [
            "Remove the finalizer.",
            "Then strip its finalizers",
            "Removing this one loses nothing.",
        ] {
            check_step(&format!("{{ label: reversible, text: {text} }}"), by_hand);
            check_step(&format!("{{ label: destructive, text: {text} }}"), by_hand);
            check_step(
                &format!("{{ if-holder: gone, label: destructive, text: {text} }}"),
                "",
            );
        }
        check_step(
            "{ label: read-only, text: The operator removes the finalizer. }",
            "",
        );
        let patch = "kubectl patch a b -p '{\"metadata\":{\"finalizers\":null}}'";
        check_step(
            &format!("{{ label: destructive, text: Let it go., command: {patch:?} }}"),
            by_hand,
        );
        check_step(
            "{ label: read-only, text: See what holds it., command: kubectl finalizers explain pv/a }",
            "",
        );
    }

    #[test]
    fn rejects_the_same_name_twice() {
        let once = Knowledge::builtin()
            .with_user("a.yaml", &file("example.com/widget", ""))
            .unwrap();
        let mistakes = once
            .with_user("b.yaml", &file("example.com/widget", ""))
            .unwrap_err();
        assert_eq!(
            mistakes.first().unwrap().to_string(),
            "b.yaml:3:1: `example.com/widget` on Widget.example.com is described a second time; the first is a.yaml:3"
        );
    }
}
