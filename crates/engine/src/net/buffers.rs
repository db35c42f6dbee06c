//! The buffers that all connections of one worker share.

use std::cell::{Cell, RefCell};

const SCRATCH_BYTES: usize = 64 * 1024;
/// Larger buffers are not kept: beside the work of filling one, allocating it anew costs little.
const MAX_SPARE_BYTES: usize = 16 * 1024;

/// What all connections of one worker share.
#[derive(Debug)]
pub struct WorkerBuffers {
    /// All connections read into this buffer; whoever keeps any of it makes a copy.
    pub scratch: RefCell<Box<[u8]>>,
    /// Buffers for requests with parameters, which are reused.
    spare: RefCell<Vec<Vec<u8>>>,
    /// The number of connections that wait for the server to close.
    pub(super) lingering: Cell<u64>,
}

impl Default for WorkerBuffers {
    fn default() -> Self {
        Self {
            scratch: RefCell::new(vec![0; SCRATCH_BYTES].into_boxed_slice()),
            spare: RefCell::default(),
            lingering: Cell::default(),
        }
    }
}

impl WorkerBuffers {
    /// Takes an empty buffer for one request.
    pub fn take_spare(&self) -> Vec<u8> {
        self.spare.borrow_mut().pop().unwrap_or_default()
    }

    /// Keeps a buffer for a later request, if it has allocated memory and is not so large that many would fill it.
    pub fn put_spare(&self, mut buffer: Vec<u8>) {
        if (1..=MAX_SPARE_BYTES).contains(&buffer.capacity()) {
            buffer.clear();
            self.spare.borrow_mut().push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again_unless_they_are_large() {
        let buffers = WorkerBuffers::default();
        for bytes in [1_000_000, 0, 100] {
            buffers.put_spare(Vec::with_capacity(bytes));
        }
        assert_eq!(buffers.take_spare().capacity(), 100);
        assert_eq!(buffers.take_spare().capacity(), 0, "none is left");
    }
}
