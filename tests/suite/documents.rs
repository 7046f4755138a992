//! The documents are true: their examples run, their links resolve, and they mention every flag and exit code.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

use kubectl_finalizers::{cli, exit::Exit};

use crate::{
    explain::told::delete,
    harness::{Cluster, Plugin, is_since, program},
};

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

/// The documents whose examples are run, with their outputs.
const WITH_EXAMPLES: [&str; 3] = ["README.md", "docs/usage.md", "docs/automation.md"];

/// Held while a test reads documents and writes them anew.
static WRITING: Mutex<()> = Mutex::new(());

/// Runs the examples through the real kubectl as they are written. After an intended change run
/// `TRYCMD=overwrite cargo test --test suite documents` and read the difference. trycmd turns every backslash into a
/// slash, so it gets copies in which lines that a shell continues end in a slash.
#[test]
fn the_examples_of_the_documents() {
    let _writing = WRITING.lock();
    let mut path = vec![Path::new(BINARY).parent().unwrap().to_owned()];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap()));
    let examples = testkit::trycmd::TestCases::new();
    examples
        .register_bin("kubectl", program("kubectl"))
        .env("PATH", env::join_paths(path).unwrap().into_string().unwrap())
        .env("LC_ALL", "C.UTF-8")
        .env("KUBECONFIG", "/nonexistent")
        .env("XDG_CONFIG_HOME", "/nonexistent");
    let (continued, in_copy) = (" \\\n", " /\n");
    let copies = WITH_EXAMPLES.map(|document| {
        let text = fs::read_to_string(root().join(document)).unwrap();
        assert!(
            !text.contains(in_copy),
            "{document}: this would become a backslash"
        );
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(document.replace('/', "-"));
        fs::write(&copy, text.replace(continued, in_copy)).unwrap();
        examples.case(&copy);
        copy
    });
    // It compares when it is dropped.
    drop(examples);
    if env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        for (document, copy) in WITH_EXAMPLES.iter().zip(copies) {
            let written = fs::read_to_string(copy).unwrap();
            fs::write(root().join(document), written.replace(in_copy, continued)).unwrap();
        }
    }
}

/// The commands without an output are at least words that the program accepts.
#[test]
fn every_command_in_the_documents_is_accepted() {
    let mut commands = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap().replace(" \\\n", " ");
        for block in text.split("```sh\n").skip(1) {
            for line in block.split("```").next().unwrap().lines() {
                let line = line.split(" #").next().unwrap();
                let Some((_, words)) = line.split_once("kubectl finalizers ") else {
                    continue;
                };
                // Optional words are shown once in brackets, repeated ones with dots.
                let words = words.split(['|', '>', ')', ';']).next().unwrap();
                let words = words.replace(['[', ']', '\'', '"'], "").replace("...", "");
                let words = ["kubectl-finalizers"].into_iter().chain(words.split_whitespace());
                let parsed = cli::parse(words.map(Into::into));
                assert!(parsed.is_ok(), "{}: {line}: {parsed:?}", document.display());
                commands += 1;
            }
        }
    }
    assert!(commands > 20, "only {commands} commands were found");
}

/// What jq prints with `-r` for this filter, a line each.
fn jq(filter: &str, input: &str) -> String {
    use testkit::{
        jaq_core::{
            self, Compiler, Ctx, Vars, data,
            load::{Arena, File, Loader},
            unwrap_valr,
        },
        jaq_json::{self, Val, read},
    };
    let definitions = jaq_core::defs();
    let functions = jaq_core::funs().chain(jaq_json::funs());
    let arena = Arena::default();
    let file = File {
        code: filter,
        path: (),
    };
    let modules = Loader::new(definitions).load(&arena, file).unwrap();
    let filter = Compiler::default().with_funs(functions).compile(modules).unwrap();
    let context = Ctx::<data::JustLut<Val>>::new(&filter.lut, Vars::new([]));
    let input = read::parse_single(input.as_bytes()).unwrap();
    let mut printed = String::new();
    for line in filter.id.run((context, input)).map(unwrap_valr) {
        let line = line.unwrap().to_string();
        let text: String = serde_json::from_str(&line).unwrap_or(line);
        printed.push_str(&text);
        printed.push('\n');
    }
    printed
}

