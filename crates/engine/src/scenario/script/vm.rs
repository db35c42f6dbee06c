//! The virtual machine of one worker: it holds all scripts of a run, and a coroutine for each client that is on one.

use std::cell::RefCell;
use std::rc::Rc;

use mlua::chunk::ChunkMode;
use mlua::{Error, Function, Lua, LuaOptions, LuaString, StdLib, Table, Thread, Value};

use super::json::Lists;
use super::natives::{form, natives};
use super::{Reply, Script, answer, guard};
use crate::record::interval::Outcome;
use crate::scenario::slots::Slots;
use crate::scenario::traveller::Next;
use crate::schedule::random::Stream;
use crate::wire::h1::codec::{Around, Asked};

/// All scripts of one worker, and what each of its clients may add.
const MEMORY_BYTES: usize = 128 << 20;
const CLIENT_BYTES: usize = 32 << 10;
/// A pause is at least so long: a script that only sleeps must not keep others from running.
const SHORTEST_PAUSE_NS: u64 = 1_000_000;
/// Room for answers that is kept from one to the next.
const MOST_PACKED_BYTES: usize = 64 << 10;

const PRELUDE: &str = include_str!("prelude.luau");

/// Of the language's own globals, those that reach beyond a script or could keep a client from its engine.
const REMOVED: [&str; 9] = [
    "collectgarbage",
    "coroutine",
    "gcinfo",
    "getfenv",
    "loadstring",
    "newproxy",
    "require",
    "setfenv",
    "_VERSION",
];

pub struct Vm {
    journeys: Vec<Journey>,
    new_client: Function,
    names: Names,
    lists: Lists,
    /// Of the client that runs.
    random: Rc<RefCell<Stream>>,
    /// Holds each answer on its way into the machine.
    packed: RefCell<Vec<u8>>,
    // Last, as all others are parts of it.
    lua: Lua,
}

/// Of a client's values, those that are set when a journey begins.
struct Names {
    iteration: LuaString,
    feed: LuaString,
}

/// A script, loaded.
struct Journey {
    main: Function,
    script: Script,
    columns: Vec<LuaString>,
}

/// One client on its journeys through scripts. Ten thousand sleep at the same time: what is there for a request is there
/// only while one is made.
#[derive(Debug)]
pub struct Walk {
    thread: Thread,
    /// `None` where no script takes one.
    client: Option<Table>,
    goes_on: With,
    /// Of this journey, the last one that it has asked for.
    step: Option<u32>,
}

/// With what a client goes on.
#[derive(Debug)]
enum With {
    /// A journey from its beginning.
    Start,
    /// What its request gives.
    Answer(Box<Flight>),
    /// The end of a pause.
    Awake,
}

/// A request and what it gives.
#[derive(Debug)]
struct Flight {
    asked: Asked,
    reply: Reply,
}

/// What a script wants.
enum Wish {
    Ask(usize, Asked),
    Pause(u64),
    End,
}

/// What a journey begins with.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    pub script: usize,
    pub slots: &'a Slots,
    pub iteration: u64,
}

impl Vm {
    /// Loads all scripts; an error says what is wrong with which, in which line. `clients`: on this worker; `shows`:
    /// what they print is shown.
    pub fn new(scripts: &[Script], clients: u64, shows: bool) -> Result<Self, String> {
        let limit = MEMORY_BYTES + clients as usize * CLIENT_BYTES;
        guard::begin();
        let (mut vm, shared) = Self::without_scripts(shows, limit).map_err(|error| told(&error))?;
        for script in scripts {
            guard::begin();
            let journey = vm.load(script.clone(), &shared);
            vm.journeys.push(journey?);
        }
        Ok(vm)
    }

