//! Searches a body for a regular expression as it streams by, keeping only a window of it.

use regex::bytes::{Regex, RegexBuilder};

use crate::search::missing::Missing;

/// The most memory that a compiled expression may take, in bytes.
const MAX_COMPILED_BYTES: usize = 1024 * 1024;

#[derive(Debug)]
pub struct Pattern {
    regex: Regex,
    /// The longest match that is sure to be found, in bytes; at most twice as much of a body is kept, and one byte.
    max_bytes: usize,
}

impl Pattern {
    /// Compiles a pattern whose matches have at most so many bytes; the error says what is wrong with it.
    pub fn compile(pattern: &str, max_bytes: usize) -> Result<Self, String> {
        let mut builder = RegexBuilder::new(pattern);
        let regex = builder.size_limit(MAX_COMPILED_BYTES).build();
        let regex = regex.map_err(|error| error.to_string())?;
        Ok(Self { regex, max_bytes })
    }

    fn max_kept_bytes(&self) -> usize {
        // The one byte more lets every search free some room, even if `max_bytes` is 1.
        2 * self.max_bytes + 1
    }

    pub fn matches(&self, text: &[u8]) -> bool {
        self.regex.is_match(text)
    }

    /// Returns the first group of the last match, or the match if the expression has no group.
    pub fn last<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let captures = self.regex.captures_iter(text).last()?;
        let group = captures.get(1).or(captures.get(0));
        group.map(|group| group.as_bytes())
    }
}

/// The state of the search through one body.
#[derive(Debug, Default)]
pub struct Window {
    kept: Vec<u8>,
    /// Where in `kept` the search continues; the bytes before it were searched, and serve only as context.
    from: usize,
    found: Option<Result<Vec<u8>, Missing>>,
    /// The length of the body so far.
    body: u64,
}

impl Window {
    pub fn feed(&mut self, pattern: &Pattern, bytes: &[u8]) {
        self.body += bytes.len() as u64;
        let mut rest = bytes;
        while !rest.is_empty() && self.found.is_none() {
            let free = pattern.max_kept_bytes() - self.kept.len();
            let (piece, after) = rest.split_at(rest.len().min(free));
            self.kept.extend_from_slice(piece);
            rest = after;
            if self.kept.len() == pattern.max_kept_bytes() {
                self.search(pattern, false);
            }
        }
    }

    /// Ends the search after the last bytes of the body, and returns what it found.
    pub fn end(&mut self, pattern: &Pattern) -> Result<Vec<u8>, Missing> {
        if self.found.is_none() {
            self.search(pattern, true);
        }
        self.kept = Vec::new();
        let missing = if self.body > pattern.max_bytes as u64 {
            Missing::NoMatch {
                max_bytes: pattern.max_bytes,
                body: self.body,
            }
        } else {
            Missing::Nothing
        };
        self.found.take().unwrap_or(Err(missing))
    }

