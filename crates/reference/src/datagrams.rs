//! A UDP server: every datagram comes back unchanged after a stated delay, except for those that are lost, doubled or
//! held back. Each of these happens to one in a stated number of all datagrams.

use crate::timer::Timer;
use jostle_discipline::Nanos;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use tokio::net::UdpSocket;

const MAX_DATAGRAM_BYTES: usize = 65_536;

/// What happens to datagrams, counted over all clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Path {
    pub delay: Nanos,
    /// The last of every this many datagrams is lost.
    pub lose: Option<u64>,
    /// The last of every this many datagrams comes back twice.
    pub double: Option<u64>,
    /// The last of every this many datagrams comes back after the next one of its client.
    pub hold: Option<u64>,
}

/// A datagram to be sent.
struct Response {
    bytes: Vec<u8>,
    to: SocketAddr,
}

#[derive(Default)]
struct Echo {
    path: Path,
    /// How many datagrams have come.
    count: u64,
    /// Datagrams held back, by client.
    held: HashMap<SocketAddr, Vec<u8>>,
}

impl Echo {
    /// Returns what is sent in response to a datagram, in this order.
    fn responses(&mut self, bytes: &[u8], from: SocketAddr) -> Vec<Response> {
        self.count += 1;
        let is_due = |each: Option<u64>| each.is_some_and(|each| self.count.is_multiple_of(each));
        let (lost, held) = (is_due(self.path.lose), is_due(self.path.hold));
        let times = if is_due(self.path.double) { 2 } else { 1 };
        if lost {
            return Vec::new();
        }
        let before = self.held.remove(&from);
        if held {
            self.held.insert(from, bytes.to_vec());
        }
        let own = std::iter::repeat_n(bytes.to_vec(), if held { 0 } else { times });
        own.chain(before)
            .map(|bytes| Response { bytes, to: from })
            .collect()
    }
}

/// Echoes datagrams for ever.
pub async fn echo(socket: UdpSocket, path: Path) -> io::Result<()> {
    let timer = Timer::new()?;
    let mut echo = Echo {
        path,
        ..Echo::default()
    };
    let mut buffer = vec![0; MAX_DATAGRAM_BYTES];
    let mut waiting: VecDeque<(Nanos, Response)> = VecDeque::new();
    loop {
        tokio::select! {
            received = socket.recv_from(&mut buffer) => {
                // An error concerns an earlier response whose client has gone.
                if let Ok((length, from)) = received {
                    let due = timer.now() + path.delay;
                    let responses = echo.responses(&buffer[..length], from);
                    waiting.extend(responses.into_iter().map(|response| (due, response)));
                }
            }
            rung = timer.expired(), if !waiting.is_empty() => rung?,
        }
        while let Some((_, response)) = waiting.pop_front_if(|(due, _)| *due <= timer.now()) {
            let _ = socket.send_to(&response.bytes, response.to).await; // fails if the client has gone
        }
        timer.set(waiting.front().map(|(due, _)| *due))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes back for each of the datagrams 1, 2, 3, …
    fn echoed(path: Path, datagrams: u8) -> Vec<Vec<u8>> {
        let mut echo = Echo {
            path,
            ..Echo::default()
        };
        let from = SocketAddr::from(([127, 0, 0, 1], 9));
        let responses = (1..=datagrams).map(|byte| echo.responses(&[byte], from));
        responses
            .map(|responses| responses.iter().map(|response| response.bytes[0]).collect())
            .collect()
    }

    #[test]
    fn datagrams_are_lost_doubled_and_held_back() {
        let path = Path {
            lose: Some(3),
            ..Path::default()
        };
        assert_eq!(echoed(path, 4), [vec![1], vec![2], vec![], vec![4]]);
        let path = Path {
            double: Some(2),
            ..Path::default()
        };
        assert_eq!(echoed(path, 3), [vec![1], vec![2, 2], vec![3]]);
        let path = Path {
            hold: Some(2),
            ..Path::default()
        };
        assert_eq!(echoed(path, 4), [vec![1], vec![], vec![3, 2], vec![]]);
    }
}
