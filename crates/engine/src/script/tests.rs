//! Scripts without a network: what they ask for, how they fail, and what they cannot do.

use super::*;
use crate::outcome::Outcome;
use crate::schedule::random::Rng;
use crate::script::reply::Next;
use crate::search::json::MAX_DOCUMENT_BYTES;
use crate::search::missing::Missing;
use crate::template::request::Part;
use crate::template::slots::Slots;

/// Clients of one script.
struct Clients {
    vm: Vm,
    slots: Slots,
    random: Rng,
}

impl Clients {
    fn of(source: &str) -> Self {
        Self::try_of(source).unwrap()
    }

    fn try_of(source: &str) -> Result<Self, String> {
        let (sites, source) = outline("s.luau", source)?;
        let script = Script {
            file: "s.luau".into(),
            source,
            methods: sites.into_iter().map(|site| site.method).collect(),
            authority: "shop".into(),
            authorization: None,
            cookies: false,
            columns: vec![("user".into(), 0)],
            sleeps: true,
        };
        let mut slots = Slots::new(1);
        slots.set(0, Some(b"ann"));
        Ok(Self {
            vm: Vm::new(&[script], 1, false)?,
            slots,
            random: Rng::new(1, &[]),
        })
    }

    fn next(&mut self, script_state: &mut ScriptState) -> Next {
        let start = ScriptStart {
            script: 0,
            slots: &self.slots,
            iteration: 3,
        };
        self.vm.go_on(script_state, start, &mut self.random)
    }

    /// Runs a journey, answering each request with `body`; returns what it asks for, and how it ends.
    fn way(&mut self, script_state: &mut ScriptState, body: &str) -> (Vec<String>, Next) {
        let mut scripted = Vec::new();
        script_state.begin();
        loop {
            match self.next(script_state) {
                Next::Step(_) => {
                    let parts = [Part::Path, Part::Headers, Part::Body];
                    let sent = script_state.scripted().unwrap();
                    let sent =
                        parts.map(|part| String::from_utf8(sent.part(part).to_vec()).unwrap());
                    scripted.push(sent.join("|"));
                    response(script_state, 200, body);
                }
                Next::Pause(ns) => scripted.push(format!("sleep {ns}")),
                end => return (scripted, end),
            }
        }
    }
}

fn response(script_state: &mut ScriptState, status: u16, body: &str) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nX: 1\r\nx: 2\r\n\r\n";
    let reply = script_state.reply().unwrap();
    reply.status = status;
    reply.head = Some(head.as_bytes().into());
    reply.body = Some(Ok(body.as_bytes().to_vec()));
    script_state.ended(Outcome::Ok);
}

/// What one journey asks for, without the lines that all requests have, and how it ends.
fn way(source: &str, body: &str) -> (Vec<String>, Next) {
    let mut clients = Clients::of(source);
    let mut script_state = clients.vm.client(7).unwrap();
    let (scripted, end) = clients.way(&mut script_state, body);
    let agent = concat!("User-Agent: jostle/", env!("CARGO_PKG_VERSION"), "\r\n");
    let host = "Host: shop\r\n";
    let short = scripted
        .iter()
        .map(|scripted| scripted.replace(host, "").replace(agent, ""));
    (short.collect(), end)
}

/// Why a journey with this body fails.
fn failure(body: &str) -> String {
    let source = format!("return function(client)\n{body}\nend");
    match way(&source, "hello").1 {
        Next::Failed(_, why) => why,
        other => panic!("{other:?}"),
    }
}

/// Why a script is refused.
fn refusal(source: &str) -> String {
    Clients::try_of(source).err().unwrap()
}