    fn search(&mut self, pattern: &Pattern, whole: bool) {
        let end = self.kept.len();
        let captures = pattern.regex.captures_at(&self.kept, self.from);
        let matched = captures.as_ref().and_then(|captures| captures.get(0));
        // With more of the body a match might turn out longer, so one near the window's end is looked at again.
        if let (Some(captures), Some(matched)) = (&captures, matched)
            && (whole || (matched.end() < end && matched.start() + pattern.max_bytes <= end))
        {
            let value = captures.get(1).unwrap_or(matched).as_bytes();
            self.found = Some(if value.len() <= pattern.max_bytes {
                Ok(value.to_vec())
            } else {
                Err(Missing::TooLong(pattern.max_bytes))
            });
            return;
        }
        // One byte more is kept, so that `^` and `\b` do not mistake the window's start for that of the body.
        let begins = (end - pattern.max_bytes.min(end)).max(1);
        self.kept.drain(..begins - 1);
        self.from = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::missing::MAX_VALUE_BYTES as WINDOW_BYTES;
    use proptest::prelude::*;

    const MAX_KEPT_BYTES: usize = 2 * WINDOW_BYTES + 1;

    fn find(pattern: &str, body: &[u8], piece: usize) -> Result<String, Missing> {
        find_of(WINDOW_BYTES, pattern, body, piece)
    }

    fn find_of(
        max_bytes: usize,
        pattern: &str,
        body: &[u8],
        piece: usize,
    ) -> Result<String, Missing> {
        let pattern = Pattern::compile(pattern, max_bytes).unwrap();
        let mut window = Window::default();
        for piece in body.chunks(piece) {
            window.feed(&pattern, piece);
        }
        let found = window.end(&pattern)?;
        Ok(String::from_utf8(found).unwrap())
    }

    #[test]
    fn the_first_group_of_the_first_match_counts_or_the_match() {
        assert_eq!(
            find(r"item/(\d+)", b"item/x item/12 item/3", 5).unwrap(),
            "12"
        );
        assert_eq!(
            find(r"item/\d+", b"item/x item/12 item/3", 5).unwrap(),
            "item/12"
        );
        assert_eq!(find("nothing", b"item", 5), Err(Missing::Nothing));
        assert!(Pattern::compile("(", WINDOW_BYTES).is_err());
    }

    #[test]
    fn a_match_that_more_of_the_body_makes_longer_is_found_whole() {
        let mut body = vec![b' '; MAX_KEPT_BYTES - 9];
        body.extend(b"price=12.50 ");
        let price = r"price=(\d+(?:\.\d+)?)";
        assert_eq!(find(price, &body, 1000).unwrap(), "12.50");
        let mut body = vec![b' '; MAX_KEPT_BYTES - 9];
        body.extend(b"total: 12 EUR ");
        let first = r"total: (\d)\d EUR|\d+";
        assert_eq!(find(first, &body, 1000).unwrap(), "1");
    }

    #[test]
    fn what_goes_on_behind_the_window_is_found_whole() {
        for before in [
            MAX_KEPT_BYTES - 8,
            MAX_KEPT_BYTES - 5,
            3 * MAX_KEPT_BYTES,
            WINDOW_BYTES,
        ] {
            let body = format!("{}id=12345;", " ".repeat(before));
            assert_eq!(
                find(r"id=(\d+)", body.as_bytes(), 777).unwrap(),
                "12345",
                "{before}"
            );
        }
    }

    #[test]
    fn the_beginning_of_the_window_is_not_that_of_the_body() {
        let body = format!("{}needle", "x".repeat(5 * MAX_KEPT_BYTES));
        for pattern in ["^x*needle", "^needle", r"\bneedle"] {
            let missing = find(pattern, body.as_bytes(), 4096).unwrap_err();
            assert!(matches!(missing, Missing::NoMatch { .. }), "{missing}");
        }
        assert_eq!(find("needle", body.as_bytes(), 4096).unwrap(), "needle");
    }

    #[test]
    fn a_match_that_is_too_long_is_told_with_its_limit_which_can_be_raised() {
        let field = |length: usize| format!("<input value=\"{}\">", "+".repeat(length));
        let pattern = r#"value="([^"]*)""#;
        let body = field(60_000);
        let missing = find(pattern, body.as_bytes(), 1000).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "found no match of at most 16384 bytes, which is its limit, in 60016 bytes"
        );
        let found = find_of(100_000, pattern, body.as_bytes(), 1000).unwrap();
        assert_eq!(found, "+".repeat(60_000));
        let missing = find(pattern, field(20_000).as_bytes(), 1000).unwrap_err();
        assert_eq!(missing, Missing::TooLong(WINDOW_BYTES));
    }

    #[test]
    fn the_limit_may_be_one_or_two_bytes() {
        for piece in [1, 2, 100] {
            assert_eq!(find_of(1, r"\d", b"item/x 7 8", piece).unwrap(), "7");
            assert_eq!(find_of(2, r"\d+", b"item/x 78 9", piece).unwrap(), "78");
            let missing = find_of(1, "z", b"item/x 7 8", piece).unwrap_err();
            assert_eq!(
                missing,
                Missing::NoMatch {
                    max_bytes: 1,
                    body: 10
                }
            );
        }
    }

    #[test]
    fn the_window_is_bounded() {
        let pattern = Pattern::compile("needle", WINDOW_BYTES).unwrap();
        let mut window = Window::default();
        for _ in 0..100 {
            window.feed(&pattern, &[b'x'; 10_000]);
            assert!(window.kept.capacity() <= 2 * MAX_KEPT_BYTES);
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(body in "[ab1 ]{0,60}", piece in 1_usize..20) {
            let pattern = r"a(\d*)b";
            let whole = find(pattern, body.as_bytes(), body.len().max(1));
            prop_assert_eq!(find(pattern, body.as_bytes(), piece), whole);
        }
    }
}
