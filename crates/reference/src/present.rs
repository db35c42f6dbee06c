//! An order of waiting that skips requests whose client has gone.

use crate::scheduler::Waiter;
use jostle_discipline::{Nanos, Waiting};

pub struct Present<W>(pub W);

impl<W: Waiting<(Nanos, Waiter)>> Waiting<(Nanos, Waiter)> for Present<W> {
    fn push(&mut self, item: (Nanos, Waiter)) {
        item.1.set_waits(true);
        self.0.push(item);
    }

    fn pop(&mut self) -> Option<(Nanos, Waiter)> {
        while let Some((demand, waiter)) = self.0.pop() {
            if !waiter.is_closed() {
                waiter.set_waits(false);
                return Some((demand, waiter));
            }
        }
        None
    }
}
