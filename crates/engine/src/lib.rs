//! The load engine of jostle. It knows HTTP, sockets and clocks; it knows nothing of Python or of files.
//!
//! A [`RunSpec`](spec::RunSpec) says what the load is; [`Run::start`] prepares and starts it; intervals of what
//! was seen come out of [`Run::next_interval`].
//!
//! ```text
//!  run ─► worker ─┬─► load (closed, open) ─► wire (link ─► h1)
//!                 │      └─► scenario         └─► seat
//!                 └─► record
//!  spec ─► plan    what is asked, and what is done      schedule    when; pure
//! ```
pub mod spec;

mod load;
mod plan;
mod prepare;
mod record;
mod run;
mod scenario;
mod schedule;
mod seat;
mod wire;
mod worker;

pub use hdrhistogram;
pub use record::collect::Poll;
pub use record::interval;
pub use record::ports::PortUse;
pub use run::Run;
pub use spec::validate::StartError;
pub use wire::h1::codec;
pub use wire::verify;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// `HdrHistogram` V2 with deflate, as `.hlog` files want it before base64.
#[must_use]
pub fn encode_v2(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("memory takes all that is written");
    bytes
}

/// The sum of histograms that [`encode_v2`] wrote: nothing is lost, since all have the same buckets. An error says
/// what is wrong with the first one that cannot be read.
pub fn merge_v2<'a>(encoded: impl IntoIterator<Item = &'a [u8]>) -> Result<Histogram<u64>, String> {
    let mut merged = record::recorder::histogram();
    let mut reader = Deserializer::new();
    for mut bytes in encoded {
        let part: Histogram<u64> = reader
            .deserialize(&mut bytes)
            .map_err(|error| error.to_string())?;
        merged += &part;
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merging_what_was_encoded_is_recording_it_all(
            values in prop::collection::vec((0usize..4, 1..interval::HIGHEST_US), 0..200)
        ) {
            let mut parts = vec![record::recorder::histogram(); 4];
            let mut all = record::recorder::histogram();
            for (part, value) in values {
                parts[part].record(value).unwrap();
                all.record(value).unwrap();
            }
            let encoded: Vec<Vec<u8>> = parts.iter().map(encode_v2).collect();
            let merged = merge_v2(encoded.iter().map(Vec::as_slice)).unwrap();
            prop_assert_eq!(merged, all);
        }
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        assert!(merge_v2([b"nothing".as_slice()]).is_err());
    }
}
