//! A burst: requests that reach an idle server at stated times, and when each is answered.

use jostle_discipline::spec::{DisciplineSpec, ZeroParameter};
use jostle_discipline::{Done, Nanos};

use crate::spec::drawing;

/// When a request arrives, how much service it demands, and over which connection it comes.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub at: Nanos,
    pub demand: Nanos,
    pub connection: u64,
}

/// Returns when each of `requests` is answered; `None` for one that found `capacity` others in the server.
///
/// Requests of the same moment arrive in the order given. `seed` determines a random order.
pub fn responses(
    discipline: DisciplineSpec,
    requests: &[Request],
    capacity: Option<usize>,
    seed: u64,
) -> Result<Vec<Option<Nanos>>, ZeroParameter> {
    discipline.check()?;
    let mut server = discipline.make(drawing(seed));
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|&index| requests[index].at);
    let mut responses = vec![None; requests.len()];
    let mut done = Vec::new();
    let mut present = 0;
    for index in order {
        let request = requests[index];
        server.advance(request.at, &mut done);
        present -= take_responses(&mut done, &mut responses);
        if capacity.is_none_or(|capacity| present < capacity) {
            server.arrive(request.at, request.demand, request.connection, index);
            present += 1;
        }
    }
    server.advance(Nanos::MAX / 2, &mut done);
    take_responses(&mut done, &mut responses);
    Ok(responses)
}

/// Notes the responses to completed requests; returns their number.
fn take_responses(done: &mut Vec<Done<usize>>, responses: &mut [Option<Nanos>]) -> usize {
    let count = done.len();
    for Done { at, job } in done.drain(..) {
        responses[job] = Some(at);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_once(demands: &[Nanos]) -> Vec<Request> {
        let request = |(index, &demand)| Request {
            at: 0,
            demand,
            connection: index as u64,
        };
        demands.iter().enumerate().map(request).collect()
    }

    #[test]
    fn each_request_is_answered_as_the_discipline_says_whatever_their_order() {
        let workers = DisciplineSpec::Workers { workers: 1 };
        let mut requests = at_once(&[8, 4, 2, 1]);
        let expected = [8, 12, 14, 15].map(Some);
        assert_eq!(responses(workers, &requests, None, 1).unwrap(), expected);
        for (index, request) in requests.iter_mut().enumerate() {
            request.at = 3 - index as Nanos; // the last comes first
        }
        let expected = [15, 7, 3, 1].map(Some);
        assert_eq!(responses(workers, &requests, None, 1).unwrap(), expected);
        let shared = DisciplineSpec::ProcessorSharing { cores: 1 };
        let expected = [15, 11, 7, 4].map(Some);
        assert_eq!(
            responses(shared, &at_once(&[8, 4, 2, 1]), None, 1).unwrap(),
            expected
        );
    }

    #[test]
    fn who_finds_the_server_full_is_refused() {
        let workers = DisciplineSpec::Workers { workers: 1 };
        let mut requests = at_once(&[5, 5, 5, 5]);
        requests[3].at = 5;
        let expected = [Some(5), Some(10), None, Some(15)];
        assert_eq!(responses(workers, &requests, Some(2), 1).unwrap(), expected);
    }

    #[test]
    fn a_random_order_follows_from_its_seed() {
        let random = DisciplineSpec::RandomOrder { workers: 1 };
        let requests = at_once(&[1; 20]);
        let made = |seed| responses(random, &requests, None, seed).unwrap();
        assert_eq!(made(1), made(1));
        assert_ne!(made(1), made(2));
    }

    #[test]
    fn a_server_that_could_serve_nobody_is_refused() {
        let nobody = DisciplineSpec::LockedThreads {
            processes: 1,
            threads: 0,
            slice_ns: 1,
        };
        assert_eq!(
            responses(nobody, &[], None, 1),
            Err(ZeroParameter("threads"))
        );
    }
}
