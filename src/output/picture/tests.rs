//! What pictures show, and that no name from a cluster breaks out of its text.

mod html;
mod reports;

use self::reports::{HOSTILE, changed_scan_of, explanation, many, scan_of};
use super::{Graph, dot, mermaid};

fn drawn_dot(graph: &Graph) -> String {
    let mut out = Vec::new();
    dot::write(graph, &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

fn drawn_mermaid(graph: &Graph) -> String {
    let mut out = Vec::new();
    mermaid::write(graph, &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

/// All graphs in both languages.
fn all(name: &str) -> Vec<String> {
    let graphs = [
        Graph::of_explanations(&[explanation(name)]),
        Graph::of_scan(&scan_of(name)),
        Graph::of_scan(&changed_scan_of(name)),
    ];
    let drawn = graphs
        .iter()
        .map(|graph| [drawn_dot(graph), drawn_mermaid(graph)]);
    drawn.flatten().collect()
}

/// Quotes without a backslash in front that is not escaped itself.
fn quotes(line: &str) -> usize {
    let (mut count, mut is_escaped) = (0, false);
    for c in line.chars() {
        match c {
            '"' if !is_escaped => count += 1,
            '\\' if !is_escaped => {
                is_escaped = true;
                continue;
            }
            _ => {}
        }
        is_escaped = false;
    }
    count
}

#[test]
fn an_explanation_is_drawn_from_the_object_to_its_root_cause() {
    let graph = Graph::of_explanations(&[explanation("data-0")]);
    assert_eq!(
        drawn_dot(&graph),
        "\
// What waits for what, as of 1970-01-01 00:00 UTC, by kubectl-finalizers
digraph waits {
  rankdir=LR;
  node [fontname=\"sans-serif\"];
  n0 [label=\"pvc/data-0 -n db\\nFAILING: Terminating for 120m\", shape=box, color=firebrick];
  n1 [label=\"corp.example/data-0\\nFAILING: operator data-0 (failing) must remove it\", shape=ellipse, color=firebrick];
  n2 [label=\"pod/data-0 -n db\\nroot cause\\ndata-0 fails\", shape=box, color=firebrick, penwidth=3];
  n3 [label=\"kubernetes.io/pvc-protection\\nIN USE: kube-controller-manager (running) removes it\", shape=ellipse, color=forestgreen];
  n4 [label=\"NOT READ (could change the answer):\\npods in data-0: data-0 timed out\", shape=box, color=darkgoldenrod, style=dashed];
  n0 -> n1;
  n1 -> n2;
  n0 -> n3;
  n3 -> n2;
}
"
    );
}

#[test]
fn what_changed_is_in_each_picture() {
    let report = changed_scan_of("data-0");
    let graph = Graph::of_scan(&report);
    let page = html::scanned(&report);
    for (picture, line) in [(drawn_dot(&graph), "\\n"), (drawn_mermaid(&graph), "<br/>")] {
        for text in [
            format!("pvc/new-data-0 -n db{line}new"),
            format!("pvc/went-data-0 -n db{line}went"),
            format!("pvc/unknown-data-0 -n db{line}not known"),
            // A long line of dot goes on in the next one.
            "1 new, 1 went, 0 stay".to_owned(),
        ] {
            // Mermaid writes some characters as entities.
            let text = if line == "\\n" {
                text
            } else {
                text.replace(':', "#58;")
            };
            assert!(picture.contains(&text), "{text}: {picture}");
        }
    }
    for text in [
        "1 new, 1 went, 0 stay, 1 not known.",
        "<tr><td>new<td><code>pvc/new-data-0 -n db</code>",
        "<tr><td>went<td><code>pvc/went-data-0 -n db</code>",
        "<tr><td>not known<td><code>pvc/unknown-data-0 -n db</code>",
        "not read now: data-0",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // Without an earlier snapshot nothing is said of changes.
    assert!(!html::scanned(&scan_of("data-0")).contains("Changes"));
}

#[test]
fn a_scan_is_drawn_from_its_objects_to_their_causes() {
    let graph = Graph::of_scan(&crate::output::scan::tests::causes());
    assert_eq!(
        drawn_mermaid(&graph),
        "\
%% What waits for what, as of 1970-01-01 00:00 UTC, by kubectl-finalizers
flowchart LR
  n0[\"node/node-3<br/>root cause<br/>NOT READY#58; not ready\"]
  n1[\"pod/web-1 -n web<br/>Terminating for 3d\"]
  n2([\"corp.example/a<br/>root cause<br/>UNKNOWN#58; No controller is known.\"])
  n3[\"pvc/odd -n db<br/>Terminating for 3h\"]
  n4[\"pod/db-0 -n db<br/>keeps it<br/>IN USE#58; Running on node-7\"]
  n5[\"pvc/data-0 -n db<br/>Terminating for 3h\"]
  n6[\"pv/pv-0<br/>Terminating for 3h\"]
  n7[\"pod/db-1 -n db<br/>keeps it<br/>IN USE#58; Running on node-7\"]
  n1 --> n0
  n3 --> n2
  n5 -->|\"kubernetes.io/pvc-protection\"| n4
  n6 --> n5
  n3 -->|\"kubernetes.io/pvc-protection\"| n7
  classDef fault stroke:firebrick
  class n0 fault
  classDef caution stroke:darkgoldenrod
  class n2 caution
  classDef fine stroke:forestgreen
  class n4,n7 fine
  classDef marked stroke-width:3px
  class n0,n2,n4,n7 marked
"
    );
}

#[test]
fn hostile_names_stay_text() {
    for name in HOSTILE {
        for drawn in all(name) {
            for raw in ["</script>", "<img", "<!--", "-->x", "\u{202e}", "\u{1b}"] {
                assert!(
                    !drawn.contains(raw) || !name.contains(raw),
                    "{raw:?} of {name:?} in\n{drawn}"
                );
            }
            // To Mermaid this is an order, also in a string.
            assert!(drawn.starts_with("//") || !drawn.contains("%%{"), "{drawn}");
            for line in drawn.lines() {
                assert_eq!(quotes(line) % 2, 0, "{line}");
            }
            assert!(
                !drawn
                    .chars()
                    .any(|c| c != '\n' && crate::characters::is_unseen(c)),
                "{drawn:?}"
            );
        }
    }
}

/// A name changes only what is inside of quotes.
#[test]
fn names_do_not_change_what_is_drawn() {
    let outside = |drawn: &str| -> Vec<String> {
        let lines = drawn.lines().map(|line| {
            let mut rest = line.replace("\\\\", "").replace("\\\"", "");
            while let Some((before, after)) = rest.split_once('"').map(|(a, b)| (a.to_owned(), b.to_owned()))
            {
                let (_, behind) = after.split_once('"').expect("closed");
                rest = format!("{before}QUOTED{behind}");
            }
            rest
        });
        lines.collect()
    };
    let plain: Vec<_> = all("plain").iter().map(|drawn| outside(drawn)).collect();
    for name in HOSTILE {
        let hostile: Vec<_> = all(name).iter().map(|drawn| outside(drawn)).collect();
        assert_eq!(plain, hostile, "{name:?}");
    }
}

#[test]
fn the_same_report_is_drawn_in_the_same_order() {
    let report = many(50, 5);
    let (once, again) = (Graph::of_scan(&report), Graph::of_scan(&report.clone()));
    assert_eq!(drawn_dot(&once), drawn_dot(&again));
    assert_eq!(drawn_mermaid(&once), drawn_mermaid(&again));
    let marks = drawn_dot(&once).matches("\\nroot cause\\n").count();
    assert_eq!(marks, 5);
}
