//! The options of a request as they are written in a script: what is known of them before the run, and how the others
//! become arguments of its call.

use crate::script::edit::Edit;
use crate::script::lexer::{Token, TokenKind, tokens_before};

const FIELDS: &str = "the options of a request stand by their names: {headers = …, json = …}";
const NAME: &str =
    "the name of a request is a text, so that it is known before the run: name = \"…\"";

/// What is known of a request's options before the run.
#[derive(Default)]
pub struct StaticOptions {
    pub name: Option<String>,
    /// Accepted statuses.
    pub expect: Vec<u16>,
    /// The first letter of each option that is known only while the script runs.
    pub shape: String,
    pub edits: Vec<Edit>,
}

/// Reads the options of a request; `words` begins with the comma before them.
pub fn read(method: &str, words: &[Token<'_>]) -> Result<StaticOptions, String> {
    let mut options = StaticOptions::default();
    let (comma, open, mut fields) = match words {
        [] => return Ok(options),
        [comma, open, fields @ ..] if open.kind == TokenKind::Symbol(b'{') => (comma, open, fields),
        _ => {
            return Err(format!(
                "write the options of a request where it is made: http.{method}(path, {{headers = …}})"
            ));
        }
    };
    options
        .edits
        .extend([Edit::word(comma, ""), Edit::word(open, "")]);
    loop {
        fields = match fields {
            [close] if close.kind == TokenKind::Symbol(b'}') => {
                options.edits.push(Edit::word(close, ""));
                return Ok(options);
            }
            [
                key @ Token {
                    kind: TokenKind::Name(name),
                    ..
                },
                sign,
                value @ ..,
            ] if sign.kind == TokenKind::Symbol(b'=') => {
                let (value, after) = value.split_at(tokens_before(value, b",;}"));
                let Some(last) = value.last() else {
                    return Err(FIELDS.into());
                };
                let edits = if options.knows(name, value)? {
                    let lines = "\n".repeat(last.line - key.line);
                    vec![Edit::new(key.start..last.end, lines)]
                } else {
                    vec![
                        Edit::word(key, ","),
                        Edit::word(sign, "("),
                        Edit::new(last.end..last.end, ")"),
                    ]
                };
                options.edits.extend(edits);
                match after {
                    [separator, more @ ..] if separator.kind != TokenKind::Symbol(b'}') => {
                        options.edits.push(Edit::word(separator, ""));
                        more
                    }
                    _ => after,
                }
            }
            _ => return Err(FIELDS.into()),
        };
    }
}

impl StaticOptions {
    /// Takes an option, and returns whether its value is known already, so that it is not needed while the script runs.
    fn knows(&mut self, option: &str, value: &[Token<'_>]) -> Result<bool, String> {
        match option {
            "name" => self.name = Some(name(value)?),
            "expect" => self.expect = expect(value)?,
            "headers" | "json" | "form" | "body" => {
                let letter = &option[..1];
                if self.shape.contains(letter) {
                    return Err(format!("a request has {option} twice"));
                }
                self.shape.push_str(letter);
                return Ok(false);
            }
            _ => {
                return Err(format!(
                    "a request has no option {option}: it has headers, json, form, body, name and expect"
                ));
            }
        }
        Ok(true)
    }
}

fn name(value: &[Token<'_>]) -> Result<String, String> {
    match value {
        [
            Token {
                kind: TokenKind::Text(text),
                ..
            },
        ] if !text.is_empty() => Ok((*text).to_owned()),
        _ => Err(NAME.into()),
    }
}

fn expect(value: &[Token<'_>]) -> Result<Vec<u16>, String> {
    let status = |word: &Token<'_>| match word.kind {
        TokenKind::Number(digits) => digits.parse().ok().filter(|code| (200..600).contains(code)),
        _ => None,
    };
    let wrong = || {
        "expect is a status, or a list of statuses: expect = 404, expect = {200, 404}".to_owned()
    };
    let codes = match value {
        [open, codes @ .., _] if open.kind == TokenKind::Symbol(b'{') => codes,
        [_] => value,
        _ => return Err(wrong()),
    };
    let codes = codes.split(|word| matches!(word.kind, TokenKind::Symbol(b',' | b';')));
    let codes = codes.filter(|between| !between.is_empty());
    let codes: Vec<u16> = codes
        .map(|code| match code {
            [code] => status(code).ok_or_else(wrong),
            _ => Err(wrong()),
        })
        .collect::<Result<_, _>>()?;
    if codes.is_empty() {
        return Err(wrong());
    }
    Ok(codes)
}
