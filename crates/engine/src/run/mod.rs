//! The handle of a run, and its threads.
mod control;
mod files;
pub mod prepare;
pub mod worker;

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

use crate::load::plan::Plan;
use crate::load::run_end::RunEnd;
use crate::load::steering::Steering;
use crate::machine::clock::{Clock, monotonic_ns, unix_ns};
use crate::machine::cores::{Cores, pin, use_real_time_priority};
use crate::record::collect::{Outbox, Poll, collect};
use crate::record::recorder::{Delivery, Recorder};
use crate::record::worker_interval::WorkerInterval;
use crate::run::control::{Control, STEER_NOTICE_NS};
use crate::run::files::OpenFiles;
use crate::run::prepare::prepare;
use crate::run::worker::Worker;
use crate::spec::error::StartError;
use crate::spec::{Change, RunSpec, SteerError, Steered};

/// Time from the moment when all threads are ready to t = 0, in which each sets up what it needs.
const LEAD_NS: u64 = 5_000_000;
/// How far ahead a stop is scheduled, so that every worker knows of it in time and all end at the same moment.
const NOTICE_NS: u64 = 1_000_000;

/// A run that has started. Dropping it stops it.
#[derive(Debug)]
pub struct Run {
    clock: Clock,
    started_unix_ns: u64,
    end: Arc<RunEnd>,
    control: Mutex<Control>,
    outbox: Arc<Outbox>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Run {
    /// Checks the specification, resolves names, and starts the worker threads.
    ///
    /// An error names the field or the host, and says what to do.
    pub fn start(spec: RunSpec) -> Result<Self, StartError> {
        let (cores, start_unix_ns) = (spec.cores.clone(), spec.start_unix_ns);
        let real_time = spec.real_time;
        let files = OpenFiles::of(&spec);
        let plan = Arc::new(prepare(spec)?);
        let end = Arc::new(RunEnd::new(&plan));
        let steering = Arc::new(Steering::default());
        let (out, incoming) = mpsc::channel();
        let mut starts: Vec<Sender<Clock>> = Vec::new();
        let mut emptied = Vec::new();
        let mut workers = Vec::new();
        for index in 0..plan.threads {
            let core = (!cores.is_empty()).then(|| cores[index % cores.len()]);
            let (ready, is_ready) = mpsc::channel();
            let (start, when) = mpsc::channel();
            let (back, from_collector) = mpsc::channel();
            emptied.push(back);
            let thread = Thread {
                index,
                core,
                real_time,
                plan: plan.clone(),
                end: end.clone(),
                steering: steering.clone(),
            };
            let delivery = Delivery {
                out: out.clone(),
                emptied: from_collector,
            };
            let handle = thread::Builder::new()
                .name(format!("jostle-{index}"))
                .spawn(move || thread.run(delivery, &ready, &when))
                .map_err(|error| StartError::Worker {
                    worker: index,
                    error,
                })?;
            is_ready.recv().unwrap_or_else(|_| {
                Err(StartError::Worker {
                    worker: index,
                    error: io::Error::other("it died"),
                })
            })?;
            starts.push(start);
            workers.push(handle);
        }
        drop(out);
        let outbox = Arc::new(Outbox::default());
        // Before the workers are told to start: if this fails, nobody could end what they have begun.
        let collector = start_collector(workers, incoming, emptied, outbox.clone())?;
        let (clock, started_unix_ns) = zero(start_unix_ns);
        for start in starts {
            // If the thread does not receive it, it has died and is reported as lost.
            let _ = start.send(clock);
        }
        Ok(Self {
            clock,
            started_unix_ns,
            end,
            control: Mutex::new(Control::new(plan, files, steering)),
            outbox,
            threads: Mutex::new(vec![collector]),
        })
    }

    /// Returns the next interval, merged over all workers; [`Poll::Finished`] after the last. Blocks up to `timeout`.
    pub fn next_interval(&self, timeout: Duration) -> Poll {
        self.outbox.next(timeout)
    }

    /// Ends the run cleanly: everything recorded is delivered, and requests in flight are counted as unfinished.
    pub fn stop(&self) {
        self.end.end_at(match self.clock.now() {
            0 => 0,
            now => now + NOTICE_NS,
        });
    }

    /// Changes the load of a workload from `at` on (ns from t = 0), or soon if that is not given.
    ///
    /// Returns from when on it holds, and what it comes to: on all workers at the same moment, unless one of them was kept from its work until
    /// then. Whatever was to come after that moment does not, earlier changes included; due times that were given out
    /// already stay. A run may end sooner by a change, never later.
    pub fn steer(
        &self,
        workload: usize,
        change: Change,
        at: Option<u64>,
    ) -> Result<Steered, SteerError> {
        let now = self.clock.now();
        if now >= self.end.end_ns() {
            return Err(SteerError::Over);
        }
        let at = at.unwrap_or(now + STEER_NOTICE_NS);
        let control = self.control.lock();
        let mut control = control.unwrap_or_else(PoisonError::into_inner);
        let (steered, end) = control.steer(workload, change, at, self.end.end_ns())?;
        self.end.end_at(end);
        Ok(steered)
    }

    /// The wall-clock time of t = 0.
    pub fn started_unix_ns(&self) -> u64 {
        self.started_unix_ns
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop();
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // If it panicked, the panic has been printed already.
            let _ = thread.join();
        }
    }
}

/// Returns the clock of the run, and the wall-clock time of its zero.
fn zero(start_unix_ns: Option<u64>) -> (Clock, u64) {
    let (monotonic, unix) = (monotonic_ns(), unix_ns());
    let wait = start_unix_ns.map_or(LEAD_NS, |start| start.saturating_sub(unix).max(LEAD_NS));
    (Clock::starting_at(monotonic + wait), unix + wait)
}

