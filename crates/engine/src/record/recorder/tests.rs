use std::sync::mpsc::{Receiver, channel};

use super::*;

/// A recorder with intervals of 100 ns for one closed workload, and the receiver of its intervals.
fn recorder(end: u64) -> (Recorder, Receiver<WorkerInterval>) {
    let (recorder, given, _) = recorder_and_back(end);
    (recorder, given)
}

/// The same, with the sender that returns emptied intervals to the recorder.
fn recorder_and_back(end: u64) -> (Recorder, Receiver<WorkerInterval>, Sender<WorkerInterval>) {
    let workload = WorkloadOutline {
        measured: true,
        requests: 1,
        phases: 50,
    };
    let outline = Outline {
        interval_ns: 100,
        end_ns: end,
        rows: true,
        workloads: vec![workload],
    };
    let (out, given) = channel();
    let (back, emptied) = channel();
    let mut recorder = Recorder::new(0, &outline, Delivery { out, emptied });
    recorder.begin();
    (recorder, given, back)
}

fn one_long_interval(recorder: &mut Recorder) {
    recorder.interval_ns = 1_000_000_000_000;
    recorder.set_boundary();
}

fn sample(sent: u64, end: u64, outcome: Outcome) -> Sample {
    Sample {
        workload: 0,
        request: 0,
        phase: 0,
        client: 3,
        intended: sent - 10,
        ran: Some(sent - 5),
        connect: None,
        sent: Some(sent),
        headers: Some(end),
        end,
        outcome,
        why: None,
        status: 200,
        bytes_in: 40,
        bytes_out: 20,
        stream: None,
    }
}

#[test]
fn the_first_event_past_a_boundary_cuts_the_interval_before_it_is_recorded() {
    let (mut recorder, given) = recorder(1000);
    recorder.due(0, 20);
    recorder.sent(0, 30);
    // Nothing happens at 100 or 200; the response comes at 230.
    recorder.ended(&sample(30, 230, Outcome::Ok));
    recorder.finish(250);
    let intervals: Vec<WorkerInterval> = given.try_iter().collect();
    let times: Vec<_> = intervals
        .iter()
        .map(|i| (i.index, i.start_ns, i.end_ns, i.last))
        .collect();
    assert_eq!(
        times,
        [
            (0, 0, 100, false),
            (1, 100, 200, false),
            (2, 200, 250, true)
        ]
    );
    let in_flight: Vec<_> = intervals
        .iter()
        .map(|i| (i.workloads[0].in_flight_ns, i.workloads[0].in_flight))
        .collect();
    assert_eq!(in_flight, [(70, 1), (100, 1), (30, 0)]);
    assert_eq!(
        intervals.iter().map(|i| i.series.len()).collect::<Vec<_>>(),
        [0, 0, 1]
    );
    let series = &intervals[2].series[0];
    assert_eq!(
        (
            series.busy_sum_ns,
            series.service_sum_ns,
            series.response_sum_ns
        ),
        (200, 200, 210)
    );
    assert_eq!((series.bytes_in, series.bytes_out), (40, 20));
    assert_eq!(intervals[2].rows.client, [3]);
}

#[test]
fn what_comes_a_moment_after_the_planned_end_belongs_to_the_last_interval() {
    let (mut recorder, given) = recorder(200);
    recorder.sent(0, 150);
    recorder.ended(&sample(150, 203, Outcome::Ok));
    recorder.finish(200);
    let ends: Vec<_> = given
        .try_iter()
        .map(|i| (i.end_ns, i.last, i.series.len()))
        .collect();
    assert_eq!(ends, [(100, false, 0), (200, true, 1)]);
}

#[test]
fn wrong_statuses_are_counted_by_their_code_and_anew_in_each_interval() {
    let (mut recorder, given) = recorder(1000);
    for (status, outcome, end) in [
        (503, Outcome::WrongStatus, 40),
        (200, Outcome::Ok, 41),
        (404, Outcome::WrongStatus, 42),
        (503, Outcome::WrongStatus, 43),
        (500, Outcome::WrongStatus, 140),
    ] {
        recorder.sent(0, 30);
        recorder.ended(&Sample {
            status,
            ..sample(30, end, outcome)
        });
    }
    recorder.finish(150);
    let statuses: Vec<_> = given.try_iter().map(|given| failures(&given)).collect();
    let code = |code: &str, count| (Outcome::WrongStatus, code.to_owned(), count);
    let expected = [vec![code("503", 2), code("404", 1)], vec![code("500", 1)]];
    assert_eq!(statuses, expected);
}

