//! The modules of a crate, what each file names, and where a name leads.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use super::code::{self, Code};

/// The segments of a path in the code: `["crate", "snapshot", "Gap"]`.
pub type Segments = Vec<String>;

/// More re-exports than this in a row are a mistake of the search.
const DEEPEST: usize = 16;

/// One file, without what is compiled for tests only.
pub struct File {
    /// The path below the package: `src/diagnose/view.rs`.
    pub name: String,
    pub module: Segments,
    pub code: Code,
}

/// The files that each file imports, each with a path that does it.
pub type Imports<'a> = BTreeMap<&'a str, BTreeMap<&'a str, String>>;

impl File {
    /// Whether the other file stands directly in the folder of this one.
    fn is_root_of(&self, other: &File) -> bool {
        other.module.len() == self.module.len() + 1 && other.module.starts_with(&self.module)
    }
}

/// A crate as it is compiled without tests.
pub struct Crate {
    pub files: Vec<File>,
    /// The file that holds each module, by its index.
    modules: BTreeMap<Segments, usize>,
    /// What each module imports, by module and local name.
    uses: BTreeMap<(Segments, String), Segments>,
}

impl Crate {
    /// This package.
    pub fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut folders = vec![root.join("src")];
        let mut sources = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let name = path.strip_prefix(root).unwrap().display().to_string();
                    sources.push((name, fs::read_to_string(path).unwrap()));
                }
            }
        }
        sources.sort();
        assert!(sources.len() > 100, "only {} files were found", sources.len());
        Self::parse(sources.iter().map(|(name, text)| (&**name, &**text)))
    }

    /// A crate of these files, each with its name and text.
    pub fn parse<'a>(sources: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut files: Vec<_> = sources
            .into_iter()
            .map(|(name, text)| {
                let module = module(name);
                let code = code::read(name, text, &module);
                let name = name.to_owned();
                File { name, module, code }
            })
            .collect();
        let of_tests: BTreeSet<_> = files
            .iter()
            .flat_map(|file| file.code.test_modules.iter().cloned())
            .collect();
        files.retain(|file| !(1..=file.module.len()).any(|length| of_tests.contains(&file.module[..length])));
        let mut modules = BTreeMap::new();
        let mut uses = BTreeMap::new();
        for (index, file) in files.iter().enumerate() {
            modules.insert(file.module.clone(), index);
            for inline in &file.code.inline_modules {
                modules.insert(inline.clone(), index);
            }
            for (module, name, path) in &file.code.uses {
                uses.insert((module.clone(), name.clone()), path.clone());
            }
        }
        Self { files, modules, uses }
    }

    /// The paths of a file as they are written but from the root of the crate, and where each leads through re-exports.
    pub fn paths<'a>(&'a self, file: &'a File) -> impl Iterator<Item = (Segments, Segments)> + 'a {
        file.code.paths.iter().map(|(module, path)| {
            let absolute = self.absolute(module, path, 0);
            let definition = self.definition(&absolute, 0);
            (absolute, definition)
        })
    }

    /// The files that each file imports, with a path that does it. The root of a folder and the files in it may import
    /// each other, so they do not count.
    pub fn imports(&self) -> Imports<'_> {
        let mut all = Imports::new();
        for file in &self.files {
            let imports = all.entry(&file.name).or_default();
            for (_, definition) in self.paths(file) {
                let Some(goal) = self.file_of(&definition) else {
                    continue;
                };
                if goal.name != file.name && !goal.is_root_of(file) && !file.is_root_of(goal) {
                    imports.entry(&goal.name).or_insert_with(|| definition.join("::"));
                }
            }
        }
        all
    }

    /// Imports of an item that the root of an outer folder defines. Such an item belongs into a file of its own.
    pub fn imports_from_far_above(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for file in &self.files {
            for (_, definition) in self.paths(file) {
                let Some(goal) = self.file_of(&definition) else {
                    continue;
                };
                let is_above = file.module.starts_with(&goal.module) && goal.name != file.name;
                if is_above && !goal.is_root_of(file) && definition != goal.module {
                    found.insert(format!(
                        "{} imports {} of {}",
                        file.name,
                        definition.join("::"),
                        goal.name
                    ));
                }
            }
        }
        found
    }

    /// The folders with modules: each module that has others below it.
    pub fn folders(&self) -> BTreeSet<Segments> {
        let modules = self.files.iter().map(|file| &file.module);
        modules
            .filter_map(|module| module.split_last())
            .map(|(_, folder)| folder.to_vec())
            .filter(|folder| !folder.is_empty())
            .collect()
    }

    /// The file with this item.
    fn file_of(&self, item: &[String]) -> Option<&File> {
        let index = (1..=item.len())
            .rev()
            .find_map(|length| self.modules.get(&item[..length]))?;
        self.files.get(*index)
    }

    /// A path from the root of its crate; one of another crate stays as it is.
    fn absolute(&self, module: &[String], path: &[String], depth: usize) -> Segments {
        let Some((first, rest)) = path.split_first() else {
            return module.to_vec();
        };
        match first.as_str() {
            "crate" => [&module[..1], rest].concat(),
            "self" => [module, rest].concat(),
            "super" => {
                let parent = &module[..module.len().saturating_sub(1)];
                if rest.first().is_some_and(|next| next == "super") {
                    self.absolute(parent, rest, depth)
                } else {
                    [parent, rest].concat()
                }
            }
            _ => {
                let child = [module, &path[..1]].concat();
                let used = self.uses.get(&(module.to_vec(), first.clone()));
                match used.filter(|_| depth < DEEPEST) {
                    _ if self.modules.contains_key(&child) => [module, path].concat(),
                    Some(used) if used != path => {
                        [self.absolute(module, used, depth + 1), rest.to_vec()].concat()
                    }
                    _ => path.to_vec(),
                }
            }
        }
    }

    /// Where an item is defined: behind the imports and re-exports of the modules on the way.
    fn definition(&self, path: &[String], depth: usize) -> Segments {
        for length in 1..path.len() {
            let module = &path[..length];
            if !self.modules.contains_key(module) {
                break;
            }
            if self.modules.contains_key(&path[..=length]) {
                continue;
            }
            let used = self.uses.get(&(module.to_vec(), path[length].clone()));
            if let Some(used) = used.filter(|_| depth < DEEPEST) {
                let goal = [
                    self.absolute(module, used, depth + 1),
                    path[length + 1..].to_vec(),
                ]
                .concat();
                return self.definition(&goal, depth + 1);
            }
        }
        path.to_vec()
    }
}

/// The module of a file. `main.rs` is the root of another crate.
fn module(name: &str) -> Segments {
    let path = name.strip_prefix("src/").unwrap_or(name);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    match path {
        "lib" => vec!["crate".to_owned()],
        "main" => vec!["main".to_owned()],
        _ => ["crate"]
            .into_iter()
            .chain(path.split('/'))
            .map(str::to_owned)
            .collect(),
    }
}
