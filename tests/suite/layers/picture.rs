//! The picture of imports in `docs/structure.md`: the modules of `src/`, the rooms of `src/diagnose/`, and the families
//! of its causes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use super::modules::{Crate, Imports};

/// Which rooms each room imports.
type Rooms<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The folders whose rooms are shown, each with its title.
const PARENTS: [(&str, &[&str]); 3] = [
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
        Tests fail if a file, or a folder anywhere in `src/`, leads back to itself.\n"
        .to_owned();
    let imports = of.imports();
    for (title, parent) in PARENTS {
        let parent: Vec<_> = parent.iter().map(|&name| name.to_owned()).collect();
        let rooms = rooms(of, &imports, &parent);
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
pub fn leads_back(of: &Crate, imports: &Imports<'_>, parent: &[String]) -> Vec<String> {
    let rooms = rooms(of, imports, parent);
    let leads_back = |room: &&&str| reached(&rooms, room).contains(**room);
    rooms
        .keys()
        .filter(leads_back)
        .map(|&room| room.to_owned())
        .collect()
}

fn rooms<'a>(of: &'a Crate, imports: &Imports<'_>, parent: &[String]) -> Rooms<'a> {
    let below = of.files.iter().filter(|file| file.module.starts_with(parent));
    let rooms: BTreeMap<&str, &str> = below
        .filter_map(|file| Some((&*file.name, file.module.get(parent.len())?.as_str())))
        .collect();
    let room = |name: &str| rooms.get(name).copied();
    let mut found = Rooms::new();
    for (file, imports) in imports {
        let Some(from) = room(file) else { continue };
        let goals = imports
            .keys()
            .filter_map(|goal| room(goal))
            .filter(|goal| *goal != from);
        found.entry(from).or_default().extend(goals);
    }
    found
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
