//! One client on its journeys: the values it holds, and its position in the current journey.

use std::cell::RefCell;

use crate::journey::program::{Journeys, Position, Program, Step};
use crate::outcome::Outcome;
use crate::protocol::head::{Head, name_and_value};
use crate::schedule::random::Rng;
use crate::schedule::think::pause;
use crate::script::reply::{Next, Reply};
use crate::script::{ScriptStart, ScriptState, Vm};
use crate::spec::FeedEach;
use crate::template::cookies::{Jar, Kept, Refusal};
use crate::template::scripted_request::ScriptedRequest;
use crate::template::slots::Slots;
use crate::template::values::{Scope, unix_s};

#[derive(Debug)]
pub struct JourneyState {
    pub slots: Slots,
    jar: Jar,
    position: Position,
    number: u32,
    iteration: u32,
    /// Its state in scripts; `None` until its first one. Boxed because most clients never run a script.
    script_state: Option<Box<ScriptState>>,
}

/// Where a client's requests get their values, which are looked up only when a request is written: of requests that are
/// sent together, one may already have ended by then.
#[derive(Debug, Clone, Copy)]
pub struct ValueSource<'a> {
    pub state: &'a RefCell<JourneyState>,
    pub journeys: &'a Journeys,
}

impl JourneyState {
    /// Client `number` before its first journey: it knows nothing.
    pub fn new(journeys: &Journeys, number: u64) -> Self {
        Self {
            slots: Slots::new(journeys.slots),
            jar: Jar::default(),
            position: Position::default(),
            number: number as u32,
            iteration: 0,
            script_state: None,
        }
    }

    /// Draws its rows from the feeds that have one for each client. Returns false if a feed has none left.
    pub fn arrive(&mut self, journeys: &Journeys, random: &mut Rng) -> bool {
        let feeds = journeys.programs.iter().flat_map(|program| &program.feeds);
        let mut own = feeds.filter(|feed| feed.each() == FeedEach::Client);
        own.all(|feed| feed.draw(&mut self.slots, random))
    }

    /// How many journeys it has begun.
    pub fn journeys(&self) -> u64 {
        u64::from(self.iteration)
    }

    /// Begins a journey. Returns false if one of its feeds has no row left.
    pub fn begin(&mut self, program: &Program, random: &mut Rng) -> bool {
        self.position = Position::default();
        self.iteration += 1;
        if let Some(script_state) = &mut self.script_state {
            script_state.begin();
        }
        for slot in &program.cleared_slots {
            self.slots.set(*slot, None);
        }
        let mut rows = program
            .feeds
            .iter()
            .filter(|feed| feed.each() == FeedEach::Iteration);
        rows.all(|feed| feed.draw(&mut self.slots, random))
    }

    /// Returns what comes next. `scripts` is the worker's virtual machine.
    pub fn next(
        &mut self,
        journeys: &Journeys,
        program: &Program,
        scripts: Option<&Vm>,
        random: &mut Rng,
    ) -> Next {
        if let (Some(script), Some(scripts)) = (program.script, scripts) {
            return self.resume_script(scripts, script, random);
        }
        let mut position = self.position;
        let step = position.next(program, &self.scope(journeys), random);
        self.position = position;
        step.map_or(Next::End, Next::Step)
    }

    fn resume_script(&mut self, scripts: &Vm, script: usize, random: &mut Rng) -> Next {
        let script_state = match &mut self.script_state {
            Some(script_state) => script_state,
            none => match scripts.client(u64::from(self.number)) {
                Ok(script_state) => none.insert(Box::new(script_state)),
                Err(why) => return Next::Failed(0, why),
            },
        };
        let start = ScriptStart {
            script,
            slots: &self.slots,
            iteration: u64::from(self.iteration),
        };
        scripts.go_on(script_state, start, random)
    }

    /// Returns the pause after a step.
    pub fn pause(&mut self, step: &Step, random: &mut Rng) -> u64 {
        let turn = step.pauses.map_or(1, |slot| self.slots.increment(slot));
        pause(&step.think, turn, random)
    }

    /// Where the reply to a script's request is written; `None` if no script waits for one.
    pub fn reply(&mut self) -> Option<&mut Reply> {
        self.script_state.as_mut()?.reply()
    }

    /// Tells a waiting script the outcome of its request.
    pub fn ended(&mut self, outcome: Outcome) {
        if let Some(script_state) = &mut self.script_state {
            script_state.ended(outcome);
        }
    }

    /// Returns those steps of the group beginning with `first` that are to be sent now.
    pub fn members(
        &self,
        journeys: &Journeys,
        program: &Program,
        first: usize,
        random: &mut Rng,
    ) -> Vec<usize> {
        program.members(first, &self.scope(journeys), random)
    }

    /// The request that a script asks for, if any.
    pub fn scripted(&self) -> Option<&ScriptedRequest> {
        self.script_state
            .as_ref()
            .and_then(|script_state| script_state.scripted())
    }

    /// The values that its requests are filled from.
    pub fn scope<'a>(&'a self, journeys: &'a Journeys) -> Scope<'a> {
        Scope {
            slots: &self.slots,
            jar: &self.jar,
            site: &journeys.site,
            client: u64::from(self.number),
            iteration: u64::from(self.iteration),
            scripted: self.scripted(),
        }
    }

    /// Stores the cookies that the response to a request for `path` sets. `note` is called for each that is not kept,
    /// or that is not sent everywhere.
    pub fn take_cookies(
        &mut self,
        journeys: &Journeys,
        head: &Head<'_>,
        path: &[u8],
        mut note: Option<impl FnMut(String)>,
    ) {
        for header in head.headers("set-cookie") {
            let kept = self.jar.set(header, path, &journeys.site, unix_s());
            if let Some(note) = &mut note {
                explain(header, kept, note);
            }
        }
    }

    /// Tells `note` that cookies are neither sent to another server nor kept of its response.
    pub fn leave_cookies(&self, head: &Head<'_>, mut note: impl FnMut(String)) {
        if !self.jar.is_empty() {
            note("no cookies were sent: they stay with the server under test, and this is another host or port".into());
        }
        for header in head.headers("set-cookie") {
            let name = shown_name(header);
            note(format!(
                "cookie {name} is not kept: it comes from another host or port"
            ));
        }
    }
}

/// Explains what a person may not expect of a cookie.
fn explain(header: &[u8], kept: Result<Option<Kept<'_>>, Refusal>, note: &mut impl FnMut(String)) {
    let name = shown_name(header);
    match kept {
        Err(refusal) => note(format!("cookie {name} is not kept: {refusal}")),
        Ok(None) => {}
        Ok(Some(Kept { path, dropped })) => {
            if path != b"/" {
                let path = path.escape_ascii();
                note(format!("cookie {name} is sent only to {path} and below"));
            }
            if let Some(oldest) = dropped {
                note(format!(
                    "cookie {oldest} is dropped: a client keeps the latest 50"
                ));
            }
        }
    }
}

fn shown_name(set_cookie: &[u8]) -> String {
    let (name, _) = name_and_value(set_cookie).unwrap_or_default();
    String::from_utf8_lossy(&name[..name.len().min(100)]).into_owned()
}
