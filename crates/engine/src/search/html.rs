//! Character references in HTML (WHATWG, section 13.5), as they stand in the values of hidden fields.

/// Those that servers write into attributes by name.
const NAMED: [(&str, char); 6] = [
    ("amp", '&'),
    ("apos", '\''),
    ("gt", '>'),
    ("lt", '<'),
    ("nbsp", '\u{a0}'),
    ("quot", '"'),
];
/// The longest reference that is known: `&#x10ffff;`, with room for zeros before it.
const MAX_REFERENCE_BYTES: usize = 16;

/// Replaces references to characters, by number or by one of the names that servers write. Others stay as they are.
pub fn decoded(text: Vec<u8>) -> Vec<u8> {
    if !text.contains(&b'&') {
        return text;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = &text[..];
    while let Some(at) = memchr::memchr(b'&', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let candidate = &rest[..rest.len().min(MAX_REFERENCE_BYTES)];
        let end = memchr::memchr(b';', candidate);
        let reference = end.and_then(|end| Some((end, character(&rest[1..end])?)));
        rest = if let Some((end, character)) = reference {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            &rest[end + 1..]
        } else {
            out.push(b'&');
            &rest[1..]
        };
    }
    out.extend_from_slice(rest);
    out
}

/// The character that stands for what is between `&` and `;`.
fn character(reference: &[u8]) -> Option<char> {
    let reference = std::str::from_utf8(reference).ok()?;
    let Some(number) = reference.strip_prefix('#') else {
        let named = NAMED.iter().find(|(name, _)| *name == reference);
        return named.map(|(_, character)| *character);
    };
    let (digits, base) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let is_number = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let code = u32::from_str_radix(digits, base)
        .ok()
        .filter(|_| is_number)?;
    char::from_u32(code).filter(|character| *character != '\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_characters_are_replaced() {
        for (text, expected) in [
            ("a&#43;b&#x2B;c&#x3d;&#61;", "a+b+c=="),
            (
                "&lt;p class=&quot;x&quot;&gt; &amp;amp; &apos;&#39;",
                "<p class=\"x\"> &amp; ''",
            ),
            ("a&b", "a&b"),
            (
                "&unknown; &; &#; &#x; &#xd800; &#99999999; &#+43; &#0;",
                "&unknown; &; &#; &#x; &#xd800; &#99999999; &#+43; &#0;",
            ),
            ("plain", "plain"),
            ("&&#228;&", "&ä&"),
        ] {
            let found = decoded(text.as_bytes().to_vec());
            assert_eq!(String::from_utf8(found).unwrap(), expected);
        }
        assert_eq!(decoded(b"\xe9&lt;".to_vec()), b"\xe9<");
    }
}
