//! How values are escaped where they are filled in.

use std::io::Write as _;

/// Where in a request a value goes, which decides how it is escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EscapeContext {
    /// Written as it is.
    Bare,
    /// In a path, a query or a form: everything but letters, digits and `-._~` is percent-encoded.
    Url,
    /// In a header: control characters become spaces.
    Header,
    /// In a JSON text: quotes, backslashes and control characters are escaped.
    Json,
}

/// Appends `value`, escaped so that it remains a single value in its place.
pub fn escape(value: &[u8], context: EscapeContext, out: &mut Vec<u8>) {
    match context {
        EscapeContext::Bare => out.extend_from_slice(value),
        EscapeContext::Header => out.extend(value.iter().map(|byte| match byte {
            byte if byte.is_ascii_control() => b' ',
            byte => *byte,
        })),
        EscapeContext::Url => {
            for byte in value {
                if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
                    out.push(*byte);
                } else {
                    const DIGITS: &[u8] = b"0123456789ABCDEF";
                    let (high, low) = (byte >> 4, byte & 15);
                    out.extend([b'%', DIGITS[high as usize], DIGITS[low as usize]]);
                }
            }
        }
        EscapeContext::Json => {
            for byte in value {
                match byte {
                    b'"' | b'\\' => out.extend([b'\\', *byte]),
                    b'\n' => out.extend_from_slice(b"\\n"),
                    0..0x20 => {
                        write!(out, "\\u{byte:04x}").expect("writing into memory does not fail");
                    }
                    _ => out.push(*byte),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(value: &[u8], context: EscapeContext) -> Vec<u8> {
        let mut out = Vec::new();
        escape(value, context, &mut out);
        out
    }

    #[test]
    fn values_are_fit_for_their_place() {
        let value = "a b/ü?&\"\\\n".as_bytes();
        assert_eq!(
            escaped(value, EscapeContext::Url),
            b"a%20b%2F%C3%BC%3F%26%22%5C%0A"
        );
        assert_eq!(
            escaped(b"x\r\nEvil: 1\0", EscapeContext::Header),
            b"x  Evil: 1 "
        );
        assert_eq!(escaped(value, EscapeContext::Bare), value);
    }

    proptest! {
        #[test]
        fn a_json_text_reads_as_the_value(value: String) {
            let text = [b"\"", escaped(value.as_bytes(), EscapeContext::Json).as_slice(), b"\""].concat();
            prop_assert_eq!(serde_json::from_slice::<String>(&text).unwrap(), value);
        }
    }
}
