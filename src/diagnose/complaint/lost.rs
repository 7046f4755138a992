//! Recognises the few complaints after which a controller cannot succeed any more: what it would clean up, or the
//! account that it would do it with, does not exist any more.
//!
//! Only words that say so for certain count. A refusal, an expired token, a name that is not resolved or a backend
//! that does not answer can be repaired, or passes by itself. A message counts only if it has all words of one line.

use crate::diagnose::removal::Lost;

/// Words of a message in lower case, and the thing that they report as gone. A line is of the API that is named behind it.
const SIGNS: [(Lost, &[&str]); 11] = [
    // AWS, common errors, InvalidAccessKeyId and InvalidClientTokenId: the access key was deleted. The second code alone
    // is also that of a region that is not enabled.
    (
        Lost::Credentials,
        &["access key id", "does not exist in our records"],
    ),
    // Microsoft Entra: the application was not found in the directory.
    (Lost::Credentials, &["aadsts700016"]),
    // Microsoft Entra: the tenant was not found.
    (Lost::Credentials, &["aadsts90002"]),
    // Google OAuth: the service account was deleted.
    (Lost::Credentials, &["invalid_grant", "account not found"]),
    // Kubernetes: the Secret with the credentials (`kubernetes/apimachinery:pkg/api/errors/errors.go` NewNotFound).
    (Lost::Credentials, &["credentials", "secret \"", "\" not found"]),
    (Lost::Credentials, &["credentials", "secrets \"", "\" not found"]),
    // Crossplane: the object that names the credentials (`crossplane/crossplane-runtime:pkg/resource/providerconfig.go`).
    (Lost::Credentials, &["providerconfig", "\" not found"]),
    // Azure Resource Manager.
    (Lost::Backend, &["subscriptionnotfound"]),
    (Lost::Backend, &["resourcegroupnotfound"]),
    // Amazon S3, error responses.
    (Lost::Backend, &["nosuchbucket"]),
    // Google Cloud Resource Manager.
    (Lost::Backend, &["project", "not found or deleted"]),
];

/// The thing that this message reports as gone for good.
pub fn lost(text: &str) -> Option<Lost> {
    let text = text.to_lowercase();
    let says = |signs: &&[&str]| signs.iter().all(|sign| has_word(&text, sign));
    SIGNS.iter().find(|(_, signs)| says(signs)).map(|(lost, _)| *lost)
}

/// Whether the text has these words, and not only as a part of a longer one: `NoSuchBucketPolicy` is another error.
/// The plural of a type is no other word.
fn has_word(text: &str, words: &str) -> bool {
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
