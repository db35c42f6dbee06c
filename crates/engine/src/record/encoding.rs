//! Histograms as bytes. Input may come from an untrusted source, and is checked before use.

use std::io::Read;

use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use crate::record::histogram::{DIGITS, HIGHEST_US, LOWEST_US, histogram};

/// Outer header: cookie, length of what follows.
const OUTER_BYTES: usize = 8;
/// Inner header: cookie, length of the counts, normalizing offset, digits, lowest and highest value, ratio.
const INNER_BYTES: usize = 40;
/// Limit of the inflated size; more than all counts of 1 µs to 1 h with 3 digits need.
const MAX_BYTES: u64 = 1024 * 1024;
/// Limit of the total count, so that sums of counts stay exact even as JSON numbers.
const MAX_COUNT: u64 = 1 << 53;

/// Encodes a histogram as `HdrHistogram` V2 with deflate, the form that `.hlog` files contain in base64.
#[must_use]
pub fn encode_v2(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("memory takes all that is written, and no count is beyond MAX_COUNT");
    bytes
}

/// Returns the sum of histograms that [`encode_v2`] wrote. Nothing is lost, since all have the same buckets.
/// An error says what is wrong with the first one that cannot be read.
pub fn merge_v2<'a>(encoded: impl IntoIterator<Item = &'a [u8]>) -> Result<Histogram<u64>, String> {
    let mut merged = histogram();
    let mut reader = Deserializer::new();
    for bytes in encoded {
        let plain = inflate(bytes)?;
        let part: Histogram<u64> = reader
            .deserialize(&mut plain.as_slice())
            .map_err(|error| error.to_string())?;
        if part.len() > MAX_COUNT - merged.len() {
            return Err("it counts more than 2^53 values".into());
        }
        merged.add(&part).map_err(|error| error.to_string())?;
    }
    Ok(merged)
}

/// Returns the plain V2 form if it has the stated length and our range and digits. This is checked first because
/// deserialising allocates memory according to the header.
fn inflate(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let packed = bytes
        .get(OUTER_BYTES..)
        .ok_or("it is shorter than its header")?;
    let mut plain = Vec::new();
    ZlibDecoder::new(packed)
        .take(MAX_BYTES)
        .read_to_end(&mut plain)
        .map_err(|error| error.to_string())?;
    let Some(header) = plain.first_chunk::<INNER_BYTES>() else {
        return Err("it is shorter than its header".into());
    };
    let number = |at: usize, bytes: usize| {
        header[at..at + bytes]
            .iter()
            .fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    };
    if number(4, 4) != (plain.len() - INNER_BYTES) as u64 {
        return Err("it is not as long as it says".into());
    }
    let (digits, lowest, highest) = (number(12, 4), number(16, 8), number(24, 8));
    if digits != u64::from(DIGITS) || lowest != LOWEST_US || highest > 2 * HIGHEST_US {
        return Err(format!(
            "{digits} digits from {lowest} to {highest} are not the engine's"
        ));
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use hdrhistogram::serialization::V2Serializer;
    use proptest::prelude::*;
    use std::io::Write;

    proptest! {
        #[test]
        fn merging_what_was_encoded_is_recording_it_all(
            values in prop::collection::vec((0usize..4, 1..=HIGHEST_US), 0..200)
        ) {
            let mut parts = vec![histogram(); 4];
            let mut all = histogram();
            for (part, value) in values {
                parts[part].record(value).unwrap();
                all.record(value).unwrap();
            }
            let encoded: Vec<Vec<u8>> = parts.iter().map(encode_v2).collect();
            let merged = merge_v2(encoded.iter().map(Vec::as_slice)).unwrap();
            prop_assert_eq!(merged, all);
        }
    }

    /// Encodes a histogram after changing its plain form.
    fn forged(histogram: &Histogram<u64>, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut plain = Vec::new();
        V2Serializer::new()
            .serialize(histogram, &mut plain)
            .unwrap();
        change(&mut plain);
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&plain).unwrap();
        let packed = packed.finish().unwrap();
        let length = (packed.len() as u32).to_be_bytes();
        [&[0x1c, 0x84, 0x93, 0x14], &length[..], &packed].concat()
    }

    fn refused(bytes: &[u8]) -> String {
        merge_v2([bytes]).expect_err("it is refused")
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        refused(b"nothing");
        refused(b"nothing that would inflate");
        let mut one = histogram();
        one.record(5).unwrap();
        assert_eq!(merge_v2([forged(&one, |_| ()).as_slice()]).unwrap(), one);
        assert_eq!(refused(&encode_v2(&one)[..30]), "incomplete deflate stream");
    }

    #[test]
    fn counts_that_would_overflow_are_refused() {
        let mut huge = histogram();
        huge.record_n(5, 1 << 62).unwrap();
        let encoded = encode_v2(&huge);
        let merged = merge_v2([encoded.as_slice(); 3]);
        assert_eq!(merged.unwrap_err(), "it counts more than 2^53 values");
    }

    #[test]
    fn a_header_that_promises_more_than_there_is_takes_no_memory() {
        let long = forged(&histogram(), |plain| {
            plain[4..8].copy_from_slice(&0x7fff_ffff_u32.to_be_bytes());
        });
        assert_eq!(refused(&long), "it is not as long as it says");
        let wide = forged(&histogram(), |plain| {
            plain[12..16].copy_from_slice(&5_u32.to_be_bytes());
            plain[24..32].copy_from_slice(&u64::MAX.to_be_bytes());
        });
        assert!(refused(&wide).contains("are not the engine's"));
    }
}
