//! Bodies as other programs code them, and as nobody should.

use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

const TEXT: &str = r#"{"id": "item/17", "what": "tea and more tea"}"#;
/// `TEXT` as coded by Node.js, by the `zstd` command and by Python's zlib.
const CODED: [(&str, &str); 5] = [
    (
        "gzip",
        "H4sIAAAAAAAAA6tWykxRslJQyixJzdU3NFfSUVAqz0gsAQmVpCYqJOalKOTmF6UqlKQmKtUCAFquAwctAAAA",
    ),
    (
        "br",
        "CxaAeyJpZCI6ICJpdGVtLzE3IiwgIndoYXQiOiAidGVhIGFuZCBtb3JlIHRlYSJ9Aw==",
    ),
    (
        "zstd",
        "KLUv/QRYaQEAeyJpZCI6ICJpdGVtLzE3IiwgIndoYXQiOiAidGVhIGFuZCBtb3JlIHRlYSJ9qrRGrQ==",
    ),
    (
        "deflate",
        "eJyrVspMUbJSUMosSc3VNzRX0lFQKs9ILAEJlaQmKiTmpSjk5helKgA5SrUAKAcNig==",
    ),
    // Without the frame of zlib.
    (
        "deflate",
        "q1bKTFGyUlDKLEnN1Tc0V9JRUCrPSCwBCZWkJiok5qUo5OYXpSoAOUq1AA==",
    ),
];
/// `TEXT`, coded three times.
const THRICE: &str = concat!(
    "H4sIAAAAAAACAwFDALz/eJyT7+ZgAAEm5tVhp3wCNwUFnNLxPHvV3CT8UmCA1nkPHUbOqUvUtFSeLdV48kx8qRaDpd",
    "dWhqh1zOy6QE0AXDYTiNRbeAdDAAAA",
);
/// Ten million zeros.
const ZEROS: [(&str, &str); 2] = [
    ("br", "y///P/gnAOKxQCD3/i//LDHwTwDEYRGAjiMG"),
    ("zstd", ZSTD_ZEROS),
];
const ZSTD_ZEROS: &str = concat!(
    "KLUv/QBYVAAAEAAAAQD7/znAAgIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAAC",
    "ABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAAC",
    "ABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAAC",
    "ABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAAC",
    "ABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAEQAAAABAP3/zQsQAgAQAAIAEAACABAAAgAQAAIA",
    "EAACABAAAgAQAAIAEAACABAAAgAQAAIAEAADtAQA",
);

/// Forty lines coded by the same tools and by Python, long enough to use all features of the codings.
const MENU: [(&str, &str); 3] = [
    (
        "gzip",
        concat!(
            "H4sIAAAAAAACA4XSvU7DUAyG4Z2rqDKjo+N/m7sppRLZEC1iQNw7RUhxGGpviWJ9GZ73a1lflqfDfDwsn6/H6+1xuZ",
            "6Py+317X09nX8/jTm/H77+7gJid/m8Xk4f6/Xy/5xsO3fyath4uzSxZhgGwHaupveHYbBvlxLSDrvkOfD9YRyI2yUT",
            "NcM4JLZzEqyGQ7dLNGiGaRBt5xAFHg1LPJgdHo+ZeFjY8eC0C7Z219POVasoIO3Mpa1N0s4mV8ORdorURoFpJ4xVbZ",
            "p2rNBGMdOOfFZRcNphRDtsOzvwKgpIPCBra5PEE612Pe3CpI0C086Dq9o07RyoHY60M8IqCko7FWhrs7QTm1UUkHbs",
            "0dbGacfTq2FPO0Jro8C0Q9aqNkk8UGmHY4fHVRSUdtSmpikXiFUSU3f/hzYJvsn9AF8BN83tBgAA",
        ),
    ),
    (
        "br",
        concat!(
            "G+wGIBwHbizag5BkR/JJmipTES+uovjkDdOpzjgi7WLbB3EtFCw9BQ/wTA/+qW1S0m2pyMAGI1xSaJPBl2Q4And1m1",
            "Lyxnzk708tf8gXT6nN9eSKedywr96R+W19H65/aHle8QlowqutjXHJ1BABpHu6BbxrdQVbmQWTQZZYIqMuW0Vcl3BA",
            "hZTGZSOTM3noyBnkNjrssvN0i3dh7hasZ4sZVeFJB45rTRGe0awQ3b6GpMyb4py7g5kwsQT2aKgoDFePbpdvSljGMx",
            "3NtYWyu2MWRe0pVBkj86QgPXtEeMLOhfWaOIQwuitG7VwXXA2vQXym14a+8JFTsq1G+7JOfQ==",
        ),
    ),
    (
        "zstd",
        concat!(
            "KLUv/WTtBfUHAPKPJxeAS9p4PQ3tkDtIjLvJ7t5cuTMYIWbYYYCI3b+OX4s2s+ntIem58FWuMjXNb9KTKS89h+axXJ",
            "8U/dXyc9V2dLY0OtmU0rV1l9q48Gj6lalwPZPn0SQPqvrf+5Xj79CkbZbMbJSFW2d7LrNXuU6nt6c3YSKRKS+faprG",
            "aCQcBUaCsLSAyIwPhcRCUZJAGRwaJRGUxgDxKElgEkExJAokUKghDJbHlv0OsFfSGBEgBAkBDDVCIvwVNVH1tvj1Xs",
            "wWy2oxQbfW83wn++LetqpprK8Sxrj5clu7+sO+cnH8arYvIfwIaT9AYKAorlSGa7j11iu31TaIr73+O0CqJ7uXxg==",
        ),
    ),
];

