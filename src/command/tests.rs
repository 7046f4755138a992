use super::{Command, Effect, Template, Withheld};

const EVIL: &str = "a|b>x;$(id)'x'\"y\"`z`&&true\\ #*";

/// The words of a line, as a POSIX shell splits it; an error if the shell would act on anything else.
pub(crate) fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(c) => word.push(c),
                        None => return Err(format!("an open quote in {line}")),
                    }
                }
            }
            '\\' => match chars.next() {
                Some('\'') => word.get_or_insert_default().push('\''),
                other => return Err(format!("\\{other:?} in {line}")),
            },
            c if c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c) => {
                word.get_or_insert_default().push(c);
            }
            '|' | '>' if word.is_none() => words.push(c.to_string()),
            _ => return Err(format!("{c:?} in {line}")),
        }
    }
    words.extend(word.take());
    Ok(words)
}

/// The words that a command should give, with its pipe and its redirection.
pub(crate) fn expected(command: &Command) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(input) = command.input() {
        words.extend(["printf".to_owned(), "%s".to_owned(), input, "|".to_owned()]);
    }
    words.extend(command.argv());
    if let Some(filter) = command.filter() {
        words.push("|".to_owned());
        words.extend(filter);
    }
    if let Some(output) = command.output() {
        words.extend([">".to_owned(), output]);
    }
    words
}

fn line(command: &Command) -> String {
    command.render().expect("printable")
}

#[test]
fn a_plain_command_has_no_quotes() {
    let command = Command::scale("deployments.apps", "web", "shop", 2);
    assert_eq!(
        line(&command),
        "kubectl scale deployments.apps/web -n shop --replicas=2"
    );
    assert_eq!(command.argv().len(), 6);
    assert_eq!(
        line(&Command::explain("node", "n-1", "")),
        "kubectl finalizers explain node/n-1"
    );
}

#[test]
fn a_text_of_strangers_is_never_more_than_one_word() {
    for command in [
        Command::explain("things.x.test", EVIL, EVIL),
        Command::remove("pods", EVIL, EVIL, EVIL),
        Command::save(EVIL, EVIL, EVIL),
        Command::json_patch("pods", EVIL, "", EVIL),
        Command::of("printf %s {} | kubectl replace --raw {} -f -", [EVIL, EVIL]),
        Command::of("kubectl get crd -o name | grep -F {}", [EVIL]),
        Command::of("kubectl auth can-i get pods --as={}", [EVIL]),
        Command::of("kubectl delete pod", []).arguments([EVIL, EVIL, "", "=x", "~"]),
    ] {
        let line = line(&command);
        assert_eq!(split(&line).as_ref(), Ok(&expected(&command)), "{line}");
    }
}

#[test]
fn a_text_of_strangers_is_never_a_flag() {
    let dash = "--kubeconfig=/evil";
    for (command, expected) in [
        (
            Command::of("kubectl -n {} describe {} {} -o wide", [dash, "pod", dash]),
            "kubectl describe pod --namespace=--kubeconfig=/evil -o wide -- --kubeconfig=/evil",
        ),
        (
            Command::of("kubectl delete pod", [])
                .arguments(["a", dash, "-b"])
                .with("--wait=false"),
            "kubectl delete pod a --wait=false -- --kubeconfig=/evil -b",
        ),
        (
            Command::remove("pods", "a", "n", dash),
            "kubectl finalizers remove pods/a -n n --finalizer=--kubeconfig=/evil",
        ),
        (
            Command::of("kubectl get crd -o name | grep -F {}", [dash]),
            "kubectl get crd -o name | grep -F -- --kubeconfig=/evil",
        ),
    ] {
        assert_eq!(line(&command), expected);
    }
}

#[test]
fn withholds_commands_with_invisible_characters() {
    for name in [
        "a\nb",
        "a\u{202e}b",
        "a\u{200b}b",
        "a\u{1b}[2J",
        "a\u{e0041}",
        "a\u{ad}b",
        "\u{3164}",
    ] {
        let command = Command::explain("pods", name, "n");
        assert_eq!(command.render(), Err(Withheld::Unprintable), "{name:?}");
        assert!(command.to_string().contains("control or invisible characters"));
        let json = serde_json::to_value(&command).expect("JSON");
        assert!(json["command"].is_null() && json["argv"].is_null(), "{json}");
        assert!(
            json["withheld"]
                .as_str()
                .is_some_and(|why| why.contains("invisible"))
        );
    }
}

