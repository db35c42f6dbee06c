//! Pings that the client sends at an interval, to see whether the server is still there and how long it takes to reply.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::machine::tasks::Task;
use crate::outcome::{Failure, Outcome};
use crate::record::recorder::Recorder;

/// The pings of one socket. Only one ping is out at a time; when its pong has come, the next one is due a whole number
/// of intervals after it was. A pong that takes longer than the interval ends the socket. RFC 6455 sets no bound; this
/// is that of the heartbeat in the documentation of `ws` (Node), and of `websockets` (Python) by default.
pub struct Pings {
    recorder: Rc<RefCell<Recorder>>,
    every: u64,
    /// When the ping that is out was due, or else when the next one is.
    due: u64,
    /// When the ping that is out was sent.
    sent: Option<u64>,
    /// Whether its pong did not come in time.
    pub given_up: bool,
    number: u32,
    workload: u32,
    /// The request that opened the socket.
    request: u32,
}

impl Pings {
    /// For a socket that was opened at `now`.
    pub fn new(
        recorder: Rc<RefCell<Recorder>>,
        every: u64,
        now: u64,
        workload: usize,
        request: usize,
    ) -> Self {
        Self {
            recorder,
            every,
            due: now + every,
            sent: None,
            given_up: false,
            number: 0,
            workload: workload as u32,
            request: request as u32,
        }
    }

    /// Returns the payload of the next ping if it is due, and sets the timer for what comes next. Fails if the ping
    /// that is out was not answered in time.
    pub fn poll(&mut self, task: &Task) -> Result<Option<[u8; 4]>, Failure> {
        let now = task.now();
        if !task.running(now) {
            return Ok(None);
        }
        let given_up_at = self.sent.map(|sent| sent + self.every);
        if given_up_at.is_some_and(|at| at <= now) {
            self.given_up = true;
            let mut recorder = self.recorder.borrow_mut();
            recorder.ping_unanswered(self.workload, self.request, now);
            let every = Duration::from_nanos(self.every);
            let why = format!("the server did not answer a ping within {every:?}");
            return Err(Failure::new(Outcome::ResponseTimeout, why));
        }
        let ping = (self.sent.is_none() && self.due <= now).then(|| {
            self.number = self.number.wrapping_add(1);
            self.sent = Some(now);
            let mut recorder = self.recorder.borrow_mut();
            recorder.ping_sent(self.workload, self.request, now);
            self.number.to_be_bytes()
        });
        // The next ping may become due, if the pong comes in time, a little before the one that is out is given up.
        let next = self.due + if self.sent.is_some() { self.every } else { 0 };
        let next = given_up_at.map_or(next, |at| if next <= now { at } else { next });
        task.wake_at(next);
        Ok(ping)
    }

    /// Takes in a pong. One that belongs to no ping is ignored (section 5.5.3).
    pub fn pong(&mut self, payload: &[u8], task: &Task) {
        let now = task.now();
        if self.sent.is_none() || payload != self.number.to_be_bytes() || !task.running(now) {
            return;
        }
        self.sent = None;
        let ns = now - self.due;
        let mut recorder = self.recorder.borrow_mut();
        recorder.ponged(self.workload, self.request, now, ns);
        self.due += self.every * (1 + ns / self.every);
    }
}
