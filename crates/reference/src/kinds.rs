//! The disciplines by name, and the settings that each of them accepts.

use crate::extras::Extras;
use crate::present::Present;
use crate::scheduler::Waiter;
use jostle_discipline::spec::DisciplineSpec;
use jostle_discipline::{Assignment, Discipline, Fifo, Lifo, Nanos, RandomOrder, Workers};
use rand::RngExt;

const DEFAULT_WORKERS: usize = 2;
const DEFAULT_THREADS: usize = 5;
const DEFAULT_SLICE: Nanos = 10_000_000;
/// The time after which GHC's timer asks a thread to give way.
const DEFAULT_GATED_SLICE: Nanos = 20_000_000;

/// The settings from the command line. A kind of server takes out those that it understands.
#[derive(Debug, Default, PartialEq)]
pub struct Settings {
    pub workers: Option<usize>,
    pub threads: Option<usize>,
    pub cores: Option<usize>,
    pub slice: Option<Nanos>,
    pub assignment: Option<Assignment>,
    /// Whether requests whose client has gone are dropped before they begin.
    pub drop_gone: bool,
    /// Additional service on top of what the routes demand, in percent.
    pub slower: Option<f64>,
    pub extras: Extras,
    pub to: Option<String>,
    pub delay: Option<Nanos>,
    /// One in how many datagrams is lost, comes back twice, or comes back late.
    pub lose: Option<u64>,
    pub double: Option<u64>,
    pub hold: Option<u64>,
}

/// A discipline, how many requests it has in service at once, and whether it drops those whose client has gone.
pub struct ConfiguredDiscipline {
    pub discipline: Box<dyn Discipline<Waiter>>,
    pub parallelism: usize,
    pub drops_abandoned: bool,
    /// Whether all who wait are in one queue, whose length can be limited.
    pub one_queue: bool,
}

/// Creates the discipline called `name`; `None` if there is no such discipline.
pub fn make(name: &str, settings: &mut Settings) -> Option<ConfiguredDiscipline> {
    let spec = spec(name, settings)?;
    let present = settings.drop_gone.then(|| for_the_present(spec)).flatten();
    settings.drop_gone &= present.is_none(); // left set if not understood, so that it is reported
    Some(ConfiguredDiscipline {
        drops_abandoned: present.is_some(),
        discipline: present.unwrap_or_else(|| spec.make(draw)),
        parallelism: spec.parallelism(),
        one_queue: !matches!(
            spec,
            DisciplineSpec::OwnQueues { .. } | DisciplineSpec::SharedQueues { .. }
        ),
    })
}

fn draw(below: usize) -> usize {
    rand::rng().random_range(0..below)
}

/// The discipline that drops requests whose client has gone; `None` unless all requests wait in one queue.
fn for_the_present(spec: DisciplineSpec) -> Option<Box<dyn Discipline<Waiter>>> {
    Some(match spec {
        DisciplineSpec::Workers { workers } => {
            Box::new(Workers::new(workers, Present(Fifo::default())))
        }
        DisciplineSpec::Lifo { workers } => {
            Box::new(Workers::new(workers, Present(Lifo::default())))
        }
        DisciplineSpec::RandomOrder { workers } => {
            Box::new(Workers::new(workers, Present(RandomOrder::new(draw))))
        }
        _ => return None,
    })
}

fn spec(name: &str, settings: &mut Settings) -> Option<DisciplineSpec> {
    let mut workers = |default| settings.workers.take().unwrap_or(default);
    Some(match name {
        "run-to-completion" => DisciplineSpec::Workers { workers: 1 },
        "workers" => DisciplineSpec::Workers {
            workers: workers(DEFAULT_WORKERS),
        },
        "own-queues" => DisciplineSpec::OwnQueues {
            workers: workers(DEFAULT_WORKERS),
            assignment: settings
                .assignment
                .take()
                .unwrap_or(Assignment::ByConnection),
        },
        "locked-threads" => DisciplineSpec::LockedThreads {
            processes: workers(1),
            threads: settings.threads.take().unwrap_or(DEFAULT_THREADS),
            slice_ns: settings.slice.take().unwrap_or(DEFAULT_SLICE),
        },
        "lifo" => DisciplineSpec::Lifo {
            workers: workers(1),
        },
        "random-order" => DisciplineSpec::RandomOrder {
            workers: workers(1),
        },
        "gated-lifo" => DisciplineSpec::GatedLifo,
        "gated-slot" => DisciplineSpec::GatedSlot,
        "gated-by-timer" => DisciplineSpec::GatedByTimer {
            cores: settings.cores.take().unwrap_or(1),
            period_ns: settings.slice.take().unwrap_or(DEFAULT_GATED_SLICE),
            phase_ns: 0,
        },
        "shared-queues" => DisciplineSpec::SharedQueues {
            workers: workers(DEFAULT_WORKERS),
            slice_ns: settings.slice.take().unwrap_or(DEFAULT_SLICE),
        },
        "gated-answers" => DisciplineSpec::GatedAnswers {
            cores: settings.cores.take().unwrap_or(1),
            slice_ns: settings.slice.take().unwrap_or(DEFAULT_GATED_SLICE),
        },
        "processor-sharing" => DisciplineSpec::ProcessorSharing {
            cores: settings.cores.take().unwrap_or(1),
        },
        "round-robin" => DisciplineSpec::RoundRobin {
            cores: settings.cores.take().unwrap_or(1),
            slice_ns: settings.slice.take().unwrap_or(DEFAULT_SLICE),
        },
        "least-attained" => DisciplineSpec::LeastAttained {
            cores: settings.cores.take().unwrap_or(1),
            slice_ns: settings.slice.take().unwrap_or(DEFAULT_SLICE),
        },
        "watchdog" => DisciplineSpec::Watchdog {
            cores: settings.cores.take().unwrap_or(1),
            slice_ns: settings.slice.take().unwrap_or(DEFAULT_SLICE),
        },
        "newest-first" => DisciplineSpec::NewestFirst {
            cores: settings.cores.take().unwrap_or(1),
            slice_ns: settings.slice.take().unwrap_or(DEFAULT_SLICE),
        },
        _ => return None,
    })
}
