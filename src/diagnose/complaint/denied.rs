//! A right that the API server denied to a user, in its own words: `… is forbidden: User "U" cannot VERB resource "R" in
//! API group "G" in the namespace "N"` (`kubernetes/apiserver:pkg/endpoints/handlers/responsewriters/errors.go`).

use crate::{
    command::Command,
    diagnose::model::{Safety, Step, When},
    object::join_group,
};

/// A right that the API server denied to a user.
pub(crate) struct DeniedRight<'a> {
    /// The user.
    user: &'a str,
    /// `patch`.
    verb: &'a str,
    /// `plural.group`.
    resource: String,
    /// `status`; empty if the right is about the object itself.
    subresource: &'a str,
    /// The namespace; empty for the whole cluster.
    namespace: &'a str,
}

impl<'a> DeniedRight<'a> {
    /// Finds the denied right in a message.
    pub(crate) fn in_words(message: &'a str) -> Option<Self> {
        let (user, rest) = message.split_once("is forbidden: User \"")?.1.split_once('"')?;
        let (verb, rest) = rest.strip_prefix(" cannot ")?.split_once(" resource \"")?;
        let (plural, rest) = rest.split_once('"')?;
        let after = |rest: &'a str, words: &str| rest.strip_prefix(words)?.split_once('"');
        let (group, rest) = after(rest, " in API group \"").unwrap_or(("", rest));
        let (namespace, _) = after(rest, " in the namespace \"").unwrap_or_default();
        let (main, subresource) = plural.split_once('/').unwrap_or((plural, ""));
        let is_plain = |text: &str| {
            text.chars()
                .all(|c| c.is_ascii_alphanumeric() || "-.*".contains(c))
        };
        [verb, main, subresource, group, namespace]
            .into_iter()
            .all(is_plain)
            .then(|| DeniedRight {
                user,
                verb,
                resource: join_group(main, group),
                subresource,
                namespace,
            })
    }

    /// The step that asks the API server whether the user has the right by now.
    pub(crate) fn check(&self) -> Step {
        let mut command = Command::of(
            "kubectl auth can-i {} {} -n {} --as={}",
            [self.verb, &self.resource, self.namespace, self.user],
        );
        if !self.subresource.is_empty() {
            command = command.flag("--subresource", self.subresource);
        }
        let of = match self.subresource {
            "" => String::new(),
            subresource => format!(" ({subresource})"),
        };
        Step {
            when: When::Now,
            text: format!(
                "see whether {} still lacks the right to {} {}{of}. Once a role grants it, it goes on",
                self.user, self.verb, self.resource
            ),
            command: Some(command),
            safety: Safety::ReadOnly,
            lets_go: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(message: &str) -> Option<String> {
        let step = DeniedRight::in_words(message)?.check();
        Some(step.command?.render().expect("a plain command"))
    }

    #[test]
    fn a_denied_right_is_asked_for_again() {
        let message = "could not mark as detached: volumeattachments.storage.k8s.io \"va\" is forbidden: User \
                    \"system:serviceaccount:csi:ebs\" cannot patch resource \"volumeattachments/status\" in API group \
                    \"storage.k8s.io\" at the cluster scope";
        assert_eq!(
            command(message).as_deref(),
            Some(
                "kubectl auth can-i patch volumeattachments.storage.k8s.io --as=system:serviceaccount:csi:ebs \
                 --subresource status"
            )
        );
        let core = "secrets \"pv\" is forbidden: User \"u\" cannot delete resource \"secrets\" in API \
                    group \"\" in the namespace \"shop\"";
        assert_eq!(
            command(core).as_deref(),
            Some("kubectl auth can-i delete secrets -n shop --as=u")
        );
        for no_right in [
            "",
            "disk is forbidden: User",
            "x is forbidden: User \"u\" cannot $(reboot) resource \"pods\" in API group \"\"",
        ] {
            assert!(DeniedRight::in_words(no_right).is_none(), "{no_right}");
        }
    }
}
