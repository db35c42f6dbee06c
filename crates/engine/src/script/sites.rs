//! Finds, before a script runs, the requests that it makes: each is written in it as `http.get(…)`, with its name.
//!
//! The calls are rewritten to contain the numbers of their requests, with the options as arguments, so that while the
//! script runs, a request needs no table of options, and nothing has to be looked up:
//!
//! ```text
//!  http.post("/a", { headers = h, name = "a", json = { x = 1 } })  ─►  http.post(0,"hj","/a" , ( h)  , ( { x = 1 }) )
//! ```

use crate::script::edit::{Edit, edited};
use crate::script::lexer::{Token, TokenKind, tokens, tokens_before};
use crate::script::options;

const ONLY_HERE: &str =
    "http stands only where a request is made: write http.get(path), http.post(path, {…}), …";
/// All of them, and others in capitals, are the same function.
const METHODS: [&str; 7] = ["get", "post", "put", "delete", "patch", "head", "options"];

/// One request of a script. Its number is its index among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// Its name in the results.
    pub name: String,
    /// As it is sent.
    pub method: String,
    /// Accepted statuses; 200 to 399 when empty.
    pub expect: Vec<u16>,
    /// Whether it may ask for a URL: in at least one call, its argument is not a literal that begins with a slash.
    pub anywhere: bool,
    /// Whether its responses are never looked at, because each of its calls is a statement of its own.
    pub unseen: bool,
}

impl CallSite {
    /// Whether both can be counted as one request.
    fn is_like(&self, other: &Self) -> bool {
        (&self.method, &self.expect) == (&other.method, &other.expect)
    }
}

/// Whether a script may look at the headers of a response; if not, they need not be kept for each client.
pub fn reads_headers(source: &str) -> bool {
    let words = tokens(source);
    let field = |pair: &[Token<'_>]| {
        pair[0].kind == TokenKind::Symbol(b'.') && pair[1].kind == TokenKind::Name("headers")
    };
    let text =
        |word: &Token<'_>| matches!(word.kind, TokenKind::Text(text) if text.contains("headers"));
    words.windows(2).any(field) || words.iter().any(text)
}

/// Whether no response of the request with this number is ever looked at.
pub fn is_unseen(source: &str, number: usize) -> bool {
    let sites = find("", source).map(|(sites, _)| sites);
    sites.is_ok_and(|sites| sites.get(number).is_some_and(|site| site.unseen))
}

