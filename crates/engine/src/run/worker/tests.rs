use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;

use serde_json::{Value, json};
use tokio::task::spawn_local;

use super::*;
use crate::machine::tasks::Task;
use crate::net::target::Address;
use crate::outcome::Outcome;
use crate::record::interval::Texts;
use crate::record::recorder::Delivery;
use crate::record::worker_interval::WorkerInterval;
use crate::run::prepare::prepare;

const SECOND: u64 = 1_000_000_000;

fn plan(host: &str, load: &Value) -> Plan {
    let get = json!({"name": "r", "method": "GET", "path": "/"});
    plan_of(host, load, &get)
}

fn plan_of(host: &str, load: &Value, request: &Value) -> Plan {
    let spec = json!({
        "seed": 1, "threads": 1, "interval_ns": 10_000_000, "duration_ns": 3 * SECOND,
        "workloads": [{
            "name": "w", "role": "measured", "target": {"host": host, "port": 1},
            "requests": [request],
            "load": {"closed": load},
            "timeouts": {"connect_ns": SECOND / 2, "total_ns": SECOND},
        }],
    });
    prepare(serde_json::from_value(spec).unwrap()).unwrap()
}

#[test]
fn ticks_are_short_beside_every_timeout_also_that_of_a_stalled_stream() {
    let clients = json!({"clients": 1});
    assert_eq!(
        tick_period_ns(&plan("127.0.0.1", &clients)),
        SECOND / 2 / 32
    );
    let stream = json!({
        "name": "r", "method": "GET", "path": "/",
        "stream": {"format": "sse", "stall_ns": 64_000_000},
    });
    let streams = plan_of("127.0.0.1", &clients, &stream);
    assert_eq!(tick_period_ns(&streams), 2_000_000);
}

/// Runs a plan on one worker with one additional task.
fn run_with<F: Future<Output = ()> + 'static>(
    plan: Plan,
    task: impl FnOnce(Task) -> F,
) -> Vec<WorkerInterval> {
    let plan = Arc::new(plan);
    let run_end = Arc::new(RunEnd::new(&plan));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    let (out, given) = channel();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let emptied = channel().1;
        let recorder = Recorder::new(0, &plan.outline(), Delivery { out, emptied });
        let clock = Clock::starting_at(monotonic_ns());
        let (run_end, steering) = (run_end.clone(), Arc::default());
        let worker = Worker::new(0, plan.clone(), clock, run_end, steering, recorder).unwrap();
        spawn_local(task(Task::take(&worker.shared.tasks)));
        worker.run().await;
    });
    given.try_iter().collect()
}

#[test]
fn a_panic_of_one_task_is_one_of_the_worker() {
    let panics = || {
        run_with(
            plan("127.0.0.1", &json!({"clients": 1})),
            |task| async move {
                task.register().await;
                panic!("the test wants it");
            },
        );
    };
    let panic = catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
    let text = panic.downcast_ref::<&str>().unwrap();
    assert_eq!(*text, "a task of this worker has panicked");
}

/// Answers one request on each of `connections` connections, and then refuses further ones.
fn answering(connections: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for _ in 0..connections {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    address
}

/// Makes ten requests, each over a new connection, to a name that has these addresses.
///
/// Returns how many were answered, and which addresses were passed over.
fn ten_to(addresses: &[SocketAddr]) -> (u64, Texts) {
    let load = json!({"clients": 1, "requests": 10, "requests_per_connection": 1});
    let mut plan = plan("localhost", &load);
    let address = |address: &SocketAddr| Address::Tcp(*address);
    plan.workloads[0].target.addresses = addresses.iter().map(address).collect();
    let given = run_with(plan, |_| async {});
    let mut passed_over = Texts::default();
    let mut answered = 0;
    for interval in &given {
        passed_over.append(&interval.workloads[0].passed_over);
        for series in &interval.series {
            answered += series.outcomes[Outcome::Ok as usize];
        }
    }
    (answered, passed_over)
}

fn texts(texts: &Texts) -> Vec<(String, u64)> {
    let owned = |(text, count): (&str, u64)| (text.to_owned(), count);
    texts.iter().map(owned).collect()
}

#[test]
fn of_a_names_addresses_one_that_never_answers_costs_one_attempt() {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket
        .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
        .unwrap();
    // When the queue is full, the kernel drops further connection requests.
    socket.listen(0).unwrap();
    let silent = socket.local_addr().unwrap().as_socket().unwrap();
    let _first = TcpStream::connect(silent).unwrap();
    let (answered, passed_over) = ten_to(&[silent, answering(10)]);
    assert_eq!(answered, 10);
    let why = format!("{silent}: no response to the connection request");
    assert_eq!(texts(&passed_over), [(why, 1)]);
}

#[test]
fn an_address_that_refuses_is_passed_over_and_that_is_told() {
    let refusing = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let (answered, passed_over) = ten_to(&[refusing, answering(10)]);
    assert_eq!(answered, 10);
    let why = format!("{refusing}: connection refused");
    assert_eq!(texts(&passed_over), [(why, 1)]);
}