#[test]
fn statuses_of_right_responses_are_counted_anew_in_each_interval() {
    let (mut recorder, given, back) = recorder_and_back(1000);
    let mut answered = |end, status, outcome| {
        recorder.sent(0, 30);
        recorder.ended(&Sample {
            status,
            ..sample(30, end, outcome)
        });
    };
    for (end, status) in [(40, 200), (41, 302), (42, 200), (43, 0), (44, 101)] {
        answered(end, status, Outcome::Ok);
    }
    answered(45, 404, Outcome::WrongStatus);
    answered(140, 302, Outcome::Ok);
    let mut first = given.recv().unwrap();
    assert_eq!(statuses(&first), [(200, 2), (302, 1)]);
    first.empty();
    back.send(first).unwrap();
    answered(240, 204, Outcome::Ok);
    answered(340, 200, Outcome::Ok);
    let later: Vec<_> = given.try_iter().map(|given| statuses(&given)).collect();
    assert_eq!(
        later,
        [[(302, 1)], [(204, 1)]],
        "nothing is left of an emptied one"
    );
}

fn statuses(interval: &WorkerInterval) -> Vec<(u16, u64)> {
    interval.series[0].statuses.iter().collect()
}

#[test]
fn one_request_with_a_wrong_status_is_shown_in_each_interval() {
    let (mut recorder, given) = recorder(1000);
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(5000));
    for (end, request) in [
        (40, "GET /a%2Fb?c HTTP/1.1\r\nHost: h\r\n\r\n"),
        (42, "GET /other HTTP/1.1\r\n\r\n"),
        (140, &long),
    ] {
        recorder.sent(0, 30);
        let sample = Sample {
            status: 404,
            ..sample(30, end, Outcome::WrongStatus)
        };
        recorder.refused(&sample, request.as_bytes());
        recorder.ended(&sample);
    }
    recorder.finish(150);
    let shown: Vec<_> = given
        .try_iter()
        .map(|given| given.series[0].refused.clone().unwrap())
        .collect();
    assert_eq!(&*shown[0], "GET /a%2Fb?c");
    assert_eq!(shown[1].len(), MAX_SHOWN_BYTES);
}

fn failures(interval: &WorkerInterval) -> Vec<(Outcome, String, u64)> {
    let failures = interval.series[0].failures.iter();
    let texts = failures.flat_map(|(outcome, texts)| {
        texts
            .iter()
            .map(move |(text, count)| (outcome, text.to_owned(), count))
    });
    texts.collect()
}

#[test]
fn why_requests_failed_is_told_in_few_words_for_each_outcome() {
    let (mut recorder, given) = recorder(1000);
    let mut fail = |end, outcome, why: &str| {
        recorder.sent(0, 30);
        recorder.ended(&Sample {
            why: Some(why.into()),
            ..sample(30, end, outcome)
        });
    };
    for number in 0..20 {
        fail(40, Outcome::TlsFailed, &format!("name {}", number / 2));
    }
    fail(41, Outcome::TlsFailed, &"x".repeat(10_000));
    fail(42, Outcome::Malformed, "no response");
    fail(140, Outcome::TlsFailed, &"y".repeat(10_000));
    recorder.finish(150);
    let given: Vec<_> = given.try_iter().map(|given| failures(&given)).collect();
    let tls = |why: String, count| (Outcome::TlsFailed, why, count);
    let mut first: Vec<_> = (0..8).map(|name| tls(format!("name {name}"), 2)).collect();
    first.push(tls("other".to_owned(), 5));
    first.push((Outcome::Malformed, "no response".to_owned(), 1));
    assert_eq!(given, [first, vec![tls("y".repeat(200), 1)]]);
}