#[test]
fn a_name_in_a_selector_is_only_a_name() {
    let list = "kubectl -n {} get pods -l app={}";
    let path = "kubectl get {} -o jsonpath={.{}}";
    let filter = "gcloud compute backend-services list --filter='name={name}'";
    let of_catalogue = |value: &str| {
        let template = Template::try_from(filter.to_owned()).expect("a command");
        template.fill(|_| Some(value.to_owned()))
    };
    assert_eq!(
        line(&Command::of(list, ["shop", "web-1"])),
        "kubectl get pods -n shop -l app=web-1"
    );
    assert_eq!(
        line(&Command::of(path, ["widgets", "spec.refs[0].name"])),
        "kubectl get widgets -o jsonpath='{.spec.refs[0].name}'"
    );
    assert_eq!(
        line(&of_catalogue("web")),
        "gcloud compute backend-services list --filter=name=web"
    );
    let labels = [("app", "web"), ("tier", "front")];
    assert_eq!(
        line(&Command::of("kubectl get pods", []).selecting(labels)),
        "kubectl get pods -l app=web,tier=front"
    );
    for hostile in [
        "web,tier!=x",
        "web OR name:*",
        "a}{.data}{.b",
        "a b",
        "(a)",
        "a=b",
        "a|b",
        "größe",
    ] {
        for command in [
            Command::of(list, ["shop", hostile]),
            Command::of(path, ["widgets", hostile]),
            of_catalogue(hostile),
            Command::of("kubectl get pods", []).selecting([("app", hostile)]),
            Command::of("kubectl get pods", []).selecting([(hostile, "web")]),
            Command::of("kubectl get pods --field-selector spec.nodeName={}", [hostile]),
            Command::of("kubectl get pods --selector=app={}", [hostile]),
        ] {
            assert_eq!(command.render(), Err(Withheld::Selecting), "{:?}", command.argv());
        }
        // Elsewhere it is one word.
        assert!(Command::explain("pods", hostile, "shop").render().is_ok());
    }
}

#[test]
fn a_file_stays_in_the_folder_of_the_reader() {
    let command = Command::save("clusterroles", "../../etc/passwd x", "");
    assert_eq!(
        command.output().as_deref(),
        Some(".._.._etc_passwd_x-backup.yaml")
    );
}

#[test]
fn a_template_reads_words_quotes_and_placeholders() {
    let template = Template::try_from(
        "kubectl -n {namespace} get pv {name} -o jsonpath='{.spec.a}{\"\\n\"}{end}' | grep -e \"a b\" {name}"
            .to_owned(),
    )
    .expect("a command");
    let command = template.fill(|word| (word == "name").then(|| EVIL.to_owned()));
    assert_eq!(command.open().collect::<Vec<_>>(), ["namespace"]);
    assert_eq!(
        command.argv()[..5],
        ["kubectl", "get", &format!("pv/{EVIL}"), "-n", "NAMESPACE"]
    );
    assert_eq!(command.argv()[6], "jsonpath={.spec.a}{\"\\n\"}{end}");
    assert_eq!(
        command.clone().without_namespace().argv()[..4],
        ["kubectl", "get", &format!("pv/{EVIL}"), "-o"]
    );
    assert_eq!(
        command.filter().as_deref(),
        Some(&["grep", "-e", "a b", EVIL].map(str::to_owned)[..])
    );
    assert_eq!(split(&line(&command)), Ok(expected(&command)));
}

#[test]
fn a_template_that_a_shell_would_act_on_is_refused() {
    for text in [
        "kubectl get pods; kubectl get nodes",
        "kubectl get pods && kubectl get nodes",
        "kubectl get $(kubectl get crd -o name)",
        "kubectl get pods `id`",
        "kubectl annotate pv x touched=\"$(date +%s)\"",
        "kubectl get $NAME",
        "kubectl get pods < file",
        "kubectl get pods > a b",
        "kubectl get pods >",
        "kubectl get pods | sort",
        "kubectl get pods | grep a | grep b",
        "kubectl get 'pods",
        "kubectl get ~/x",
        "kubectl get # all",
        "kubectl get a\\ b",
        "KUBECONFIG=x kubectl get pods",
        "{name} get pods",
        "kubectl patch pv x -p '{\"a\":\"{name}\"}'",
        "",
    ] {
        assert!(Template::try_from(text.to_owned()).is_err(), "{text}");
    }
}

