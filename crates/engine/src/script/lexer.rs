//! Splits a Luau script that the compiler has accepted into words, just well enough to find the requests it makes.
//!
//! Source: the lexical rules of <https://luau.org/grammar>.

/// A word and its place in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: TokenKind<'a>,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset of the byte after it.
    pub end: usize,
    /// The line on which it ends, from 1.
    pub line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind<'a> {
    Name(&'a str),
    /// What is between quotes, long brackets or backticks, with escapes and `{…}` as they are written.
    Text(&'a str),
    Number(&'a str),
    /// Anything else, by its first byte.
    Symbol(u8),
}

/// Returns all words except comments.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer {
        source,
        at: 0,
        line: 1,
    };
    std::iter::from_fn(|| lexer.next()).collect()
}

/// Counts the words before the first of these symbols that is not inside brackets; all words if there is none.
pub fn tokens_before(words: &[Token<'_>], symbols: &[u8]) -> usize {
    let mut depth = 0_usize;
    let is_end = |word: &Token<'_>| {
        let TokenKind::Symbol(byte) = word.kind else {
            return false;
        };
        if depth == 0 && symbols.contains(&byte) {
            return true;
        }
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        false
    };
    words.iter().position(is_end).unwrap_or(words.len())
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        let mut start;
        let kind = loop {
            start = self.at;
            let byte = self.peek()?;
            match byte {
                _ if byte.is_ascii_whitespace() => self.advance(1),
                b'-' if self.rest().starts_with(b"--") => self.pass_comment(),
                b'"' | b'\'' => break TokenKind::Text(self.quoted(byte)),
                b'`' => break TokenKind::Text(self.interpolated()),
                b'[' if let Some(level) = self.long_bracket() => {
                    break TokenKind::Text(self.long(level));
                }
                b'0'..=b'9' => {
                    self.pass_while(|byte| {
                        byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
                    });
                    break TokenKind::Number(&self.source[start..self.at]);
                }
                _ if byte == b'_' || byte.is_ascii_alphabetic() => {
                    self.pass_while(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
                    break TokenKind::Name(&self.source[start..self.at]);
                }
                _ => {
                    let symbol = self.source[start..].chars().next();
                    self.advance(symbol.map_or(1, char::len_utf8));
                    break TokenKind::Symbol(byte);
                }
            }
        };
        Some(Token {
            kind,
            start,
            end: self.at,
            line: self.line,
        })
    }

    fn rest(&self) -> &'a [u8] {
        &self.source.as_bytes()[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    fn advance(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.source.len());
        let passed = &self.source.as_bytes()[self.at..end];
        self.line += memchr::memchr_iter(b'\n', passed).count();
        self.at = end;
    }

    fn pass_while(&mut self, wanted: impl Fn(u8) -> bool) {
        let length = self.rest().iter().take_while(|byte| wanted(**byte)).count();
        self.advance(length);
    }

    fn pass_comment(&mut self) {
        self.advance(2);
        match self.long_bracket() {
            Some(level) => drop(self.long(level)),
            None => self.pass_while(|byte| byte != b'\n'),
        }
    }

    /// The number of `=` in the long bracket (`[==[`) that begins here; `None` if there is none.
    fn long_bracket(&self) -> Option<usize> {
        let inside = self.rest().strip_prefix(b"[")?;
        let level = inside.iter().take_while(|byte| **byte == b'=').count();
        (inside.get(level) == Some(&b'[')).then_some(level)
    }

    fn long(&mut self, level: usize) -> &'a str {
        self.advance(level + 2);
        let start = self.at;
        let close = format!("]{}]", "=".repeat(level));
        let length = self.source[start..].find(&close);
        let length = length.unwrap_or(self.source.len() - start);
        self.advance(length);
        let text = &self.source[start..self.at];
        self.advance(close.len());
        text
    }

    fn quoted(&mut self, quote: u8) -> &'a str {
        self.advance(1);
        let start = self.at;
        while let Some(byte) = self.peek()
            && byte != quote
        {
            self.advance(if byte == b'\\' { 2 } else { 1 });
        }
        self.end_quote(start)
    }

    /// Reads up to the closing backtick; expressions in braces may contain strings of their own.
    fn interpolated(&mut self) -> &'a str {
        self.advance(1);
        let start = self.at;
        let mut open = 0;
        while let Some(byte) = self.peek() {
            match byte {
                b'`' if open == 0 => break,
                b'\\' if open == 0 => self.advance(2),
                b'{' => {
                    open += 1;
                    self.advance(1);
                }
                b'}' if open > 0 => {
                    open -= 1;
                    self.advance(1);
                }
                b'`' => drop(self.interpolated()),
                b'"' | b'\'' if open > 0 => drop(self.quoted(byte)),
                _ => self.advance(1),
            }
        }
        self.end_quote(start)
    }

    /// Returns the text from `start` to here, and passes its closing quote.
    fn end_quote(&mut self, start: usize) -> &'a str {
        let text = self.source.get(start..self.at).unwrap_or_default();
        self.advance(1);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(source: &str) -> Vec<TokenKind<'_>> {
        tokens(source).into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn words_are_told_from_comments_and_texts() {
        let source = "a.b -- http.get(\n--[[ x\ny ]] 'it\\'s' [==[ ]] ]==] --[=[ ]] ]=] 0x1F";
        let found = kinds(source);
        assert_eq!(
            found,
            [
                TokenKind::Name("a"),
                TokenKind::Symbol(b'.'),
                TokenKind::Name("b"),
                TokenKind::Text("it\\'s"),
                TokenKind::Text(" ]] "),
                TokenKind::Number("0x1F"),
            ]
        );
    }

    #[test]
    fn a_text_with_values_ends_at_its_own_backtick() {
        let source = "`/a/{f(\"}`\", `x{y}`)}/b\\{` c";
        assert_eq!(
            kinds(source),
            [
                TokenKind::Text("/a/{f(\"}`\", `x{y}`)}/b\\{"),
                TokenKind::Name("c")
            ]
        );
    }

    #[test]
    fn lines_are_counted_in_texts_and_comments() {
        let found = tokens("--[[\n]] a\n[[\n]] b");
        let lines: Vec<usize> = found.iter().map(|token| token.line).collect();
        assert_eq!(lines, [2, 4, 4]);
        assert_eq!(found[0].end, 9);
    }

    proptest! {
        #[test]
        fn any_text_has_an_end(source in "([-\\[\\]=`'\"\\\\{}a-z\nü]|http\\.get\\()*") {
            for token in tokens(&source) {
                prop_assert!(source.is_char_boundary(token.end));
            }
        }
    }
}
