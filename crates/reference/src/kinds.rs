//! The disciplines by name, and the settings that each of them takes.

use jostle_simulator::discipline::{
    Discipline, Fifo, GatedLifo, Lifo, Nanos, ProcessorSharing, RandomOrder, RoundRobin, Workers,
};
use rand::SeedableRng;
use rand::rngs::SmallRng;

const DEFAULT_WORKERS: usize = 2;
const DEFAULT_SLICE: Nanos = 10_000_000;

/// What the command line said. A kind of server takes out what it understands.
#[derive(Debug, Default, PartialEq)]
pub struct Settings {
    pub workers: Option<usize>,
    pub cores: Option<usize>,
    pub slice: Option<Nanos>,
    /// Percent of service on top of what the routes demand.
    pub slower: Option<f64>,
    pub to: Option<String>,
    pub delay: Option<Nanos>,
}

/// A discipline, and on how many workers or cores it runs.
pub struct Made<J> {
    pub discipline: Box<dyn Discipline<J>>,
    pub parallelism: usize,
}

/// Makes the discipline called `name`; `None` if there is none.
pub fn make<J: 'static>(name: &str, settings: &mut Settings) -> Option<Made<J>> {
    Some(match name {
        "run-to-completion" => made(1, Workers::new(1, Fifo::default())),
        "workers" => {
            let workers = settings.workers.take().unwrap_or(DEFAULT_WORKERS);
            made(workers, Workers::new(workers, Fifo::default()))
        }
        "processor-sharing" => {
            let cores = settings.cores.take().unwrap_or(1);
            made(cores, ProcessorSharing::new(cores))
        }
        "round-robin" => {
            let cores = settings.cores.take().unwrap_or(1);
            made(
                cores,
                RoundRobin::new(cores, settings.slice.take().unwrap_or(DEFAULT_SLICE)),
            )
        }
        "lifo" => {
            let workers = settings.workers.take().unwrap_or(1);
            made(workers, Workers::new(workers, Lifo::default()))
        }
        "random-order" => {
            let workers = settings.workers.take().unwrap_or(1);
            made(
                workers,
                Workers::new(workers, RandomOrder::new(SmallRng::from_os_rng())),
            )
        }
        "gated-lifo" => made(1, GatedLifo::default()),
        _ => return None,
    })
}

fn made<J>(parallelism: usize, discipline: impl Discipline<J> + 'static) -> Made<J> {
    Made {
        discipline: Box::new(discipline),
        parallelism,
    }
}