#[test]
fn a_journey_asks_and_sleeps_and_sees_its_responses() {
    let source = r#"
        return function(client)
            local a = http.post("/login", { json = { user = client.feed.user }, headers = { ["X-N"] = client.number } })
            check(a.status == 200 and a.ok and a.outcome == "ok", "login")
            check(a.headers["content-TYPE"] == "text/x" and a.headers.X == "1, 2" and a.headers.y == nil)
            local id = a:json().items[1].id
            check(a:json("/items/0/id") == id and a:json("").items[1].id == id and a:json("/items/1") == nil)
            sleep("250ms")
            sleep(2)
            http.get(`/items/{id}?i={client.iteration}&q={escape("a b")}`)
            http.put("/form", { form = { b = "x&y", a = 1 } })
            http.delete("/x", { body = a.body })
        end
    "#;
    let body = r#"{"items":[{"id":12}]}"#;
    let (scripted, end) = way(source, body);
    let expected = [
        "/login|X-N: 7\r\nContent-Type: application/json\r\nContent-Length: 14\r\n|{\"user\":\"ann\"}",
        "sleep 250000000",
        "sleep 2000000000",
        "/items/12?i=3&q=a%20b||",
        "/form|Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 11\r\n|a=1&b=x%26y",
        "/x|Content-Length: 21\r\n|{\"items\":[{\"id\":12}]}",
    ];
    assert_eq!(scripted, expected);
    assert!(matches!(end, Next::End), "{end:?}");
}

#[test]
fn what_a_client_keeps_stays_with_it_alone() {
    let source = r"
        return function(client)
            client.count = (client.count or 0) + 1
            http.get(`/{client.number}/{client.count}`)
        end
    ";
    let mut clients = Clients::of(source);
    let mut walks = [1, 2].map(|number| clients.vm.client(number).unwrap());
    let mut paths = Vec::new();
    for place in [0, 1, 0] {
        let (scripted, _) = clients.way(&mut walks[place], "");
        paths.push(scripted[0].split('|').next().unwrap().to_owned());
    }
    assert_eq!(paths, ["/1/1", "/2/1", "/1/2"]);
}

#[test]
fn a_client_keeps_its_values_when_a_journey_fails() {
    let source = r#"return function(client)
        client.count = (client.count or 0) + 1
        http.get(`/{client.count}`)
        check(client.count ~= 1, "the first")
    end"#;
    let mut clients = Clients::of(source);
    let mut script_state = clients.vm.client(1).unwrap();
    let (_, end) = clients.way(&mut script_state, "");
    assert!(matches!(end, Next::Failed(..)), "{end:?}");
    let (scripted, end) = clients.way(&mut script_state, "");
    assert!(scripted[0].starts_with("/2|"), "{scripted:?}");
    assert!(matches!(end, Next::End), "{end:?}");
}

#[test]
fn clients_that_come_and_go_do_not_mix() {
    let source = "return function(client) http.get(`/{client.number}`) end";
    let mut clients = Clients::of(source);
    let mut walks: Vec<ScriptState> = (0..100).map(|n| clients.vm.client(n).unwrap()).collect();
    for script_state in &mut walks {
        assert!(matches!(clients.next(script_state), Next::Step(0)));
    }
    walks.truncate(10);
    walks.extend((200..300).map(|n| clients.vm.client(n).unwrap()));
    for (script_state, number) in walks.iter_mut().zip((0..10).chain(200..300)) {
        let (scripted, _) = clients.way(script_state, "");
        assert!(
            scripted[0].starts_with(&format!("/{number}|")),
            "{scripted:?}"
        );
    }
}

#[test]
fn coroutines_of_many_clients_do_not_mix() {
    let source = r#"return function(client)
        local own = client.number
        local a = http.get("/a")
        http.get(`/b/{own}/{a.body}`)
    end"#;
    let mut clients = Clients::of(source);
    let mut walks: Vec<ScriptState> = (0..100).map(|n| clients.vm.client(n).unwrap()).collect();
    for script_state in &mut walks {
        assert!(matches!(clients.next(script_state), Next::Step(0)));
    }
    for (number, script_state) in walks.iter_mut().enumerate() {
        response(script_state, 200, &format!("{number}!"));
        assert!(matches!(clients.next(script_state), Next::Step(1)));
        let path = format!("/b/{number}/{number}!");
        assert_eq!(
            script_state.scripted().unwrap().part(Part::Path),
            path.as_bytes()
        );
    }
}

