//! Recognises the few complaints after which a controller cannot succeed any more (`knowledge/losses.yaml`): what it would
//! clean up, or the account that it would do it with, does not exist any more.

use crate::{diagnose::removal::Lost, knowledge};

/// The thing that this message reports as gone for good.
pub fn lost(text: &str) -> Option<Lost> {
    let text = text.to_lowercase();
    let says = |words: &[String]| words.iter().all(|one| has_word(&text, one));
    let loss = knowledge::losses().iter().find(|loss| says(&loss.words))?;
    Some(loss.lost)
}

/// Whether the text has these words, and not only as a part of a longer one: `NoSuchBucketPolicy` is another error.
/// The plural of a type is no other word.
pub(crate) fn has_word(text: &str, words: &str) -> bool {
    let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let (letter_first, letter_last) = (is_part(words.chars().next()), is_part(words.chars().next_back()));
    text.match_indices(words).any(|(at, _)| {
        let Some((before, after)) = text.split_at_checked(at) else {
            return false;
        };
        let after = after.strip_prefix(words).unwrap_or(after);
        let after = after.strip_prefix('s').unwrap_or(after);
        let is_longer = letter_first && is_part(before.chars().next_back())
            || letter_last && is_part(after.chars().next());
        !is_longer
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_credentials_and_backends_that_do_not_exist_any_more() {
        for text in [
            "InvalidClientTokenId: The X.509 certificate or AWS access key ID provided does not exist in our records.",
            "InvalidAccessKeyId: The AWS Access Key Id you provided does not exist in our records.",
            "AADSTS700016: Application with identifier 'x' was not found in the directory 'y'",
            "oauth2: \"invalid_grant\" \"Invalid grant: account not found\"",
            "ReconcileError: cannot get credentials: cannot get credentials secret: Secret \"aws-creds\" not found",
            "cannot read the credentials: secrets \"aws\" not found",
            "connect failed: cannot get referenced ProviderConfig: ProviderConfig.aws.upbound.io \"default\" not found",
        ] {
            assert_eq!(lost(text), Some(Lost::Credentials), "{text}");
        }
        for text in [
            "Code=\"SubscriptionNotFound\" Message=\"The subscription 'x' could not be found.\"",
            "RESPONSE 404: ERROR CODE: ResourceGroupNotFound",
            "api error NoSuchBucket: The specified bucket does not exist",
            "googleapi: Error 404: Project 'x' not found or deleted.",
        ] {
            assert_eq!(lost(text), Some(Lost::Backend), "{text}");
        }
    }

    #[test]
    fn a_repairable_or_temporary_failure_is_not_a_loss() {
        for text in [
            "",
            "AccessDenied: User is not authorized to perform: ec2:DeleteVolume",
            "InvalidClientTokenId: The security token included in the request is invalid",
            "ExpiredToken: The security token included in the request is expired",
            "Unauthorized: 401, invalid credentials",
            "dial tcp: lookup api.example.com: no such host",
            "dial tcp 10.0.0.1:443: connect: connection refused",
            "context deadline exceeded",
            "ThrottlingException: Rate exceeded for the credentials",
            "cannot read the credentials: secrets \"aws\" is forbidden: User \"u\" cannot get resource",
            "secrets \"tls\" not found",
            "configmaps \"credentials\" not found",
            "waiting for credentials: timed out",
            "ProviderConfig \"default\" is not ready",
            "api error NoSuchBucketPolicy: The bucket policy does not exist",
            "the project was not found in the cache",
            "ParentResourceGroupNotFoundYet",
            "invalid_grant: reauth related error",
        ] {
            assert_eq!(lost(text), None, "{text}");
        }
    }
}
