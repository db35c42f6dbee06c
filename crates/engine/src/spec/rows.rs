//! The values of a feed, which take about as much memory as its file has bytes.

use std::fmt;
use std::io::{Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};

/// The most bytes of one feed.
const MAX_BYTES: u64 = u32::MAX as u64;

/// Rows with equal numbers of values, one after another.
///
/// In memory each value follows its length (LEB128). Serialised, the rows are compressed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Packed", into = "Packed")]
pub struct FeedRows {
    bytes: Vec<u8>,
    count: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Packed {
    /// The number of values.
    count: usize,
    /// The bytes, compressed with zlib (RFC 1950), in base64.
    zlib_base64: String,
}

impl FeedRows {
    /// The number of values in all rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the value that begins at `at`, and where the next one begins; `None` if no value begins there.
    #[must_use]
    pub fn value(&self, at: usize) -> Option<(&[u8], usize)> {
        let (mut length, mut shift, mut begins) = (0_usize, 0, at);
        loop {
            let byte = *self.bytes.get(begins)?;
            begins += 1;
            length |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
            shift += 7;
            if shift > 28 {
                return None;
            }
        }
        let ends = begins.checked_add(length)?;
        Some((self.bytes.get(begins..ends)?, ends))
    }

    /// Whether the bytes are exactly `count` values.
    fn is_whole(&self) -> bool {
        let mut at = 0;
        (0..self.count).all(|_| {
            let next = self.value(at).map(|(_, next)| next);
            at = next.unwrap_or(at);
            next.is_some()
        }) && at == self.bytes.len()
    }
}

impl<'a> FromIterator<&'a str> for FeedRows {
    fn from_iter<I: IntoIterator<Item = &'a str>>(values: I) -> Self {
        let mut rows = Self::default();
        for value in values {
            let mut length = value.len();
            while length >= 0x80 {
                rows.bytes.push(length as u8 | 0x80);
                length >>= 7;
            }
            rows.bytes.push(length as u8);
            rows.bytes.extend_from_slice(value.as_bytes());
            rows.count += 1;
        }
        rows
    }
}

impl TryFrom<Packed> for FeedRows {
    type Error = String;

    fn try_from(packed: Packed) -> Result<Self, String> {
        let wrong = |what: &dyn fmt::Display| format!("the rows of a feed cannot be read: {what}");
        let compressed = STANDARD.decode(packed.zlib_base64);
        let compressed = compressed.map_err(|error| wrong(&error))?;
        let mut bytes = Vec::new();
        ZlibDecoder::new(compressed.as_slice())
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| wrong(&error))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(wrong(&"they have more than 4 GiB"));
        }
        bytes.shrink_to_fit();
        let count = packed.count;
        let rows = Self { bytes, count };
        if rows.is_whole() {
            Ok(rows)
        } else {
            Err(wrong(&format!("they are not {count} values")))
        }
    }
}

impl From<FeedRows> for Packed {
    fn from(rows: FeedRows) -> Self {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        let written = encoder.write_all(&rows.bytes);
        let compressed = written.and_then(|()| encoder.finish());
        let compressed = compressed.expect("memory takes all that is written");
        Self {
            count: rows.count,
            zlib_base64: STANDARD.encode(compressed),
        }
    }
}

impl fmt::Debug for FeedRows {
    /// Omits the values: there may be millions, and passwords among them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values", self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_are_read_as_they_were_written() {
        let long = "x".repeat(70_000);
        let values = ["a", "", "länger", &long, "x"];
        let rows: FeedRows = values.into_iter().collect();
        let read: FeedRows = serde_json::from_str(&serde_json::to_string(&rows).unwrap()).unwrap();
        assert_eq!(read, rows);
        let mut at = 0;
        let all = std::iter::from_fn(|| {
            let (value, next) = read.value(at)?;
            at = next;
            Some(std::str::from_utf8(value).unwrap())
        });
        assert_eq!(all.collect::<Vec<_>>(), values);
        assert_eq!(format!("{rows:?}"), "5 values");
    }

    #[test]
    fn a_million_short_rows_take_no_more_than_their_file() {
        let texts: Vec<String> = (0..1000).map(|n| format!("user{n}")).collect();
        let rows: FeedRows = texts.iter().map(String::as_str).collect();
        let file: usize = texts.iter().map(|text| text.len() + 1).sum();
        assert_eq!(rows.bytes.len(), file);
    }

    #[test]
    fn what_does_not_hold_together_is_refused() {
        let packed = |bytes: &[u8], count: usize| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(bytes).unwrap();
            let zlib = STANDARD.encode(encoder.finish().unwrap());
            serde_json::from_value::<FeedRows>(json!({"count": count, "zlib_base64": zlib}))
        };
        assert_eq!(
            packed(b"\x01a\x00", 2).unwrap(),
            ["a", ""].into_iter().collect()
        );
        for (bytes, count) in [
            (&b"\x01a\x00"[..], 1),
            (b"\x01a\x00", 3),
            (b"\x02a", 1),
            (b"\xff\xff\xff\xff\xff\xff\x01a", 1),
            (b"\x80", 1),
        ] {
            let error = packed(bytes, count).unwrap_err().to_string();
            assert!(error.contains("the rows of a feed"), "{error}");
        }
        let junk = json!({"count": 1, "zlib_base64": "AAAA"});
        assert!(serde_json::from_value::<FeedRows>(junk).is_err());
    }
}
