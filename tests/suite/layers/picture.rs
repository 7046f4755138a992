//! The picture of imports in `docs/structure.md`: the modules of `src/`, the rooms of `src/diagnose/`, and the families
//! of its causes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use super::modules::Crate;

/// Which rooms each room imports.
type Rooms<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The folders whose rooms are shown, each with its title. None of their rooms leads back to itself.
pub const PARENTS: [(&str, &[&str]); 3] = [
    ("The modules of `src/`", &["crate"]),
    ("The rooms of `src/diagnose/`", &["crate", "diagnose"]),
    (
        "The families of `src/diagnose/causes/`",
        &["crate", "diagnose", "causes"],
    ),
];

/// The page. It shows each import between rooms, without those that follow from the others.
pub fn page(of: &Crate) -> String {
    let mut page = "# The structure of the code\n\n\
        <!-- Written from the imports; write it anew: cargo test --test suite -- --ignored write_what_is_generated -->\n\n\
        An arrow points from a module to one that it uses. Where an arrow follows from others, it is left out.\n\
        Tests fail if a module, a room, a family or a file leads back to itself.\n"
        .to_owned();
    for (title, parent) in PARENTS {
        let rooms = rooms(of, parent);
        let _ = write!(page, "\n## {title}\n\n```mermaid\nflowchart TD\n");
        for (room, uses) in &rooms {
            let _ = writeln!(page, "    {room}");
            for goal in direct(&rooms, uses) {
                let _ = writeln!(page, "    {room} --> {goal}");
            }
        }
        page.push_str("```\n");
    }
    page
}

/// Rooms of this parent that lead back to themselves.
pub fn leads_back(of: &Crate, parent: &[&str]) -> Vec<String> {
    let rooms = rooms(of, parent);
    let leads_back = |room: &&&str| reached(&rooms, room).contains(**room);
    rooms
        .keys()
        .filter(leads_back)
        .map(|&room| room.to_owned())
        .collect()
}

fn rooms<'a>(of: &'a Crate, parent: &[&str]) -> Rooms<'a> {
    let room = |name: &str| {
        let file = of.files.iter().find(|file| file.name == name)?;
        let is_below =
            file.module.len() > parent.len() && file.module.iter().zip(parent).all(|(a, b)| a == b);
        is_below.then(|| file.module[parent.len()].as_str())
    };
    let mut rooms = Rooms::new();
    for (file, imports) in of.imports() {
        let Some(from) = room(file) else { continue };
        let goals = imports
            .keys()
            .filter_map(|goal| room(goal))
            .filter(|goal| *goal != from);
        rooms.entry(from).or_default().extend(goals);
    }
    rooms
}

/// Those that no other one of them leads to. Two that lead to each other are both shown.
fn direct<'a>(rooms: &Rooms<'a>, uses: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    let leads = |from: &str, to: &str| reached(rooms, from).contains(to);
    let follows = |goal: &str| uses.iter().any(|other| leads(other, goal) && !leads(goal, other));
    uses.iter().copied().filter(|goal| !follows(goal)).collect()
}

/// The rooms that a room leads to.
fn reached<'a>(rooms: &Rooms<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut next: Vec<_> = rooms.get(from).into_iter().flatten().copied().collect();
    while let Some(room) = next.pop() {
        if found.insert(room) {
            next.extend(rooms.get(room).into_iter().flatten());
        }
    }
    found
}
