//! The documents are true: their examples run, their links resolve, and they mention every flag and exit code.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
};

use kubectl_finalizers::exit::Exit;

use crate::harness::{Cluster, Plugin, program};

const BINARY: &str = env!("CARGO_BIN_EXE_kubectl-finalizers");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// Every document in the repository, except build output.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Runs the examples through the real kubectl as they are written. After an intended change run
/// `TRYCMD=overwrite cargo test --test suite documents` and read the difference. trycmd turns every backslash into a
/// slash, so it gets a copy in which lines that a shell continues end in a slash.
#[test]
fn the_examples_of_the_readme() {
    let mut path = vec![Path::new(BINARY).parent().unwrap().to_owned()];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap()));
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("README.md");
    let (continued, in_copy) = (" \\\n", " /\n");
    assert!(!readme().contains(in_copy), "this would become a backslash");
    fs::write(&copy, readme().replace(continued, in_copy)).unwrap();
    let examples = testkit::trycmd::TestCases::new();
    examples
        .register_bin("kubectl", program("kubectl"))
        .env("PATH", env::join_paths(path).unwrap().into_string().unwrap())
        .env("LC_ALL", "C.UTF-8")
        .env("KUBECONFIG", "/nonexistent")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .case(&copy);
    // It compares when it is dropped.
    drop(examples);
    if env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        let written = fs::read_to_string(&copy).unwrap();
        fs::write("README.md", written.replace(in_copy, continued)).unwrap();
    }
}

#[test]
fn the_first_command_of_the_readme_is_its_picture() {
    let picture = readme()
        .lines()
        .find_map(|line| line.strip_prefix("$ kubectl finalizers ").map(str::to_owned))
        .unwrap();
    assert!(
        readme().contains(&format!("\ncargo run -- {picture} ")),
        "{picture}"
    );
}

#[test]
fn relative_links_resolve() {
    let mut broken = Vec::new();
    let mut followed = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        // Links here do not span lines, and code does not contain `](`.
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let goal = link.split('#').next().unwrap();
            if goal.contains("://") || goal.is_empty() {
                continue;
            }
            followed += 1;
            if !document.parent().unwrap().join(goal).exists() {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(followed > 4, "only {followed} links were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_flag_is_in_the_documents() {
    let mut said = readme();
    for document in fs::read_dir(root().join("docs")).into_iter().flatten() {
        let path = document.unwrap().path();
        if path.is_file() {
            said.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
            .filter(|word| word.starts_with("--") && word.len() > 3)
            .map(str::to_owned)
            .collect()
    };
    let verbs = Plugin::new(["--help"]).run().success();
    let verbs = verbs.split("Commands:\n").nth(1).unwrap().lines();
    let verbs: Vec<_> = verbs
        .map_while(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect();
    assert!(verbs.contains(&"scan"), "{verbs:?}");
    for verb in verbs {
        let mut help = Plugin::new([verb, "--help"]).run().success();
        if verb == "options" {
            help = Plugin::new([verb]).run().success();
        }
        let help: String = help
            .split_inclusive('\n')
            .filter(|line| !line.contains("[alias"))
            .collect();
        let mut unsaid = &words(&help) - &words(&said);
        unsaid.retain(|flag| flag != "--help");
        assert!(unsaid.is_empty(), "{verb}: no document has {unsaid:?}");
    }
}

/// Adds the content of all Rust files below a folder.
fn add_code(folder: &Path, code: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_code(&path, code);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            code.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

/// Each promise needs a test.
#[test]
fn each_promise_of_safety_names_tests_that_exist() {
    let text = fs::read_to_string(root().join("docs/safety.md")).unwrap();
    let mut code = String::new();
    for folder in ["src", "tests"] {
        add_code(&root().join(folder), &mut code);
    }
    let rows: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| promise"))
        .collect();
    assert!(rows.len() > 15, "only {} promises were found", rows.len());
    for row in rows {
        let kept = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let tests: Vec<_> = kept.split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "no test keeps this: {row}");
        for test in tests {
            let name = test.rsplit("::").next().unwrap();
            assert!(
                code.contains(&format!("fn {name}(")),
                "there is no test {test}: {row}"
            );
        }
    }
}

#[test]
fn the_exit_codes_are_in_the_readme() {
    let rows: BTreeSet<u8> = readme()
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok())
        .collect();
    let codes = [
        Exit::Done,
        Exit::Failed,
        Exit::Usage,
        Exit::Refused,
        Exit::Stuck,
        Exit::Incomplete,
        Exit::Interrupted,
    ];
    assert_eq!(rows, codes.map(Exit::code).into());
}

#[test]
fn the_rights_that_the_readme_names_are_enough() {
    let cluster = Cluster::shared();
    let readme = readme();
    let role = readme
        .split("```yaml\n")
        .find_map(|block| {
            block
                .split("```")
                .next()
                .filter(|text| text.contains("ClusterRole"))
        })
        .unwrap();
    cluster.apply(role);
    let user = cluster.user("reader-of-the-readme").create();
    cluster
        .kubectl([
            "create",
            "clusterrolebinding",
            "finalizers-reader",
            "--clusterrole=finalizers-reader",
            &format!("--user={}", user.name()),
        ])
        .success();
    let scan = cluster.plugin(["scan"]).as_user(&user).run();
    assert!(!scan.stdout.contains("orbidden"), "{scan}");
    assert_eq!(scan.code, 0, "{scan}");
}
