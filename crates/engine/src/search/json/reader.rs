//! Reads a value whole, and checks it down to its last byte.

use crate::search::json::problem::{Problem, What};
use crate::search::json::{BYTE_ORDER_MARK, MAX_DEPTH, is_blank};

type Read<T = ()> = Result<T, Problem>;

/// Takes in a value while it is read.
pub trait JsonSink {
    /// `member`: whether it is a member of an object.
    fn null(&mut self, member: bool);
    fn bool(&mut self, value: bool);
    /// `whole`: whether the number is written without fraction and exponent.
    fn number(&mut self, written: &str, whole: bool);
    fn text(&mut self, text: &str);
    fn begin_list(&mut self);
    /// The item that has been taken in is complete.
    fn item(&mut self);
    fn end_list(&mut self);
    fn begin_object(&mut self);
    /// The name of the member whose value follows.
    fn name(&mut self, name: &str);
    /// The member that has been taken in is complete.
    fn member(&mut self);
    fn end_object(&mut self);
}

/// Only checks the value, and keeps nothing of it.
pub struct Discard;

impl JsonSink for Discard {
    fn null(&mut self, _: bool) {}
    fn bool(&mut self, _: bool) {}
    fn number(&mut self, _: &str, _: bool) {}
    fn text(&mut self, _: &str) {}
    fn begin_list(&mut self) {}
    fn item(&mut self) {}
    fn end_list(&mut self) {}
    fn begin_object(&mut self) {}
    fn name(&mut self, _: &str) {}
    fn member(&mut self) {}
    fn end_object(&mut self) {}
}

/// Reads a document into `sink`. `member`: whether the value counts as a member of an object. After an error the sink
/// may have taken in a part of the value.
pub fn read(document: &[u8], member: bool, sink: &mut impl JsonSink) -> Read {
    let document = text_in(document)?;
    let skipped = if document.as_bytes().starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    };
    let mut reader = Reader {
        text: document,
        at: skipped,
        unescaped: String::new(),
    };
    reader.blanks();
    if reader.at == document.len() {
        return Err(reader.problem(What::Empty));
    }
    reader.value(sink, member, 0)?;
    reader.end()
}

/// Whether the text is a number and nothing else.
pub fn is_number(text: &[u8]) -> bool {
    let first = text.first();
    let begins = first.is_some_and(|byte| *byte == b'-' || byte.is_ascii_digit());
    begins && text.last().is_some_and(u8::is_ascii_digit) && read(text, false, &mut Discard).is_ok()
}

/// Resolves the escapes in a string, which is given without its quotes.
pub fn text_of(contents: &[u8]) -> Read<String> {
    let mut reader = Reader {
        text: text_in(contents)?,
        at: 0,
        unescaped: String::new(),
    };
    while reader.at < contents.len() {
        reader.unescape_next()?;
    }
    Ok(reader.unescaped)
}

/// Checking the whole text for UTF-8 at once is faster than string by string.
fn text_in(bytes: &[u8]) -> Read<&str> {
    std::str::from_utf8(bytes).map_err(|error| Problem::new(What::Utf8, error.valid_up_to() as u64))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The string that is being read, if it has escapes.
    unescaped: String,
}

impl<'a> Reader<'a> {
    fn value(&mut self, sink: &mut impl JsonSink, member: bool, depth: usize) -> Read {
        let Some(byte) = self.peek() else {
            return Err(self.problem(What::Ends));
        };
        match byte {
            b'"' => sink.text(self.string()?),
            b'{' | b'[' if depth == MAX_DEPTH => return Err(self.problem(What::Deep)),
            b'{' => self.object(sink, depth + 1)?,
            b'[' => self.list(sink, depth + 1)?,
            b'-' | b'0'..=b'9' => {
                let (written, whole) = self.number()?;
                sink.number(written, whole);
            }
            b't' => {
                self.literal("true")?;
                sink.bool(true);
            }
            b'f' => {
                self.literal("false")?;
                sink.bool(false);
            }
            b'n' => {
                self.literal("null")?;
                sink.null(member);
            }
            _ => return Err(self.unexpected()),
        }
        Ok(())
    }

    fn list(&mut self, sink: &mut impl JsonSink, depth: usize) -> Read {
        sink.begin_list();
        self.at += 1;
        self.blanks();
        if !self.accept(b']') {
            loop {
                self.value(sink, false, depth)?;
                sink.item();
                if self.comma_or_end(b']')? {
                    break;
                }
            }
        }
        sink.end_list();
        Ok(())
    }

    fn object(&mut self, sink: &mut impl JsonSink, depth: usize) -> Read {
        sink.begin_object();
        self.at += 1;
        self.blanks();
        if !self.accept(b'}') {
            loop {
                if self.peek() != Some(b'"') {
                    return Err(self.unexpected());
                }
                sink.name(self.string()?);
                self.blanks();
                if !self.accept(b':') {
                    return Err(self.unexpected());
                }
                self.blanks();
                self.value(sink, true, depth)?;
                sink.member();
                if self.comma_or_end(b'}')? {
                    break;
                }
            }
        }
        sink.end_object();
        Ok(())
    }

