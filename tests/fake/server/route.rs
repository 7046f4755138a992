//! The meaning of a path.

/// The parts of a path of a type or its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    pub group: &'a str,
    pub version: &'a str,
    pub namespace: Option<&'a str>,
    pub plural: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route<'a> {
    /// `/version`
    Version,
    /// `/api`: the core group.
    Core,
    /// `/apis`: all other groups.
    Groups,
    /// `/apis/GROUP`
    Group(&'a str),
    /// `/api/v1`, `/apis/GROUP/VERSION`
    GroupVersion(&'a str, &'a str),
    Collection(Target<'a>),
    Object(Target<'a>, &'a str),
    Unknown,
}

pub fn route(path: &str) -> Route<'_> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        ["version"] => Route::Version,
        ["api"] => Route::Core,
        ["apis"] => Route::Groups,
        ["apis", group] => Route::Group(group),
        ["api", version] => Route::GroupVersion("", version),
        ["apis", group, version] => Route::GroupVersion(group, version),
        ["api", version, rest @ ..] => within("", version, rest),
        ["apis", group, version, rest @ ..] => within(group, version, rest),
        _ => Route::Unknown,
    }
}

fn within<'a>(group: &'a str, version: &'a str, rest: &[&'a str]) -> Route<'a> {
    let target = |namespace, plural| Target {
        group,
        version,
        namespace,
        plural,
    };
    match *rest {
        [plural] => Route::Collection(target(None, plural)),
        [plural, name] => Route::Object(target(None, plural), name),
        ["namespaces", namespace, plural] => Route::Collection(target(Some(namespace), plural)),
        ["namespaces", namespace, plural, name] => Route::Object(target(Some(namespace), plural), name),
        _ => Route::Unknown,
    }
}
