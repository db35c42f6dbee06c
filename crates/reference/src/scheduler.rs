//! Runs a discipline against the clock: requests wait here until the calculation says that they are done.

use crate::timer::Timer;
use jostle_simulator::discipline::{Delay, Discipline, Done, Nanos};
use std::cell::RefCell;
use std::io;
use tokio::sync::oneshot;

/// Tells a waiting request the exact moment of its completion.
pub type Waiter = oneshot::Sender<Nanos>;

pub struct Scheduler {
    timer: Timer,
    queues: RefCell<Queues>,
}

struct Queues {
    service: Box<dyn Discipline<Waiter>>,
    /// Pure waits, which take no part in the discipline.
    delay: Delay<Waiter>,
    /// What the timer is set to.
    alarm: Option<Nanos>,
    /// Scratch space; empty between calls.
    done: Vec<Done<Waiter>>,
}

/// What a job waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Need {
    /// So much service from the discipline.
    Service(Nanos),
    /// That so much time passes.
    Delay(Nanos),
}

impl Scheduler {
    pub fn new(service: Box<dyn Discipline<Waiter>>) -> io::Result<Self> {
        let queues = Queues {
            service,
            delay: Delay::default(),
            alarm: None,
            done: Vec::new(),
        };
        Ok(Self {
            timer: Timer::new()?,
            queues: RefCell::new(queues),
        })
    }

    /// Waits until the job is done; returns the time from its arrival to its exact completion.
    ///
    /// `connection`: which one the request came over, in the order of their acceptance.
    /// A request given up by its client keeps its place, as in a server that does not notice.
    pub async fn fulfil(&self, need: Need, connection: u64) -> io::Result<Nanos> {
        let (waiter, completion) = oneshot::channel();
        let arrival = self.submit(need, connection, waiter)?;
        let at = completion
            .await
            .expect("every job that arrives is completed");
        Ok(at - arrival)
    }

    /// Completes jobs at their times, for ever.
    pub async fn run(&self) -> io::Result<()> {
        loop {
            self.timer.rung().await?;
            let mut queues = self.queues.borrow_mut();
            queues.alarm = None;
            queues.advance(self.timer.now());
            queues.set_alarm(&self.timer)?;
        }
    }

    fn submit(&self, need: Need, connection: u64, waiter: Waiter) -> io::Result<Nanos> {
        let mut queues = self.queues.borrow_mut();
        let now = self.timer.now();
        queues.advance(now);
        match need {
            Need::Service(demand) => queues.service.arrive(now, demand, connection, waiter),
            Need::Delay(wait) => queues.delay.arrive(now, wait, connection, waiter),
        }
        queues.set_alarm(&self.timer)?;
        Ok(now)
    }
}

impl Queues {
    fn advance(&mut self, now: Nanos) {
        self.service.advance(now, &mut self.done);
        self.delay.advance(now, &mut self.done);
        for Done { at, job } in self.done.drain(..) {
            let _ = job.send(at); // fails where the client has gone
        }
    }

    fn set_alarm(&mut self, timer: &Timer) -> io::Result<()> {
        let next = [self.service.next_event(), self.delay.next_event()]
            .into_iter()
            .flatten()
            .min();
        if next != self.alarm {
            timer.set(next)?;
            self.alarm = next;
        }
        Ok(())
    }
}