    /// Moves past a comma, and returns false; or past the `last` byte of a list or object, and returns true.
    fn comma_or_end(&mut self, last: u8) -> Read<bool> {
        self.blanks();
        let ends = self.accept(last);
        if !ends {
            if !self.accept(b',') {
                return Err(self.unexpected());
            }
            self.blanks();
        }
        Ok(ends)
    }

    fn string(&mut self) -> Read<&str> {
        self.at += 1;
        let begin = self.at;
        let plain = self.plain();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(plain);
        }
        self.unescaped.clear();
        self.at = begin;
        while self.peek() != Some(b'"') {
            self.unescape_next()?;
        }
        self.at += 1;
        Ok(&self.unescaped)
    }

    /// Moves to the next quote, backslash, control character or the end; returns what it has passed.
    fn plain(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let ends = |byte: u8| byte == b'"' || byte == b'\\' || byte < b' ';
        let length = rest.bytes().position(ends).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Appends what stands before the next escape of a string, and the character that it means.
    fn unescape_next(&mut self) -> Read {
        let plain = self.plain();
        self.unescaped.push_str(plain);
        match self.peek() {
            Some(b'"') => return Ok(()),
            Some(b'\\') => {}
            Some(byte) => return Err(self.problem(What::Control(byte))),
            // The contents of a string by itself end here.
            None if !plain.is_empty() => return Ok(()),
            None => return Err(self.problem(What::Ends)),
        }
        let escape = self.at;
        let Some(letter) = self.text.as_bytes().get(escape + 1) else {
            return Err(self.problem(What::Ends));
        };
        self.at += 2;
        self.unescaped.push(match letter {
            b'"' | b'\\' | b'/' => char::from(*letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(escape),
            _ => return Err(Problem::new(What::Escape, escape as u64)),
        });
        Ok(())
    }

    /// Appends the character of the escape at `escape`, whose digits follow. Characters beyond U+FFFF have two.
    fn unicode(&mut self, escape: usize) -> Read {
        let surrogate = Problem::new(What::Surrogate, escape as u64);
        let mut units = [self.digits(escape)?, 0];
        let mut length = 1;
        if (0xd800..0xdc00).contains(&units[0]) {
            if !self.text[self.at..].starts_with("\\u") {
                return Err(surrogate);
            }
            self.at += 2;
            units[1] = self.digits(escape)?;
            length = 2;
        }
        for unit in char::decode_utf16(units[..length].iter().copied()) {
            self.unescaped.push(unit.map_err(|_| surrogate)?);
        }
        Ok(())
    }

    fn digits(&mut self, escape: usize) -> Read<u16> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        self.at += 4;
        unit.ok_or(Problem::new(What::Escape, escape as u64))
    }

    /// Returns the number as it is written, and whether it has neither fraction nor exponent.
    fn number(&mut self) -> Read<(&'a str, bool)> {
        let begin = self.at;
        let mut whole = true;
        self.accept(b'-');
        if !self.accept(b'0') {
            self.some_digits()?;
        }
        if self.accept(b'.') {
            whole = false;
            self.some_digits()?;
        }
        if self.accept(b'e') || self.accept(b'E') {
            whole = false;
            let _signed = self.accept(b'+') || self.accept(b'-');
            self.some_digits()?;
        }
        Ok((&self.text[begin..self.at], whole))
    }

    fn some_digits(&mut self) -> Read {
        let rest = &self.text.as_bytes()[self.at..];
        let other = rest.iter().position(|byte| !byte.is_ascii_digit());
        let length = other.unwrap_or(rest.len());
        self.at += length;
        if length == 0 {
            return Err(self.unexpected());
        }
        Ok(())
    }

    fn literal(&mut self, word: &str) -> Read {
        let rest = self.text.as_bytes()[self.at..].iter();
        let same = rest.zip(word.bytes()).take_while(|(a, b)| **a == *b);
        let length = same.count();
        self.at += length;
        if length < word.len() {
            return Err(self.unexpected());
        }
        Ok(())
    }

    fn end(&mut self) -> Read {
        while self
            .peek()
            .is_some_and(|byte| is_blank(byte) || byte == super::RECORD_SEPARATOR)
        {
            self.at += 1;
        }
        match self.peek() {
            None => Ok(()),
            Some(byte) => Err(self.problem(What::AfterEnd(byte))),
        }
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    fn accept(&mut self, byte: u8) -> bool {
        let accepted = self.peek() == Some(byte);
        self.at += usize::from(accepted);
        accepted
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn unexpected(&self) -> Problem {
        self.problem(self.peek().map_or(What::Ends, What::Byte))
    }

    fn problem(&self, what: What) -> Problem {
        Problem::new(what, self.at as u64)
    }
}

#[cfg(test)]
mod tests;
