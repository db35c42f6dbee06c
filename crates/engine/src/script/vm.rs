//! The virtual machine (VM) of one worker: all scripts of a run, and a coroutine for each client that runs one.

use std::cell::RefCell;
use std::rc::Rc;

use mlua::chunk::ChunkMode;
use mlua::{Error, Function, Lua, LuaOptions, LuaString, StdLib, Table, Value};

use crate::outcome::Outcome;
use crate::schedule::random::Rng;
use crate::script::coroutines::{Coroutine, Coroutines, Yielded};
use crate::script::natives::natives;
use crate::script::reply::{Next, Reply};
use crate::script::request::{self, Flight, Mailbox};
use crate::script::source::Script;
use crate::script::{guard, response};
use crate::template::scripted_request::ScriptedRequest;
use crate::template::slots::Slots;

/// How much memory all scripts of one worker may take together, and how much each of its clients adds to that.
const MEMORY_BYTES: usize = 128 << 20;
const CLIENT_BYTES: usize = 32 << 10;
/// The shortest pause: a script that does nothing but sleep must not keep others from running.
const MIN_PAUSE_NS: u64 = 1_000_000;

const PRELUDE: &str = include_str!("prelude.luau");

/// Luau's own globals that reach beyond a script, or could get between a client and the engine.
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
    /// The journey function of each script, by its number plus 1.
    mains: Table,
    new_client: Function,
    new_client_with_feed: Function,
    coroutines: Rc<Coroutines>,
    /// The random stream of the running client.
    random: Rc<RefCell<Rng>>,
    // Last, so that it is dropped after everything that refers to it.
    lua: Lua,
}

/// A loaded script.
struct Journey {
    takes_client: bool,
    script: Rc<Script>,
    columns: Vec<LuaString>,
}

/// One client on its journeys through scripts. Ten thousand may sleep at the same time, so whatever serves a request
/// exists only while one is in flight.
#[derive(Debug)]
pub struct ScriptState {
    coroutine: Coroutine,
    resumption: Resumption,
    /// The last step that the current journey has asked for.
    step: Option<u32>,
}

/// What a client continues with when it next runs.
#[derive(Debug)]
enum Resumption {
    /// A new journey; all earlier ones have run to their end.
    Start,
    /// A new journey, in place of one that was left in the middle.
    Restart,
    /// The reply to its request.
    Response(Box<Flight>),
    /// The end of a pause.
    Awake,
}

/// What a journey begins with.
#[derive(Debug, Clone, Copy)]
pub struct ScriptStart<'a> {
    pub script: usize,
    pub slots: &'a Slots,
    pub iteration: u64,
}

impl Vm {
    /// Loads all scripts for a worker with this many `clients`. The error says what is wrong, in which script and line.
    /// `shows` says whether to show what scripts print.
    pub fn new(scripts: &[Script], clients: u64, shows: bool) -> Result<Self, String> {
        guard::begin();
        let (mut vm, shared) =
            Self::without_scripts(shows, memory(clients)).map_err(|error| described(&error))?;
        for script in scripts {
            guard::begin();
            let journey = vm.load(script, &shared);
            vm.journeys.push(journey?);
        }
        Ok(vm)
    }

    /// Makes room for this many clients.
    pub fn make_room(&self, clients: u64) {
        let limit = self.lua.set_memory_limit(memory(clients));
        limit.expect("a limit was set before");
    }