/// Each line with jq is followed by what it prints for the recorded cluster. `TRYCMD=overwrite` writes that anew.
#[test]
fn the_jq_filters_of_the_documents() {
    let _writing = WRITING.lock();
    let path = root().join("docs/automation.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut now = page.clone();
    let mut filters = 0;
    for block in page.split("```sh\n").skip(1) {
        let (command, rest) = block.split_once("\n```\n").unwrap();
        let Some((command, filter)) = command.split_once("jq -r '") else {
            continue;
        };
        let words = command.trim_end().strip_suffix('|').unwrap();
        let words = words.trim().strip_prefix("kubectl finalizers ").unwrap();
        let from = "--from=examples/stuck-cluster.snapshot";
        let output = Plugin::new(words.split_whitespace().chain([from]))
            .run()
            .success();
        let printed = jq(filter.strip_suffix('\'').unwrap(), &output);
        assert!(!printed.is_empty(), "{filter} prints nothing");
        let shown = rest
            .split("```text\n")
            .nth(1)
            .unwrap()
            .split("```")
            .next()
            .unwrap();
        let block = |shown: &str| format!("{filter}\n```\n\n```text\n{shown}```");
        assert!(now.contains(&block(shown)), "{filter}: its output follows it");
        now = now.replace(&block(shown), &block(&printed));
        filters += 1;
    }
    assert!(filters > 3, "only {filters} filters were found");
    if env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        fs::write(path, now).unwrap();
    } else {
        assert_eq!(page, now);
    }
}

#[test]
fn the_readme_is_short_and_narrow() {
    let readme = readme();
    assert!(readme.lines().count() <= 250, "{} lines", readme.lines().count());
    for line in readme.lines().filter(|line| !line.starts_with('|')) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

/// What the program prints for people fits 100 columns, in every document. Data and pictures are as long as they are, and so is a
/// name that may not be broken. A command is one line.
#[test]
fn the_outputs_of_the_documents_are_narrow() {
    let mut blocks = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for block in text.split("```console\n").skip(1) {
            let block = block.split("```").next().unwrap();
            blocks += 1;
            if ["-o mermaid", "-o yaml", "-o json"]
                .iter()
                .any(|data| block.contains(data))
            {
                continue;
            }
            let mut is_note = false;
            for line in block.lines() {
                is_note =
                    NOTES.iter().any(|note| line.starts_with(note)) || is_note && line.starts_with("  ");
                let longest = line.split_whitespace().map(str::len).max().unwrap_or(0);
                assert!(
                    line.chars().count() <= 100 || longest > 60 || is_note || line.starts_with("$ "),
                    "{}: {line}",
                    document.display()
                );
            }
        }
    }
    assert!(blocks > 15, "only {blocks} examples were found");
}

#[test]
fn every_block_of_yaml_in_the_documents_is_yaml() {
    let mut blocks = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for block in text.split("```yaml\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let parsed: Result<Vec<serde_json::Value>, _> = serde_saphyr::from_multiple(block);
            assert!(parsed.is_ok(), "{}: {parsed:?}\n{block}", document.display());
            blocks += 1;
        }
    }
    assert!(blocks > 3, "only {blocks} blocks were found");
}

/// How messages on standard error begin. They are never wrapped, so that they can be searched for.
const NOTES: [&str; 4] = ["ages are measured at ", "warning: ", "error: ", "NOT READ"];

/// README.md names exactly the minor versions whose control planes the tests build.
#[test]
fn the_readme_names_the_tested_versions_of_kubernetes() {
    let planes = root().join("tests/controlplane");
    let mut minors: BTreeSet<String> = fs::read_dir(&planes)
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_prefix("kubernetes-").map(str::to_owned)
        })
        .collect();
    let newest = fs::read_to_string(planes.join("kubernetes/go.mod")).unwrap();
    let newest = newest.split("k8s.io/kubernetes v1.").nth(1).unwrap();
    minors.insert(format!("1.{}", newest.split('.').next().unwrap()));
    let readme = readme();
    let sentence = readme.split("tested with Kubernetes ").nth(1).unwrap();
    let sentence = sentence.split("scripts/long versions").next().unwrap();
    let named: BTreeSet<_> = sentence
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| word.starts_with("1."))
        .map(str::to_owned)
        .collect();
    assert_eq!(named, minors);
}

/// Words of a plan that are the same in each run: identities, ages and digests have digits.
fn steady(text: &str) -> Vec<&str> {
    let word = |word| match word {
        _ if str::contains(word, |c: char| c.is_ascii_digit()) => "#",
        _ => word,
    };
    text.split_whitespace().map(word).collect()
}

/// README.md shows a refused plan for this object of a real cluster. `TRYCMD=overwrite` writes it anew.
#[test]
fn the_plan_in_the_readme() {
    let cluster = Cluster::start();
    cluster.apply(
        r#"{"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        {"apiVersion": "v1", "kind": "ConfigMap",
         "metadata": {"name": "held", "namespace": "shop", "finalizers": ["example.com/hold"]}}]}"#,
    );
    delete(&cluster, "cm/held", "shop");
    cluster.deleted_earlier("configmaps/shop/held", 6 * 60);
    let _writing = WRITING.lock();
    let readme = readme();
    let block = readme
        .split("```text\n")
        .find(|block| block.starts_with("$ kubectl finalizers remove "))
        .unwrap();
    let (command, shown) = block.split_once('\n').unwrap();
    let shown = shown.split("```").next().unwrap();
    let words = command.split_whitespace().skip(3);
    let out = cluster.plugin(words).run();
    assert_eq!(out.code, 3, "{out}");
    let now = out.stdout;
    if env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        let new = readme.replace(&format!("{command}\n{shown}```"), &format!("{command}\n{now}```"));
        fs::write(root().join("README.md"), new).unwrap();
    } else {
        assert_eq!(steady(shown), steady(&now));
    }
}

