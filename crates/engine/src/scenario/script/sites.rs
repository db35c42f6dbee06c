//! The requests that a script makes, known before it runs: each stands in it as `http.get(…)`, with its name.
//!
//! The numbers of these requests are written into the calls, so that nothing has to be looked up while it runs.

use super::lexer::{Kind, Token, tokens};

const METHODS: [&str; 7] = ["get", "post", "put", "delete", "patch", "head", "options"];

/// One request of a script; its number is its place among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// As it stands in the results.
    pub name: String,
    /// Upper case.
    pub method: String,
    /// Accepted statuses; 200 to 399 when empty.
    pub expect: Vec<u16>,
    /// It does not stand in the script that it asks for a path: it may ask for a URL.
    pub anywhere: bool,
    /// Each of its calls is a statement of its own, so that its answers are never looked at.
    pub unseen: bool,
}

impl Site {
    /// Whether both can be counted together.
    fn is_like(&self, other: &Self) -> bool {
        (&self.method, &self.expect) == (&other.method, &other.expect)
    }
}

/// Whether a script may look at the headers of an answer: others need not keep them for each client.
pub fn reads_headers(source: &str) -> bool {
    let words = tokens(source);
    let field = |pair: &[Token<'_>]| {
        pair[0].kind == Kind::Symbol(b'.') && pair[1].kind == Kind::Name("headers")
    };
    let text = |word: &Token<'_>| matches!(word.kind, Kind::Text(text) if text.contains("headers"));
    words.windows(2).any(field) || words.iter().any(text)
}

/// Whether no answer of the request with this number is ever looked at.
pub fn is_unseen(source: &str, number: usize) -> bool {
    let sites = find("", source).map(|(sites, _)| sites);
    sites.is_ok_and(|sites| sites.get(number).is_some_and(|site| site.unseen))
}

/// Requests by number, and the source in which each call has that number as its first argument. An error names the
/// line.
pub fn find(file: &str, source: &str) -> Result<(Vec<Site>, String), String> {
    let words = tokens(source);
    let mut sites: Vec<Site> = Vec::new();
    let mut numbered = String::with_capacity(source.len() + 64);
    let mut copied = 0;
    for (place, word) in words.iter().enumerate() {
        let field = place > 0 && matches!(words[place - 1].kind, Kind::Symbol(b'.' | b':'));
        if word.kind != Kind::Name("http") || field {
            continue;
        }
        let at = |problem: String| format!("{file}:{}: {problem}", word.line);
        let before = words[..place].last().map(|word| word.kind);
        let (site, open) = site(before, &words[place..]).map_err(at)?;
        let number = match sites.iter().position(|known| known.name == site.name) {
            Some(number) if sites[number].is_like(&site) => {
                sites[number].anywhere |= site.anywhere;
                sites[number].unseen &= site.unseen;
                number
            }
            Some(_) => {
                let name = &site.name;
                return Err(at(format!(
                    "another request with the name {name:?} has another method or expects another status: give \
                     each its own name = \"…\""
                )));
            }
            None => {
                sites.push(site);
                sites.len() - 1
            }
        };
        numbered.push_str(&source[copied..open]);
        numbered.push_str(&number.to_string());
        numbered.push(',');
        copied = open;
    }
    if sites.is_empty() {
        return Err(format!(
            "{file}: it makes no request: write for example http.get(\"/\")"
        ));
    }
    numbered.push_str(&source[copied..]);
    Ok((sites, numbered))
}