/// Returns the requests by number, and the source to run ([`super::request::function`]). The error names the line.
pub fn find(file: &str, source: &str) -> Result<(Vec<CallSite>, String), String> {
    let words = tokens(source);
    let mut sites: Vec<CallSite> = Vec::new();
    let mut edits = Vec::new();
    // How many brackets the word is in. What stands in brackets may be a part of an expression even between semicolons,
    // which also separate the fields of a table.
    let mut depth = 0_usize;
    for (place, word) in words.iter().enumerate() {
        match word.kind {
            TokenKind::Symbol(b'(' | b'{' | b'[') => depth += 1,
            TokenKind::Symbol(b')' | b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        let field = place > 0 && matches!(words[place - 1].kind, TokenKind::Symbol(b'.' | b':'));
        let global = place > 1 && words[place - 2].kind == TokenKind::Name("_G");
        if word.kind != TokenKind::Name("http") || (field && !global) {
            continue;
        }
        let at = |problem: String| format!("{file}:{}: {problem}", word.line);
        if field {
            return Err(at(ONLY_HERE.into()));
        }
        let last = words[..place].last().map(|word| word.kind);
        let call = call(last, &words[place..]).map_err(at)?;
        let mut site = call.site;
        site.unseen &= depth == 0;
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
        let added = format!("{number},\"{}\",", call.shape);
        edits.push(Edit::new(call.open..call.open, added));
        edits.extend(call.edits);
    }
    if sites.is_empty() {
        return Err(format!(
            "{file}: it makes no request: write for example http.get(\"/\")"
        ));
    }
    Ok((sites, edited(source, edits)))
}

/// One call that makes a request.
struct Call {
    site: CallSite,
    /// Offset of the byte after its opening parenthesis.
    open: usize,
    /// The first letter of each option that becomes an argument, in order.
    shape: String,
    edits: Vec<Edit>,
}

/// Parses the call whose `http` is the first of `words`; `last` is the word before it.
fn call(last: Option<TokenKind<'_>>, words: &[Token<'_>]) -> Result<Call, String> {
    let kind = |place: usize| words.get(place).map(|word| word.kind);
    let (
        Some(TokenKind::Symbol(b'.')),
        Some(TokenKind::Name(written)),
        Some(TokenKind::Symbol(b'(')),
    ) = (kind(1), kind(2), kind(3))
    else {
        return Err(ONLY_HERE.into());
    };
    let method = method(written)?;
    let inside = &words[4..];
    let [path, options, after] = arguments(inside);
    let called = match path {
        [
            Token {
                kind: TokenKind::Text(path),
                ..
            },
        ] if method == "GET" => Some((*path).to_owned()),
        [
            Token {
                kind: TokenKind::Text(path),
                ..
            },
        ] => Some(format!("{method} {path}")),
        [] => return Err(format!("http.{written}() needs a path")),
        _ => None,
    };
    let options = options::read(written, options)?;
    let name = options.name.or(called).ok_or_else(|| {
        format!(
            "the path of this request is calculated, so it needs a name for the results: write http.{written}(path, \
             {{name = \"…\"}}), or the path as one text: `/items/{{id}}`"
        )
    })?;
    let is_path = matches!(path, [word] if matches!(word.kind, TokenKind::Text(text) if text.starts_with('/')));
    let site = CallSite {
        name,
        method,
        expect: options.expect,
        anywhere: !is_path,
        unseen: may_end_a_statement(last) && may_begin_one(after.first().map(|word| word.kind)),
    };
    let mut edits = options.edits;
    if !METHODS.contains(&written) {
        edits.push(Edit::word(&words[2], METHODS[0]));
    }
    Ok(Call {
        site,
        open: words[3].end,
        shape: options.shape,
        edits,
    })
}

/// The method of `http.get` (GET), or of `http.PURGE`: one that is not in the list is written as it is sent.
fn method(written: &str) -> Result<String, String> {
    let capitals = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    if METHODS.contains(&written) {
        return Ok(written.to_uppercase());
    }
    if written == "CONNECT" {
        return Err(
            "CONNECT asks for a tunnel, which is not a load of requests: use another method".into(),
        );
    }
    if written.bytes().all(capitals) && !METHODS.contains(&written.to_lowercase().as_str()) {
        return Ok(written.to_owned());
    }
    let known = METHODS.join(", ");
    Err(format!(
        "there is no http.{written}: it has {known}, and other methods in capitals: http.PURGE(path)"
    ))
}

/// Whether the word before a call is sure to belong to another statement. `then` and `else` are not: they also occur in
/// expressions.
fn may_end_a_statement(word: Option<TokenKind<'_>>) -> bool {
    const GO_ON: [&str; 12] = [
        "and", "or", "not", "in", "return", "if", "elseif", "while", "until", "then", "else",
        "local",
    ];
    match word {
        None | Some(TokenKind::Text(_) | TokenKind::Number(_)) => true,
        Some(TokenKind::Name(name)) => !GO_ON.contains(&name),
        Some(TokenKind::Symbol(byte)) => matches!(byte, b')' | b']' | b'}' | b';'),
    }
}

/// Whether the word after a call belongs to another statement, and does not continue the expression.
fn may_begin_one(word: Option<TokenKind<'_>>) -> bool {
    const OPERATORS: [&str; 2] = ["and", "or"];
    match word {
        None | Some(TokenKind::Symbol(b';')) => true,
        Some(TokenKind::Name(name)) => !OPERATORS.contains(&name),
        Some(_) => false,
    }
}

/// Splits words into the first argument, all others from their comma on, and what follows the call.
fn arguments<'w, 'a>(inside: &'w [Token<'a>]) -> [&'w [Token<'a>]; 3] {
    let path = tokens_before(inside, b",)");
    let all = tokens_before(inside, b")");
    let after = inside.get(all + 1..).unwrap_or_default();
    [&inside[..path], &inside[path..all], after]
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
            "a = http.get(0,\"\",\"/a\")\nhttp.post(1,\"\",\n'/b')http.get(0,\"\",'/a')"
        );
    }

    #[test]
    fn other_methods_are_written_in_capitals() {
        let source = "http.PURGE('/a')\nhttp.M_SEARCH('/b', {body = b})";
        let (sites, numbered) = find("s.luau", source).unwrap();
        let found = sites
            .iter()
            .map(|site| (site.method.as_str(), site.name.as_str()));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [("PURGE", "PURGE /a"), ("M_SEARCH", "M_SEARCH /b")]
        );
        assert_eq!(
            numbered,
            "http.get(0,\"\",'/a')\nhttp.get(1,\"b\",'/b' , ( b))"
        );
        assert!(problem("http.GET('/')").contains("there is no http.GET: it has get"));
        assert!(problem("http.CONNECT('/')").contains("CONNECT asks for a tunnel"));
    }

    #[test]
    fn options_become_arguments_on_the_same_lines() {
        for (source, expected) in [
            ("http.get('/', {})", "http.get(0,\"\",'/' )"),
            (
                "http.post('/', { json = f(x), headers = h })",
                "http.post(0,\"jh\",'/'  , ( f(x)) , ( h) )",
            ),
            (
                "http.post('/', {\n  name = 'a', -- its name\n  body = b;\n})",
                "http.post(0,\"b\",'/' \n   -- its name\n  , ( b)\n)",
            ),
            (
                "http.post(p(), {name =\n'a', expect = {200, 404}, form = {x = {1, 2}}})",
                "http.post(0,\"f\",p() \n  , ( {x = {1, 2}}))",
            ),
            (
                "http.post('/', {json = http.get('/b', {headers = h}):json()})",
                "http.post(0,\"j\",'/' , ( http.get(1,\"h\",'/b' , ( h)):json()))",
            ),
        ] {
            let (_, numbered) = find("s.luau", source).unwrap();
            assert_eq!(numbered, expected, "{source}");
        }
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
            "local a = { 1; http.get('/'); 2 }",
            "local a = { x = 1; http.get('/') }",
            "f({ 1, 2; http.get('/'); })",
        ] {
            assert!(!is_unseen(source, 0), "{source}");
        }
        assert!(is_unseen("f(http.get('/a')) http.get('/b')", 1));
    }

    #[test]
    fn it_is_known_whether_a_script_may_look_at_headers_of_responses() {
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
                "http.get('/', {headers = h}, 1)",
                "s.luau:1: the options of a request stand by their names",
            ),
            ("http.get('/', {h})", "s.luau:1: the options of a request"),
            (
                "http.get('/', {['json'] = h})",
                "s.luau:1: the options of a request",
            ),
            (
                "http.get('/', {json = a, json = b})",
                "s.luau:1: a request has json twice",
            ),
            (
                "\nhttp.get('/', {header = h})",
                "s.luau:2: a request has no option header: it has headers, json",
            ),
            (
                "http.get('/', options)",
                "s.luau:1: write the options of a request where it is made",
            ),
            (
                "http.get('/')\n_G.http.get('/a')",
                "s.luau:2: http stands only where a request is made",
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
