//! The handle of a run, and its threads.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

use crate::load::finish::Finish;
use crate::plan::Plan;
use crate::prepare::{pin, precede, prepare};
use crate::record::collect::{Outbox, Poll, collect};
use crate::record::recorder::{Recorder, WorkerInterval};
use crate::schedule::clock::{Clock, monotonic_ns, unix_ns};
use crate::spec::RunSpec;
use crate::spec::validate::StartError;
use crate::worker::Worker;

/// From the moment when all threads are ready to t = 0, so that none is late.
const LEAD_NS: u64 = 1_000_000;
/// How often a run that is to start later looks whether it was stopped before.
const WAIT_STEP: Duration = Duration::from_millis(20);

/// A run that has started. Dropping it stops it.
#[derive(Debug)]
pub struct Run {
    clock: Clock,
    started_unix_ns: u64,
    finish: Arc<Finish>,
    outbox: Arc<Outbox>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Run {
    /// Checks the specification, resolves names, and starts the worker threads. An error names the field or the
    /// host and says what to do.
    pub fn start(spec: RunSpec) -> Result<Self, StartError> {
        let (cores, start_unix_ns) = (spec.cores.clone(), spec.start_unix_ns);
        let real_time = spec.real_time;
        let plan = Arc::new(prepare(spec)?);
        let finish = Arc::new(Finish::new(&plan));
        let (out, incoming) = mpsc::channel();
        let mut starts: Vec<Sender<Clock>> = Vec::new();
        let mut workers = Vec::new();
        for index in 0..plan.threads {
            let core = (!cores.is_empty()).then(|| cores[index % cores.len()]);
            let (ready, is_ready) = mpsc::channel();
            let (start, when) = mpsc::channel();
            let thread = Thread {
                index,
                core,
                real_time,
                plan: plan.clone(),
                finish: finish.clone(),
                out: out.clone(),
            };
            let handle = thread::Builder::new()
                .name(format!("jostle-{index}"))
                .spawn(move || thread.run(&ready, &when))
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
        let (clock, started_unix_ns) = zero(start_unix_ns);
        for start in starts {
            // A thread that does not listen has died, and is reported as lost.
            let _ = start.send(clock);
        }
        let outbox = Arc::new(Outbox::default());
        let threads = vec![start_collector(workers, incoming, outbox.clone())?];
        Ok(Self {
            clock,
            started_unix_ns,
            finish,
            outbox,
            threads: Mutex::new(threads),
        })
    }

    /// Blocks up to `timeout`: the next interval, merged over all workers. [`Poll::Finished`] after the last.
    pub fn next_interval(&self, timeout: Duration) -> Poll {
        self.outbox.next(timeout)
    }

    /// Ends the run cleanly: what was recorded comes out, requests in flight are counted as unfinished.
    pub fn stop(&self) {
        self.finish.end_at(self.clock.now());
    }

    /// Wall clock at t = 0.
    pub fn started_unix_ns(&self) -> u64 {
        self.started_unix_ns
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop();
        let threads = std::mem::take(
            &mut *self
                .threads
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner),
        );
        for thread in threads {
            // One that panicked has said so already, and `workers_lost` has counted it.
            let _ = thread.join();
        }
    }
}

/// The clock of the run, and its zero by the wall clock.
fn zero(start_unix_ns: Option<u64>) -> (Clock, u64) {
    let (monotonic, unix) = (monotonic_ns(), unix_ns());
    let wait = start_unix_ns.map_or(LEAD_NS, |start| start.saturating_sub(unix).max(LEAD_NS));
    (Clock::starting_at(monotonic + wait), unix + wait)
}

fn start_collector(
    workers: Vec<JoinHandle<()>>,
    incoming: Receiver<WorkerInterval>,
    outbox: Arc<Outbox>,
) -> Result<JoinHandle<()>, StartError> {
    thread::Builder::new()
        .name("jostle-collect".into())
        .spawn(move || {
            collect(
                workers.len(),
                &incoming,
                &|worker| workers[worker].is_finished(),
                &outbox,
            );
            for worker in workers {
                let _ = worker.join();
            }
        })
        .map_err(|error| StartError::Worker { worker: 0, error })
}

/// What a worker's thread begins with.
struct Thread {
    index: usize,
    core: Option<usize>,
    real_time: bool,
    plan: Arc<Plan>,
    finish: Arc<Finish>,
    out: Sender<WorkerInterval>,
}

impl Thread {
    fn run(self, ready: &Sender<Result<(), StartError>>, when: &Receiver<Clock>) {
        let runtime = match self.begin() {
            Ok(runtime) => runtime,
            Err(error) => {
                let _ = ready.send(Err(error));
                return;
            }
        };
        let _ = ready.send(Ok(()));
        // No clock comes when another thread could not start.
        let Ok(clock) = when.recv() else { return };
        self.work(&runtime, clock);
        // A resolver that is still busy is not waited for.
        runtime.shutdown_background();
    }

    fn begin(&self) -> Result<Runtime, StartError> {
        let worker = self.index;
        self.core.map_or(Ok(()), pin)?;
        if self.real_time { precede() } else { Ok(()) }
            .and_then(|()| Builder::new_current_thread().enable_io().build())
            .map_err(|error| StartError::Worker { worker, error })
    }

    fn work(&self, runtime: &Runtime, clock: Clock) {
        while clock.now() == 0 && self.finish.end_ns() > 0 {
            thread::sleep(
                Duration::from_nanos(clock.monotonic(0).saturating_sub(monotonic_ns()))
                    .min(WAIT_STEP),
            );
        }
        let tasks = LocalSet::new();
        tasks.block_on(runtime, async {
            let recorder =
                Recorder::new(self.index, &self.plan, self.plan.end_ns, self.out.clone());
            let worker = Worker::new(
                self.plan.worker(self.index),
                self.plan.clone(),
                clock,
                self.finish.clone(),
                recorder,
            );
            let worker = worker.expect("a timer can be had: open files were counted before");
            worker.run().await;
        });
    }
}