    /// Creates a VM without scripts; also returns the metamethods that a script's globals get once it is loaded.
    fn without_scripts(shows: bool, limit: usize) -> mlua::Result<(Self, Table)> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::UTF8 | StdLib::BIT | StdLib::MATH;
        let libraries = libraries | StdLib::BUFFER | StdLib::COROUTINE;
        let lua = Lua::new_with(libraries, LuaOptions::new())?;
        let random = Rc::new(RefCell::new(Rng::new(0, &[])));
        let list = lua.create_table()?;
        let mailbox = Mailbox::new(list.to_pointer());
        let native = natives(&lua, &list, &random, shows)?;
        native.set("request", request::function(&lua, &mailbox)?)?;
        let prelude = prelude(&lua, &native, &list, limit)?;
        guard::watch(&lua);
        let mains = lua.create_table()?;
        let driver: Function = prelude.get("driver")?;
        let coroutines = Coroutines::new(&lua, driver.call(&mains)?, mailbox);
        let vm = Self {
            new_client: prelude.get("new_client")?,
            new_client_with_feed: prelude.get("new_client_with_feed")?,
            mains,
            coroutines,
            journeys: Vec::new(),
            random,
            lua,
        };
        Ok((vm, prelude.get("Shared")?))
    }

    fn load(&self, script: &Script, shared: &Table) -> Result<Journey, String> {
        let main = self.run(script, shared).map_err(|error| {
            let text = described(&error);
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
        let shape = main.info();
        let journey = || {
            let columns = script.columns.iter();
            let columns = columns.map(|(name, _)| self.lua.create_string(name));
            self.mains.raw_push(&main)?;
            Ok(Journey {
                takes_client: shape.num_params > 0 || shape.is_vararg,
                columns: columns.collect::<Result<_, _>>()?,
                script: Rc::new(script.clone()),
            })
        };
        journey().map_err(|error| described(&error))
    }

    /// Runs a script once and returns what it returns. Afterwards its globals cannot change.
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
    pub fn client(&self, number: u64) -> Result<ScriptState, String> {
        guard::begin();
        let script_state = || {
            let mut journeys = self.journeys.iter();
            let takes_client = journeys.clone().any(|journey| journey.takes_client);
            let feeds = journeys.any(|journey| !journey.columns.is_empty());
            let new_client = if feeds {
                &self.new_client_with_feed
            } else {
                &self.new_client
            };
            let new_client = takes_client.then_some(new_client);
            Ok(ScriptState {
                coroutine: self.coroutines.create(new_client, number)?,
                resumption: Resumption::Start,
                step: None,
            })
        };
        script_state().map_err(|error| self.failed(&error))
    }

    /// Resumes a client, and returns what it does next.
    pub fn go_on(
        &self,
        script_state: &mut ScriptState,
        start: ScriptStart<'_>,
        random: &mut Rng,
    ) -> Next {
        let script = &self.journeys[start.script].script;
        let resumed = self.resume(script_state, start, random);
        let scripted = self.coroutines.mailbox.scripted.take();
        let last = script_state.step.unwrap_or(0) as usize;
        match (resumed, scripted) {
            (Err(error), _) => Next::Failed(last, self.failed(&error)),
            (Ok(_), Some((step, flight))) => {
                script_state.step = Some(step as u32);
                script_state.resumption = Resumption::Response(flight);
                Next::Step(step)
            }
            (Ok(Some((seconds, spread))), None) => {
                script_state.resumption = Resumption::Awake;
                Next::Pause(if script.sleeps {
                    pause(seconds, spread, random)
                } else {
                    MIN_PAUSE_NS
                })
            }
            (Ok(None), None) => {
                script_state.resumption = Resumption::Start;
                match script_state.step {
                    Some(_) => Next::End,
                    None => Next::Failed(
                        last,
                        format!("{}: the journey made no request", script.file),
                    ),
                }
            }
        }
    }

    fn resume(
        &self,
        script_state: &mut ScriptState,
        start: ScriptStart<'_>,
        random: &mut Rng,
    ) -> mlua::Result<Yielded> {
        std::mem::swap(&mut *self.random.borrow_mut(), random);
        guard::begin();
        let mailbox = &self.coroutines.mailbox;
        let script = self.journeys[start.script].script.clone();
        mailbox.script.replace(Some(script));
        // This remains if the script fails.
        let resumed = match std::mem::replace(&mut script_state.resumption, Resumption::Restart) {
            Resumption::Start => self.start(script_state, start),
            Resumption::Restart => script_state
                .coroutine
                .reset()
                .and_then(|()| self.start(script_state, start)),
            Resumption::Response(flight) => {
                mailbox.ended.replace(Some(flight));
                script_state.coroutine.resume(&[])
            }
            Resumption::Awake => script_state.coroutine.resume(&[]),
        };
        std::mem::swap(&mut *self.random.borrow_mut(), random);
        resumed
    }

    fn start(&self, script_state: &ScriptState, start: ScriptStart<'_>) -> mlua::Result<Yielded> {
        let journey = &self.journeys[start.script];
        if !journey.columns.is_empty()
            && let Some(client) = script_state.coroutine.client()?
        {
            self.feed(&client.raw_get("feed")?, journey, start.slots)?;
        }
        let number = start.script as f64 + 1.0;
        script_state
            .coroutine
            .resume(&[number, start.iteration as f64])
    }

    fn feed(&self, feed: &Table, journey: &Journey, slots: &Slots) -> mlua::Result<()> {
        for (name, (_, slot)) in journey.columns.iter().zip(&journey.script.columns) {
            let value = slots.get(*slot).map(|value| self.lua.create_string(value));
            feed.raw_set(name, value.transpose()?)?;
        }
        Ok(())
    }

    /// Says why a script has failed. If it took all the memory, some is freed for the others.
    fn failed(&self, error: &Error) -> String {
        if is_memory(error) {
            // If this fails too, the next script finds no memory either, and reports that.
            let _ = self.lua.gc_collect();
        }
        described(error)
    }
}

impl ScriptState {
    /// Begins another journey.
    pub fn begin(&mut self) {
        if !matches!(self.resumption, Resumption::Start) {
            self.resumption = Resumption::Restart;
        }
        self.step = None;
    }

    /// The request that it has asked for, while it waits for the reply.
    pub fn scripted(&self) -> Option<&ScriptedRequest> {
        match &self.resumption {
            Resumption::Response(flight) => Some(&flight.scripted),
            _ => None,
        }
    }

    /// Records the outcome of its request.
    pub fn ended(&mut self, outcome: Outcome) {
        if let Some(reply) = self.reply() {
            reply.outcome = outcome;
        }
    }

    /// The reply to its request, to be filled in while it waits for it.
    pub fn reply(&mut self) -> Option<&mut Reply> {
        match &mut self.resumption {
            Resumption::Response(flight) => Some(&mut flight.reply),
            _ => None,
        }
    }
}

fn pause(seconds: f64, spread: f64, random: &mut Rng) -> u64 {
    let seconds = if spread > 0.0 {
        seconds * (1.0 + spread * (2.0 * random.unit() - 1.0))
    } else {
        seconds
    };
    MIN_PAUSE_NS.max((seconds * 1e9).round() as u64)
}

/// How much memory the scripts of a worker with this many clients may take.
fn memory(clients: u64) -> usize {
    MEMORY_BYTES + clients as usize * CLIENT_BYTES
}

/// Runs the prelude and returns its result. Afterwards nothing that scripts share can be changed.
fn prelude(lua: &Lua, native: &Table, list: &Table, limit: usize) -> mlua::Result<Table> {
    let prelude: Table = lua.load(PRELUDE).set_name("=jostle").call(native)?;
    let globals = lua.globals();
    let globals_of_prelude: Table = prelude.get("globals")?;
    for pair in globals_of_prelude.pairs::<Value, Value>() {
        let (name, value) = pair?;
        globals.set(name, value)?;
    }
    let math: Table = globals.get("math")?;
    math.set("random", globals_of_prelude.get::<Value>("random")?)?;
    math.set("randomseed", Value::Nil)?;
    for name in REMOVED {
        globals.set(name, Value::Nil)?;
    }
    list.set("__metatable", "a list")?;
    list.set_readonly(true);
    response::install(lua, &prelude.get("Headers")?, list)?;
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

/// Describes an error in one line: where it happened, and what.
fn described(error: &Error) -> String {
    let text = match error {
        _ if is_memory(error) => {
            "the scripts of this thread have taken all the memory that they may have".into()
        }
        Error::CallbackError { cause, .. } => return described(cause),
        Error::RuntimeError(text) | Error::SyntaxError { message: text, .. } => text.clone(),
        other => other.to_string(),
    };
    let (message, trace) = text.split_once("\nstack traceback:").unwrap_or((&text, ""));
    let message = message.trim_end().replace('\n', " ");
    match place(trace) {
        Some(place) if !has_place(&message) => format!("{place}: {message}"),
        _ => message,
    }
}

/// The script's place in a traceback: errors from Luau's own functions do not name one themselves.
fn place(trace: &str) -> Option<&str> {
    let mut frames = trace
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let place = frames.find(|place| !place.starts_with('['))?;
    Some(place.trim_end_matches(':'))
}

/// Whether a text begins with `file:line: `.
fn has_place(text: &str) -> bool {
    let first = text.split_once(": ").map_or("", |(first, _)| first);
    let line = first.rsplit_once(':').map_or("", |(_, line)| line);
    !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit())
}
