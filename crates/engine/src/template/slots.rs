//! The named values of one client, taken from responses and from feeds.
//!
//! Ten thousand clients may be thinking at the same time, so each keeps all its values in a single allocation: how many
//! there are, the length of each, then the values themselves.

const ENTRY_BYTES: usize = size_of::<u32>();
/// Stands for the length of a slot that holds no value.
const EMPTY: u32 = u32::MAX;

#[derive(Debug)]
pub struct Slots {
    /// The number of slots, the length of each value (`EMPTY` if there is none), and the values.
    bytes: Vec<u8>,
}

impl Slots {
    /// Creates `count` empty slots.
    pub fn new(count: usize) -> Self {
        Self {
            bytes: [
                &(count as u32).to_ne_bytes()[..],
                &vec![0xff; count * ENTRY_BYTES],
            ]
            .concat(),
        }
    }

    /// Returns `None` if the slot is empty, which is not the same as holding an empty value.
    pub fn get(&self, slot: usize) -> Option<&[u8]> {
        let length = self.length(slot);
        (length != EMPTY).then(|| {
            let start = self.start(slot);
            &self.bytes[start..start + length as usize]
        })
    }

    pub fn set(&mut self, slot: usize, value: Option<&[u8]>) {
        let start = self.start(slot);
        let before = match self.length(slot) {
            EMPTY => 0,
            length => length as usize,
        };
        let (value, length) = match value {
            Some(value) => (value, value.len() as u32),
            None => (&[][..], EMPTY),
        };
        self.bytes.reserve_exact(value.len().saturating_sub(before));
        self.bytes
            .splice(start..start + before, value.iter().copied());
        let entry = (1 + slot) * ENTRY_BYTES;
        self.bytes[entry..entry + ENTRY_BYTES].copy_from_slice(&length.to_ne_bytes());
    }

    /// Adds one to the number in a slot, which is 0 while the slot is empty; returns the sum.
    pub fn increment(&mut self, slot: usize) -> u64 {
        let before = self.get(slot).map_or(0, |bytes| {
            u64::from_ne_bytes(bytes.try_into().expect("a count has eight bytes"))
        });
        let count = before + 1;
        self.set(slot, Some(&count.to_ne_bytes()));
        count
    }

    fn start(&self, slot: usize) -> usize {
        let before = (0..slot).map(|slot| self.length(slot));
        let values = before.filter(|length| *length != EMPTY);
        (1 + self.entry(0) as usize) * ENTRY_BYTES
            + values.map(|length| length as usize).sum::<usize>()
    }

    fn length(&self, slot: usize) -> u32 {
        self.entry(1 + slot)
    }

    fn entry(&self, number: usize) -> u32 {
        let entry = number * ENTRY_BYTES;
        let bytes = self.bytes[entry..entry + ENTRY_BYTES].try_into();
        u32::from_ne_bytes(bytes.expect("an entry has four bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slots_hold_what_was_set_last(
            changes in prop::collection::vec((0_usize..4, prop::option::of(prop::collection::vec(any::<u8>(), 0..40))), 0..30)
        ) {
            let mut slots = Slots::new(4);
            let mut expected: [Option<Vec<u8>>; 4] = Default::default();
            for (slot, value) in changes {
                slots.set(slot, value.as_deref());
                expected[slot] = value;
                for (slot, value) in expected.iter().enumerate() {
                    prop_assert_eq!(slots.get(slot), value.as_deref());
                }
            }
        }
    }

    #[test]
    fn a_slot_can_count() {
        let mut slots = Slots::new(2);
        slots.set(1, Some(b"x"));
        assert_eq!([(); 3].map(|()| slots.increment(0)), [1, 2, 3]);
        assert_eq!(slots.get(1), Some(b"x".as_slice()));
    }

    /// A client with its whole state may take at most 250 bytes; the allocator adds up to 16.
    #[test]
    fn four_values_of_32_bytes_take_148_bytes() {
        let mut slots = Slots::new(4);
        (0..4).for_each(|slot| slots.set(slot, Some(&[b'x'; 32])));
        assert_eq!(slots.bytes.capacity(), 148);
    }
}
