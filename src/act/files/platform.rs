//! What the platform decides about files: where they are kept, and who can read them.

use std::path::PathBuf;

/// A platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Files have an owner and a mode.
    Unix,
    /// Files have the permissions of their folder.
    Windows,
}

impl Platform {
    /// That of this program.
    pub const HERE: Self = if cfg!(windows) { Self::Windows } else { Self::Unix };

    /// The folder for the files of this program, and the variables that could have named it. Only an absolute path counts
    /// (<https://specifications.freedesktop.org/basedir-spec/latest/>).
    pub(super) fn state(self, variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf, &'static str> {
        let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
        let (state, variables) = match self {
            Self::Unix => (
                absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state"))),
                "neither XDG_STATE_HOME nor HOME is set",
            ),
            Self::Windows => (
                absolute("XDG_STATE_HOME").or_else(|| absolute("LOCALAPPDATA")),
                "neither XDG_STATE_HOME nor LOCALAPPDATA is set",
            ),
        };
        Ok(state.ok_or(variables)?.join("kubectl-finalizers"))
    }

    /// What a person has to know about who can read a copy.
    pub fn exposure(self) -> Option<&'static str> {
        match self {
            Self::Unix => None,
            Self::Windows => Some(
                "On Windows a copy has the permissions of its folder. See with icacls that only you can read that folder.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::Platform;

    fn state(platform: Platform, set: &[(&str, &str)]) -> Result<PathBuf, &'static str> {
        platform.state(|name| {
            let found = set.iter().find(|(one, _)| *one == name);
            found.map(|(_, value)| PathBuf::from(value))
        })
    }

    #[test]
    fn files_are_kept_where_the_platform_keeps_them() {
        let profile = [("HOME", "/home/me"), ("LOCALAPPDATA", "/users/me/AppData/Local")];
        assert_eq!(
            state(Platform::Unix, &profile).as_deref(),
            Ok(Path::new("/home/me/.local/state/kubectl-finalizers"))
        );
        assert_eq!(
            state(Platform::Windows, &profile).as_deref(),
            Ok(Path::new("/users/me/AppData/Local/kubectl-finalizers"))
        );
        for platform in [Platform::Unix, Platform::Windows] {
            let chosen = [("XDG_STATE_HOME", "/state"), profile[0], profile[1]];
            assert_eq!(
                state(platform, &chosen).as_deref(),
                Ok(Path::new("/state/kubectl-finalizers"))
            );
            // A relative path would be another place in each folder.
            let relative = [("XDG_STATE_HOME", "state")];
            let why = state(platform, &relative).expect_err("no place");
            assert!(why.contains("XDG_STATE_HOME"), "{why}");
        }
    }

    #[test]
    fn only_windows_warns_of_who_can_read_a_copy() {
        assert_eq!(Platform::Unix.exposure(), None);
        let warning = Platform::Windows.exposure().expect("a warning");
        assert!(warning.contains("permissions of its folder"), "{warning}");
    }
}
