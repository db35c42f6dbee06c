//! Header blocks (RFC 7541). Those that are sent use only the static table.

use std::collections::VecDeque;

use crate::protocol::h2::huffman;

/// The static table (RFC 7541 appendix A): entries 1 to 61.
#[rustfmt::skip]
const STATIC: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
    (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
    (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
    ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
    ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""), ("etag", ""),
    ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""), ("if-modified-since", ""),
    ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""),
    ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""),
    ("www-authenticate", ""),
];

/// The default size of an encoder's table (RFC 9113 section 6.5.2). jostle announces a size of 0, but some servers use
/// a table all the same (h2o 2.2 does), and it costs nothing to understand them.
const TABLE_BYTES: usize = 4096;
/// The overhead that is counted for each entry in addition to its text (RFC 7541 section 4.1).
const ENTRY_BYTES: usize = 32;

/// How much of the table the names of a block may copy once its fields are beyond the limit. Each such name replaces the
/// entry that it is taken from, so it has to be copied; a block of 64 KiB could copy 85 MB.
const MAX_COPIED_BYTES: usize = 1024 * 1024;

/// Why a header block cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    Truncated,
    Number,
    Index,
    TableSize,
    Huffman,
    TooMuch,
}

impl Broken {
    pub fn what(self) -> &'static str {
        match self {
            Self::Truncated => "a header block ends within a field",
            Self::Number => "a header block has a number without end",
            Self::Index => "a header block refers to a table entry that does not exist",
            Self::TableSize => {
                "a header block makes its table larger than is allowed, or not at its beginning"
            }
            Self::Huffman => "a header block has text that is not in the Huffman code of HPACK",
            Self::TooMuch => "a header block unfolds into more than 1 MiB",
        }
    }
}

/// Decodes the header blocks of one connection, in the order in which they come.
#[derive(Debug)]
pub struct FieldDecoder {
    capacity: usize,
    /// Total size of the entries, counted as in section 4.1.
    used: usize,
    /// Lengths of the entries' names and values, newest entry first.
    entries: VecDeque<(u16, u16)>,
    /// Names and values of the entries, oldest entry first.
    text: VecDeque<u8>,
}

impl Default for FieldDecoder {
    fn default() -> Self {
        Self {
            capacity: TABLE_BYTES,
            used: 0,
            entries: VecDeque::new(),
            text: VecDeque::new(),
        }
    }
}

