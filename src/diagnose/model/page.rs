//! The page of the documentation about a cause.

/// The cause that a finding tells of. Each has a page of its name in `docs/causes/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page(&'static str);

impl Page {
    /// The page of a file below `diagnose`, by its `module_path!()`.
    pub const fn of(module: &'static str) -> Self {
        Page(module)
    }

    /// Its folder and name, such as `storage/pvc_protection`.
    pub fn id(self) -> String {
        let below = |root: &str| self.0.split_once(root).map(|(_, path)| path);
        let path = below("::causes::")
            .or_else(|| below("::diagnose::"))
            .unwrap_or(self.0);
        path.replace("::", "/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_place_of_the_file_of_its_cause() {
        let page = Page::of("kubectl_finalizers::diagnose::causes::storage::pvc_protection");
        assert_eq!(page.id(), "storage/pvc_protection");
        let page = Page::of("kubectl_finalizers::diagnose::leftovers::volume_attachment");
        assert_eq!(page.id(), "leftovers/volume_attachment");
    }
}
