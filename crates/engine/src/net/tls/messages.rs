//! Why TLS failed, in words for people.

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};

use crate::net::tls::certificate::Unusable;

/// Describes what ended a handshake or a connection; `None` if the library's own words have to do.
pub fn describe(error: &Error) -> Option<String> {
    match error {
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            Some("the server did not answer in TLS; does it speak without, here?".into())
        }
        Error::InvalidCertificate(error) => Some(format!(
            "the server's certificate {}",
            describe_certificate(error)
        )),
        Error::AlertReceived(alert) => Some(describe_alert(*alert)),
        Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => Some(NO_VERSION.into()),
        _ => None,
    }
}

const NO_VERSION: &str = "the server speaks none of the offered versions of TLS: jostle speaks 1.2 and 1.3 (or the one \
                          that is set), the server perhaps only 1.1 or older";

fn describe_alert(alert: AlertDescription) -> String {
    let why = match alert {
        AlertDescription::ProtocolVersion => return NO_VERSION.into(),
        AlertDescription::HandshakeFailure => {
            "the server finds nothing in common: jostle has only ciphers with forward secrecy (ECDHE), and takes keys \
             on P-521 only with -k in TLS 1.3; or it wants a client's certificate"
        }
        AlertDescription::InsufficientSecurity => {
            "the server finds the offered ciphers too weak; jostle has those of TLS 1.3 and ECDHE with AES-GCM or \
             ChaCha20"
        }
        AlertDescription::UnrecognisedName => {
            "the server has no certificate for this name (SNI); server-name sets another"
        }
        AlertDescription::NoApplicationProtocol => {
            "the server speaks none of the protocols offered by ALPN"
        }
        AlertDescription::CertificateRequired | AlertDescription::NoCertificate => {
            "the server wants a client's certificate (--cert and --key)"
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnknownCA
        | AlertDescription::AccessDenied => {
            return format!(
                "the server does not accept the client's certificate ({})",
                name(alert)
            );
        }
        _ => return format!("the server ended TLS with the alert {}", name(alert)),
    };
    why.into()
}

/// As RFC 8446 section 6 spells it.
fn name(alert: AlertDescription) -> String {
    let mut name = String::new();
    let spelled = format!("{alert:?}").replace("CA", "Ca");
    for letter in spelled.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// Why a server's certificate is refused.
fn describe_certificate(error: &CertificateError) -> String {
    let why = match error {
        CertificateError::UnknownIssuer => "was not issued by an authority that is trusted",
        CertificateError::ExpiredContext { .. } | CertificateError::Expired => "has expired",
        CertificateError::NotValidYetContext { .. } | CertificateError::NotValidYet => {
            "is not valid yet"
        }
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => return describe_names(&expected.to_str(), presented),
        CertificateError::BadEncoding => "cannot be read: its encoding is damaged",
        CertificateError::BadSignature => {
            "is not signed by the key that its issuer has, or the handshake not by its own"
        }
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "is signed in a way that jostle cannot verify, such as with SHA-1; -k accepts it"
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "is not meant for servers: its extendedKeyUsage lacks serverAuth"
        }
        CertificateError::Other(other) => {
            if let Some(unusable) = other.0.downcast_ref::<Unusable>() {
                return describe_unusable(*unusable);
            }
            match other.0.downcast_ref::<webpki::Error>() {
                Some(webpki::Error::CaUsedAsEndEntity) => {
                    "is that of an authority, and not trusted itself: give it by --cacert, or accept it by -k"
                }
                Some(webpki::Error::EndEntityUsedAsCa) => {
                    "was issued by a certificate that is not that of an authority"
                }
                Some(webpki::Error::NameConstraintViolation) => {
                    "is for a name for which its authority may issue none"
                }
                Some(webpki::Error::UnsupportedCriticalExtension) => {
                    "has a critical extension that jostle does not know; -k accepts it"
                }
                _ => return format!("is not accepted: {other}"),
            }
        }
        other => return format!("is not accepted: {other}"),
    };
    why.into()
}

fn describe_unusable(unusable: Unusable) -> String {
    match unusable {
        Unusable::OldVersion => {
            "is of X.509 version 1, in which jostle can verify no name: accept it by -k, or make one with -addext \
             subjectAltName=DNS:…"
                .into()
        }
        _ => format!(
            "has or depends on {unusable}, which jostle cannot verify: accept it by -k, or use RSA from 2048 bits, \
             P-256 or P-384"
        ),
    }
}

fn describe_names(expected: &str, presented: &[String]) -> String {
    // In webpki's form: DnsName("example.com"), IpAddress(127.0.0.1).
    let names = presented.iter().filter_map(|name| {
        let name = name.split_once('(')?.1.trim_end_matches(')');
        Some(name.trim_matches('"'))
    });
    let names = names.collect::<Vec<_>>().join(", ");
    let names = match names.as_str() {
        "" => "no name (it has no subjectAltName)",
        names => names,
    };
    format!("is for {names}, not for {expected}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::OtherError;

    use super::*;

    fn words(error: impl Into<Error>) -> String {
        describe(&error.into()).unwrap()
    }

    fn other(error: impl std::error::Error + Send + Sync + 'static) -> String {
        words(CertificateError::Other(OtherError(Arc::new(error))))
    }

    #[test]
    fn what_tls_fails_by_is_told_in_words() {
        let plain = words(InvalidMessage::InvalidContentType);
        assert!(plain.contains("did not answer in TLS"), "{plain}");
        let unknown = words(CertificateError::UnknownIssuer);
        assert!(
            unknown.contains("not issued by an authority that is trusted"),
            "{unknown}"
        );
        assert!(other(webpki::Error::CaUsedAsEndEntity).contains("--cacert"));
        let named = |presented: &[&str]| {
            words(CertificateError::NotValidForNameContext {
                expected: "a.example".try_into().unwrap(),
                presented: presented.iter().map(ToString::to_string).collect(),
            })
        };
        assert_eq!(
            named(&["DnsName(\"b.example\")", "IpAddress(127.0.0.1)"]),
            "the server's certificate is for b.example, 127.0.0.1, not for a.example"
        );
        assert!(named(&[]).contains("no subjectAltName"));
    }

    #[test]
    fn certificates_that_cannot_be_used_name_the_reason_and_the_way_out() {
        for (unusable, reason) in [
            (Unusable::OldVersion, "X.509 version 1"),
            (Unusable::ShortRsa(1024), "an RSA key of 1024 bits"),
            (Unusable::P521, "P-521"),
        ] {
            let why = other(unusable);
            assert!(why.contains(reason) && why.contains("-k"), "{why}");
            assert!(why.chars().count() <= 200, "{why}");
        }
    }

    #[test]
    fn alerts_have_no_names_of_the_library() {
        let alert = |alert| words(Error::AlertReceived(alert));
        assert!(alert(AlertDescription::ProtocolVersion).contains("1.1 or older"));
        assert_eq!(
            words(PeerIncompatible::ServerDoesNotSupportTls12Or13),
            alert(AlertDescription::ProtocolVersion)
        );
        assert!(alert(AlertDescription::HandshakeFailure).contains("forward secrecy"));
        assert!(alert(AlertDescription::CertificateRequired).contains("--cert"));
        assert!(alert(AlertDescription::UnknownCA).ends_with("(unknown_ca)"));
        assert!(alert(AlertDescription::InternalError).ends_with("internal_error"));
        for number in 0..=255 {
            let why = alert(AlertDescription::from(number));
            assert!(why.chars().count() <= 200, "{why}");
        }
    }
}