fn menu() -> String {
    let what = ["tea", "biscuits", "milk", "sugar lumps"];
    let line = |n: usize| {
        let (id, price) = (n * 7919 % 1000, n * 37 % 500);
        let what = what[n * n % 4];
        let (units, cents) = (price / 100, price % 100);
        format!("{{\"id\": {id}, \"what\": \"{what}\", \"price\": {units}.{cents:02}}}\n")
    };
    (0..40).map(line).collect::<Vec<_>>().concat()
}

fn decoded(coding: &str, bytes: &[u8], limit: Option<u64>) -> Result<Vec<u8>, Failure> {
    let mut coded = Coded::of(coding.as_bytes(), limit).unwrap();
    let mut body = Vec::new();
    for piece in bytes.chunks(7) {
        coded.feed(piece, &mut |piece| body.extend_from_slice(piece));
    }
    coded.end().map_or(Ok(body), Err)
}

fn bytes_of(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap()
}

#[test]
fn skippable_frames_of_zstd_are_skipped() {
    let (_, text) = CODED[2];
    let frame = bytes_of(text);
    let skippable = [&[0x5e, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let body = [&skippable[..], &frame, &skippable, &frame].concat();
    let twice = [TEXT, TEXT].concat();
    assert_eq!(decoded("zstd", &body, None).unwrap(), twice.as_bytes());
    let cut = decoded("zstd", &skippable[..9], None).unwrap_err();
    assert_eq!(cut.outcome, Outcome::WrongBody);
}

#[test]
fn what_others_have_coded_is_decoded() {
    for (coding, text) in CODED {
        let once = bytes_of(text);
        assert_eq!(
            decoded(coding, &once, None).unwrap(),
            TEXT.as_bytes(),
            "{coding}"
        );
        assert_eq!(
            decoded(&coding.to_uppercase(), &once, None).unwrap(),
            TEXT.as_bytes()
        );
    }
    for coding in ["gzip", "zstd"] {
        let (_, text) = CODED.iter().find(|(name, _)| *name == coding).unwrap();
        let twice = bytes_of(text).repeat(2);
        assert_eq!(
            decoded(coding, &twice, None).unwrap(),
            TEXT.repeat(2).as_bytes()
        );
    }
    for (coding, text) in MENU {
        let found = decoded(coding, &bytes_of(text), None).unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), menu(), "{coding}");
    }
}

#[test]
fn a_broken_body_and_an_unknown_coding_are_wrong_bodies() {
    for (coding, text) in CODED {
        let bytes = bytes_of(text);
        let failure = decoded(coding, &bytes[..bytes.len() / 2], None).unwrap_err();
        assert_eq!(failure.outcome, Outcome::WrongBody, "{coding}");
        assert!(failure.why.starts_with("Content-Encoding "), "{failure:?}");
        assert!(decoded(coding, TEXT.as_bytes(), None).is_err());
    }
    let failure = decoded("compress", b"x", None).unwrap_err();
    assert_eq!(
        failure.why,
        "Content-Encoding compress: jostle cannot decode it"
    );
    assert_eq!(
        decoded("gzip", b"", None).unwrap(),
        b"",
        "the response to HEAD"
    );
}