/// The request that begins with `http` here, and the byte behind its opening parenthesis.
fn site(before: Option<Kind<'_>>, words: &[Token<'_>]) -> Result<(Site, usize), String> {
    let kind = |place: usize| words.get(place).map(|word| word.kind);
    let (Some(Kind::Symbol(b'.')), Some(Kind::Name(method)), Some(Kind::Symbol(b'('))) =
        (kind(1), kind(2), kind(3))
    else {
        return Err(
            "http stands only where a request is made: write http.get(path), http.post(path, {…}), …".into(),
        );
    };
    if !METHODS.contains(&method) {
        let known = METHODS.join(", ");
        return Err(format!("there is no http.{method}: it has {known}"));
    }
    let inside = &words[4..];
    let [path, options, behind] = arguments(inside);
    let called = match path {
        [
            Token {
                kind: Kind::Text(path),
                ..
            },
        ] if method == "get" => Some((*path).to_owned()),
        [
            Token {
                kind: Kind::Text(path),
                ..
            },
        ] => Some(format!("{} {path}", method.to_uppercase())),
        [] => return Err(format!("http.{method}() needs a path")),
        _ => None,
    };
    let given = named(method, options)?;
    let name = given.name.or(called).ok_or_else(|| {
        format!(
            "the path of this request is calculated, so it needs a name for the results: write http.{method}(path, \
             {{name = \"…\"}}), or the path as one text: `/items/{{id}}`"
        )
    })?;
    let is_path =
        matches!(path, [word] if matches!(word.kind, Kind::Text(text) if text.starts_with('/')));
    let site = Site {
        name,
        method: method.to_uppercase(),
        expect: given.expect,
        anywhere: !is_path,
        unseen: may_end_a_statement(before) && may_begin_one(behind.first().map(|word| word.kind)),
    };
    Ok((site, words[3].end))
}

/// Whether the word before a call belongs to another statement. Where it may be so or not (`then` and `else` are also in
/// expressions), it does not.
fn may_end_a_statement(word: Option<Kind<'_>>) -> bool {
    const GO_ON: [&str; 12] = [
        "and", "or", "not", "in", "return", "if", "elseif", "while", "until", "then", "else",
        "local",
    ];
    match word {
        None | Some(Kind::Text(_) | Kind::Number(_)) => true,
        Some(Kind::Name(name)) => !GO_ON.contains(&name),
        Some(Kind::Symbol(byte)) => matches!(byte, b')' | b']' | b'}' | b';'),
    }
}

/// Whether the word behind a call, which does not go on with an operator then, belongs to another statement.
fn may_begin_one(word: Option<Kind<'_>>) -> bool {
    const OPERATORS: [&str; 2] = ["and", "or"];
    match word {
        None | Some(Kind::Symbol(b';')) => true,
        Some(Kind::Name(name)) => !OPERATORS.contains(&name),
        Some(_) => false,
    }
}

/// The words of the first argument, of all others, and those behind the call.
fn arguments<'w, 'a>(inside: &'w [Token<'a>]) -> [&'w [Token<'a>]; 3] {
    let mut depth = 0_usize;
    let mut comma = None;
    for (place, word) in inside.iter().enumerate() {
        match word.kind {
            Kind::Symbol(b'(' | b'{' | b'[') => depth += 1,
            Kind::Symbol(b')' | b'}' | b']') if depth == 0 => {
                let first = comma.unwrap_or(place);
                let others = (first + 1).min(place);
                return [
                    &inside[..first],
                    &inside[others..place],
                    &inside[place + 1..],
                ];
            }
            Kind::Symbol(b')' | b'}' | b']') => depth -= 1,
            Kind::Symbol(b',') if depth == 0 => comma = comma.or(Some(place)),
            _ => {}
        }
    }
    [inside, &[], &[]]
}

#[derive(Default)]
struct Given {
    name: Option<String>,
    expect: Vec<u16>,
}

