//! axe-core, the usual checker of accessibility, at the version of `package-lock.json`. npm installs it below `target/`.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use crate::page::Page;

/// What axe says of a page.
pub struct Checked {
    /// Rules that looked at something and found no fault.
    pub passed: usize,
    /// The serious and critical faults, each as `rule: element`.
    pub faults: Vec<String>,
}

/// Lets axe check the page as it is shown now.
pub fn check(page: &Page) -> Checked {
    let results = page.run(&format!("{}\nreturn axe.run(document)", source()));
    let list = |name: &str| results[name].as_array().expect("axe answers with lists").iter();
    let serious = |fault: &&Value| matches!(fault["impact"].as_str(), Some("serious" | "critical"));
    Checked {
        passed: list("passes").count(),
        faults: list("violations")
            .filter(serious)
            .map(|fault| format!("{}: {}", fault["id"], fault["nodes"][0]["html"]))
            .collect(),
    }
}

fn source() -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("axe");
    let file = folder.join("node_modules/axe-core/axe.min.js");
    if !file.exists() {
        fs::create_dir_all(&folder).unwrap();
        for name in ["package.json", "package-lock.json"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/browser")
                .join(name);
            fs::copy(from, folder.join(name)).unwrap();
        }
        let installed = Command::new("npm")
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(&folder)
            .output()
            .expect("npm installs axe-core for the browser tests");
        assert!(installed.status.success(), "{installed:?}");
    }
    fs::read_to_string(file).unwrap()
}
