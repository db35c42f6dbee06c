//! The disciplines by name, and the settings that each of them takes.

use jostle_simulator::discipline::{Discipline, Nanos};
use jostle_simulator::spec::DisciplineSpec;

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
pub fn make<J: Send + 'static>(name: &str, settings: &mut Settings) -> Option<Made<J>> {
    let spec = spec(name, settings)?;
    Some(Made {
        discipline: spec.make(rand::random()),
        parallelism: spec.parallelism(),
    })
}

fn spec(name: &str, settings: &mut Settings) -> Option<DisciplineSpec> {
    let mut workers = |default| settings.workers.take().unwrap_or(default);
    Some(match name {
        "run-to-completion" => DisciplineSpec::Workers { workers: 1 },
        "workers" => DisciplineSpec::Workers {
            workers: workers(DEFAULT_WORKERS),
        },
        "lifo" => DisciplineSpec::Lifo {
            workers: workers(1),
        },
        "random-order" => DisciplineSpec::RandomOrder {
            workers: workers(1),
        },
        "gated-lifo" => DisciplineSpec::GatedLifo,
        "processor-sharing" => DisciplineSpec::ProcessorSharing {
            cores: settings.cores.take().unwrap_or(1),
        },
        "round-robin" => DisciplineSpec::RoundRobin {
            cores: settings.cores.take().unwrap_or(1),
            slice_ns: settings.slice.take().unwrap_or(DEFAULT_SLICE),
        },
        _ => return None,
    })
}
