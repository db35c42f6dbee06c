use std::sync::mpsc::channel;

use super::*;

/// Worker `worker`'s part of interval `index`, with one due request.
fn part(worker: usize, index: u64, last: bool) -> WorkerInterval {
    let mut part = WorkerInterval::new(worker);
    (part.index, part.last) = (index, last);
    part.start_ns = index * 100;
    part.end_ns = (index + 1) * 100 - u64::from(last) * 50;
    part.workloads = vec![WorkloadState {
        due: 1,
        in_flight: 2,
        ..WorkloadState::default()
    }];
    (part.thread.cpu_ns, part.thread.wall_ns) = (7, 100);
    part.rows.end_ns = vec![index];
    part
}

/// The intervals that become available after each part: index of the start, number of due requests, last.
fn merge(workers: usize, parts: &[(usize, u64, bool)]) -> Vec<Vec<(u64, u64, bool)>> {
    let mut merger = Merger::new(workers);
    let given = parts.iter().map(|(worker, index, last)| {
        merger.add(&mut part(*worker, *index, *last));
        std::iter::from_fn(|| merger.next())
            .map(|interval| {
                (
                    interval.start_ns / 100,
                    interval.workloads[0].due,
                    interval.last,
                )
            })
            .collect()
    });
    given.collect()
}

#[test]
fn an_interval_is_given_when_no_part_is_missing() {
    let given = merge(
        2,
        &[(0, 0, false), (0, 1, false), (1, 0, false), (1, 1, false)],
    );
    assert_eq!(
        given,
        [vec![], vec![], vec![(0, 2, false)], vec![(1, 2, false)]]
    );
}

/// A worker's part of the first interval, with so many right responses of each status.
fn answered(worker: usize, counts: &[(u16, u64)]) -> WorkerInterval {
    let mut part = part(worker, 0, true);
    let mut series = Box::<Series>::default();
    for (status, count) in counts {
        series.statuses.add(*status, *count);
    }
    part.series.push(series);
    part
}

#[test]
fn statuses_of_several_workers_add_up() {
    let mut merger = Merger::new(2);
    merger.add(&mut answered(0, &[(200, 2), (302, 1)]));
    merger.add(&mut answered(1, &[(302, 5), (204, 1)]));
    let interval = merger.next().unwrap();
    let counts: Vec<_> = interval.series[0].statuses.iter().collect();
    assert_eq!(counts, [(200, 2), (302, 6), (204, 1)]);
}

#[test]
fn the_last_one_is_known_even_if_workers_end_at_different_ones() {
    let given = merge(2, &[(0, 0, true), (1, 0, false), (1, 1, true)]);
    assert_eq!(given, [vec![], vec![(0, 2, false)], vec![(1, 1, true)]]);
    let given = merge(2, &[(1, 0, false), (1, 1, true), (0, 0, true)]);
    assert_eq!(given, [vec![], vec![], vec![(0, 2, false), (1, 1, true)]]);
    assert_eq!(merge(1, &[(0, 0, true)]), [vec![(0, 1, true)]]);
}

#[test]
fn a_dead_worker_is_not_waited_for_but_reported() {
    let mut merger = Merger::new(2);
    merger.add(&mut part(0, 0, false));
    merger.add(&mut part(1, 0, false));
    assert!(
        merger
            .next()
            .is_some_and(|interval| interval.workers_lost == 0)
    );
    merger.add(&mut part(0, 1, true));
    assert!(merger.next().is_none());
    merger.drop_gone(&|worker| worker == 1);
    let last = merger.next().unwrap();
    assert!(last.last && last.workers_lost == 1);
    assert!(merger.complete());
}

#[test]
fn a_worker_that_ends_while_it_is_missed_is_not_lost() {
    let (out, incoming) = channel();
    let (back, _emptied) = channel();
    let outbox = Arc::new(Outbox::default());
    let ends = |_: usize| out.send(part(0, 0, true)).is_ok();
    collect(&incoming, &[back], &ends, &outbox);
    let Poll::Interval(last) = outbox.next(Duration::ZERO) else {
        panic!("its last interval is missing")
    };
    assert_eq!((last.last, last.workers_lost), (true, 0));
}

#[test]
fn intervals_that_wait_too_long_are_merged_and_numbered_anew() {
    let outbox = Outbox::default();
    let mut merger = Merger::new(1);
    let count = MAX_WAITING as u64 + 10;
    for index in 0..count {
        merger.add(&mut part(0, index, index + 1 == count));
        outbox.put(merger.next().unwrap());
    }
    outbox.close();
    let mut due = 0;
    let mut end = 0;
    for index in 0..MAX_WAITING as u64 {
        let Poll::Interval(interval) = outbox.next(Duration::ZERO) else {
            panic!("too few")
        };
        assert_eq!((interval.index, interval.start_ns), (index, end));
        assert_eq!(
            interval.workloads[0].in_flight, 2,
            "what stands at the end is not added up"
        );
        assert_eq!(
            interval.threads[0].cpu_ns * 100,
            7 * interval.threads[0].wall_ns
        );
        assert!(interval.rows.end_ns.is_sorted());
        due += interval.workloads[0].due;
        end = interval.end_ns;
    }
    assert_eq!((due, end), (count, count * 100 - 50));
    assert!(matches!(outbox.next(Duration::MAX), Poll::Finished));
}
