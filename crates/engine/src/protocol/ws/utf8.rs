//! Checks that text is UTF-8 while it comes, in pieces that may split a character.

/// The state of the check between two pieces.
#[derive(Debug, Default)]
pub struct Utf8 {
    /// The beginning of a character whose end has not come. A character takes at most four bytes.
    begun: [u8; 4],
    have: usize,
}

impl Utf8 {
    /// Takes in the next bytes. Returns false as soon as no further bytes could make the text UTF-8.
    pub fn feed(&mut self, mut bytes: &[u8]) -> bool {
        while self.have > 0 {
            let Some((&byte, rest)) = bytes.split_first() else {
                return true;
            };
            self.begun[self.have] = byte;
            self.have += 1;
            bytes = rest;
            match std::str::from_utf8(&self.begun[..self.have]) {
                Ok(_) => self.have = 0,
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match std::str::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => {
                let begun = &bytes[error.valid_up_to()..];
                self.begun[..begun.len()].copy_from_slice(begun);
                self.have = begun.len();
                true
            }
        }
    }

    /// Ends the text; the next bytes begin another one. Returns false if it ended within a character.
    pub fn end(&mut self) -> bool {
        std::mem::take(&mut self.have) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_utf8(bytes: &[u8], piece: usize) -> bool {
        let mut utf8 = Utf8::default();
        bytes.chunks(piece).all(|bytes| utf8.feed(bytes)) && utf8.end()
    }

    #[test]
    fn it_is_what_the_standard_library_says_whatever_the_pieces() {
        let texts: [&[u8]; 8] = [
            b"",
            b"plain",
            "Hellö, κόσμε, 你好, 🎈".as_bytes(),
            b"\xce\xba\xe1\xbd",
            b"\xed\xa0\x80edited",
            b"\xf4\x90\x80\x80",
            b"\xc0\xaf",
            b"ok\xff",
        ];
        for text in texts {
            let right = std::str::from_utf8(text).is_ok();
            for piece in 1..=text.len().max(1) {
                assert_eq!(is_utf8(text, piece), right, "{text:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn what_cannot_become_right_is_refused_at_once() {
        let mut utf8 = Utf8::default();
        assert!(utf8.feed(b"\xf4"));
        assert!(!utf8.feed(b"\x90"));
    }
}
