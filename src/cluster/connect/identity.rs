//! Describes the credentials that are sent, so that a refusal can be explained.

use jiff::Timestamp;

use super::validity;
use crate::error::Error;

/// The description of the credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The credentials in words, to follow "the server does not accept".
    how: String,
    /// Their expiry, if it is known.
    ends: Option<Timestamp>,
    /// What to try after a refusal.
    advice: String,
}

impl Identity {
    pub(super) fn new(how: impl Into<String>, ends: Option<Timestamp>, advice: impl Into<String>) -> Self {
        Identity {
            how: how.into(),
            ends,
            advice: advice.into(),
        }
    }

    /// The error for HTTP 401. An API server's own message is only "Unauthorized".
    pub fn refused(&self, server: &str, now: Timestamp) -> Error {
        let expired = match self.ends {
            Some(end) if end <= now => format!("; it expired on {}", validity::shown(end)),
            _ => String::new(),
        };
        Error::Unauthorized {
            message: format!(
                "{server} does not accept {} (401 Unauthorized){expired}",
                self.how
            ),
            hint: Some(self.advice.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_credentials_and_their_expiry() {
        let end = Timestamp::UNIX_EPOCH;
        let identity = Identity::new("the client certificate user.crt", Some(end), "get a new one");
        let error = identity.refused("https://c:6443", Timestamp::from_second(1).expect("a time"));
        assert_eq!(
            error.to_string(),
            "https://c:6443 does not accept the client certificate user.crt (401 Unauthorized); it expired on 1970-01-01 00:00 UTC"
        );
        assert_eq!(error.hint(), Some("get a new one"));
        let before = identity.refused("https://c:6443", Timestamp::from_second(-1).expect("a time"));
        assert!(before.to_string().ends_with("(401 Unauthorized)"), "{before}");
    }
}