#[test]
fn outcomes_go_into_the_right_histograms() {
    let (mut recorder, given) = recorder(1_000_000_000);
    one_long_interval(&mut recorder);
    for outcome in [
        Outcome::Ok,
        Outcome::ResponseTimeout,
        Outcome::Unfinished,
        Outcome::Reset,
        Outcome::WrongBody,
    ] {
        recorder.sent(0, 5_000);
        recorder.ended(&sample(5_000, 12_345_678, outcome));
    }
    recorder.finish(20_000_000);
    let interval = given.try_recv().unwrap();
    let count = |measure: Measure| interval.series[0].histograms[measure as usize].len();
    assert_eq!(
        [
            Measure::Service,
            Measure::Response,
            Measure::Headers,
            Measure::Body
        ]
        .map(count),
        [1; 4]
    );
    assert_eq!([Measure::Censored, Measure::Failed].map(count), [2, 2]);
    assert_eq!(
        [Measure::Lag, Measure::Pacing, Measure::Connect].map(count),
        [5, 5, 0]
    );
    let response = &interval.series[0].histograms[Measure::Response as usize];
    assert!(
        response.equivalent(response.max(), 12_341),
        "{} µs",
        response.max()
    );
}

#[test]
fn series_are_used_again_whatever_the_phases() {
    let (mut recorder, given, back) = recorder_and_back(u64::MAX);
    let mut places = std::collections::HashSet::new();
    for phase in 0..50 {
        let now = phase * 100 + 50;
        recorder.sent(0, now);
        recorder.ended(&Sample {
            phase: phase as usize,
            ..sample(now, now + 10, Outcome::Ok)
        });
        recorder.roll((phase + 1) * 100);
        let mut interval = given.try_recv().unwrap();
        let [series] = interval.series.as_slice() else {
            panic!("one series in an interval")
        };
        assert_eq!((u64::from(series.phase), series.outcomes[0]), (phase, 1));
        assert_eq!((series.bytes_in, series.busy_sum_ns), (40, 10));
        assert_eq!(series.histograms[Measure::Service as usize].len(), 1);
        places.insert(std::ptr::from_ref::<Series>(series));
        interval.empty();
        back.send(interval).unwrap();
    }
    assert!(places.len() <= 2, "{} series were made", places.len());
}

/// A queue of arrivals at these times.
fn queue(times: &[u64]) -> Rc<RefCell<Queue>> {
    let spec = serde_json::json!({"arrivals": {"trace": times}, "max_connections": 1});
    let spec = serde_json::from_value(spec).unwrap();
    let part = crate::schedule::partition::Partition::new(1, 0, 1);
    let schedule = crate::schedule::arrivals::Schedule::new(&spec, 1, part);
    Rc::new(RefCell::new(Queue::new(schedule)))
}

#[test]
fn an_arrival_is_due_in_the_interval_of_its_time_whenever_it_is_handed_out() {
    let (mut recorder, given) = recorder(1000);
    let queue = queue(&[40, 99, 100, 180, 199, 230, 310]);
    recorder.watch_queue(0, queue.clone());
    let hand_out = |recorder: &mut Recorder, now| {
        while let Some(arrival) = { queue.borrow_mut().take(now) } {
            recorder.handed_out(0, &arrival);
        }
    };
    hand_out(&mut recorder, 41);
    // The boundary at 100 has passed by the next look, and nothing else happened in between.
    hand_out(&mut recorder, 105);
    // The arrivals at 180 and 199 still wait when the boundary at 200 passes.
    recorder.count_waiting(190);
    recorder.roll(201);
    hand_out(&mut recorder, 240);
    recorder.finish(300);
    let due: Vec<_> = given
        .try_iter()
        .map(|interval| (interval.workloads[0].due, interval.workloads[0].waiting))
        .collect();
    assert_eq!(due, [(2, 0), (3, 2), (1, 0)]);
}

#[test]
fn requests_that_were_never_sent_are_counted_in_one_go_and_only_single_ones_have_rows() {
    let (mut recorder, given) = recorder(u64::MAX);
    one_long_interval(&mut recorder);
    let never_sent = |intended| Sample {
        sent: None,
        headers: None,
        intended,
        end: 5_000_000,
        ..sample(10, 10, Outcome::NeverSent)
    };
    recorder.never_sent(&never_sent(1_000_000), 60_000_000);
    recorder.never_sent(&never_sent(2_000_000), 1);
    recorder.finish(5_000_000);
    let last = given.try_recv().unwrap();
    let [series] = last.series.as_slice() else {
        panic!("one series")
    };
    let censored = &series.histograms[Measure::Censored as usize];
    assert_eq!(series.outcomes[Outcome::NeverSent as usize], 60_000_001);
    assert_eq!(censored.count_at(4000), 60_000_000);
    assert_eq!(censored.count_at(3000), 1);
    assert_eq!((last.rows.end_ns.len(), last.rows_lost), (1, 60_000_000));
}