#[test]
fn words_that_are_no_codings_leave_the_body_alone() {
    for words in [
        "",
        " Identity ",
        "UTF-8",
        "none",
        "aws-chunked",
        "identity, utf-8",
    ] {
        assert!(Coded::of(words.as_bytes(), None).is_none(), "{words}");
    }
    let (_, gzip) = CODED[0];
    for words in ["x-gzip", "GZIP, identity", "aws-chunked,gzip"] {
        let found = decoded(words, &bytes_of(gzip), None).unwrap();
        assert_eq!(found, TEXT.as_bytes(), "{words}");
    }
}

#[test]
fn codings_are_undone_in_the_opposite_order() {
    let thrice = bytes_of(THRICE);
    let found = decoded("gzip, deflate, gzip", &thrice, None).unwrap();
    assert_eq!(found, TEXT.as_bytes());
    assert!(decoded("gzip, gzip, gzip, gzip, gzip", &thrice, None).is_err());
    let failure = decoded("gzip, compress", b"x", None).unwrap_err();
    assert_eq!(
        failure.why,
        "Content-Encoding gzip, compress: jostle cannot decode it"
    );
}

/// The other codings give away blocks and windows.
#[test]
fn what_has_come_is_decoded_before_the_rest_comes() {
    for (coding, text) in CODED {
        if !["gzip", "deflate"].contains(&coding) {
            continue;
        }
        let bytes = bytes_of(text);
        let mut coded = Coded::of(coding.as_bytes(), None).unwrap();
        let mut found = Vec::new();
        coded.feed(&bytes[..bytes.len() - 9], &mut |piece| {
            found.extend_from_slice(piece);
        });
        assert!(TEXT.as_bytes().starts_with(&found));
        assert!(found.len() > 20, "{coding}: {}", found.len());
    }
}

#[test]
fn bytes_behind_the_end_and_a_missing_end_are_told() {
    for (coding, text) in CODED {
        let whole = bytes_of(text);
        let why = decoded(coding, &whole[..whole.len() - 1], None)
            .unwrap_err()
            .why;
        assert!(why.starts_with("Content-Encoding "), "{why}");
        if coding != "zstd" {
            let after = [&whole[..], &[0; 40]].concat();
            let why = decoded(coding, &after, None).unwrap_err().why;
            assert!(why.contains("bytes after the "), "{why}");
        }
    }
}

#[test]
fn a_bomb_is_given_up_at_the_limit() {
    for (coding, text) in ZEROS {
        let bytes = bytes_of(text);
        assert!(bytes.len() < 400);
        assert_eq!(
            decoded(coding, &bytes, Some(10_000_000)).unwrap().len(),
            10_000_000
        );
        let failure = decoded(coding, &bytes, Some(9_999_999)).unwrap_err();
        assert_eq!(failure.outcome, Outcome::TooLarge, "{coding}");
        let seven = bytes.repeat(7);
        if coding == "zstd" {
            let failure = decoded(coding, &seven, None).unwrap_err();
            assert_eq!(failure.outcome, Outcome::TooLarge);
        }
    }
}

/// The window of a frame is allocated before anything is decoded.
#[test]
fn a_zstd_window_beyond_what_servers_may_ask_for_is_refused() {
    let frame = [
        0x28, 0xb5, 0x2f, 0xfd, 0, 0x70, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    let failure = decoded("zstd", &frame, None).unwrap_err();
    assert_eq!(failure.outcome, Outcome::WrongBody);
    assert!(!failure.why.contains("cut off"), "{failure:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_comes_nothing_breaks(
        which in 0..MENU.len(),
        cut in any::<prop::sample::Index>(),
        junk in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let (coding, text) = MENU[which];
        let bytes = bytes_of(text);
        let at = cut.index(bytes.len());
        let after = (at + junk.len()).min(bytes.len());
        let spoiled = [&bytes[..at], &junk, &bytes[after..]].concat();
        decoded(coding, &spoiled, Some(1_000_000)).ok();
        decoded(coding, &junk, Some(1_000_000)).ok();
    }
}
