//! Reads how long credentials are valid, if they say so.
//!
//! An API server answers an expired client certificate or token with only 401 "Unauthorized". The expiry is in the
//! credentials, so it is read there: `notAfter` of the certificate (RFC 5280, 4.1), `exp` of a JWT (RFC 7519). Nothing
//! is verified, and only a message depends on it.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use rustls::pki_types::{CertificateDer, pem::PemObject};

/// The expiry of the first certificate in a PEM file.
pub(super) fn of_certificate(pem: &[u8]) -> Option<Timestamp> {
    let certificate = CertificateDer::pem_slice_iter(pem).next()?.ok()?;
    let (_, certificate, _) = element(&certificate)?;
    let (_, mut body, _) = element(certificate)?;
    // [0] version, serialNumber, signature, issuer, then validity. The version is optional.
    let (tag, _, rest) = element(body)?;
    if tag == 0xa0 {
        body = rest;
    }
    for _ in 0..3 {
        body = element(body)?.2;
    }
    let (_, validity, _) = element(body)?;
    let (_, _, rest) = element(validity)?;
    let (tag, text, _) = element(rest)?;
    time(tag, std::str::from_utf8(text).ok()?)
}

/// Parses one DER element: tag, content, rest.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, mut rest) = rest.split_first()?;
    let mut length = usize::from(first);
    if first >= 0x80 {
        length = 0;
        for _ in 0..(first & 0x7f) {
            let (&byte, after) = rest.split_first()?;
            length = length.checked_mul(256)?.checked_add(usize::from(byte))?;
            rest = after;
        }
    }
    let (content, after) = rest.split_at_checked(length)?;
    Some((tag, content, after))
}

/// Parses `UTCTime` (with a year of two digits, 50 and above are 19..) or `GeneralizedTime`.
fn time(tag: u8, text: &str) -> Option<Timestamp> {
    let text = text.strip_suffix('Z')?;
    let full = match tag {
        0x17 if text.get(..2)? >= "50" => format!("19{text}"),
        0x17 => format!("20{text}"),
        _ => text.to_owned(),
    };
    let time = DateTime::strptime("%Y%m%d%H%M%S", full).ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// The expiry of a token, if it is a JWT that has one.
pub(super) fn of_token(token: &str) -> Option<Timestamp> {
    #[derive(serde::Deserialize)]
    struct Claims {
        exp: f64,
    }
    let mut parts = token.trim().split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a saturated date is refused by Timestamp"
    )]
    Timestamp::from_second(claims.exp as i64).ok()
}

/// A date for messages.
pub(super) fn shown(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_expiry_of_a_certificate() {
        for (year, expected) in [(2021, "2021-03-04 00:00 UTC"), (2061, "2061-03-04 00:00 UTC")] {
            let key = testkit::rcgen::KeyPair::generate().expect("a key");
            let mut request = testkit::rcgen::CertificateParams::new(vec!["x".to_owned()]).expect("a name");
            request.not_after = testkit::rcgen::date_time_ymd(year, 3, 4);
            let pem = request.self_signed(&key).expect("signed").pem();
            assert_eq!(
                of_certificate(pem.as_bytes()).map(shown).as_deref(),
                Some(expected)
            );
        }
        assert_eq!(of_certificate(b"no certificate"), None);
        let cut = "-----BEGIN CERTIFICATE-----\nMIIBgDCCASWgAwIBAgIU\n-----END CERTIFICATE-----\n";
        assert_eq!(of_certificate(cut.as_bytes()), None);
    }

    #[test]
    fn reads_the_expiry_of_a_jwt() {
        let claims = URL_SAFE_NO_PAD.encode(r#"{"sub":"x","exp":1700000000}"#);
        let token = format!("e30.{claims}.c2ln");
        assert_eq!(
            of_token(&token).map(shown).as_deref(),
            Some("2023-11-14 22:13 UTC")
        );
        for other in ["opaque", "a.b.c", "", "e30.e30.e30"] {
            assert_eq!(of_token(other), None, "{other}");
        }
    }
}
