//! One client on its journeys: what it knows, and where it stands.

use super::cookies::Jar;
use super::head::Head;
use super::program::{Journeys, Position, Program};
use super::slots::Slots;
use super::values::{Scope, path_of, unix_s};
use crate::schedule::random::Stream;
use crate::spec::FeedEach;

#[derive(Debug)]
pub struct Traveller {
    pub slots: Slots,
    jar: Jar,
    position: Position,
    number: u64,
    iteration: u64,
}

impl Traveller {
    /// Client `number` before its first journey: it knows nothing.
    pub fn new(journeys: &Journeys, number: u64) -> Self {
        Self {
            slots: Slots::new(journeys.slots),
            jar: Jar::default(),
            position: Position::default(),
            number,
            iteration: 0,
        }
    }

    /// Takes its rows of the feeds that have one for each client. False if there is none left.
    pub fn arrive(&mut self, journeys: &Journeys, random: &mut Stream) -> bool {
        let feeds = journeys.programs.iter().flat_map(|program| &program.feeds);
        let mut own = feeds.filter(|feed| feed.each() == FeedEach::Client);
        own.all(|feed| feed.draw(&mut self.slots, random))
    }

    /// Begins a journey. False if one of its feeds has no row left.
    pub fn begin(&mut self, program: &Program, random: &mut Stream) -> bool {
        self.position = Position::default();
        self.iteration += 1;
        for slot in &program.forgotten {
            self.slots.set(*slot, None);
        }
        let mut rows = program
            .feeds
            .iter()
            .filter(|feed| feed.each() == FeedEach::Iteration);
        rows.all(|feed| feed.draw(&mut self.slots, random))
    }

    /// The number of the next step; `None` at the end.
    pub fn next(
        &mut self,
        journeys: &Journeys,
        program: &Program,
        random: &mut Stream,
    ) -> Option<usize> {
        let mut position = self.position;
        let step = position.next(program, &self.scope(journeys), random);
        self.position = position;
        step
    }

    /// What its requests are filled from.
    pub fn scope<'a>(&'a self, journeys: &'a Journeys) -> Scope<'a> {
        Scope {
            slots: &self.slots,
            jar: &self.jar,
            site: &journeys.site,
            client: self.number,
            iteration: self.iteration,
        }
    }

    /// Takes the cookies that an answer sets.
    pub fn take_cookies(&mut self, journeys: &Journeys, head: &Head<'_>, request: &[u8]) {
        for header in head.headers("set-cookie") {
            self.jar
                .set(header, path_of(request), &journeys.site, unix_s());
        }
    }
}
