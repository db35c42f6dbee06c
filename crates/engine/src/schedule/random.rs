//! The random stream: `SplitMix64` (Steele, Lea, Flood 2014). Eight bytes of state, so every client has its own,
//! and its values never change with a library's version: a recorded seed gives the same run for ever.

use rand::RngCore;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Debug, Clone)]
pub struct Stream(u64);

impl Stream {
    /// An independent stream for each `(seed, labels)`, e.g. workload and client number.
    pub fn new(seed: u64, labels: &[u64]) -> Self {
        let start = labels.iter().fold(mix(seed ^ GOLDEN), |state, label| {
            mix(state ^ mix(label.wrapping_add(GOLDEN)))
        });
        Self(start)
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl RngCore for Stream {
    fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn same_labels_give_the_same_stream_and_others_another() {
        let draw = |labels: &[u64]| Stream::new(7, labels).next_u64();
        assert_eq!(draw(&[1, 2]), draw(&[1, 2]));
        assert_ne!(draw(&[1, 2]), draw(&[2, 1]));
        assert_ne!(draw(&[1]), draw(&[1, 0]));
    }

    #[test]
    fn neighbouring_streams_are_uncorrelated_and_uniform() {
        let sums: Vec<f64> = (0..64)
            .map(|client| {
                let mut stream = Stream::new(1, &[0, client]);
                (0..1000).map(|_| stream.random::<f64>()).sum::<f64>() / 1000.0
            })
            .collect();
        // Standard error of one mean is 0.0091; of the mean of all, 0.0011.
        assert!(sums.iter().all(|mean| (mean - 0.5).abs() < 0.05));
        assert!((sums.iter().sum::<f64>() / 64.0 - 0.5).abs() < 0.005);
    }
}