fn start_collector(
    workers: Vec<JoinHandle<()>>,
    incoming: Receiver<WorkerInterval>,
    emptied: Vec<Sender<WorkerInterval>>,
    outbox: Arc<Outbox>,
) -> Result<JoinHandle<()>, StartError> {
    thread::Builder::new()
        .name("jostle-collect".into())
        .spawn(move || {
            collect(
                &incoming,
                &emptied,
                &|worker| workers[worker].is_finished(),
                &outbox,
            );
            for worker in workers {
                let _ = worker.join();
            }
        })
        .map_err(|error| StartError::Worker { worker: 0, error })
}

/// What a worker's thread is started with.
struct Thread {
    index: usize,
    core: Option<usize>,
    real_time: bool,
    plan: Arc<Plan>,
    end: Arc<RunEnd>,
    steering: Arc<Steering>,
}

impl Thread {
    fn run(
        self,
        delivery: Delivery,
        ready: &Sender<Result<(), StartError>>,
        when: &Receiver<Clock>,
    ) {
        let runtime = match self.begin() {
            Ok(runtime) => runtime,
            Err(error) => {
                let _ = ready.send(Err(error));
                return;
            }
        };
        let _ = ready.send(Ok(()));
        // No clock is sent if another thread could not start.
        let Ok(clock) = when.recv() else { return };
        let _ending = EndsWithPanic(&self.end, clock);
        self.work(&runtime, clock, delivery);
        // Does not wait for name resolutions that are still running.
        runtime.shutdown_background();
    }

    fn begin(&self) -> Result<Runtime, StartError> {
        let worker = self.index;
        let failed = |error| StartError::Worker { worker, error };
        let mut builder = Builder::new_current_thread();
        builder.enable_io();
        if let Some(core) = self.core {
            // The runtime's threads, which resolve names, would inherit this core and starve behind the worker.
            let cores = Cores::of_this_thread().map_err(failed)?;
            builder.on_thread_start(move || drop(cores.pin()));
            pin(core)?;
        }
        if self.real_time {
            use_real_time_priority().map_err(failed)?;
        }
        builder.build().map_err(failed)
    }

    fn work(&self, runtime: &Runtime, clock: Clock, delivery: Delivery) {
        let tasks = LocalSet::new();
        tasks.block_on(runtime, async {
            let recorder = Recorder::new(self.index, &self.plan.outline(), delivery);
            let worker = Worker::new(
                self.plan.worker_index(self.index),
                self.plan.clone(),
                clock,
                self.end.clone(),
                self.steering.clone(),
                recorder,
            );
            let worker =
                worker.expect("there is room for a timer, and the scripts were loaded before");
            worker.run().await;
        });
    }
}

/// Ends the run if its worker panics, as nobody else would do that worker's share.
struct EndsWithPanic<'a>(&'a RunEnd, Clock);

impl Drop for EndsWithPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end_at(self.1.now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(core: Option<usize>) -> Thread {
        let spec = serde_json::json!({
            "seed": 1, "threads": 2, "interval_ns": 10_000_000, "duration_ns": 60_000_000_000_u64,
            "workloads": [{
                "name": "w", "role": "measured", "target": {"host": "127.0.0.1", "port": 1},
                "requests": [{"name": "r", "method": "GET", "path": "/"}],
                "load": {"closed": {"clients": 1}},
                "timeouts": {"connect_ns": 1_000_000_000, "total_ns": 1_000_000_000},
            }],
        });
        let plan = Arc::new(prepare(serde_json::from_value(spec).unwrap()).unwrap());
        Thread {
            index: 0,
            core,
            real_time: false,
            end: Arc::new(RunEnd::new(&plan)),
            steering: Arc::default(),
            plan,
        }
    }

    fn allowed_cores() -> String {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let allowed = status
            .lines()
            .find(|line| line.starts_with("Cpus_allowed_list:"));
        allowed.unwrap().to_owned()
    }

    #[test]
    fn threads_that_resolve_names_do_not_stay_on_the_worker_s_core() {
        thread::spawn(|| {
            let before = allowed_cores();
            let first = before.trim_start_matches(|c: char| !c.is_ascii_digit());
            let first = first.split(['-', ',']).next().unwrap().parse().unwrap();
            let runtime = thread(Some(first)).begin().unwrap();
            assert_eq!(allowed_cores(), format!("Cpus_allowed_list:\t{first}"));
            let resolver = runtime.spawn_blocking(allowed_cores);
            assert_eq!(runtime.block_on(resolver).unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_worker_that_is_not_told_to_start_returns() {
        let (ready, is_ready) = mpsc::channel();
        let (start, when) = mpsc::channel();
        let (out, given) = mpsc::channel();
        let delivery = Delivery {
            out,
            emptied: mpsc::channel().1,
        };
        let worker = thread(None);
        let worker = thread::spawn(move || worker.run(delivery, &ready, &when));
        is_ready.recv().unwrap().unwrap();
        drop(start);
        worker.join().unwrap();
        assert!(given.recv().is_err(), "nothing is recorded");
    }

    #[test]
    fn a_worker_that_panics_ends_the_run() {
        let thread = thread(None);
        let end = thread.end.clone();
        let panics = move || {
            let _ending = EndsWithPanic(&thread.end, Clock::starting_at(monotonic_ns() - 5));
            panic!("the test wants it");
        };
        std::thread::spawn(panics).join().unwrap_err();
        assert!(end.end_ns() < 60_000_000_000);
    }
}
