//! An input taken apart.

/// Takes an input apart from its front; what is missing is 0.
pub struct Cut<'a>(pub &'a [u8]);

impl Cut<'_> {
    pub fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    pub fn number(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }
}

/// Pieces of these sizes, as far as there are bytes, and the rest in one.
pub fn pieces<'a>(mut bytes: &'a [u8], sizes: &[u16]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for size in sizes {
        let (piece, rest) = bytes.split_at(usize::from(*size).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces.push(bytes);
    pieces
}
