//! The virtual machine of one worker: it holds all scripts of a run, and a coroutine for each client that is on one.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use mlua::{Error, Function, Lua, LuaOptions, LuaString, StdLib, Table, Thread, Value, VmState};

use mlua::chunk::ChunkMode;

use super::natives::natives;
use super::{Reply, Script};
use crate::record::interval::Outcome;
use crate::scenario::slots::Slots;
use crate::scenario::traveller::Next;
use crate::schedule::clock::{monotonic_ns, thread_cpu_ns};
use crate::schedule::random::Stream;
use crate::wire::h1::codec::{Around, Asked};

/// Between two operations a script may compute so long, and is ended before it has computed twice as long.
pub const LONGEST_COMPUTING_NS: u64 = 100_000_000;
/// The clock is looked at after so many jumps and calls.
const TICKS_PER_LOOK: u32 = 64;
/// All scripts of one worker, and what each of its clients may add.
const MEMORY_BYTES: usize = 128 << 20;
const CLIENT_BYTES: usize = 32 << 10;
/// A pause is at least so long: a script that only sleeps must not keep others from running.
const SHORTEST_PAUSE_NS: u64 = 1_000_000;

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
    travel: Function,
    guard: Rc<Guard>,
    /// Of the client that runs.
    random: Rc<RefCell<Stream>>,
    // Last, as all others are parts of it.
    lua: Lua,
}

/// A script, loaded.
struct Journey {
    main: Function,
    script: Script,
    columns: Vec<LuaString>,
}

/// One client on its journeys through scripts.
#[derive(Debug)]
pub struct Walk {
    thread: Thread,
    client: Table,
    goes_on: With,
    asked: Option<Asked>,
    /// Of this journey, the last one that it has asked for.
    step: Option<u32>,
}

/// With what a client goes on.
#[derive(Debug)]
enum With {
    /// A journey from its beginning.
    Start,
    /// What its request has given.
    Answer(Reply),
    /// The end of a pause.
    Awake,
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

/// Ends what computes for too long.
#[derive(Default)]
struct Guard {
    /// By the clock: so cheap that it is set for every resume.
    deadline: Cell<u64>,
    /// By the thread's own time, once the deadline has passed: a machine that stalls is not the script's fault.
    most_cpu: Cell<Option<u64>>,
    ticks: Cell<u32>,
}

impl Guard {
    fn begin(&self) {
        self.ticks.set(0);
        self.most_cpu.set(None);
        self.deadline.set(monotonic_ns() + LONGEST_COMPUTING_NS);
    }

    /// Once it is over, at every look: a script that catches the error gets the next one at once.
    fn is_over(&self) -> bool {
        let ticks = self.ticks.get().wrapping_add(1);
        if !ticks.is_multiple_of(TICKS_PER_LOOK) {
            self.ticks.set(ticks);
            return false;
        }
        let over = monotonic_ns() > self.deadline.get() && self.has_computed();
        // One that is over stays just before its next look.
        self.ticks
            .set(if over { ticks.wrapping_sub(1) } else { ticks });
        over
    }

    fn has_computed(&self) -> bool {
        let cpu = thread_cpu_ns();
        let most = self.most_cpu.get().unwrap_or(cpu + LONGEST_COMPUTING_NS);
        self.most_cpu.set(Some(most));
        cpu > most
    }
}

impl Vm {
    /// Loads all scripts; an error says what is wrong with which, in which line. `clients`: on this worker; `shows`:
    /// what they print is shown.
    pub fn new(scripts: &[Script], clients: u64, shows: bool) -> Result<Self, String> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::UTF8 | StdLib::BIT | StdLib::MATH;
        let libraries = libraries | StdLib::BUFFER | StdLib::COROUTINE;
        let lua = Lua::new_with(libraries, LuaOptions::new()).map_err(|error| told(&error))?;
        let random = Rc::new(RefCell::new(Stream::new(0, &[])));
        let guard = Rc::new(Guard::default());
        guard.begin();
        let limit = MEMORY_BYTES + clients as usize * CLIENT_BYTES;
        let prelude = prelude(&lua, &random, shows, limit).map_err(|error| told(&error))?;
        let watched = guard.clone();
        lua.set_interrupt(move |lua| {
            if watched.is_over() {
                return Err(Error::runtime(too_long(lua)));
            }
            Ok(VmState::Continue)
        });
        let shared: Table = prelude.get("Shared").map_err(|error| told(&error))?;
        let mut vm = Self {
            new_client: prelude.get("new_client").map_err(|error| told(&error))?,
            travel: prelude.get("travel").map_err(|error| told(&error))?,
            journeys: Vec::new(),
            guard,
            random,
            lua,
        };
        for script in scripts {
            vm.guard.begin();
            let journey = vm.load(script.clone(), &shared);
            vm.journeys.push(journey?);
        }
        Ok(vm)
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
        let walk = || {
            Ok(Walk {
                thread: self.lua.create_thread(self.travel.clone())?,
                client: self.new_client.call(number)?,
                goes_on: With::Start,
                asked: None,
                step: None,
            })
        };
        self.guard.begin();
        walk().map_err(|error| self.failed(&error))
    }

