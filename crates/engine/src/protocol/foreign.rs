//! Recognises the protocol of a server that does not answer in HTTP/1.1.

use std::fmt;

/// A protocol. It takes one byte, as every decoder stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    Tls,
    Http2,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tls => "TLS",
            Self::Http2 => "HTTP/2",
        })
    }
}

/// The protocol of a response that begins with `bytes`, if they show it.
pub fn protocol(bytes: &[u8]) -> Option<Foreign> {
    match bytes {
        // A TLS record that carries an alert.
        [0x15, 3, ..] => Some(Foreign::Tls),
        // The frame with which an HTTP/2 server begins: SETTINGS of six bytes each, for the whole connection.
        [0, 0, length, 4, 0, 0, 0, 0, 0, ..] if length % 6 == 0 => Some(Foreign::Http2),
        _ => None,
    }
}

/// Whether `bytes` are too few to tell, but more of them may.
pub fn is_ambiguous(bytes: &[u8]) -> bool {
    matches!(bytes, [0x15 | 0]) || (bytes.len() < 9 && bytes.starts_with(&[0, 0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_tells_its_protocol_by_its_first_bytes() {
        assert_eq!(protocol(b"\x15\x03\x01\0\x02\x02\x46"), Some(Foreign::Tls));
        assert_eq!(
            protocol(b"\0\0\x06\x04\0\0\0\0\0\0\x03"),
            Some(Foreign::Http2)
        );
        assert_eq!(protocol(b"\0\0\x06\x04"), None);
        assert!(is_ambiguous(b"\0\0\x06\x04"));
        assert!(!is_ambiguous(b"\0\0\x06\x04\0\0\0\0\x01") && !is_ambiguous(b"S"));
        assert_eq!(protocol(b"SSH-2.0-OpenSSH_9.2\r\n"), None);
        assert_eq!(protocol(b""), None);
    }
}