impl FieldDecoder {
    /// Appends the fields of a block to `out`, in the form that [`Fields`] reads. Returns false if fields were left out
    /// because there were more than `max_in_prefix` bytes of them. From then on, only what enters the table is decoded.
    pub fn decode(
        &mut self,
        block: &[u8],
        max_bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<bool, Broken> {
        let max_length = out.len() + max_bytes;
        let mut rest = Rest(block);
        let (mut begun, mut whole) = (false, true);
        let mut copied = 0;
        while let Some(first) = rest.0.first() {
            // Section 6: the first octet tells how a field is represented and how many bits its index has.
            let (bits, indexed, kept) = match first {
                0x80.. => (7, true, false),
                0x40.. => (6, false, true),
                0x20.. => {
                    let size = rest.number(5)?;
                    if begun || size > TABLE_BYTES {
                        return Err(Broken::TableSize);
                    }
                    self.capacity = size;
                    self.evict(0);
                    continue;
                }
                _ => (4, false, false),
            };
            begun = true;
            let index = rest.number(bits)?;
            let start = out.len();
            out.extend_from_slice(&[0; LENGTHS]);
            let name = match index {
                0 if indexed => return Err(Broken::Index),
                0 => rest.text(out)?,
                _ if whole || kept => self.look_up(index, indexed, out)?,
                _ => self.check(index)?,
            };
            if !indexed {
                rest.text(out)?;
            }
            if !whole && index > 0 {
                copied += name;
                if copied > MAX_COPIED_BYTES {
                    return Err(Broken::TooMuch);
                }
            }
            let value = out.len() - start - LENGTHS - name;
            if kept {
                self.insert(&out[start + LENGTHS..], name);
            }
            whole &= out.len() <= max_length;
            if whole {
                let lengths = [(name as u16).to_le_bytes(), (value as u16).to_le_bytes()];
                out[start..start + LENGTHS].copy_from_slice(lengths.as_flattened());
            } else {
                out.truncate(start);
            }
        }
        Ok(whole)
    }

    /// Checks that there is such an entry, of which nothing is wanted: not a byte of its name.
    fn check(&self, index: usize) -> Result<usize, Broken> {
        if index > STATIC.len() + self.entries.len() {
            return Err(Broken::Index);
        }
        Ok(0)
    }

    /// Appends the name of an entry, and its value if `value` is set; returns the length of the name.
    fn look_up(&self, index: usize, value: bool, out: &mut Vec<u8>) -> Result<usize, Broken> {
        if let Some((name, content)) = STATIC.get(index - 1) {
            out.extend_from_slice(name.as_bytes());
            if value {
                out.extend_from_slice(content.as_bytes());
            }
            return Ok(name.len());
        }
        let position = index - 1 - STATIC.len();
        let (name, content) = *self.entries.get(position).ok_or(Broken::Index)?;
        let newer = self.entries.iter().take(position + 1);
        let from_end: usize = newer
            .map(|(name, value)| usize::from(*name) + usize::from(*value))
            .sum();
        let start = self.text.len() - from_end;
        let length = usize::from(name) + if value { usize::from(content) } else { 0 };
        let (older, newer) = self.text.as_slices();
        let cut = older.len();
        out.extend_from_slice(&older[start.min(cut)..(start + length).min(cut)]);
        out.extend_from_slice(&newer[start.max(cut) - cut..(start + length).max(cut) - cut]);
        Ok(usize::from(name))
    }

    /// Adds an entry. One that is larger than the table empties it (section 4.4).
    fn insert(&mut self, text: &[u8], name: usize) {
        let size = text.len() + ENTRY_BYTES;
        self.evict(size);
        if size <= self.capacity {
            self.used += size;
            self.text.extend(text);
            self.entries
                .push_front((name as u16, (text.len() - name) as u16));
        }
    }

    /// Evicts the oldest entries until `size` more bytes fit.
    fn evict(&mut self, size: usize) {
        while self.used + size > self.capacity
            && let Some((name, value)) = self.entries.pop_back()
        {
            let length = usize::from(name) + usize::from(value);
            self.text.drain(..length);
            self.used -= length + ENTRY_BYTES;
        }
    }
}

/// Bytes in front of each decoded field: the lengths of its name and value.
const LENGTHS: usize = 4;

/// Iterates over the names and values of decoded fields.
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// The value of the first field with this name.
    pub fn value(mut self, name: &str) -> Option<&'a [u8]> {
        let field = self.find(|(other, _)| *other == name.as_bytes());
        field.map(|(_, value)| value)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let ([a, b, c, d], rest) = self.0.split_first_chunk()?;
        let (name, rest) = rest.split_at(usize::from(u16::from_le_bytes([*a, *b])));
        let (value, rest) = rest.split_at(usize::from(u16::from_le_bytes([*c, *d])));
        self.0 = rest;
        Some((name, value))
    }
}

/// What is left of a block.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// Appends a string (section 5.2) and returns its length.
    fn text(&mut self, out: &mut Vec<u8>) -> Result<usize, Broken> {
        let coded = *self.0.first().ok_or(Broken::Truncated)? >= 0x80;
        let length = self.number(7)?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(Broken::Truncated)?;
        self.0 = rest;
        let before = out.len();
        if coded {
            huffman::decode(text, out).map_err(|_| Broken::Huffman)?;
        } else {
            out.extend_from_slice(text);
        }
        Ok(out.len() - before)
    }

    /// Reads a number that begins in the last `bits` bits of an octet (section 5.1).
    fn number(&mut self, bits: u32) -> Result<usize, Broken> {
        let max_in_prefix = (1_usize << bits) - 1;
        let (first, rest) = self.0.split_first().ok_or(Broken::Truncated)?;
        self.0 = rest;
        let mut number = usize::from(*first) & max_in_prefix;
        if number < max_in_prefix {
            return Ok(number);
        }
        for shift in [0, 7, 14, 21] {
            let (octet, rest) = self.0.split_first().ok_or(Broken::Truncated)?;
            self.0 = rest;
            number += (usize::from(*octet) & 0x7f) << shift;
            if *octet < 0x80 {
                return Ok(number);
            }
        }
        Err(Broken::Number)
    }
}

