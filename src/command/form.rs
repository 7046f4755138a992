//! One form for all commands of kubectl: `kubectl get pod/db-0 -n db -o yaml`. An object is one word, with its namespace behind
//! it, as in the texts beside the commands.

use super::{Part, Word};

/// Verbs that take a type and a name.
const OF_ONE_OBJECT: [&str; 6] = ["delete", "describe", "edit", "get", "patch", "scale"];
/// Verbs that take a type, a name, and what to set.
const WITH_MORE_WORDS: [&str; 2] = ["annotate", "label"];

/// The words in this form. Those of other programs stay as they are.
pub(super) fn in_one_form(words: &[Word]) -> Vec<Word> {
    let (program, rest) = match words {
        [program, rest @ ..] if program.ours_alone() == Some("kubectl") => (program, rest),
        _ => return words.to_vec(),
    };
    let (namespace, rest) = match rest {
        [flag, name, rest @ ..] if flag.ours_alone() == Some("-n") => (Some([flag, name]), rest),
        _ => (None, rest),
    };
    let mut arranged: Vec<Word> = [program].into_iter().chain(rest).cloned().collect();
    let object = join_object(&mut arranged);
    if let Some(namespace) = namespace {
        // The words behind `--` are those of another program.
        let end = arranged.iter().position(|word| word.ours_alone() == Some("--"));
        let at = object.or(end).unwrap_or(arranged.len());
        arranged.splice(at..at, namespace.map(Clone::clone));
    }
    arranged
}

/// Makes one word of a type and a name. Returns the place behind the object, or behind the objects.
fn join_object(words: &mut Vec<Word>) -> Option<usize> {
    let verb = words.get(1)?.ours_alone()?;
    let (is_of_one, has_more) = (OF_ONE_OBJECT.contains(&verb), WITH_MORE_WORDS.contains(&verb));
    if !is_of_one && !has_more {
        let is_object = |at: &usize| words.get(*at).is_some_and(|word| word.text().contains('/'));
        return arguments(words).into_iter().find(is_object).map(|at| at + 1);
    }
    let named = arguments(words);
    let is_pair = if has_more {
        named.len() > 2
    } else {
        named.len() == 2
    };
    if let [first, second, ..] = *named
        && is_pair
        && second == first + 1
        && [first, second].iter().all(|at| is_one_word(words.get(*at)))
    {
        let name = words.remove(second);
        let object = words.get_mut(first)?;
        object.0.push(Part::Ours("/".to_owned()));
        object.0.extend(name.0);
        return Some(second);
    }
    let last = if has_more { named.first() } else { named.last() };
    last.map(|at| at + 1)
}

/// Whether it is a single type or a single name.
fn is_one_word(word: Option<&Word>) -> bool {
    word.map(Word::text)
        .is_some_and(|text| !text.is_empty() && !text.contains(['/', ',']))
}

/// The places of the words behind the verb that are no flags and no values of flags.
fn arguments(words: &[Word]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut is_value = false;
    for (at, word) in words.iter().enumerate().skip(2) {
        if word.ours_alone() == Some("--") {
            break;
        }
        if !is_value && !word.is_flag() {
            found.push(at);
        }
        is_value = !is_value && word.takes_value();
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::command::Command;

    #[test]
    fn an_object_is_one_word_with_its_namespace_behind_it() {
        for (template, line) in [
            ("kubectl -n a get pod b -o yaml", "kubectl get pod/b -n a -o yaml"),
            (
                "kubectl -n a delete pods/b --wait=false",
                "kubectl delete pods/b -n a --wait=false",
            ),
            (
                "kubectl -n a patch job b -p {{}}",
                "kubectl patch job/b -n a -p '{}'",
            ),
            (
                "kubectl -n a annotate pod b c=d",
                "kubectl annotate pod/b -n a c=d",
            ),
            (
                "kubectl -n a get pods,jobs -l c=d",
                "kubectl get pods,jobs -n a -l c=d",
            ),
            ("kubectl -n a delete pod b c", "kubectl delete pod b c -n a"),
            ("kubectl -n a exec b -- df -n", "kubectl exec b -n a -- df -n"),
            (
                "kubectl -n a auth can-i get pods",
                "kubectl auth can-i get pods -n a",
            ),
            ("kubectl -n a get --raw /b", "kubectl get --raw /b -n a"),
            ("kubectl describe node b", "kubectl describe node/b"),
            (
                "kubectl taint node b c=d:NoExecute",
                "kubectl taint node b c=d:NoExecute",
            ),
            (
                "kubectl -n a port-forward pod/b 1:1",
                "kubectl port-forward pod/b -n a 1:1",
            ),
            ("helm -n a get b c", "helm -n a get b c"),
        ] {
            let command = Command::of(template, []);
            assert_eq!(command.render().expect("printable"), line);
        }
    }
}
