//! The reference server: each request is answered when the discipline says that its service is done.

use crate::bucket::Bucket;
use crate::connection::Connection;
use crate::extras::{CACHED_DEMAND, Extras, WhenFull};
use crate::http::{Method, Request, RequestHead, Response, Timing};
use crate::kinds::ConfiguredDiscipline;
use crate::routes::{self, Plan, Wait};
use crate::scheduler::{Need, Scheduler};
use crate::site::{KeepAlive, Site};
use jostle_discipline::Nanos;
use rand::RngExt;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many paths the cache remembers; further ones are not added.
const MAX_CACHED: usize = 100_000;

pub struct Scheduled {
    /// The body of `/`.
    about: String,
    /// The factor by which every demand for service is multiplied.
    factor: f64,
    drops_abandoned: bool,
    extras: Extras,
    scheduler: Rc<Scheduler>,
    bucket: Option<RefCell<Bucket>>,
    cached: RefCell<HashSet<String>>,
    /// How many requests for service have come so far.
    service_requests: Cell<u64>,
}

impl Scheduled {
    /// Returns the site, and the scheduler that must run beside it.
    pub fn new(
        name: &str,
        configured: ConfiguredDiscipline,
        slower: f64,
        extras: Extras,
    ) -> io::Result<(Self, Rc<Scheduler>)> {
        let version = env!("CARGO_PKG_VERSION");
        let about = format!(
            "{{\"name\": \"reference-{name}\", \"version\": \"{version}\", \
             \"runtime\": \"jostle-reference\", \"workers\": {}}}",
            configured.parallelism
        );
        let capacity = extras.queue.map(|queue| configured.parallelism + queue);
        let scheduler =
            Scheduler::new(configured.discipline, capacity, extras.pool, extras.pauses)?;
        let scheduler = Rc::new(scheduler);
        let site = Self {
            about,
            factor: 1.0 + slower / 100.0,
            drops_abandoned: configured.drops_abandoned,
            scheduler: Rc::clone(&scheduler),
            bucket: extras
                .bucket
                .map(|(rate, burst)| RefCell::new(Bucket::new(rate, burst))),
            cached: RefCell::default(),
            service_requests: Cell::new(0),
            extras,
        };
        Ok((site, scheduler))
    }

    fn in_cache(&self, target: &str) -> bool {
        self.extras.cache && self.cached.borrow().contains(target)
    }

    /// Adds the target to the cache, if there is one and it has room; returns what was added.
    fn add_to_cache(&self, target: &str) -> Option<String> {
        let mut cached = self.cached.borrow_mut();
        let capacity = self.extras.cache && cached.len() < MAX_CACHED;
        (capacity && cached.insert(target.to_owned())).then(|| target.to_owned())
    }

    fn need(&self, wait: Wait) -> Option<Need> {
        match wait {
            Wait::No => None,
            Wait::For(Need::Service(demand)) => {
                let warmth = self.extras.warmth(
                    self.service_requests
                        .replace(self.service_requests.get() + 1),
                );
                let demand = demand as f64 * self.factor * warmth;
                Some(Need::Service(demand.round() as Nanos))
            }
            Wait::For(need) => Some(need),
            Wait::Jittered { mean, jitter } => {
                let deviation = rand::rng().random_range(-jitter..=jitter);
                Some(Need::Delay((mean * (1.0 + deviation)) as u64))
            }
        }
    }

    /// Waits until the job is done; returns `None` if there was no room for it. `waits`, true at first, becomes false
    /// when the job is certain to be done, whether or not the client stays.
    async fn fulfil(
        &self,
        need: Need,
        connection: &mut Connection,
        waits: &Arc<AtomicBool>,
    ) -> io::Result<Option<Nanos>> {
        connection.flush().await?; // earlier responses must not wait for this one
        let waits = Arc::clone(waits);
        let done = self.scheduler.fulfil(need, connection.number, waits);
        if !self.drops_abandoned {
            return done.await;
        }
        tokio::select! {
            sojourn = done => sojourn,
            () = connection.peer_has_gone() => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }

    /// Undoes what a request does to later ones, as it is not computed.
    fn undo(&self, need: Need, added: Option<String>) {
        if let Some(target) = added {
            self.cached.borrow_mut().remove(&target);
        }
        if let Need::Service(_) = need {
            self.service_requests.set(self.service_requests.get() - 1);
        }
    }

    async fn reject(&self, head: RequestHead, connection: &mut Connection) -> io::Result<()> {
        match self.extras.full.unwrap_or_default() {
            WhenFull::Unavailable => {
                let response = Response::refusal(503, "the queue is full");
                let RequestHead {
                    method,
                    persistence,
                    ..
                } = head;
                response.encode(method, persistence, None, &mut connection.output);
                Ok(())
            }
            WhenFull::Reset => {
                connection.reset_when_dropped()?;
                Err(io::ErrorKind::ConnectionReset.into())
            }
            WhenFull::Silence => connection.drain().await,
        }
    }
}

pub struct Task {
    plan: Plan,
    /// What the request added to the cache.
    added: Option<String>,
}

impl Site for Scheduled {
    type Task = Task;

    fn keep_alive(&self) -> KeepAlive {
        KeepAlive {
            idle: self.extras.idle,
            requests: self.extras.requests,
        }
    }

    fn interpret(&self, request: &Request) -> Task {
        let refused = |status, why: &'static str| Task {
            plan: Plan {
                response: Response::refusal(status, why),
                wait: Wait::No,
            },
            added: None,
        };
        if request.head.method == Method::Other {
            return refused(405, "only GET and HEAD are served here");
        }
        let now = self.scheduler.now();
        if self
            .bucket
            .as_ref()
            .is_some_and(|bucket| !bucket.borrow_mut().take(now))
        {
            return refused(429, "more requests than the rate allows");
        }
        let mut plan = routes::plan(request.target, &self.about);
        let mut added = None;
        if plan.wait != Wait::No {
            if self.in_cache(request.target) {
                plan.wait = Wait::For(Need::Service(CACHED_DEMAND));
            } else {
                added = self.add_to_cache(request.target);
            }
        }
        Task { plan, added }
    }

    async fn response(
        &self,
        Task { plan, added }: Task,
        head: RequestHead,
        connection: &mut Connection,
    ) -> io::Result<()> {
        let timing = match self.need(plan.wait) {
            None => None,
            Some(need) => {
                let waits = Arc::new(AtomicBool::new(true));
                let fulfilled = self.fulfil(need, connection, &waits).await;
                if waits.load(Ordering::Relaxed) {
                    self.undo(need, added);
                }
                let Some(sojourn) = fulfilled? else {
                    return self.reject(head, connection).await;
                };
                let (Need::Service(demand) | Need::Delay(demand)) = need;
                Some(Timing { demand, sojourn })
            }
        };
        plan.response.encode(
            head.method,
            head.persistence,
            timing,
            &mut connection.output,
        );
        if self.extras.two_writes && head.method != Method::Head {
            let body = plan.response.body.len();
            connection.send_in_two_writes(body).await?;
        }
        Ok(())
    }
}
