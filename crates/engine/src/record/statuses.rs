//! How often right responses had each status.

/// The first status of a final response. Before it are interim ones, 101 of messages over a WebSocket, and 0 where a
/// protocol has none.
const FIRST_FINAL: u16 = 200;

/// Counts by status. There is nearly always one, and three digits limit how many there can be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statuses(Vec<(u16, u64)>);

impl Statuses {
    /// Counts right responses with this status, if it is one of a final response.
    #[inline]
    pub fn add(&mut self, status: u16, count: u64) {
        if status < FIRST_FINAL {
            return;
        }
        match self.0.iter_mut().find(|(known, _)| *known == status) {
            Some((_, sum)) => *sum += count,
            None => self.0.push((status, count)),
        }
    }

    pub fn append(&mut self, others: &Self) {
        for (status, count) in others.iter() {
            self.add(status, count);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> {
        self.0.iter().copied()
    }

    /// Forgets all counts, and keeps the memory for the next interval.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
