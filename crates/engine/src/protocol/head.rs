//! The head of a response, parsed a second time for the values that a journey needs.

use httparse::{Header, Response};

use crate::protocol::h1::head::parse_response;

pub struct Head<'a> {
    pub status: u16,
    headers: Vec<Header<'a>>,
}

impl<'a> Head<'a> {
    /// Parses a head that the decoder has already accepted.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        if let Some(rest) = bytes.strip_prefix(b"HTTP/2 ") {
            return Self::after_version(rest);
        }
        let read = |_, response: &Response<'_, 'a>| {
            Some(Self {
                status: response.code?,
                headers: response.headers.to_vec(),
            })
        };
        parse_response(bytes, read).ok().flatten().flatten()
    }

    /// Parses what follows `HTTP/2 `: a status, and a line for each header. HTTP/2 allows characters in names and values
    /// that HTTP/1.1 does not, but no colon in a name, and no line end anywhere (RFC 9113 section 8.2.1).
    fn after_version(bytes: &'a [u8]) -> Option<Self> {
        let (status, lines) = bytes.split_at_checked(3)?;
        let lines = lines.split(|byte| *byte == b'\n');
        let headers = lines.filter_map(|line| {
            let colon = memchr::memchr(b':', line)?;
            let name = std::str::from_utf8(&line[..colon]).ok()?;
            let value = &line[colon + 1..];
            Some(Header { name, value })
        });
        Some(Self {
            status: std::str::from_utf8(status).ok()?.parse().ok()?,
            headers: headers.collect(),
        })
    }

    /// The values of all headers of this name, in order.
    pub fn headers(&self, name: &str) -> impl DoubleEndedIterator<Item = &'a [u8]> {
        let of_name = move |header: &&Header<'a>| header.name.eq_ignore_ascii_case(name);
        self.headers
            .iter()
            .filter(of_name)
            .map(|header| header.value.trim_ascii())
    }

    /// Names and values of all headers.
    pub fn all(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let headers = self.headers.iter();
        headers.map(|header| (header.name, header.value.trim_ascii()))
    }

    /// The value of the first header of this name.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.headers(name).next()
    }

    /// The value that the last `Set-Cookie` header for this cookie gives it.
    pub fn cookie(&self, name: &str) -> Option<&'a [u8]> {
        let set = self.headers("set-cookie").rev();
        let mut pairs = set.filter_map(name_and_value);
        pairs
            .find(|(other, _)| *other == name.as_bytes())
            .map(|(_, value)| value)
    }
}

/// Name and value from what precedes the first semicolon of a `Set-Cookie` header.
pub fn name_and_value(set_cookie: &[u8]) -> Option<(&[u8], &[u8])> {
    let pair = set_cookie.split(|byte| *byte == b';').next()?;
    let equals = pair.iter().position(|byte| *byte == b'=')?;
    let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
    (!name.is_empty()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_of_http_2_may_have_characters_that_http_1_has_not() {
        let head = b"HTTP/2 200\r\nx[y]: a\x01b\r\nset-cookie: a=1\r\nempty:\r\n\r\n";
        let head = Head::parse(head).unwrap();
        assert_eq!(head.status, 200);
        assert_eq!(head.header("set-cookie"), Some(&b"a=1"[..]));
        assert_eq!(head.header("X[Y]"), Some(&b"a\x01b"[..]));
        assert_eq!(head.header("empty"), Some(&b""[..]));
        assert_eq!(head.all().count(), 3);
    }
}