#[test]
fn chances_follow_from_the_seed() {
    let source = "return function() http.get(`/{random(1, 1000000)}/{uuid()}/{math.random()}`) end";
    assert_eq!(way(source, "").0, way(source, "").0);
    let source = "return function() for _ = 1, 1000 do local n = random(2, 3) check(n == 2 or n == 3) end http.get('/') end";
    assert!(matches!(way(source, "").1, Next::End));
    assert!(
        failure("random(3, 1) http.get('/')").starts_with("s.luau:2: random takes whole numbers")
    );
}

#[test]
fn mistakes_are_told_with_their_lines() {
    for (body, expected) in [
        (
            "http.get('/') check(false, 'no token')",
            "s.luau:2: no token",
        ),
        ("http.get('/') check(nil)", "s.luau:2: a check did not hold"),
        ("http.get('/')\nerror('mine')", "s.luau:3: mine"),
        (
            "http.get('/')\nlocal x = nil + 1",
            "s.luau:3: attempt to perform arithmetic (add) on nil and number",
        ),
        (
            "http.get('/a b')",
            "s.luau:2: the path contains a space at byte 2, which has no place there in HTTP/1.1: remove it, or percent-encode it: escape(text)",
        ),
        (
            "http.get('/', {headers = {A = 'x\\r\\ny'}})",
            "s.luau:2: header A contains a carriage return",
        ),
        (
            "http.get('/', {headers = {A = {}}})",
            "s.luau:2: the header A is neither a text nor a number",
        ),
        (
            "http.get('/', {headers = {Connection = 'close'}})",
            "s.luau:2: header Connection is added by itself",
        ),
        (
            "http.get('/', {headers = 'x'})",
            "s.luau:2: headers are a table",
        ),
        (
            "http.post('/', {json = {print}})",
            "s.luau:2: JSON has no function",
        ),
        (
            "http.post('/', {form = {[true] = 'x'}})",
            "s.luau:2: a form has texts and numbers, and not a boolean",
        ),
        (
            "http.post('/', {body = {}})",
            "s.luau:2: body is a text; for a table write json",
        ),
        (
            "http.get(1, {name = 'a'})",
            "s.luau:2: the path of a request is a text, not number",
        ),
        (
            "table.sort({1, 2}, function() http.get('/') end)",
            "s.luau:2: a request cannot be made inside a function that sorts",
        ),
        (
            "http.get('/'):jason()",
            "s.luau:2: a response has no jason: it has status, ok",
        ),
        (
            "http.get('/').json()",
            "s.luau:2: write response:json(), with a colon",
        ),
        (
            "http.get('/').stauts()",
            "s.luau:2: a response has no stauts: it has status, ok",
        ),
        (
            "http.get('/'):json()",
            "s.luau:2: the response cannot be read as JSON:",
        ),
        (
            "http.get('/'):json('/a')",
            "s.luau:2: the response cannot be read as JSON:",
        ),
        (
            "http.get('/'):json('a')",
            "s.luau:2: JSON pointer \"a\" is neither empty nor begins with '/' (RFC 6901)",
        ),
        (
            "http.get('/'):json(1)",
            "s.luau:2: json() takes a JSON pointer, as in json(\"/items/0/id\"), not a number",
        ),
        (
            "http.get('/')\nsleep('1 year')",
            "s.luau:3: sleep takes seconds or a text like \"1s\"",
        ),
        ("http.get('/')\nsleep(-1)", "s.luau:3: sleep takes seconds"),
        (
            "http.get('/') print(client.feed.usr)",
            "s.luau:2: no feed of this journey has a column usr",
        ),
        (
            "token = http.get('/').body",
            "s.luau:2: token is not local, so that all clients would share it",
        ),
        (
            "if client.number == 0 then http.get('/') end",
            "s.luau: the journey made no request",
        ),
    ] {
        let why = failure(body);
        assert!(why.starts_with(expected), "{body}: {why}");
    }
}

