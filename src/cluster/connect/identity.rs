//! What we show the server to say who we are, kept so that a refusal can be explained.

use jiff::Timestamp;

use super::validity;
use crate::error::Error;

/// How we log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Fits after "the server does not accept".
    how: String,
    /// When it ends, if it says so.
    ends: Option<Timestamp>,
    /// What to try when it is refused.
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

    /// What to say about HTTP 401: an API server's own message is "Unauthorized" and no more.
    pub fn refused(&self, server: &str, now: Timestamp) -> Error {
        let expired = match self.ends {
            Some(end) if end <= now => format!("; it expired on {}", validity::shown(end)),
            _ => String::new(),
        };
        Error::Server {
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
    fn a_refusal_names_what_was_shown_and_when_it_ended() {
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