/// Appends a field, with its name in lower case as HTTP/2 requires.
pub fn encode(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    let named = |entry: &(&str, &str)| entry.0.as_bytes().eq_ignore_ascii_case(name);
    // Only pseudo-headers of requests are looked up together with their value; of other entries only the name is used.
    let same = |entry: &(&str, &str)| named(entry) && entry.1.as_bytes() == value;
    if name.starts_with(b":")
        && let Some(position) = STATIC.iter().take(7).position(same)
    {
        out.push(0x80 | (position as u8 + 1));
        return;
    }
    if let Some(position) = STATIC.iter().position(named) {
        write_number(position + 1, 4, out);
    } else {
        out.push(0);
        write_number(name.len(), 7, out);
        out.extend(name.iter().map(u8::to_ascii_lowercase));
    }
    write_number(value.len(), 7, out);
    out.extend_from_slice(value);
}

/// Appends a number with a prefix of `bits` bits (section 5.1). The bits before the prefix are zero.
fn write_number(mut number: usize, bits: u32, out: &mut Vec<u8>) {
    let max_in_prefix = (1 << bits) - 1;
    if number < max_in_prefix {
        out.push(number as u8);
        return;
    }
    out.push(max_in_prefix as u8);
    number -= max_in_prefix;
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(decoder: &mut FieldDecoder, block: &[u8]) -> Result<Vec<(String, String)>, Broken> {
        let mut out = Vec::new();
        assert!(decoder.decode(block, 1 << 16, &mut out)?);
        let text = |text: &[u8]| String::from_utf8(text.to_vec()).unwrap();
        Ok(Fields(&out)
            .map(|(name, value)| (text(name), text(value)))
            .collect())
    }

    fn fields(block: &[u8]) -> Result<Vec<(String, String)>, Broken> {
        read(&mut FieldDecoder::default(), block)
    }

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect()
    }

    #[test]
    fn the_examples_of_the_standard() {
        // RFC 7541 appendix C.2.1 to C.2.4, none of which needs the dynamic table.
        let custom = [&[0x40, 0x0a][..], b"custom-key", &[0x0d], b"custom-header"].concat();
        assert_eq!(
            fields(&custom).unwrap(),
            owned(&[("custom-key", "custom-header")])
        );
        let path = [&[0x04, 0x0c][..], b"/sample/path"].concat();
        assert_eq!(fields(&path).unwrap(), owned(&[(":path", "/sample/path")]));
        let secret = [&[0x10, 0x08][..], b"password", &[0x06], b"secret"].concat();
        assert_eq!(fields(&secret).unwrap(), owned(&[("password", "secret")]));
        assert_eq!(fields(&[0x82]).unwrap(), owned(&[(":method", "GET")]));
        // The first of appendix C.6.1.
        let status = [0x48, 0x82, 0x64, 0x02];
        assert_eq!(fields(&status).unwrap(), owned(&[(":status", "302")]));
    }

    #[test]
    fn what_is_encoded_is_read_again() {
        let long = "x".repeat(5000);
        let pairs = [
            (":method", "GET"),
            (":method", "PUT"),
            (":path", "/"),
            (":path", "/a?b"),
            (":scheme", "https"),
            (":authority", "example:81"),
            ("accept", "*/*"),
            ("www-authenticate", "no"),
            ("x-long", &long),
            ("x-empty", ""),
        ];
        let mut block = Vec::new();
        for (name, value) in pairs {
            encode(
                name.to_ascii_uppercase().as_bytes(),
                value.as_bytes(),
                &mut block,
            );
        }
        assert_eq!(fields(&block).unwrap(), owned(&pairs));
        assert_eq!(block[0], 0x82, "a pair of the table takes one octet");
    }

    #[test]
    fn a_table_that_was_not_allowed_is_understood() {
        // RFC 7541 appendix C.5: answers, with a table of 256 bytes.
        let mut decoder = FieldDecoder {
            capacity: 256,
            ..FieldDecoder::default()
        };
        let date = "Mon, 21 Oct 2013 20:13:21 GMT";
        let first = [
            &[0x48, 3][..],
            b"302",
            &[0x58, 7],
            b"private",
            &[0x61, 29],
            date.as_bytes(),
            &[0x6e, 23],
            b"https://www.example.com",
        ]
        .concat();
        let mut expected = owned(&[
            (":status", "302"),
            ("cache-control", "private"),
            ("date", date),
            ("location", "https://www.example.com"),
        ]);
        assert_eq!(read(&mut decoder, &first).unwrap(), expected);
        assert_eq!(decoder.used, 222);
        let second = [&[0x48, 3][..], b"307", &[0xc1, 0xc0, 0xbf]].concat();
        expected[0].1 = "307".into();
        assert_eq!(read(&mut decoder, &second).unwrap(), expected);
        assert_eq!(decoder.used, 222, "the first status has left the table");
        let cookie = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";
        let third = [
            &[0x88, 0xc1, 0x61, 29][..],
            b"Mon, 21 Oct 2013 20:13:22 GMT",
            &[0xc0, 0x5a, 4],
            b"gzip",
            &[0x77, 56],
            cookie.as_bytes(),
        ]
        .concat();
        let expected = owned(&[
            (":status", "200"),
            ("cache-control", "private"),
            ("date", "Mon, 21 Oct 2013 20:13:22 GMT"),
            ("location", "https://www.example.com"),
            ("content-encoding", "gzip"),
            ("set-cookie", cookie),
        ]);
        assert_eq!(read(&mut decoder, &third).unwrap(), expected);
        assert_eq!((decoder.used, decoder.entries.len()), (215, 3));
        // The server gives its table up, as it was asked to.
        assert_eq!(read(&mut decoder, &[0x20, 0x88]).unwrap().len(), 1);
        assert_eq!((decoder.used, decoder.text.len()), (0, 0));
        assert_eq!(read(&mut decoder, &[0xbe]), Err(Broken::Index));
    }

    #[test]
    fn what_is_too_much_is_left_out_and_the_table_stays_right() {
        let mut decoder = FieldDecoder::default();
        let large = [&[0x40, 1, b'x', 0x7f, 0xa1, 0x1e][..], &[b'y'; 4000]].concat();
        let bomb = [&large[..], &[0xbe; 10_000], &[0x40, 1, b'a', 1, b'b']].concat();
        let mut out = Vec::new();
        assert_eq!(decoder.decode(&bomb, 10_000, &mut out), Ok(false));
        assert_eq!(Fields(&out).count(), 2);
        assert_eq!(read(&mut decoder, &[0xbe]).unwrap(), owned(&[("a", "b")]));
    }

    #[test]
    fn what_is_beyond_the_limit_is_not_unfolded() {
        let mut decoder = FieldDecoder::default();
        let large = [&[0x40, 0x7f, 0xa1, 0x1e][..], &[b'x'; 4000], &[0]].concat();
        let mut out = Vec::new();
        // A name of 4,000 bytes; then 60 KB of blocks that name it in one byte each, and in two with an empty value.
        decoder.decode(&large, 10_000, &mut out).unwrap();
        for again in [&[0xbe][..], &[0x0f, 47, 0]] {
            let bomb = again.repeat(60_000 / again.len());
            let whole = decoder.decode(&bomb, 10_000, &mut Vec::new());
            assert_eq!(whole, Ok(false));
        }
        // With a value that enters the table, the name has to be copied each time.
        let renewed = [0x7e, 0].repeat(30_000);
        let refused = decoder.decode(&renewed, 10_000, &mut Vec::new());
        assert_eq!(refused, Err(Broken::TooMuch));
        assert_eq!(fields(&[0x0f, 47, 0]), Err(Broken::Index));
    }

    #[test]
    fn names_are_read_across_the_end_of_the_ring() {
        let mut decoder = FieldDecoder::default();
        for number in 0..500 {
            let value = format!("{number}-{}", "v".repeat(number % 90));
            let mut block = vec![0x40, 6];
            block.extend_from_slice(b"x-ring");
            write_number(value.len(), 7, &mut block);
            block.extend_from_slice(value.as_bytes());
            block.push(0xbe);
            let expected = [("x-ring", value.as_str()); 2];
            assert_eq!(read(&mut decoder, &block).unwrap(), owned(&expected));
        }
    }

    #[test]
    fn broken_blocks_say_what_is_wrong() {
        assert_eq!(fields(&[0x80]), Err(Broken::Index));
        assert_eq!(fields(&[0xbe]), Err(Broken::Index), "the table is empty");
        assert_eq!(fields(&[0x7f, 0x00, 0]), Err(Broken::Index));
        assert_eq!(fields(&[0x20, 0x20, 0x82]).unwrap().len(), 1);
        assert_eq!(fields(&[0x3f, 0xe2, 0x1f]), Err(Broken::TableSize));
        assert_eq!(
            fields(&[0x82, 0x20]),
            Err(Broken::TableSize),
            "only at the beginning"
        );
        assert_eq!(
            fields(&[0xff, 0x80, 0x80, 0x80, 0x80, 0]),
            Err(Broken::Number)
        );
        assert_eq!(fields(&[0xff]), Err(Broken::Truncated));
        assert_eq!(fields(&[0x08, 0x05, b'2']), Err(Broken::Truncated));
        assert_eq!(fields(&[0x08, 0x81, 0x00]), Err(Broken::Huffman));
    }
}