#[test]
fn an_error_that_is_caught_is_none() {
    let source = r#"return function()
        local good, why = pcall(function()
            http.get("/a")
            http.get("/a b", { name = "b" })
        end)
        check(not good and string.find(why, "space"))
        http.get("/c")
    end"#;
    let (scripted, end) = way(source, "");
    assert!(matches!(end, Next::End), "{end:?}");
    assert_eq!(scripted, ["/a||", "/c||"]);
}

#[test]
fn what_is_wrong_before_the_load_is_told_with_its_line() {
    for (source, expected) in [
        ("http.get('/')\nlocal = 1", "s.luau:2: Expected identifier"),
        ("return 1 -- http.get('/')", "s.luau: it makes no request"),
        (
            "http.get('/')",
            "s.luau: it makes a request or a pause while it is loaded",
        ),
        (
            "local x = {}\nx.y.z = 1\nreturn function() http.get('/') end",
            "s.luau:2: attempt to index nil with 'z'",
        ),
        (
            "local function f() http.get('/') end",
            "s.luau: it does not return its journey",
        ),
        (
            "while true do end return function() http.get('/') end",
            "s.luau:1: it computed for more than 100 ms",
        ),
    ] {
        let why = refusal(source);
        assert!(why.starts_with(expected), "{source}: {why}");
    }
}

#[test]
fn a_script_reaches_nothing_outside() {
    for name in [
        "io",
        "os",
        "debug",
        "package",
        "require",
        "loadstring",
        "load",
        "dofile",
        "coroutine",
        "getfenv",
        "setfenv",
        "collectgarbage",
        "newproxy",
    ] {
        let why = failure(&format!("check({name} ~= nil, 'none') http.get('/')"));
        assert_eq!(why, "s.luau:2: none", "{name}");
    }
    for change in [
        "string.format = print",
        "math.random = print",
        "rawset(string, 'x', 1)",
        "getmetatable('').__index = print",
        "getmetatable(client.feed).__index = print",
    ] {
        let why = failure(&format!("{change} http.get('/')"));
        assert!(why.starts_with("s.luau:2: "), "{change}: {why}");
    }
}

#[test]
fn a_loop_without_an_end_is_ended_and_others_go_on() {
    for body in [
        "while true do end",
        "repeat until false",
        "while true do pcall(function() while true do end end) end",
        "local function f() pcall(f) while true do end end f()",
        "string.rep('a', 1e6):find(string.rep('a?', 1e3) .. string.rep('a', 1e3))",
    ] {
        let why = failure(&format!("http.get('/') {body}"));
        let ended = why.contains("it computed for more than 100 ms");
        assert!(
            ended || why.contains("too complex") || why.contains("stack overflow"),
            "{body}: {why}"
        );
    }
    let source = r#"return function(client)
        if client.number == 1 then while true do end end
        http.get("/")
    end"#;
    let mut clients = Clients::of(source);
    let mut walks = [1, 2].map(|number| clients.vm.client(number).unwrap());
    assert!(matches!(
        clients.way(&mut walks[0], "").1,
        Next::Failed(0, _)
    ));
    assert!(matches!(clients.way(&mut walks[1], "").1, Next::End));
    assert!(
        matches!(clients.way(&mut walks[0], "").1, Next::Failed(0, _)),
        "it begins anew"
    );
}