/// The proof of the quotes: a real shell gives the program the same words.
#[test]
fn a_real_shell_gives_the_same_words() {
    for name in [
        EVIL, "-x", "", "a b", "'", "\\", "$HOME", "*", "!!", "{a,b}", "~root", "größe",
    ] {
        let command = Command::of("kubectl -n {} get {} --as={} --raw={}", ["n", name, name, name]);
        let line = line(&command);
        let rest = line.strip_prefix("kubectl ").expect("the program");
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("printf '%s\\037' {rest}")])
            .output()
            .expect("a shell");
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        let words: Vec<_> = said.split_terminator('\u{1f}').collect();
        assert_eq!(words, command.argv()[1..], "{line}");
    }
}

#[test]
fn a_command_asks_only_for_types_that_exist() {
    let left = |template: &'static str| {
        let command = Command::of(template, ["a.b"]).with_types(|ty| ty != "x.y.io");
        command.map(|command| command.render().expect("a plain command"))
    };
    assert_eq!(
        left("kubectl -n {} get x.y.io,pods,v.y.io z -o yaml").as_deref(),
        Some("kubectl get pods,v.y.io z -n a.b -o yaml")
    );
    assert_eq!(left("kubectl -n {} get x.y.io -o yaml"), None);
    assert_eq!(left("kubectl patch -n {} x.y.io/z -p a.b"), None);
    for other in [
        "kubectl get pods {}",
        "kubectl -n {} logs deploy/x.y.io",
        "kubectl finalizers explain x.y.io {}",
        "helm get values.yaml {}",
    ] {
        let whole = Command::of(other, ["a.b"]).render().ok();
        assert_eq!(left(other), whole, "{other}");
    }
}

#[test]
fn only_a_verb_of_ours_tells_what_a_command_does() {
    let effect = |template: &'static str| Command::of(template, ["get"]).effect();
    assert_eq!(effect("kubectl -n {} delete pod x"), Effect::Changes);
    assert_eq!(effect("kubectl --context {} get pods"), Effect::Reads);
    assert_eq!(effect("kubectl auth can-i {} pods"), Effect::Reads);
    assert_eq!(
        effect("kubectl -n {} annotate pv/x a=b --dry-run=server"),
        Effect::Reads
    );
    assert_eq!(effect("kubectl finalizers explain pv/{}"), Effect::Reads);
    assert_eq!(
        effect("kubectl finalizers remove pv/{} --finalizer x"),
        Effect::Unknown
    );
    assert_eq!(effect("kubectl -n {} exec deploy/x -- rm y"), Effect::Unknown);
    assert_eq!(effect("helm get values {}"), Effect::Unknown);
}

#[test]
fn a_namespace_that_every_cluster_needs_is_never_deleted() {
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        assert_eq!(Command::delete_namespace(name), None, "{name}");
    }
    let delete = Command::delete_namespace("kube-system-2").expect("a command");
    assert_eq!(
        delete.render().expect("printable"),
        "kubectl delete namespace/kube-system-2"
    );
}

#[test]
fn the_merge_patch_of_an_object_is_read_in_both_spellings_of_the_flag() {
    let patch =
        |template: &'static str| Command::of(template, ["shop"]).merge_patch_of("buckets.x.test", "b");
    let expected = Some(serde_json::json!({"spec": {"keep": true}}));
    for template in [
        "kubectl -n {} patch buckets.x.test b --type=merge -p '{\"spec\":{\"keep\":true}}'",
        "kubectl -n {} patch buckets.x.test b --type merge -p '{\"spec\":{\"keep\":true}}'",
    ] {
        assert_eq!(patch(template), expected, "{template}");
    }
    for template in [
        "kubectl -n {} patch buckets.x.test other --type=merge -p '{\"spec\":{\"keep\":true}}'",
        "kubectl -n {} patch buckets.x.test b --type=json -p '{\"spec\":{\"keep\":true}}'",
        "kubectl -n {} patch buckets.x.test b --subresource=status --type=merge -p '{\"spec\":{\"keep\":true}}'",
        "kubectl -n {} get buckets.x.test b",
    ] {
        assert_eq!(patch(template), None, "{template}");
    }
}
