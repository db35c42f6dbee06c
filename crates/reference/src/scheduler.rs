//! Runs a discipline in real time: requests wait here until the calculation says that they are done.

use crate::pauses::Pauses;
use crate::timer::Timer;
use jostle_discipline::{Delay, Discipline, Done, Fifo, Nanos, Workers};
use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::oneshot;

/// A waiting request, which is told the exact moment of its completion.
pub struct Waiter {
    completion: oneshot::Sender<Nanos>,
    /// Whether it is in a queue that skips it if its client goes.
    waits: Arc<AtomicBool>,
    /// The request's place in the server, given back when it is done or dropped.
    _place: Arc<()>,
}

impl Waiter {
    /// Notes whether it is in a queue that skips it if its client goes.
    pub fn set_waits(&self, waits: bool) {
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// Whether the client has gone.
    pub fn is_closed(&self) -> bool {
        self.completion.is_closed()
    }
}

pub struct Scheduler {
    timer: Timer,
    queues: RefCell<Queues>,
    /// Every request in the discipline holds a clone, so that the reference count tells how many there are.
    places: Arc<()>,
    /// How many requests the discipline takes at once.
    capacity: usize,
}

struct Queues {
    /// The discipline. Its clock is service time.
    service: Box<dyn Discipline<Waiter>>,
    pauses: Pauses,
    /// Pure waits, which take no part in the discipline.
    delay: Box<dyn Discipline<Waiter>>,
    /// What the timer is set to.
    alarm: Option<Nanos>,
    /// Scratch space; empty between calls.
    done: Vec<Done<Waiter>>,
}

/// What a job waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Need {
    /// This much service from the discipline.
    Service(Nanos),
    /// The passing of this much time.
    Delay(Nanos),
}

impl Scheduler {
    /// `capacity`: how many requests the discipline takes at once; `pool`: how many wait at once for something else.
    pub fn new(
        service: Box<dyn Discipline<Waiter>>,
        capacity: Option<usize>,
        pool: Option<usize>,
        pauses: Option<Pauses>,
    ) -> io::Result<Self> {
        let delay: Box<dyn Discipline<Waiter>> = match pool {
            Some(size) => Box::new(Workers::new(size, Fifo::default())),
            None => Box::new(Delay::default()),
        };
        let queues = Queues {
            service,
            pauses: pauses.unwrap_or(Pauses::NONE),
            delay,
            alarm: None,
            done: Vec::new(),
        };
        Ok(Self {
            timer: Timer::new()?,
            queues: RefCell::new(queues),
            places: Arc::new(()),
            capacity: capacity.unwrap_or(usize::MAX),
        })
    }

    /// Nanoseconds since the server began.
    pub fn now(&self) -> Nanos {
        self.timer.now()
    }

    /// Waits until the job is done; returns the time from its arrival to its exact completion, or `None` if there was
    /// no room for it.
    ///
    /// `connection` is the number of the request's connection in the order of acceptance. A request given up by its
    /// client keeps its place, as in a server that does not notice, unless the discipline skips it.
    ///
    /// `waits`, true at first, stays so while the request is in a queue that skips it if its client goes.
    pub async fn fulfil(
        &self,
        need: Need,
        connection: u64,
        waits: Arc<AtomicBool>,
    ) -> io::Result<Option<Nanos>> {
        let (completion, completed) = oneshot::channel();
        let Some(arrival) = self.submit(need, connection, completion, waits)? else {
            return Ok(None);
        };
        let at = completed
            .await
            .expect("every job that arrives and does not go is completed");
        Ok(Some(at - arrival))
    }

    /// Completes jobs at their times, for ever.
    pub async fn run(&self) -> io::Result<()> {
        loop {
            self.timer.expired().await?;
            let mut queues = self.queues.borrow_mut();
            queues.alarm = None;
            queues.advance(self.timer.now());
            queues.set_alarm(&self.timer)?;
        }
    }

    /// Returns the moment of arrival; `None` if there is no room.
    fn submit(
        &self,
        need: Need,
        connection: u64,
        completion: oneshot::Sender<Nanos>,
        waits: Arc<AtomicBool>,
    ) -> io::Result<Option<Nanos>> {
        let mut queues = self.queues.borrow_mut();
        let now = self.timer.now();
        queues.advance(now);
        if matches!(need, Need::Service(_)) && Arc::strong_count(&self.places) > self.capacity {
            return Ok(None);
        }
        waits.store(false, Ordering::Relaxed);
        match need {
            Need::Service(demand) => {
                let waiter = Waiter {
                    completion,
                    waits,
                    _place: Arc::clone(&self.places),
                };
                let now = queues.pauses.service_time(now);
                // With no demand at all it would be done at the last moment of service, before it came in a pause.
                queues
                    .service
                    .arrive(now, demand.max(1), connection, waiter);
            }
            Need::Delay(wait) => {
                let waiter = Waiter {
                    completion,
                    waits,
                    _place: Arc::new(()),
                };
                queues.delay.arrive(now, wait, connection, waiter);
            }
        }
        queues.set_alarm(&self.timer)?;
        Ok(Some(now))
    }
}

impl Queues {
    fn advance(&mut self, now: Nanos) {
        let service_time = self.pauses.service_time(now);
        self.service.advance(service_time, &mut self.done);
        for done in &mut self.done {
            done.at = self.pauses.moment(done.at);
        }
        self.delay.advance(now, &mut self.done);
        for Done { at, job } in self.done.drain(..) {
            let _ = job.completion.send(at); // fails if the client has gone
        }
    }

    fn set_alarm(&mut self, timer: &Timer) -> io::Result<()> {
        let service = self.service.next_event().map(|at| self.pauses.moment(at));
        let next = [service, self.delay.next_event()]
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
