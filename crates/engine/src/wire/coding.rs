//! Content codings (RFC 9110 section 8.4): whatever looks at a body sees it decoded; bytes are counted as they arrived.
//!
//! A coded body is held until it is whole. There are limits on what is held, on what it may decode to, and on the
//! decoders' windows.

use std::io::{self, Read};

use brotli_decompressor::BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW;
use brotli_decompressor::Decompressor;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

use crate::record::interval::Outcome;
use crate::wire::failure::Failure;

/// The largest coded body that is held.
const MAX_CODED_BYTES: usize = 16 * 1024 * 1024;
/// The largest decoded body where the plan sets no limit.
const MAX_DECODED_BYTES: u64 = 64 * 1024 * 1024;
/// The largest zstd window, as RFC 9659 asks of a user agent. A brotli window is at most twice as large.
const MAX_WINDOW_BYTES: u64 = 8 * 1024 * 1024;
/// How many decoded bytes the taps see at a time.
const PIECE_BYTES: usize = 16 * 1024;

/// A coded body on its way in.
#[derive(Debug)]
pub struct Coded {
    coding: Coding,
    bytes: Vec<u8>,
    /// Whether more came than may be held.
    too_large: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Brotli,
    Zstd,
    /// Any other coding, named as in the answer.
    Unknown(String),
}

impl Coded {
    /// The body of an answer with this `Content-Encoding`; `None` if the header says that it is not coded.
    pub fn of(header: &[u8]) -> Option<Self> {
        let name = header.trim_ascii().to_ascii_lowercase();
        let coding = match name.as_slice() {
            b"" | b"identity" => return None,
            b"gzip" | b"x-gzip" => Coding::Gzip,
            b"br" => Coding::Brotli,
            b"zstd" => Coding::Zstd,
            other => Coding::Unknown(other.escape_ascii().to_string()),
        };
        Some(Self {
            coding,
            bytes: Vec::new(),
            too_large: false,
        })
    }

    /// Takes the next bytes of the body.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.too_large |= bytes.len() > MAX_CODED_BYTES - self.bytes.len();
        if self.too_large {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Decodes the whole body and passes it to `look` piece by piece. It may decode to at most `limit` bytes.
    pub fn decode(self, limit: Option<u64>, look: impl FnMut(&[u8])) -> Result<(), Failure> {
        let too_large = |what| Err(Failure::new(Outcome::TooLarge, what));
        if self.too_large {
            return too_large("the coded body is larger than 16 MiB");
        }
        // An answer to HEAD or without content names the coding that its body would have.
        if self.bytes.is_empty() {
            return Ok(());
        }
        let mut left = limit.unwrap_or(MAX_DECODED_BYTES);
        match self.read(&mut left, look) {
            Ok(true) => Ok(()),
            Ok(false) => too_large("the decoded body is larger than its limit"),
            Err(error) => {
                let why = format!("Content-Encoding {}: {error}", self.coding.name());
                Err(Failure::new(Outcome::WrongBody, why))
            }
        }
    }

    /// Passes the decoded body to `look`. Returns false if there are more than `left` bytes.
    fn read(&self, left: &mut u64, mut look: impl FnMut(&[u8])) -> io::Result<bool> {
        let mut bytes = self.bytes.as_slice();
        match &self.coding {
            Coding::Gzip => show(MultiGzDecoder::new(bytes), left, &mut look),
            Coding::Brotli => {
                let mut decoder = Decompressor::new(bytes, PIECE_BYTES);
                decoder.set_parameter(BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
                show(decoder, left, &mut look)
            }
            Coding::Zstd => {
                let mut within = true;
                // One frame after another (RFC 8878 section 3.1).
                while within && !bytes.is_empty() {
                    if let Some(rest) = after_skippable(bytes)? {
                        bytes = rest;
                        continue;
                    }
                    let frame =
                        StreamingDecoder::new_with_max_window_size(&mut bytes, MAX_WINDOW_BYTES);
                    within = show(frame.map_err(io::Error::other)?, left, &mut look)?;
                }
                Ok(within)
            }
            Coding::Unknown(_) => Err(io::Error::other("jostle cannot decode it")),
        }
    }
}

impl Coding {
    fn name(&self) -> &str {
        match self {
            Self::Gzip => "gzip",
            Self::Brotli => "brotli",
            Self::Zstd => "zstd",
            Self::Unknown(name) => name,
        }
    }
}

/// What follows a skippable frame (RFC 8878 section 3.1.2); `None` if the bytes do not begin with one.
fn after_skippable(bytes: &[u8]) -> io::Result<Option<&[u8]>> {
    let Some((&[kind, 0x2a, 0x4d, 0x18, length @ ..], rest)) = bytes.split_first_chunk::<8>()
    else {
        return Ok(None);
    };
    if !(0x50..=0x5f).contains(&kind) {
        return Ok(None);
    }
    let rest = rest.get(u32::from_le_bytes(length) as usize..);
    rest.map(Some)
        .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Passes `body` to `look` in pieces. Returns false if there are more than `left` bytes.
fn show(mut body: impl Read, left: &mut u64, look: &mut impl FnMut(&[u8])) -> io::Result<bool> {
    let mut piece = [0; PIECE_BYTES];
    loop {
        let length = body.read(&mut piece)?;
        if length == 0 {
            return Ok(true);
        }
        let Some(rest) = left.checked_sub(length as u64) else {
            return Ok(false);
        };
        *left = rest;
        look(&piece[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    const TEXT: &str = r#"{"id": "item/17", "what": "tea and more tea"}"#;
    /// `TEXT` as coded by Node.js and by the `zstd` command.
    const CODED: [(&str, &str); 3] = [
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
    ];
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
        let mut coded = Coded::of(coding.as_bytes()).unwrap();
        for piece in bytes.chunks(7) {
            coded.feed(piece);
        }
        let mut body = Vec::new();
        coded.decode(limit, |piece| body.extend_from_slice(piece))?;
        Ok(body)
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
        assert!(Coded::of(b" Identity ").is_none());
    }

    #[test]
    fn a_broken_body_and_an_unknown_coding_are_wrong_bodies() {
        for (coding, text) in CODED {
            let mut bytes = bytes_of(text);
            bytes.pop();
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
            "the answer to HEAD"
        );
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
        let mut coded = Coded::of(b"gzip").unwrap();
        let piece = vec![0; MAX_CODED_BYTES / 4];
        (0..5).for_each(|_| coded.feed(&piece));
        assert_eq!(coded.bytes.capacity(), 0);
        let failure = coded.decode(None, |_| ()).unwrap_err();
        assert_eq!(failure.outcome, Outcome::TooLarge);
    }

    /// The window of a frame is allocated before anything is decoded.
    #[test]
    fn a_zstd_window_beyond_what_servers_may_ask_for_is_refused() {
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70, 0x01, 0x00, 0x00];
        assert_eq!(
            decoded("zstd", &frame, None).unwrap_err().outcome,
            Outcome::WrongBody
        );
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
            let behind = (at + junk.len()).min(bytes.len());
            let spoiled = [&bytes[..at], &junk, &bytes[behind..]].concat();
            decoded(coding, &spoiled, Some(1_000_000)).ok();
            decoded(coding, &junk, Some(1_000_000)).ok();
        }
    }
}