    /// And what the scripts' globals get from it once they are loaded.
    fn without_scripts(shows: bool, limit: usize) -> mlua::Result<(Self, Table)> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::UTF8 | StdLib::BIT | StdLib::MATH;
        let libraries = libraries | StdLib::BUFFER | StdLib::COROUTINE;
        let lua = Lua::new_with(libraries, LuaOptions::new())?;
        let random = Rc::new(RefCell::new(Stream::new(0, &[])));
        let lists = Lists(lua.create_table()?);
        let prelude = prelude(&lua, &lists, &random, shows, limit)?;
        guard::watch(&lua);
        let vm = Self {
            new_client: prelude.get("new_client")?,
            names: Names {
                iteration: lua.create_string("iteration")?,
                feed: lua.create_string("feed")?,
            },
            lists,
            journeys: Vec::new(),
            packed: RefCell::default(),
            random,
            lua,
        };
        Ok((vm, prelude.get("Shared")?))
    }

    fn load(&self, script: Script, shared: &Table) -> Result<Journey, String> {
        let main = self.run(&script, shared).map_err(|error| {
            let text = told(&error);
            if text.starts_with(&script.file) {
                text
            } else {
                format!("{}: {text}", script.file)
            }
        })?;
        let Value::Function(main) = main else {
            return Err(format!(
                "{}: it does not return its journey: write return function(client) … end",
                script.file
            ));
        };
        let columns = script.columns.iter();
        let columns = columns.map(|(name, _)| self.lua.create_string(name));
        Ok(Journey {
            main,
            columns: columns
                .collect::<Result<_, _>>()
                .map_err(|error| told(&error))?,
            script,
        })
    }

    /// Gives what the script returns. From then on its globals are as they are.
    fn run(&self, script: &Script, shared: &Table) -> mlua::Result<Value> {
        let metatable = self.lua.create_table()?;
        metatable.raw_set("__index", self.lua.globals())?;
        let globals = self.lua.create_table()?;
        globals.set_metatable(Some(metatable.clone()))?;
        globals.set_safeenv(true);
        let chunk = self
            .lua
            .load(&script.source)
            .set_name(format!("={}", script.file));
        let chunk = chunk
            .set_mode(ChunkMode::Text)
            .set_environment(globals.clone());
        let thread = self.lua.create_thread(chunk.into_function()?)?;
        let value = thread.resume(())?;
        if thread.is_resumable() {
            let problem = "it makes a request or a pause while it is loaded: write it into the function that it returns";
            return Err(Error::runtime(problem));
        }
        for pair in shared.pairs::<Value, Value>() {
            let (key, value) = pair?;
            metatable.raw_set(key, value)?;
        }
        globals.set_readonly(true);
        Ok(value)
    }

    /// Client `number` before its first journey through a script.
    pub fn client(&self, number: u64) -> Result<Walk, String> {
        guard::begin();
        let walk = || {
            let journeys = self.journeys.iter();
            let takes_client = journeys.clone().any(Journey::takes_client);
            let feeds = journeys.clone().any(|journey| !journey.columns.is_empty());
            let client = takes_client.then(|| self.new_client.call((number, feeds)));
            Ok(Walk {
                thread: self.lua.create_thread(self.journeys[0].main.clone())?,
                client: client.transpose()?,
                goes_on: With::Start,
                step: None,
            })
        };
        walk().map_err(|error| self.failed(&error))
    }

    /// Lets a client go on up to what it does next.
    pub fn go_on(&self, walk: &mut Walk, start: Start<'_>, random: &mut Stream) -> Next {
        let script = &self.journeys[start.script].script;
        let wish = self.resume(walk, start, script, random);
        let last = walk.step.unwrap_or(0) as usize;
        match wish {
            Ok(Wish::Ask(step, asked)) => {
                walk.step = Some(step as u32);
                walk.goes_on = With::Answer(Box::new(Flight {
                    asked,
                    reply: Reply::default(),
                }));
                Next::Step(step)
            }
            Ok(Wish::Pause(ns)) => {
                walk.goes_on = With::Awake;
                Next::Pause(ns)
            }
            Ok(Wish::End) if walk.step.is_none() => Next::Failed(
                last,
                format!("{}: the journey made no request", script.file),
            ),
            Ok(Wish::End) => Next::End,
            Err(error) => Next::Failed(last, self.failed(&error)),
        }
    }

    fn resume(
        &self,
        walk: &mut Walk,
        start: Start<'_>,
        script: &Script,
        random: &mut Stream,
    ) -> mlua::Result<Wish> {
        std::mem::swap(&mut *self.random.borrow_mut(), random);
        guard::begin();
        let mut resumed = match std::mem::replace(&mut walk.goes_on, With::Start) {
            With::Start => self.start(walk, start),
            With::Answer(flight) => self.answer(walk, &flight.reply),
            With::Awake => walk.thread.resume(()),
        };
        let wish = loop {
            match resumed.and_then(|yielded| self.wish(script, &walk.thread, yielded)) {
                Ok(Ok(wish)) => break Ok(wish),
                // It is told so where it asked for that.
                Ok(Err(refused)) => resumed = walk.thread.resume(refused),
                Err(error) => break Err(error),
            }
        };
        std::mem::swap(&mut *self.random.borrow_mut(), random);
        wish
    }

    fn start(&self, walk: &Walk, start: Start<'_>) -> mlua::Result<Yielded> {
        let journey = &self.journeys[start.script];
        walk.thread.reset(journey.main.clone())?;
        if let Some(client) = &walk.client {
            client.raw_set(&self.names.iteration, start.iteration)?;
            if !journey.columns.is_empty() {
                self.feed(&client.raw_get(&self.names.feed)?, journey, start.slots)?;
            }
        }
        walk.thread.resume(walk.client.as_ref())
    }

    fn feed(&self, feed: &Table, journey: &Journey, slots: &Slots) -> mlua::Result<()> {
        for (name, (_, slot)) in journey.columns.iter().zip(&journey.script.columns) {
            let value = slots.get(*slot).map(|value| self.lua.create_string(value));
            feed.raw_set(name, value.transpose()?)?;
        }
        Ok(())
    }

    fn answer(&self, walk: &Walk, reply: &Reply) -> mlua::Result<Yielded> {
        let mut packed = self.packed.borrow_mut();
        answer::pack(reply, &mut packed);
        let buffer = self.lua.create_buffer(&*packed)?;
        packed.shrink_to(MOST_PACKED_BYTES);
        walk.thread.resume(buffer)
    }

    /// What a script wants that has yielded, or ended; an inner error is for the script itself.
    fn wish(
        &self,
        script: &Script,
        thread: &Thread,
        yielded: Yielded,
    ) -> mlua::Result<Result<Wish, String>> {
        if !thread.is_resumable() {
            return Ok(Ok(Wish::End));
        }
        let (number, value, options) = yielded;
        let number = number.as_i64().unwrap_or(i64::MAX);
        if number < 0 {
            let seconds = self.lua.coerce_number(value)?.unwrap_or(0.0);
            let ns = if script.sleeps {
                (seconds * 1e9).round() as u64
            } else {
                0
            };
            return Ok(Ok(Wish::Pause(ns.max(SHORTEST_PAUSE_NS))));
        }
        let number = number as usize;
        let (Some(method), Value::String(path)) = (script.methods.get(number), value) else {
            return Ok(Err(
                "a request has the number that was written into it".into()
            ));
        };
        let around = Around {
            authority: &script.authority,
            method,
            cookies: script.cookies,
        };
        let mut asked = match Asked::of(&path.as_bytes()) {
            Ok(asked) => asked,
            Err(problem) => return Ok(Err(problem.to_string())),
        };
        let options = match options {
            Value::Table(options) => Options::read(&options)?,
            _ => Ok(Options::default()),
        };
        let written = options.and_then(|options| self.write(&mut asked, &options, around));
        Ok(written.map(|()| Wish::Ask(number, asked)))
    }

    /// An error is for the script itself.
    fn write(
        &self,
        asked: &mut Asked,
        options: &Options,
        around: Around<'_>,
    ) -> Result<(), String> {
        if let Some(headers) = &options.headers {
            let mut problem = None;
            let seen = headers.for_each(|name: LuaString, value: Value| {
                let written = match self.lua.coerce_string(value)? {
                    Some(value) => asked
                        .header(&name.as_bytes(), &value.as_bytes(), around)
                        .map_err(|error| error.to_string()),
                    None => Err(format!(
                        "the header {} is neither a text nor a number",
                        name.to_string_lossy()
                    )),
                };
                problem = problem.take().or(written.err());
                Ok(())
            });
            if let Some(problem) = problem.or(seen.err().map(|error| told(&error))) {
                return Err(problem);
            }
        }
        let (body, kind) = match options {
            Options {
                json: Some(value), ..
            } => (Some(self.lists.write(value)?), JSON),
            Options {
                form: Some(fields), ..
            } => (Some(form(&self.lua, fields)?), FORM),
            _ => (None, ""),
        };
        if !kind.is_empty() && !asked.has_type() {
            asked
                .header(b"Content-Type", kind.as_bytes(), around)
                .map_err(|error| error.to_string())?;
        }
        let text = options.body.as_ref().map(LuaString::as_bytes);
        asked.finish(body.as_deref().or(text.as_deref()), around);
        Ok(())
    }

    /// Why a script has failed. One that took all the memory must leave some to the others.
    fn failed(&self, error: &Error) -> String {
        if is_memory(error) {
            // If that fails, too, the next one finds no memory either, and says so.
            let _ = self.lua.gc_collect();
        }
        told(error)
    }
}