#[test]
fn a_script_that_eats_memory_fails_and_leaves_some() {
    let source = r#"return function(client)
        if client.number == 1 then
            local all = {}
            while true do table.insert(all, string.rep("x", 1e6) .. #all) end
        elseif client.number == 2 then
            local all = string.rep("x", 1e9)
        end
        http.get("/")
    end"#;
    let mut clients = Clients::of(source);
    for number in [1, 2, 1] {
        let mut script_state = clients.vm.client(number).unwrap();
        let (_, end) = clients.way(&mut script_state, "");
        let Next::Failed(_, why) = end else {
            panic!("{end:?}")
        };
        let expected = "the scripts of this thread have taken all the memory";
        assert!(why.contains(expected) || why.contains("100 ms"), "{why}");
    }
    let mut script_state = clients.vm.client(3).unwrap();
    let (_, end) = clients.way(&mut script_state, "");
    assert!(matches!(end, Next::End), "{end:?}");
}

#[test]
fn recursion_has_an_end() {
    let why = failure("http.get('/') local function f() return 1 + f() end f()");
    assert!(why.contains("stack overflow"), "{why}");
    let why = failure("local t = {} t.t = t http.post('/', {json = t})");
    assert!(
        why.starts_with("s.luau:2: it has tables in one another deeper than 128"),
        "{why}"
    );
    let deep = "[".repeat(100_000);
    let (_, end) = way("return function() http.get('/'):json() end", &deep);
    assert!(matches!(end, Next::Failed(..)), "{end:?}");
}

#[test]
fn a_body_that_is_too_long_is_told_when_it_is_looked_at() {
    let source =
        "return function() local a = http.get('/') check(a.status == 200) print(#a.body) end";
    let mut clients = Clients::of(source);
    let mut script_state = clients.vm.client(1).unwrap();
    assert!(matches!(clients.next(&mut script_state), Next::Step(0)));
    let reply = script_state.reply().unwrap();
    (reply.status, reply.body) = (200, Some(Err(Missing::TooLong(MAX_DOCUMENT_BYTES))));
    reply.head = Some(b"HTTP/1.1 200 OK\r\n\r\n"[..].into());
    script_state.ended(Outcome::Ok);
    let Next::Failed(0, why) = clients.next(&mut script_state) else {
        panic!("it saw the body");
    };
    assert!(
        why.starts_with("s.luau:1: the body of this response is longer than 1048576 bytes"),
        "{why}"
    );
}

#[test]
fn headers_that_were_not_kept_are_not_taken_for_none() {
    let source = "return function() local a = http.get('/') print(a['head' .. 'ers']) end";
    let mut clients = Clients::of(source);
    let mut script_state = clients.vm.client(1).unwrap();
    assert!(matches!(clients.next(&mut script_state), Next::Step(0)));
    let reply = script_state.reply().unwrap();
    (reply.status, reply.body) = (200, Some(Ok(Vec::new())));
    script_state.ended(Outcome::Ok);
    let Next::Failed(0, why) = clients.next(&mut script_state) else {
        panic!("it saw headers");
    };
    assert!(
        why.starts_with(
            "s.luau:1: responses keep their headers where the script writes response.headers"
        ),
        "{why}"
    );
}

#[test]
fn a_request_without_a_response_gives_its_outcome() {
    let source = r#"return function()
        local a = http.get("/")
        check(not a.ok and a.outcome == "connect_refused" and a.status == 0 and a.body == "" and a.headers.x == nil)
    end"#;
    let mut clients = Clients::of(source);
    let mut script_state = clients.vm.client(1).unwrap();
    assert!(matches!(clients.next(&mut script_state), Next::Step(0)));
    script_state.ended(Outcome::ConnectRefused);
    let end = clients.next(&mut script_state);
    assert!(matches!(end, Next::End), "{end:?}");
}

#[test]
fn pauses_are_as_long_as_they_are_said_and_never_none() {
    let source = "return function() http.get('/') sleep(0) sleep('2m') sleep('1.5s ± 0%') sleep('1s ± 50%') end";
    let (scripted, _) = way(source, "");
    assert_eq!(
        scripted[1..4],
        ["sleep 1000000", "sleep 120000000000", "sleep 1500000000"]
    );
    let last: u64 = scripted[4].strip_prefix("sleep ").unwrap().parse().unwrap();
    assert!((500_000_000..1_500_000_000).contains(&last), "{last}");
}
