//! What a certificate or private key is made of, as far as it explains why it cannot be used.
//!
//! Reads DER (X.690) without trusting it: what does not look as it should is left without an explanation.

use std::fmt;

use rustls::pki_types::PrivateKeyDer;

/// Shorter RSA keys are not used.
pub const MIN_RSA_BITS: usize = 2048;

const VERSION: u8 = 0xa0;
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const P384: &[u8] = &[0x2b, 0x81, 4, 0, 0x22];
const P521: &[u8] = &[0x2b, 0x81, 4, 0, 0x23];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

/// What is in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// X.509 version 1, or 2.
    OldVersion,
    /// An RSA key of so few bits.
    ShortRsa(usize),
    P521,
    /// A key of another kind.
    OtherKey,
}

impl std::error::Error for Unusable {}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OldVersion => f.write_str("X.509 version 1"),
            Self::ShortRsa(bits) => write!(f, "an RSA key of {bits} bits"),
            Self::P521 => f.write_str("a key on the curve P-521"),
            Self::OtherKey => f.write_str("a key that is not RSA, P-256, P-384 or Ed25519"),
        }
    }
}

/// Why a certificate cannot be used, if its version or its key is the reason (RFC 5280 section 4.1).
pub fn unusable(certificate: &[u8]) -> Option<Unusable> {
    let signed = read(certificate)?.content;
    let Value { tag, mut rest, .. } = read(read(signed)?.content)?;
    if tag != VERSION {
        return Some(Unusable::OldVersion);
    }
    // Serial number, signature algorithm, issuer, validity and subject.
    for _ in 0..5 {
        rest = read(rest)?.rest;
    }
    let algorithm = read(read(rest)?.content)?;
    // The number of unused bits comes before the key.
    let key = read(algorithm.rest)?.content.get(1..)?;
    unusable_key(algorithm.content, || read(read(key)?.content))
}

/// Why a private key cannot be used, if its kind is the reason.
pub fn unusable_private(key: &PrivateKeyDer<'_>) -> Option<Unusable> {
    let numbers = read(read(key.secret_der())?.content)?;
    match key {
        PrivateKeyDer::Pkcs1(_) => short_rsa(read(numbers.rest)?),
        PrivateKeyDer::Sec1(_) => {
            let curve = read(read(numbers.rest)?.rest)?.content;
            unusable_curve(read(curve)?.content)
        }
        PrivateKeyDer::Pkcs8(_) => {
            let algorithm = read(numbers.rest)?;
            let key = read(algorithm.rest)?.content;
            unusable_key(algorithm.content, || read(read(read(key)?.content)?.rest))
        }
        _ => None,
    }
}

/// `modulus`: where it stands if the key is RSA.
fn unusable_key<'a>(
    algorithm: &'a [u8],
    modulus: impl FnOnce() -> Option<Value<'a>>,
) -> Option<Unusable> {
    let kind = read(algorithm)?;
    match kind.content {
        RSA => short_rsa(modulus()?),
        EC => unusable_curve(read(kind.rest)?.content),
        ED25519 => None,
        _ => Some(Unusable::OtherKey),
    }
}

fn short_rsa(modulus: Value<'_>) -> Option<Unusable> {
    let zeros = modulus
        .content
        .iter()
        .take_while(|byte| **byte == 0)
        .count();
    let digits = &modulus.content[zeros..];
    let bits = digits.len() * 8 - digits.first()?.leading_zeros() as usize;
    (bits < MIN_RSA_BITS).then_some(Unusable::ShortRsa(bits))
}

fn unusable_curve(curve: &[u8]) -> Option<Unusable> {
    match curve {
        P256 | P384 => None,
        P521 => Some(Unusable::P521),
        _ => Some(Unusable::OtherKey),
    }
}

/// A value, and what follows it.
#[derive(Clone, Copy)]
struct Value<'a> {
    tag: u8,
    content: &'a [u8],
    rest: &'a [u8],
}

fn read(bytes: &[u8]) -> Option<Value<'_>> {
    let (&[tag, first], mut rest) = bytes.split_first_chunk::<2>()?;
    let length = match first {
        0..=0x7f => usize::from(first),
        0x81..=0x83 => {
            let (digits, after) = rest.split_at_checked(usize::from(first & 0x7f))?;
            rest = after;
            digits
                .iter()
                .fold(0, |length, digit| length << 8 | usize::from(*digit))
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some(Value { tag, content, rest })
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;

    use super::*;

    /// Made by `openssl req`; the first by `openssl x509 -req` without extensions.
    const CERTIFICATES: [(&str, Option<Unusable>); 5] = [
        (include_str!("testdata/v1.pem"), Some(Unusable::OldVersion)),
        (
            include_str!("testdata/rsa1024.pem"),
            Some(Unusable::ShortRsa(1024)),
        ),
        (include_str!("testdata/p521.pem"), Some(Unusable::P521)),
        (include_str!("testdata/p256.pem"), None),
        (include_str!("testdata/dsa.pem"), Some(Unusable::OtherKey)),
    ];

    #[test]
    fn what_is_in_the_way_is_found() {
        for (pem, expected) in CERTIFICATES {
            let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
            assert_eq!(unusable(&certificate), expected);
        }
        let rcgen = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
        assert_eq!(unusable(rcgen.cert.der()), None);
    }

    /// In the files are also their private keys: in PKCS #8, and in PKCS #1 and SEC 1 as older tools write them.
    #[test]
    fn private_keys_are_looked_at_too() {
        for (pem, expected) in CERTIFICATES {
            let expected = expected.filter(|found| *found != Unusable::OldVersion);
            let keys = PrivateKeyDer::pem_slice_iter(pem.as_bytes());
            let mut count = 0;
            for key in keys {
                assert_eq!(unusable_private(&key.unwrap()), expected);
                count += 1;
            }
            assert!(count > 0);
        }
    }

    #[test]
    fn damaged_bytes_explain_nothing_and_break_nothing() {
        let (pem, _) = CERTIFICATES[1];
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
        for end in 0..certificate.len() {
            assert_eq!(unusable(&certificate[..end]), None);
        }
        for at in 0..certificate.len() {
            let mut damaged = certificate.to_vec();
            damaged[at] ^= 0x55;
            unusable(&damaged);
        }
    }
}