impl Journey {
    fn takes_client(&self) -> bool {
        let main = self.main.info();
        main.num_params > 0 || main.is_vararg
    }
}

impl Walk {
    /// Another journey begins.
    pub fn begin(&mut self) {
        (self.goes_on, self.step) = (With::Start, None);
    }

    /// What it asks for.
    pub fn asked(&self) -> Option<&Asked> {
        match &self.goes_on {
            With::Answer(flight) => Some(&flight.asked),
            _ => None,
        }
    }

    /// Its request has ended so.
    pub fn ended(&mut self, outcome: Outcome) {
        if let Some(reply) = self.reply() {
            reply.outcome = outcome;
        }
    }

    /// What its request gives, if it waits for that.
    pub fn reply(&mut self) -> Option<&mut Reply> {
        match &mut self.goes_on {
            With::Answer(flight) => Some(&mut flight.reply),
            _ => None,
        }
    }
}

/// What a script yields: the number of a request, its path and options; or -1 and a time. What it returns at its end does
/// not matter.
type Yielded = (Value, Value, Value);

/// Of a request.
#[derive(Default)]
struct Options {
    headers: Option<Table>,
    json: Option<Value>,
    form: Option<Value>,
    body: Option<LuaString>,
}

impl Options {
    /// An inner error is for the script itself.
    fn read(options: &Table) -> mlua::Result<Result<Self, String>> {
        let mut found = Self::default();
        let mut problem = None;
        options.for_each(|key: Value, value: Value| {
            let text = key.as_string().map(LuaString::as_bytes);
            match (text.as_deref(), value) {
                (Some(b"name" | b"expect"), _) => {}
                (Some(b"json"), value) => found.json = Some(value),
                (Some(b"form"), value) => found.form = Some(value),
                (Some(b"headers"), Value::Table(headers)) => found.headers = Some(headers),
                (Some(b"body"), Value::String(body)) => found.body = Some(body),
                (Some(b"headers"), _) => {
                    problem = Some("headers are a table: headers = {Authorization = token}".into());
                }
                (Some(b"body"), _) => {
                    problem = Some("body is a text; for a table write json = …".into());
                }
                _ => {
                    problem = Some(format!(
                        "a request has no option {}: it has headers, json, form, body, name and expect",
                        key.to_string()?
                    ));
                }
            }
            Ok(())
        })?;
        Ok(problem.map_or(Ok(found), Err))
    }
}

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// What the prelude returns. From then on what is there for all scripts cannot be changed.
fn prelude(
    lua: &Lua,
    lists: &Lists,
    random: &Rc<RefCell<Stream>>,
    shows: bool,
    limit: usize,
) -> mlua::Result<Table> {
    let native = natives(lua, lists, random, shows)?;
    let prelude: Table = lua.load(PRELUDE).set_name("=jostle").call(native)?;
    let globals = lua.globals();
    let given: Table = prelude.get("globals")?;
    for pair in given.pairs::<Value, Value>() {
        let (name, value) = pair?;
        globals.set(name, value)?;
    }
    let math: Table = globals.get("math")?;
    math.set("random", given.get::<Value>("random")?)?;
    math.set("randomseed", Value::Nil)?;
    for name in REMOVED {
        globals.set(name, Value::Nil)?;
    }
    lists.0.set("__metatable", "a list")?;
    lists.0.set_readonly(true);
    prelude.get::<Table>("empty")?.set_readonly(true);
    lua.sandbox(true)?;
    lua.set_memory_limit(limit)?;
    Ok(prelude)
}

