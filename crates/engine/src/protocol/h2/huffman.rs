//! The Huffman code of HPACK (RFC 7541 appendix B). It is canonical: the codes follow from their lengths.

/// Length in bits of the code of each octet, and of the end-of-string symbol.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

const END_OF_STRING: u16 = 256;
const MAX_CODE_BITS: usize = 30;
/// Codes of at most this many bits are looked up in one step; most text consists of them.
const SHORT: u32 = 8;

/// Why text cannot be decoded: it has the end-of-string symbol, or padding that is too long or not all ones.
#[derive(Debug, PartialEq, Eq)]
pub struct Invalid;

struct Table {
    /// Symbols in the order of their codes: by the length of the code, then by value.
    symbols: [u16; 257],
    /// For each length, where longer codes begin, left-aligned in 32 bits.
    limit: [u64; MAX_CODE_BITS + 1],
    /// For each length, what to subtract (wrapping) from a code for the index of its symbol.
    offset: [u32; MAX_CODE_BITS + 1],
    /// For each value of the next `SHORT` bits, the symbol and the length of its code; length 0 marks a longer code.
    short: [(u8, u8); 1 << SHORT],
}

static TABLE: Table = table();

const fn table() -> Table {
    let mut table = Table {
        symbols: [0; 257],
        limit: [0; MAX_CODE_BITS + 1],
        offset: [0; MAX_CODE_BITS + 1],
        short: [(0, 0); 1 << SHORT],
    };
    let (mut code, mut at, mut length) = (0_u64, 0, 1);
    while length <= MAX_CODE_BITS {
        code <<= 1;
        table.offset[length] = (code as u32).wrapping_sub(at as u32);
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] as usize == length {
                table.symbols[at] = symbol as u16;
                at += 1;
                if length <= SHORT as usize {
                    let spread = SHORT - length as u32;
                    let first = (code as usize) << spread;
                    let mut next = first;
                    while next < first + (1 << spread) {
                        table.short[next] = (symbol as u8, length as u8);
                        next += 1;
                    }
                }
                code += 1;
            }
            symbol += 1;
        }
        table.limit[length] = code << (32 - length);
        length += 1;
    }
    table
}

/// Appends the decoded text of `coded`.
pub fn decode(coded: &[u8], out: &mut Vec<u8>) -> Result<(), Invalid> {
    // The bits that are not decoded yet are left-aligned.
    let (mut bits, mut count) = (0_u64, 0_u32);
    let mut rest = coded.iter();
    loop {
        while count <= 32
            && let Some(byte) = rest.next()
        {
            bits |= u64::from(*byte) << (56 - count);
            count += 8;
        }
        let (symbol, length) = match TABLE.short[(bits >> (64 - SHORT)) as usize] {
            (symbol, length) if length > 0 => (u16::from(symbol), u32::from(length)),
            _ => long(bits >> 32),
        };
        if length > count {
            break;
        }
        if symbol == END_OF_STRING {
            return Err(Invalid);
        }
        out.push(symbol as u8);
        bits <<= length;
        count -= length;
    }
    // Section 5.2: the padding is the beginning of the end-of-string symbol, and shorter than an octet.
    let ones = !(u64::MAX >> count);
    if count < 8 && bits == ones {
        Ok(())
    } else {
        Err(Invalid)
    }
}

/// The symbol at the top of these 32 bits, whose code is longer than `SHORT`, and the length of that code.
fn long(top: u64) -> (u16, u32) {
    let mut length = SHORT as usize + 1;
    while length < MAX_CODE_BITS && top >= TABLE.limit[length] {
        length += 1;
    }
    let code = (top >> (32 - length)) as u32;
    let symbol = TABLE.symbols[code.wrapping_sub(TABLE.offset[length]) as usize];
    (symbol, length as u32)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn decoded(coded: &[u8]) -> Result<String, Invalid> {
        let mut out = Vec::new();
        decode(coded, &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    fn encode(text: &[u8]) -> Vec<u8> {
        let mut bits = String::new();
        for byte in text {
            let length = usize::from(LENGTHS[usize::from(*byte)]);
            let at = TABLE.symbols.iter().position(|s| *s == u16::from(*byte));
            let code = TABLE.offset[length].wrapping_add(at.unwrap() as u32);
            write!(bits, "{code:0length$b}").unwrap();
        }
        while !bits.len().is_multiple_of(8) {
            bits.push('1');
        }
        let octets = bits.as_bytes().chunks(8);
        octets
            .map(|octet| u8::from_str_radix(std::str::from_utf8(octet).unwrap(), 2).unwrap())
            .collect()
    }

    #[test]
    fn the_examples_of_the_standard() {
        // RFC 7541 appendix C.4 and C.6.
        let authority = [
            0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff,
        ];
        assert_eq!(decoded(&authority).unwrap(), "www.example.com");
        assert_eq!(
            decoded(&[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]).unwrap(),
            "no-cache"
        );
        assert_eq!(decoded(&[0x64, 0x02]).unwrap(), "302");
        let date = [
            0xd0, 0x7a, 0xbe, 0x94, 0x10, 0x54, 0xd4, 0x44, 0xa8, 0x20, 0x05, 0x95, 0x04, 0x0b,
            0x81, 0x66, 0xe0, 0x82, 0xa6, 0x2d, 0x1b, 0xff,
        ];
        assert_eq!(decoded(&date).unwrap(), "Mon, 21 Oct 2013 20:13:21 GMT");
    }

    #[test]
    fn every_octet_comes_back() {
        for count in 1..4 {
            for byte in 0..=u8::MAX {
                let text = vec![byte; count];
                let mut out = Vec::new();
                assert_eq!(decode(&encode(&text), &mut out), Ok(()), "{byte} {count}");
                assert_eq!(out, text);
            }
        }
    }

    #[test]
    fn bad_padding_and_the_end_symbol_are_refused() {
        assert_eq!(decoded(&[0b0000_0111]), Ok("0".into()));
        assert_eq!(decoded(&[0b0000_0110]), Err(Invalid), "not all ones");
        assert_eq!(
            decoded(&[0b0000_0111, 0xff]),
            Err(Invalid),
            "an octet too long"
        );
        assert_eq!(decoded(&[0xff]), Err(Invalid));
        assert_eq!(decoded(&[0xff; 4]), Err(Invalid), "end of string");
        assert_eq!(decoded(&[]), Ok(String::new()));
    }
}