/// What is known before the run of the options of a request.
fn named(method: &str, options: &[Token<'_>]) -> Result<Given, String> {
    let mut given = Given::default();
    let Some((first, _)) = options.split_first() else {
        return Ok(given);
    };
    if first.kind != Kind::Symbol(b'{') {
        return Err(format!(
            "write the options of a request where it is made: http.{method}(path, {{headers = …}})"
        ));
    }
    let mut depth = 0_usize;
    for (place, word) in options.iter().enumerate() {
        match word.kind {
            Kind::Symbol(b'(' | b'{' | b'[') => depth += 1,
            Kind::Symbol(b')' | b'}' | b']') => depth = depth.saturating_sub(1),
            Kind::Name(key @ ("name" | "expect")) if depth == 1 => {
                let begins = matches!(options[place - 1].kind, Kind::Symbol(b'{' | b',' | b';'));
                let value = match &options[place + 1..] {
                    [sign, value @ ..] if begins && sign.kind == Kind::Symbol(b'=') => value,
                    _ => continue,
                };
                match key {
                    "name" => given.name = Some(name(value)?),
                    _ => given.expect = expect(value)?,
                }
            }
            _ => {}
        }
    }
    Ok(given)
}

fn name(value: &[Token<'_>]) -> Result<String, String> {
    match value {
        [text, end, ..] if ends(end) => match text.kind {
            Kind::Text(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => Err(NAME.into()),
        },
        _ => Err(NAME.into()),
    }
}

const NAME: &str =
    "the name of a request is a text, so that it is known before the run: name = \"…\"";

fn expect(value: &[Token<'_>]) -> Result<Vec<u16>, String> {
    let status = |word: &Token<'_>| match word.kind {
        Kind::Number(digits) => digits.parse().ok().filter(|code| (200..600).contains(code)),
        _ => None,
    };
    let wrong = || {
        "expect is a status, or a list of statuses: expect = 404, expect = {200, 404}".to_owned()
    };
    let Some((first, rest)) = value.split_first() else {
        return Err(wrong());
    };
    if first.kind != Kind::Symbol(b'{') {
        return match (status(first), rest.first()) {
            (Some(code), Some(end)) if ends(end) => Ok(vec![code]),
            _ => Err(wrong()),
        };
    }
    let mut codes = Vec::new();
    for word in rest {
        match word.kind {
            Kind::Symbol(b'}') if !codes.is_empty() => return Ok(codes),
            Kind::Symbol(b',' | b';') => {}
            _ => codes.push(status(word).ok_or_else(wrong)?),
        }
    }
    Err(wrong())
}

fn ends(word: &Token<'_>) -> bool {
    matches!(word.kind, Kind::Symbol(b',' | b';' | b'}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Vec<String> {
        let (sites, _) = find("s.luau", source).unwrap();
        sites.into_iter().map(|site| site.name).collect()
    }

    fn problem(source: &str) -> String {
        find("s.luau", source).unwrap_err()
    }

    #[test]
    fn requests_have_their_names_from_what_stands_in_the_script() {
        let source = r#"
            http.get("/a") http.post('/a') -- http.get("/comment")
            http.get(`/items/{id}?q={escape("`,)")}`, { headers = { name = "no" } })
            http.get("/x/" .. id, { json = f({}, 1), name = "x" })
            http.get("/a") shop.http.get("/no")
        "#;
        let expected = ["/a", "POST /a", "/items/{id}?q={escape(\"`,)\")}", "x"];
        assert_eq!(names(source), expected);
    }

    #[test]
    fn calls_get_the_numbers_of_their_requests_on_the_same_lines() {
        let (_, numbered) = find(
            "s.luau",
            "a = http.get(\"/a\")\nhttp.post(\n'/b')http.get('/a')",
        )
        .unwrap();
        assert_eq!(
            numbered,
            "a = http.get(0,\"/a\")\nhttp.post(1,\n'/b')http.get(0,'/a')"
        );
    }

    #[test]
    fn it_is_known_which_requests_may_ask_for_a_url() {
        let source = r#"
            http.get("/a") http.get(`/b/{x}`) http.get(`{next}`) http.get(next, {name = "n"})
            http.get("http://other/") http.get("/c", {name = "c"}) http.get("/c" .. x, {name = "c"})
        "#;
        let (sites, _) = find("s.luau", source).unwrap();
        let found = sites.iter().map(|site| site.anywhere);
        let expected = [false, false, true, true, true, true];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn it_is_known_which_answers_are_never_looked_at() {
        for source in [
            "http.get('/')",
            "for _ = 1, 2 do http.get('/') end",
            "local a = 1 http.get('/') sleep(1)",
            "f() http.get('/'); g()",
            "x = {} http.get('/', { json = { 1, (2) } }) x = 'y'",
            "repeat http.get('/') until f()",
        ] {
            assert!(is_unseen(source, 0), "{source}");
        }
        for source in [
            "local a = http.get('/')",
            "return http.get('/')",
            "return\nhttp.get('/')",
            "f(http.get('/'))",
            "f(1, http.get('/'))",
            "x = { http.get('/') }",
            "http.get('/'):json()",
            "http.get('/').body = 1",
            "http.get('/') ('a'):rep(2)",
            "local a = if b then http.get('/') else http.get('/')",
            "local a = b and http.get('/')",
            "local a = not http.get('/')",
            "local a = 1 == http.get('/') and 2",
            "if http.get('/') then f() end",
            "while\n-- ok\nhttp.get('/') do f() end",
            "for a in http.get('/') do f() end",
            "http.get('/') local a = http.get('/')",
        ] {
            assert!(!is_unseen(source, 0), "{source}");
        }
        assert!(is_unseen("f(http.get('/a')) http.get('/b')", 1));
    }

    #[test]
    fn it_is_known_whether_a_script_may_look_at_headers_of_answers() {
        for source in [
            "check(http.get('/').headers.etag)",
            "local h = login . headers",
            "return a['headers']",
            "print(`{a.headers.etag}`)",
        ] {
            assert!(reads_headers(source), "{source}");
        }
        for source in [
            "local headers = { A = 'b' } http.get('/', { headers = headers })",
            "http.get('/') -- its .headers are not read",
        ] {
            assert!(!reads_headers(source), "{source}");
        }
    }

    #[test]
    fn expected_statuses_are_known() {
        let expect = |options: &str| {
            find("s.luau", &format!("http.get('/', {{{options}}})"))
                .map(|(sites, _)| sites[0].expect.clone())
        };
        assert_eq!(expect("expect = 404"), Ok(vec![404]));
        assert_eq!(expect("expect = {200, 404}, body = x"), Ok(vec![200, 404]));
        assert_eq!(expect("json = {expect = x}"), Ok(vec![]));
        for wrong in [
            "expect = x",
            "expect = 99",
            "expect = {}",
            "expect = 200 + 4",
            "expect = {x}",
        ] {
            assert!(
                expect(wrong).unwrap_err().contains("expect is a status"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn what_cannot_be_known_before_the_run_is_refused_with_its_line() {
        for (source, expected) in [
            (
                "\nhttp.get('/' .. x)",
                "s.luau:2: the path of this request is calculated",
            ),
            (
                "http.get('/', {name = x})",
                "s.luau:1: the name of a request is a text",
            ),
            (
                "http.get('/', {name = 'a' .. x})",
                "s.luau:1: the name of a request is a text",
            ),
            (
                "http.get('/', options)",
                "s.luau:1: write the options of a request where it is made",
            ),
            (
                "local get = http.get",
                "s.luau:1: http stands only where a request is made",
            ),
            ("http['get']('/')", "s.luau:1: http stands only where"),
            (
                "http.fetch('/')",
                "s.luau:1: there is no http.fetch: it has get, post",
            ),
            ("http.get()", "s.luau:1: http.get() needs a path"),
            (
                "http.get('/a')\nhttp.get('/a', {expect = 404})",
                "s.luau:2: another request with the name \"/a\"",
            ),
            ("return 1", "s.luau: it makes no request"),
        ] {
            let found = problem(source);
            assert!(found.starts_with(expected), "{source}: {found}");
        }
    }
}