fn is_memory(error: &Error) -> bool {
    match error {
        Error::MemoryError(_) => true,
        Error::CallbackError { cause, .. } => is_memory(cause),
        other => other.to_string().contains("not enough memory"),
    }
}

/// One line: where it happened, and what.
fn told(error: &Error) -> String {
    let text = match error {
        _ if is_memory(error) => {
            "the scripts of this thread have taken all the memory that they may have".into()
        }
        Error::CallbackError { cause, .. } => return told(cause),
        Error::RuntimeError(text) | Error::SyntaxError { message: text, .. } => text.clone(),
        other => other.to_string(),
    };
    let (said, trace) = text.split_once("\nstack traceback:").unwrap_or((&text, ""));
    let said = said.trim_end().replace('\n', " ");
    match place(trace) {
        Some(place) if !has_place(&said) => format!("{place}: {said}"),
        _ => said,
    }
}

/// Where a script was: what the language's own functions refuse has no place of its own.
fn place(trace: &str) -> Option<&str> {
    let mut frames = trace
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let place = frames.find(|place| !place.starts_with('['))?;
    Some(place.trim_end_matches(':'))
}

/// Whether a text begins as `file:line: `.
fn has_place(text: &str) -> bool {
    let first = text.split_once(": ").map_or("", |(first, _)| first);
    let line = first.rsplit_once(':').map_or("", |(_, line)| line);
    !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit())
}
