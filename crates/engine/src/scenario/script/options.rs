//! The options of a request as they stand in a script: what is known of them before the run, and how all others become
//! arguments of its call.

use super::edit::Edit;
use super::lexer::{Kind, Token};

const FIELDS: &str = "the options of a request stand by their names: {headers = …, json = …}";
const NAME: &str =
    "the name of a request is a text, so that it is known before the run: name = \"…\"";

#[derive(Default)]
pub struct Given {
    pub name: Option<String>,
    /// Accepted statuses.
    pub expect: Vec<u16>,
    /// Of the options that are known only while the script runs: the first letter of each.
    pub shape: String,
    pub edits: Vec<Edit>,
}

/// What is known before the run of the options of a request; `words`: from their comma on.
pub fn given(method: &str, words: &[Token<'_>]) -> Result<Given, String> {
    let mut given = Given::default();
    let (comma, open, mut fields) = match words {
        [] => return Ok(given),
        [comma, open, fields @ ..] if open.kind == Kind::Symbol(b'{') => (comma, open, fields),
        _ => {
            return Err(format!(
                "write the options of a request where it is made: http.{method}(path, {{headers = …}})"
            ));
        }
    };
    given
        .edits
        .extend([Edit::symbol(comma, ""), Edit::symbol(open, "")]);
    loop {
        fields = match fields {
            [close] if close.kind == Kind::Symbol(b'}') => {
                given.edits.push(Edit::symbol(close, ""));
                return Ok(given);
            }
            [
                Token {
                    kind: Kind::Name(name),
                    end,
                    line,
                },
                sign,
                value @ ..,
            ] if sign.kind == Kind::Symbol(b'=') => {
                let (value, behind) = value.split_at(length(value));
                let Some(last) = value.last() else {
                    return Err(FIELDS.into());
                };
                let key = end - name.len()..*end;
                if given.knows(name, value)? {
                    let by = "\n".repeat(last.line - line);
                    let at = key.start..last.end;
                    given.edits.push(Edit { at, by });
                } else {
                    given.edits.extend([
                        Edit {
                            at: key,
                            by: ",".into(),
                        },
                        Edit::symbol(sign, "("),
                        Edit::insert(last.end, ")"),
                    ]);
                }
                match behind {
                    [separator, more @ ..] if separator.kind != Kind::Symbol(b'}') => {
                        given.edits.push(Edit::symbol(separator, ""));
                        more
                    }
                    _ => behind,
                }
            }
            _ => return Err(FIELDS.into()),
        };
    }
}

impl Given {
    /// Takes an option. Whether its value is known, and not needed while the script runs.
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

/// Of a field's value, the number of its words.
fn length(words: &[Token<'_>]) -> usize {
    let mut depth = 0_usize;
    let ends = |word: &Token<'_>| {
        match word.kind {
            Kind::Symbol(b'(' | b'{' | b'[') => depth += 1,
            Kind::Symbol(b')' | b'}' | b']') if depth > 0 => depth -= 1,
            Kind::Symbol(b'}' | b',' | b';') if depth == 0 => return true,
            _ => {}
        }
        false
    };
    words.iter().position(ends).unwrap_or(words.len())
}

fn name(value: &[Token<'_>]) -> Result<String, String> {
    match value {
        [
            Token {
                kind: Kind::Text(text),
                ..
            },
        ] if !text.is_empty() => Ok((*text).to_owned()),
        _ => Err(NAME.into()),
    }
}

fn expect(value: &[Token<'_>]) -> Result<Vec<u16>, String> {
    let status = |word: &Token<'_>| match word.kind {
        Kind::Number(digits) => digits.parse().ok().filter(|code| (200..600).contains(code)),
        _ => None,
    };
    let wrong = || {
        "expect is a status, or a list of statuses: expect = 404, expect = {200, 404}".to_owned()
    };
    let codes = match value {
        [open, codes @ .., _] if open.kind == Kind::Symbol(b'{') => codes,
        [_] => value,
        _ => return Err(wrong()),
    };
    let codes = codes.split(|word| matches!(word.kind, Kind::Symbol(b',' | b';')));
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
