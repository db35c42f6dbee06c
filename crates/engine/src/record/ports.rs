//! Local ports in use. Every TCP connection holds a port of its local address, and an address has only a limited
//! number of them for each destination. When they run out, connecting fails.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

/// The connections from one local address to one destination, whichever client holds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortUse {
    /// `None` if the kernel chooses the address.
    pub from: Option<IpAddr>,
    pub to: SocketAddr,
    /// Number of connections that are open or being opened.
    pub held: u64,
}

/// The ports that one worker's clients hold.
#[derive(Debug, Default)]
pub struct PortTable(RefCell<Vec<PortUse>>);

/// A port in use, released when this is dropped.
#[derive(Debug)]
pub struct Port {
    table: Rc<PortTable>,
    slot: u32,
}

impl PortTable {
    pub fn take(self: &Rc<Self>, from: Option<IpAddr>, to: SocketAddr) -> Port {
        let mut uses = self.0.borrow_mut();
        let known = uses
            .iter()
            .position(|port| port.from == from && port.to == to);
        // Reuses a slot that holds no port any more, so that the table does not grow as names change their addresses.
        let slot = known.or_else(|| uses.iter().position(|port| port.held == 0));
        let slot = slot.unwrap_or(uses.len());
        if known.is_none() {
            let fresh = PortUse { from, to, held: 0 };
            match uses.get_mut(slot) {
                Some(unused) => *unused = fresh,
                None => uses.push(fresh),
            }
        }
        uses[slot].held += 1;
        Port {
            table: self.clone(),
            slot: slot as u32,
        }
    }

    pub fn in_use(&self) -> Vec<PortUse> {
        let uses = self.0.borrow();
        uses.iter().filter(|port| port.held > 0).cloned().collect()
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.table.0.borrow_mut()[self.slot as usize].held -= 1;
    }
}

/// Adds the ports that another worker holds.
pub fn add(sum: &mut Vec<PortUse>, others: Vec<PortUse>) {
    for other in others {
        let known = sum
            .iter_mut()
            .find(|port| port.from == other.from && port.to == other.to);
        match known {
            Some(port) => port.held += other.held,
            None => sum.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(port: u16) -> SocketAddr {
        ([127, 0, 0, 1], port).into()
    }

    #[test]
    fn ports_are_held_by_source_and_destination_until_dropped() {
        let table = Rc::new(PortTable::default());
        let source: Option<IpAddr> = Some([127, 0, 0, 2].into());
        let first = table.take(None, at(80));
        let second = table.take(None, at(80));
        let third = table.take(source, at(80));
        let held = || {
            let uses = table.in_use();
            uses.into_iter()
                .map(|port| (port.from, port.to, port.held))
                .collect::<Vec<_>>()
        };
        assert_eq!(held(), [(None, at(80), 2), (source, at(80), 1)]);
        drop(third);
        let _fourth = table.take(None, at(81));
        assert_eq!(held(), [(None, at(80), 2), (None, at(81), 1)]);
        drop((first, second));
        assert_eq!(held(), [(None, at(81), 1)]);
    }

    #[test]
    fn workers_add_up() {
        let one = |port, held| PortUse {
            from: None,
            to: at(port),
            held,
        };
        let mut sum = vec![one(80, 3)];
        add(&mut sum, vec![one(81, 1), one(80, 4)]);
        assert_eq!(sum, [one(80, 7), one(81, 1)]);
    }
}
