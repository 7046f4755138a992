use std::{
    cell::RefCell,
    collections::VecDeque,
    pin::pin,
    task::{Context, Poll, Waker},
};

use serde_json::json;

use super::*;
use crate::{
    cluster::{
        each::Objects,
        request::{METADATA, METADATA_LIST},
    },
    snapshot::Room,
};

/// A page, or a status code and perhaps the token of the next page.
type Scripted = Result<serde_json::Value, (u16, Option<&'static str>)>;

/// Answers in this order. The last one is repeated.
struct Script {
    answers: RefCell<VecDeque<Scripted>>,
    asked: RefCell<Vec<(String, &'static str)>>,
}

impl Source for Script {
    async fn get(&self, path: &str, accept: &'static str) -> Result<Answer, Failure> {
        self.asked.borrow_mut().push((path.to_owned(), accept));
        let mut answers = self.answers.borrow_mut();
        let next = if answers.len() > 1 {
            answers.pop_front()
        } else {
            answers.front().cloned()
        };
        match next.expect("an answer") {
            Ok(body) => Ok(Answer::json(&body)),
            Err((code, next)) => Err(Failure::Status {
                code: StatusCode::from_u16(code).expect("a code"),
                message: "no".into(),
                next: next.map(str::to_owned),
                retry_after: None,
                by_api: true,
            }),
        }
    }
}

/// A page with these objects and this token.
#[allow(clippy::unnecessary_wraps, reason = "a script has pages and failures")]
fn page(names: &[&str], next: &str) -> Scripted {
    let items: Vec<_> = names
        .iter()
        .map(|name| json!({"metadata": {"name": name, "uid": format!("uid-{name}")}}))
        .collect();
    Ok(json!({"kind": "PodList", "items": items, "metadata": {"continue": next}}))
}

struct Outcome {
    ended: Ended,
    names: Vec<String>,
    asked: Vec<(String, &'static str)>,
}

fn read(plural: &str, answers: Vec<Scripted>) -> Outcome {
    read_into(&room_for(10_000), plural, answers)
}

fn room_for(bytes: usize) -> Room {
    let all = Room::beside(usize::MAX).kept();
    Room::beside(all - bytes)
}

fn read_into(room: &Room, plural: &str, answers: Vec<Scripted>) -> Outcome {
    let ty = ResourceType {
        version: "v1".into(),
        plural: plural.into(),
        ..ResourceType::default()
    };
    let script = Script {
        answers: RefCell::new(answers.into()),
        asked: RefCell::default(),
    };
    let mut names = Vec::new();
    let mut visit = |object: crate::snapshot::facts::Object| names.push(object.name().to_owned());
    let pages = Pages {
        server: &script,
        ty: &ty,
        version: "v1",
        namespace: None,
        parameters: "&labelSelector=a",
        accept: METADATA_LIST,
    };
    let mut objects = Objects::new(&ty, Some(room), &mut visit);
    let Poll::Ready(ended) = pin!(pages.read(&mut objects)).poll(&mut Context::from_waker(Waker::noop()))
    else {
        panic!("the script answers at once");
    };
    Outcome {
        ended,
        names,
        asked: script.asked.into_inner(),
    }
}

#[test]
fn all_lists_of_a_run_share_their_room() {
    let whole = Room::default();
    let first = || vec![page(&["a"], "t/1"), page(&["b"], "")];
    assert_eq!(read_into(&whole, "pods", first()).ended.fault, None);
    let of_one = whole.kept();
    assert!(of_one > 0);

    // Room for one and a half of such lists: the second is a gap, and says so.
    let room = room_for(of_one + of_one / 2);
    assert_eq!(read_into(&room, "pods", first()).ended.fault, None);
    let second = read_into(&room, "services", first()).ended.fault;
    let Some(Why::Undecodable(why)) = second else {
        panic!("{second:?}");
    };
    assert_eq!(why, "it has more to keep than there is room for");
}

#[test]
fn a_list_is_read_to_its_last_page() {
    let read = read("pods", vec![page(&["a"], "t/1"), page(&["b", "c"], "")]);
    assert_eq!(read.ended.fault, None);
    assert_eq!(read.names, ["a", "b", "c"]);
    let paths: Vec<_> = read.asked.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "/api/v1/pods?limit=500&labelSelector=a",
            "/api/v1/pods?limit=500&labelSelector=a&continue=t%2F1"
        ]
    );
}

#[test]
fn a_list_that_expires_continues_or_begins_again_and_has_no_object_twice() {
    let go_on = read(
        "pods",
        vec![page(&["a"], "1"), Err((410, Some("2"))), page(&["b"], "")],
    );
    assert_eq!(go_on.ended.fault, None);
    assert!(go_on.ended.inconsistent);
    assert_eq!(go_on.names, ["a", "b"]);
    let again = read(
        "pods",
        vec![
            page(&["a"], "1"),
            Err((410, None)),
            page(&["a"], "1"),
            page(&["b"], ""),
        ],
    );
    assert_eq!(again.ended.fault, None);
    assert_eq!(again.names, ["a", "b"]);
    let always = read("pods", vec![page(&["a"], "1"), Err((410, Some("2")))]);
    assert!(matches!(always.ended.fault, Some(Why::ServerError(_))));
}

#[test]
fn a_server_without_metadata_lists_is_asked_for_whole_objects_but_never_for_whole_secrets() {
    let pods = read("pods", vec![Err((406, None)), page(&["a"], "")]);
    assert_eq!((pods.ended.fault, pods.asked[1].1), (None, WHOLE));
    assert_eq!(pods.names, ["a"]);
    assert_ne!(METADATA, WHOLE);
    let secrets = read("secrets", vec![Err((406, None)), page(&["a"], "")]);
    assert_eq!(secrets.ended.fault, Some(Why::MetadataOnlyRefused));
    assert_eq!(secrets.asked.len(), 1);
}

#[test]
fn a_list_without_end_is_stopped() {
    let same = read("pods", vec![page(&["a"], "1"), page(&["b"], "1")]);
    assert_eq!(same.names, ["a"]);
    let alternating = read(
        "pods",
        vec![page(&["a"], "1"), page(&["b"], "2"), page(&["c"], "1")],
    );
    assert_eq!(alternating.names, ["a", "b"]);
    for ended in [same.ended, alternating.ended] {
        assert!(
            matches!(&ended.fault, Some(Why::Undecodable(why)) if why.contains("same page")),
            "{ended:?}"
        );
    }
    let empty = (0..200).map(|token| page(&[], &token.to_string())).collect();
    let empty = read("pods", empty);
    assert!(matches!(&empty.ended.fault, Some(Why::Undecodable(why)) if why.contains("without an object")));
    let name = "n".repeat(2_000);
    let large = (0..9).map(|token| page(&[&name], &token.to_string())).collect();
    let large = read("pods", large);
    assert!(
        matches!(&large.ended.fault, Some(Why::Undecodable(why)) if why.contains("more to keep than there is room for"))
    );
}
