//! The open files that a run needs, and the limit on them.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::machine::open_files::open_files;
use crate::net::linger::MAX_LINGERING;
use crate::schedule::partition::share;
use crate::spec::error::StartError;
use crate::spec::{RunSpec, ShareSpec, SteerError, WorkloadSpec};

/// Open files that the run needs besides its connections: timers, pollers, resolver, pipes.
const OTHER_FILES: u64 = 64;
const FILES_PER_THREAD: u64 = 8 + MAX_LINGERING;

/// The whole load, where there is one generator.
pub const ALL: ShareSpec = ShareSpec { index: 0, of: 1 };

/// The open files that a run needs.
#[derive(Debug, Clone)]
pub struct OpenFiles {
    share: ShareSpec,
    /// Those that no client needs.
    others: u64,
    workloads: Vec<Need>,
}

/// What the clients of one workload need.
#[derive(Debug, Clone)]
struct Need {
    clients: u64,
    /// The number of connections that all of them share.
    shared: Option<u64>,
    /// Connections of one client to one server.
    each: u64,
    /// A redirect or a URL may lead a client to another server while its own connection stays open.
    away: bool,
}

impl Need {
    fn of(workload: &WorkloadSpec) -> Self {
        let journeys = workload.journeys.iter();
        let each = journeys.map(|journey| u64::from(journey.connections)).max();
        // On journeys, a WebSocket is an additional connection.
        let mut requests = workload.requests.iter();
        let socket = each.is_some() && requests.any(|request| request.websocket.is_some());
        Self {
            clients: workload.load.most_clients(),
            shared: workload.target.http2.and_then(|http2| http2.connections),
            each: each.unwrap_or(1) + u64::from(socket),
            away: workload.redirects.is_some(),
        }
    }

    fn files(&self, ShareSpec { index, of }: ShareSpec) -> u64 {
        let connections = self.shared.unwrap_or(u64::MAX).min(self.clients);
        let away = if self.away { self.clients } else { 0 };
        self.each * (share(connections, index, of) + share(away, index, of))
    }
}

impl OpenFiles {
    /// Counts those that this process has open now as needed, too.
    pub fn of(spec: &RunSpec) -> Self {
        Self {
            share: spec.share.unwrap_or(ALL),
            others: open_files() + OTHER_FILES + FILES_PER_THREAD * spec.threads as u64,
            workloads: spec.workloads.iter().map(Need::of).collect(),
        }
    }

    fn needed(&self) -> u64 {
        let clients = self.workloads.iter().map(|need| need.files(self.share));
        self.others + clients.sum::<u64>()
    }

    fn with_clients(&self, workload: usize, clients: u64) -> Self {
        let mut changed = self.clone();
        changed.workloads[workload].clients = clients;
        changed
    }

    /// Raises the limit of this process to what is needed, if it is lower.
    pub fn raise_limit(&self) -> Result<(), StartError> {
        let (limit, needed) = (getrlimit(Resource::Nofile), self.needed());
        let most = limit.maximum.unwrap_or(u64::MAX);
        let too_few = StartError::OpenFiles {
            needed,
            limit: most,
        };
        if needed > most {
            return Err(too_few);
        }
        if limit.current.is_some_and(|current| needed > current) {
            let raised = Rlimit {
                current: limit.maximum,
                ..limit
            };
            return setrlimit(Resource::Nofile, raised).map_err(|_| too_few);
        }
        Ok(())
    }

    /// Makes room for another number of clients of one workload.
    pub fn change_clients(&mut self, workload: usize, clients: u64) -> Result<(), SteerError> {
        let changed = self.with_clients(workload, clients);
        match changed.raise_limit() {
            Ok(()) => *self = changed,
            Err(StartError::OpenFiles { needed, limit }) => {
                let fits = |clients| self.with_clients(workload, clients).needed() <= limit;
                let (mut most, mut too_many) = (0, clients);
                while too_many - most > 1 {
                    let middle = most.midpoint(too_many);
                    *(if fits(middle) {
                        &mut most
                    } else {
                        &mut too_many
                    }) = middle;
                }
                return Err(SteerError::OpenFiles {
                    clients,
                    needed,
                    limit,
                    most,
                });
            }
            Err(_) => unreachable!("raising the limit fails in one way only"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_clients_than_there_is_room_for_are_refused_with_how_many_there_are() {
        let spec = serde_json::json!({
            "seed": 1, "threads": 1, "interval_ns": 10_000_000, "duration_ns": 1,
            "workloads": [{
                "name": "w", "role": "measured", "target": {"host": "127.0.0.1", "port": 1},
                "requests": [{"name": "r", "method": "GET", "path": "/"}],
                "load": {"closed": {"clients": 1}}, "redirects": {"most": 1},
                "timeouts": {"connect_ns": 1_000_000_000, "total_ns": 1_000_000_000},
            }],
        });
        let spec: RunSpec = serde_json::from_value(spec).unwrap();
        let Some(limit) = getrlimit(Resource::Nofile).maximum else {
            return;
        };
        let mut files = OpenFiles::of(&spec);
        let others = files.others;
        let refused = files.change_clients(0, limit).unwrap_err();
        let expected = SteerError::OpenFiles {
            clients: limit,
            needed: others + 2 * limit,
            limit,
            most: (limit - others) / 2,
        };
        assert_eq!(refused, expected);
        files.change_clients(0, 2).unwrap();
        assert_eq!(files.needed(), others + 4);
    }
}