/// The page of the connection names exactly the flags of `kubectl options` that this program does not have.
#[test]
fn the_missing_flags_of_kubectl_are_named() {
    let flags = |text: &str| -> BTreeSet<String> {
        text.lines()
            .filter_map(|line| line.split("--").nth(1)?.split([' ', '=', ',', '[']).next())
            .map(|flag| format!("--{}", flag.trim_end_matches(':')))
            .collect()
    };
    let theirs = Command::new(program("kubectl")).arg("options").output().unwrap();
    let theirs = flags(&String::from_utf8(theirs.stdout).unwrap());
    assert!(theirs.contains("--kubeconfig"), "{theirs:?}");
    let ours = flags(&Plugin::new(["options"]).run().success());
    let page = fs::read_to_string(root().join("docs/usage.md")).unwrap();
    let named = page.split("are not accepted:").nth(1).unwrap();
    let named = named.split('.').next().unwrap();
    let named: BTreeSet<_> = named.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let mut missing = &theirs - &ours;
    if !is_since(34) {
        // The page is about the newest kubectl, which has one flag more.
        missing.insert("--kuberc".to_owned());
    }
    assert_eq!(named, missing);
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

/// Whoever opens it has just deleted a disk: some 250 words a minute, and the command before anything else.
#[test]
fn the_emergency_page_is_read_in_a_minute() {
    let page = fs::read_to_string(root().join("docs/rescue.md")).unwrap();
    let first = page.lines().next().unwrap();
    assert!(
        first.contains("`kubectl finalizers rescue pvc/NAME -n NAMESPACE --only-retain`"),
        "{first}"
    );
    let words = page
        .split_whitespace()
        .filter(|word| word.contains(char::is_alphanumeric));
    let words = words.count();
    assert!(words <= 280, "{words} words");
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

/// Adds the paths of all functions in a folder, such as `plan::tests::living::NAME`, and whether each is a test.
fn add_functions(folder: &Path, module: &str, known: &mut BTreeMap<String, bool>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let inside = if ["mod", "lib", "main"].contains(&name) {
            module.to_owned()
        } else {
            format!("{module}{name}::")
        };
        if path.is_dir() {
            add_functions(&path, &inside, known);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            add_functions_of_file(&fs::read_to_string(&path).unwrap(), &inside, known);
        }
    }
}

fn add_functions_of_file(code: &str, module: &str, known: &mut BTreeMap<String, bool>) {
    // The modules in the file that are open, each with the indentation of its first line.
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut is_test = false;
    for line in code.lines() {
        let text = line.trim_start();
        let indentation = line.len() - text.len();
        if text.starts_with('}') && open.last().is_some_and(|(at, _)| *at == indentation) {
            open.pop();
        }
        if let Some(name) = text
            .strip_suffix(" {")
            .and_then(|line| line.rsplit_once("mod "))
            .map(|(_, name)| name)
        {
            open.push((indentation, name));
        }
        if let Some((_, rest)) = text.split_once("fn ") {
            let name = rest.split(['(', '<']).next().unwrap();
            let inner: String = open.iter().flat_map(|(_, name)| [*name, "::"]).collect();
            known.insert(format!("{module}{inner}{name}"), is_test);
            is_test = false;
        }
        is_test |= text == "#[test]";
    }
}

/// Each promise needs a test.
#[test]
fn each_promise_of_safety_names_tests_that_exist() {
    let text = fs::read_to_string(root().join("docs/safety.md")).unwrap();
    let mut known = BTreeMap::new();
    for folder in ["src", "tests/suite"] {
        add_functions(&root().join(folder), "", &mut known);
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
            // The rows about controllers say once in which room their tests are.
            let paths = ["", "diagnose::holder::"].map(|room| format!("{room}{test}"));
            let is_test = paths.iter().any(|path| known.get(path) == Some(&true));
            // What each unit test of a cause calls is no test of its own.
            let is_check = row.contains("unit test") && known.contains_key(test);
            assert!(is_test || is_check, "there is no test {test}: {row}");
        }
    }
}

#[test]
fn the_exit_codes_are_in_the_documents() {
    let page = fs::read_to_string(root().join("docs/automation.md")).unwrap();
    let rows: BTreeSet<u8> = page
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
