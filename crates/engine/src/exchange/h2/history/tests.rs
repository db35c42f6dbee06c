use super::*;

const MS: u64 = 1_000_000;

/// A stream that is ready, sent, answered and over at these milliseconds.
fn stream(history: &mut History, number: u32, times: [u64; 4]) -> Option<Wait> {
    let [ready, sent, head, end] = times.map(|ms| ms * MS);
    let entry = history.begin(0);
    if ready != sent {
        history.note_wait(entry, ready);
    }
    history.note_sent(entry, number, sent);
    history.note_head(entry, head);
    history.end(entry, true, end, 100)
}

#[test]
fn who_gets_nothing_while_a_body_comes_waited_behind_it() {
    let mut history = History::default();
    assert_eq!(stream(&mut history, 1, [10, 10, 12, 52]), None);
    let wait = stream(&mut history, 3, [20, 20, 53, 53]).unwrap();
    assert_eq!((wait.stream, wait.blocker), (3, 1));
    assert_eq!(wait.blocked_ns, 32 * MS);
    assert_eq!((wait.from_ns, wait.until_ns), (20 * MS, 53 * MS));
    let numbers: Vec<_> = history.around(&wait).iter().map(|one| one.stream).collect();
    assert_eq!(numbers, [1, 3]);
}

#[test]
fn a_body_that_still_comes_counts_up_to_now() {
    let mut history = History::default();
    let entry = history.begin(0);
    history.note_sent(entry, 1, 10 * MS);
    history.note_head(entry, 12 * MS);
    let wait = stream(&mut history, 3, [20, 20, 30, 30]).unwrap();
    assert_eq!((wait.blocker, wait.blocked_ns), (1, 10 * MS));
    let open = history.around(&wait)[0];
    assert_eq!((open.stream, open.end_ns), (1, 0));
}

#[test]
fn a_slow_response_beside_short_ones_waited_for_the_server_only() {
    let mut history = History::default();
    assert_eq!(stream(&mut history, 1, [10, 10, 20, 20]), None);
    assert_eq!(stream(&mut history, 3, [10, 10, 90, 90]), None);
    let reset = history.begin(0);
    history.note_sent(reset, 5, 90 * MS);
    assert_eq!(history.end(reset, false, 200 * MS, 0), None);
}

#[test]
fn to_wait_for_a_free_stream_is_to_wait_for_others() {
    let mut history = History::default();
    assert_eq!(stream(&mut history, 1, [10, 10, 30, 30]), None);
    let wait = stream(&mut history, 3, [12, 30, 31, 31]).unwrap();
    assert_eq!((wait.blocker, wait.blocked_ns), (0, 18 * MS));
}

#[test]
fn who_gives_up_without_a_stream_has_waited_as_well() {
    let mut history = History::default();
    let entry = history.begin(0);
    history.note_wait(entry, 10 * MS);
    let wait = history.end(entry, false, 25 * MS, 0).unwrap();
    assert_eq!(
        (wait.stream, wait.blocker, wait.blocked_ns),
        (0, 0, 15 * MS)
    );
}

#[test]
fn what_was_before_the_last_streams_is_forgotten() {
    let mut history = History::default();
    let early = history.begin(7);
    history.note_sent(early, 1, MS);
    for number in 1..=MAX_STREAMS as u32 {
        stream(&mut history, 2 * number + 1, [10, 10, 10, 10]);
    }
    history.note_head(early, 2 * MS);
    assert_eq!(history.end(early, true, 500 * MS, 0), None);
    assert_eq!(history.latest.len(), MAX_STREAMS);
    assert!(history.latest.iter().all(|one| one.request == 0));
}

#[test]
fn the_same_request_elsewhere_counts_where_it_was_sent_and_answered_meanwhile() {
    let mut history = History::default();
    for times in [
        [1, 1, 4, 4],
        [10, 10, 12, 12],
        [20, 20, 24, 24],
        [49, 49, 60, 60],
    ] {
        stream(&mut history, times[0] as u32, times);
    }
    let wait = |request| Wait {
        blocked_ns: 40 * MS,
        stream: 3,
        request,
        blocker: 1,
        from_ns: 10 * MS,
        until_ns: 50 * MS,
    };
    let times: Vec<_> = history.responses_within(wait(0)).collect();
    assert_eq!(times, [2 * MS, 4 * MS]);
    assert_eq!(history.responses_within(wait(1)).count(), 0);
}
