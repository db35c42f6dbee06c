//! JSON pointers (RFC 6901).

use std::borrow::Cow;

use smallvec::SmallVec;

/// Most pointers have no more tokens than this.
const MAX_LEVELS: usize = 4;

#[derive(Debug)]
pub struct Pointer<'a>(pub(super) SmallVec<[PointerToken<'a>; MAX_LEVELS]>);

#[derive(Debug)]
pub(super) struct PointerToken<'a> {
    pub(super) name: Cow<'a, [u8]>,
    /// The token as the index of an array element, if it is a valid one.
    pub(super) index: Option<u64>,
}

impl<'a> Pointer<'a> {
    /// Parses a pointer; fails if `text` is neither empty nor begins with `/`.
    pub fn parse(text: &'a [u8]) -> Result<Self, String> {
        if !text.is_empty() && text[0] != b'/' {
            let text = String::from_utf8_lossy(text);
            return Err(format!(
                "JSON pointer {text:?} is neither empty nor begins with '/' (RFC 6901)"
            ));
        }
        let mut tokens = SmallVec::new();
        for token in text.split(|byte| *byte == b'/').skip(1) {
            let name = unescaped_token(token);
            let index = index(&name);
            tokens.push(PointerToken { name, index });
        }
        Ok(Self(tokens))
    }

    pub fn into_owned(self) -> Pointer<'static> {
        let tokens = self.0.into_iter().map(|token| PointerToken {
            name: token.name.into_owned().into(),
            index: token.index,
        });
        Pointer(tokens.collect())
    }
}

/// Replaces `~1` by a slash and `~0` by a tilde.
fn unescaped_token(token: &[u8]) -> Cow<'_, [u8]> {
    if !token.contains(&b'~') {
        return token.into();
    }
    let mut name = Vec::with_capacity(token.len());
    let mut rest = token;
    while let [byte, after @ ..] = rest {
        let (byte, after) = match (byte, after) {
            (b'~', [b'1', after @ ..]) => (b'/', after),
            (b'~', [b'0', after @ ..]) => (b'~', after),
            _ => (*byte, after),
        };
        name.push(byte);
        rest = after;
    }
    name.into()
}

/// Parses an array index, which has no leading zeros.
fn index(name: &[u8]) -> Option<u64> {
    let plain = name.iter().all(u8::is_ascii_digit) && (name == b"0" || !name.starts_with(b"0"));
    plain.then(|| std::str::from_utf8(name).ok()?.parse().ok())?
}