    /// Lets a client go on up to what it does next.
    pub fn go_on(&self, walk: &mut Walk, start: Start<'_>, random: &mut Stream) -> Next {
        let script = &self.journeys[start.script].script;
        let wish = self.resume(walk, start, script, random);
        let last = walk.step.unwrap_or(0) as usize;
        match wish {
            Ok(Wish::Ask(step, asked)) => {
                (walk.asked, walk.step) = (Some(asked), Some(step as u32));
                walk.goes_on = With::Answer(Reply::default());
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
        self.guard.begin();
        let mut resumed = match std::mem::replace(&mut walk.goes_on, With::Start) {
            With::Start => self.start(walk, start),
            With::Answer(reply) => self.answer(walk, reply),
            With::Awake => walk.thread.resume(()),
        };
        let wish = loop {
            match resumed.and_then(|yielded| self.wish(script, yielded)) {
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
        walk.thread.reset(self.travel.clone())?;
        walk.client.raw_set("iteration", start.iteration)?;
        let feed: Table = walk.client.raw_get("feed")?;
        for (name, (_, slot)) in journey.columns.iter().zip(&journey.script.columns) {
            let value = start
                .slots
                .get(*slot)
                .map(|value| self.lua.create_string(value));
            feed.raw_set(name, value.transpose()?)?;
        }
        walk.thread.resume((&journey.main, &walk.client))
    }

    fn answer(&self, walk: &Walk, reply: Reply) -> mlua::Result<Yielded> {
        let Reply {
            outcome,
            status,
            head,
            body,
        } = reply;
        let (body, long) = match body {
            Some(Ok(body)) => (body, false),
            Some(Err(_)) => (Vec::new(), true),
            None => (Vec::new(), false),
        };
        let bytes = head
            .as_ref()
            .map(|head| self.lua.create_buffer([head, &body[..]].concat()));
        let length = head.map_or(0, |head| head.len());
        walk.thread.resume((
            Value::Nil,
            status,
            outcome as usize + 1,
            bytes.transpose()?,
            length,
            long,
        ))
    }

    /// What a script wants that has yielded, or ended; an inner error is for the script itself.
    fn wish(&self, script: &Script, yielded: Yielded) -> mlua::Result<Result<Wish, String>> {
        let Yielded(number, value, headers, body, kind) = yielded;
        let number = match number {
            None => return Ok(Ok(Wish::End)),
            Some(number) => number as i64,
        };
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
        for pair in headers.iter().flat_map(Table::pairs::<LuaString, Value>) {
            let (name, value) = pair?;
            let Some(value) = self.lua.coerce_string(value)? else {
                let name = name.to_string_lossy();
                return Ok(Err(format!(
                    "the header {name} is neither a text nor a number"
                )));
            };
            if let Err(problem) = asked.header(&name.as_bytes(), &value.as_bytes(), around) {
                return Ok(Err(problem.to_string()));
            }
        }
        if let Some(kind) = kind
            && !asked.has("content-type")
            && let Err(problem) = asked.header(b"Content-Type", &kind.as_bytes(), around)
        {
            return Ok(Err(problem.to_string()));
        }
        let body = body.as_ref().map(LuaString::as_bytes);
        asked.finish(body.as_deref(), around);
        Ok(Ok(Wish::Ask(number, asked)))
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

impl Walk {
    /// Another journey begins.
    pub fn begin(&mut self) {
        (self.goes_on, self.step) = (With::Start, None);
    }

    /// What it asks for.
    pub fn asked(&self) -> Option<&Asked> {
        self.asked.as_ref()
    }

    /// Its request has ended so.
    pub fn ended(&mut self, outcome: Outcome) {
        self.asked = None;
        if let Some(reply) = self.reply() {
            reply.outcome = outcome;
        }
    }

    /// What its request gives, if it waits for that.
    pub fn reply(&mut self) -> Option<&mut Reply> {
        match &mut self.goes_on {
            With::Answer(reply) => Some(reply),
            _ => None,
        }
    }
}

/// What a script yields: the number of a request, its path, headers, body, and the body's type; -1 and a time; or, at
/// its end, nothing.
struct Yielded(
    Option<f64>,
    Value,
    Option<Table>,
    Option<LuaString>,
    Option<LuaString>,
);

impl mlua::FromLuaMulti for Yielded {
    fn from_lua_multi(values: mlua::MultiValue, lua: &Lua) -> mlua::Result<Self> {
        let (number, value, headers, body, kind) = mlua::FromLuaMulti::from_lua_multi(values, lua)?;
        Ok(Self(number, value, headers, body, kind))
    }
}

/// What the prelude returns. From then on what is there for all scripts cannot be changed.
fn prelude(
    lua: &Lua,
    random: &Rc<RefCell<Stream>>,
    shows: bool,
    limit: usize,
) -> mlua::Result<Table> {
    let native = natives(lua, random, shows)?;
    let list: Table = native.get("list")?;
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
    list.set("__metatable", "a list")?;
    list.set_readonly(true);
    lua.sandbox(true)?;
    lua.set_memory_limit(limit)?;
    Ok(prelude)
}

fn too_long(lua: &Lua) -> String {
    let place = lua.inspect_stack(0, |frame| {
        let line = frame.current_line()?;
        let source = frame.source().short_src?.into_owned();
        Some(format!("{source}:{line}: "))
    });
    let place = place.flatten().unwrap_or_default();
    let most_ms = LONGEST_COMPUTING_NS / 1_000_000;
    format!("{place}it computed for more than {most_ms} ms without a request or a pause")
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
