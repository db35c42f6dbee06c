//! What a server can do besides scheduling. All of it can be combined with any discipline.

use crate::pauses::Pauses;
use jostle_discipline::Nanos;
use std::time::Duration;

#[derive(Debug, Default, PartialEq)]
pub struct Extras {
    /// How many requests may wait beyond those in service.
    pub queue: Option<usize>,
    pub full: Option<WhenFull>,
    /// A limit of requests per second on average, and of requests at once.
    pub bucket: Option<(f64, u64)>,
    pub pauses: Option<Pauses>,
    /// How many requests of the waiting route may wait at once.
    pub pool: Option<usize>,
    /// How many requests at the start demand more service, and by which factor.
    pub cold: Option<(u64, f64)>,
    /// Whether only the first request for a path is computed.
    pub cache: bool,
    /// How long a connection may be idle.
    pub idle: Option<Duration>,
    /// How many requests a connection may carry.
    pub requests: Option<u64>,
    /// Whether head and body are written separately, with Nagle's algorithm on.
    pub two_writes: bool,
}

/// What happens to a request that finds the queue full.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum WhenFull {
    /// It is answered with 503.
    #[default]
    Unavailable,
    /// Its connection is reset.
    Reset,
    /// It is never answered.
    Silence,
}

impl WhenFull {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "503" => Some(Self::Unavailable),
            "reset" => Some(Self::Reset),
            "silence" => Some(Self::Silence),
            _ => None,
        }
    }
}

impl Extras {
    /// The options, each with whether it was given.
    pub fn given(&self) -> [(bool, &'static str); 10] {
        [
            (self.queue.is_some(), "--queue"),
            (self.full.is_some(), "--full"),
            (self.bucket.is_some(), "--bucket"),
            (self.pauses.is_some(), "--pause"),
            (self.pool.is_some(), "--pool"),
            (self.cold.is_some(), "--cold"),
            (self.cache, "--cache"),
            (self.idle.is_some(), "--idle"),
            (self.requests.is_some(), "--requests"),
            (self.two_writes, "--two-writes"),
        ]
    }

    /// The factor by which the service of the `n`-th request (from 0) is multiplied.
    pub fn warmth(&self, n: u64) -> f64 {
        self.cold
            .filter(|&(count, _)| n < count)
            .map_or(1.0, |(_, factor)| factor)
    }
}

/// The demand of a response that is in the cache.
pub const CACHED_DEMAND: Nanos = 5_000;
