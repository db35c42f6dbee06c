use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::collection::vec;
use proptest::prelude::*;
use regex::bytes::Regex;

use crate::exchange::raw::until::Until;
use crate::spec::UntilSpec;

fn delimiter(bytes: &[u8]) -> Until {
    Until::new(&UntilSpec::DelimiterBase64(STANDARD.encode(bytes))).unwrap()
}

fn regex(pattern: &str) -> Until {
    Until::new(&UntilSpec::Regex(pattern.into())).unwrap()
}

/// Where a response that comes in these pieces ends, if it does.
fn end<'a>(until: &Until, pieces: impl IntoIterator<Item = &'a [u8]>) -> Option<usize> {
    let mut progress = until.begin();
    let mut before = 0;
    for piece in pieces {
        if let Some(end) = until.feed(&mut progress, piece) {
            return Some(before + end);
        }
        before += piece.len();
    }
    None
}

/// Where a response ends, checked to be the same in one piece, in two pieces cut at every byte, and in single bytes.
fn end_however_cut(until: &Until, response: &[u8]) -> Option<usize> {
    let whole = end(until, [response]);
    for cut in 0..=response.len() {
        let (head, tail) = response.split_at(cut);
        assert_eq!(end(until, [head, tail]), whole, "cut at {cut}");
    }
    assert_eq!(end(until, response.chunks(1)), whole, "single bytes");
    whole
}

#[test]
fn a_response_ends_after_its_length() {
    let until = Until::new(&UntilSpec::Length(5)).unwrap();
    assert_eq!(end_however_cut(&until, b"+PON"), None);
    assert_eq!(end_however_cut(&until, b"+PONG"), Some(5));
    assert_eq!(end_however_cut(&until, b"+PONG\r\n"), Some(5));
}

#[test]
fn a_response_ends_after_its_delimiter() {
    assert_eq!(end_however_cut(&delimiter(b"\r\n"), b"+PONG\r\n"), Some(7));
    assert_eq!(end_however_cut(&delimiter(b"\r\n"), b"\r\r\n\r\n"), Some(3));
    assert_eq!(end_however_cut(&delimiter(b"\r\n"), b"+PONG\r"), None);
    assert_eq!(end_however_cut(&delimiter(b"aab"), b"aaaab"), Some(5));
    assert_eq!(
        end_however_cut(&delimiter(b"\xff\0."), b"x\xff\0x\xff\0."),
        Some(7)
    );
    assert_eq!(end_however_cut(&delimiter(b"(a|b)*"), b"ab(a|b)*"), Some(8));
}

#[test]
fn a_response_ends_at_the_earliest_end_of_any_match() {
    assert_eq!(end_however_cut(&regex(r"\d+"), b"abc 123"), Some(5));
    assert_eq!(end_however_cut(&regex("abc|b"), b"abc"), Some(2));
    assert_eq!(
        end_however_cut(&regex(r"OK \d+\n|ERR .*\n"), b"..ERR no\nOK 1\n"),
        Some(9)
    );
    assert_eq!(end_however_cut(&regex("ß"), "weiß".as_bytes()), Some(5));
    assert_eq!(
        end_however_cut(&regex(r"(?-u)\xff[^\n]"), b"\xff\n\xff\xfe"),
        Some(4)
    );
}

#[test]
fn what_ends_with_the_connection_does_not_end_before() {
    let until = Until::new(&UntilSpec::Close).unwrap();
    assert_eq!(end_however_cut(&until, b"anything\r\n"), None);
}

#[test]
fn what_can_never_end_a_response_is_refused() {
    let refused = |spec| Until::new(&spec).unwrap_err();
    let regex = |pattern: &str| refused(UntilSpec::Regex(pattern.into()));
    assert!(refused(UntilSpec::Length(0)).contains("ends before it begins"));
    assert!(refused(UntilSpec::DelimiterBase64(String::new())).contains("is empty"));
    assert!(refused(UntilSpec::DelimiterBase64("?".into())).contains("not base64"));
    assert!(regex("a*").contains("matches the empty text"));
    assert!(regex("").contains("matches the empty text"));
    assert!(regex(r"[^\s\S]").contains("can never match"));
    assert!(regex("OK$").contains("stands beside it"));
    assert!(regex(r"\bOK").contains("stands beside it"));
    assert!(regex("(").contains("is not a regular expression"));
    assert!(regex("a[ab]{30}c").contains("too much memory"));
}

/// Each pattern as compiled by the engine, and by the oracle.
static PATTERNS: LazyLock<Vec<(Until, Regex)>> = LazyLock::new(|| {
    let patterns = ["ab+a", "b.a|aa", r"(?-u)[^a]\n", "a{2,3}b", "(?s-u)b."];
    let made = |pattern| (regex(pattern), Regex::new(pattern).unwrap());
    patterns.into_iter().map(made).collect()
});

proptest! {
    /// Compares with a search in each prefix of the whole response.
    #[test]
    fn the_end_is_that_of_the_shortest_beginning_that_matches(
        response in vec(prop_oneof![Just(b'a'), Just(b'b'), Just(b'\n'), any::<u8>()], 0..40),
        cuts in vec(0usize..40, 0..5),
        pattern in 0usize..5,
    ) {
        let (until, oracle) = &PATTERNS[pattern];
        let truth = (0..=response.len()).find(|end| oracle.is_match(&response[..*end]));
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(response.len())).collect();
        cuts.extend([0, response.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &response[pair[0]..pair[1]]);
        prop_assert_eq!(end(until, pieces), truth);
    }
}
