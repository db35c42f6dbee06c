//! Small servers on loopback, and runs against them.
#![allow(clippy::needless_pass_by_value, reason = "literals are given")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jostle_engine::interval::{Failures, Interval, Measure, Rows, Series, Texts, WorkloadState};
use jostle_engine::outcome::{OUTCOME_NAMES, OUTCOMES, Outcome};
use jostle_engine::streams::{self, StreamSeries};
use jostle_engine::{Poll, Run, StartError};
use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

/// TLS as a server for `localhost` with a certificate that it signed itself.
pub fn self_signed() -> TlsAcceptor {
    signed_by_itself(&CertificateParams::new(vec!["localhost".to_owned()]).unwrap()).0
}

/// TLS as a server with a certificate of this kind; and the certificate, in PEM.
pub fn signed_by_itself(kind: &CertificateParams) -> (TlsAcceptor, String) {
    let key = KeyPair::generate().unwrap();
    let certificate = kind.self_signed(&key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        );
    let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
    (acceptor, certificate.pem())
}

/// A server in a thread of its own; it ends with the test's process.
pub fn serve<F, Fut>(connection: F) -> SocketAddr
where
    F: Fn(TcpStream) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async move {
            let listener = TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::task::spawn_local(connection(stream));
            }
        });
    });
    address
}

/// Answers every request with `response` at once, and closes when the request asks for it.
pub fn answering(response: &'static [u8]) -> SocketAddr {
    serve(move |mut stream| async move {
        while let Some(request) = read_request(&mut stream).await {
            stream.write_all(response).await.ok();
            if request.contains("Connection: close") {
                return;
            }
        }
    })
}

/// Answers each request, head and body, with what `response` makes of it; all requests, as they came.
pub fn answering_with<F>(response: F) -> (SocketAddr, Arc<Mutex<Vec<String>>>)
where
    F: AsyncFn(&str) -> String + Send + Sync + 'static,
{
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (seen_by_server, response) = (seen.clone(), Arc::new(response));
    let address = serve(move |mut stream| {
        let (seen, response) = (seen_by_server.clone(), response.clone());
        async move {
            let mut kept = Vec::new();
            loop {
                let mut bytes = [0; 4096];
                match stream.read(&mut bytes).await {
                    Ok(0) | Err(_) => return,
                    Ok(n) => kept.extend_from_slice(&bytes[..n]),
                }
                while let Some(length) = whole_request(&kept) {
                    let request: Vec<u8> = kept.drain(..length).collect();
                    let request = String::from_utf8(request).unwrap();
                    let reply = response(&request).await;
                    seen.lock().unwrap().push(request);
                    stream.write_all(reply.as_bytes()).await.ok();
                }
            }
        }
    });
    (address, seen)
}

/// The length of the first request, where all of it is there.
fn whole_request(bytes: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(bytes).ok()?;
    let head = text.find("\r\n\r\n")? + 4;
    let mut lines = text[..head].lines();
    let length = lines.find_map(|line| line.strip_prefix("Content-Length: "));
    let length = length.map_or(0, |digits| digits.parse::<usize>().unwrap());
    (bytes.len() >= head + length).then_some(head + length)
}

/// A right response.
pub const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// One request's head; `None` when the client has closed.
pub async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    let mut byte = [0; 4096];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte).await {
            Ok(0) | Err(_) => return None,
            Ok(n) => request.extend_from_slice(&byte[..n]),
        }
    }
    Some(String::from_utf8(request).unwrap())
}

/// A workload with one GET request and generous timeouts.
pub fn workload(address: SocketAddr, load: Value) -> Value {
    json!({
        "name": "test", "role": "measured",
        "target": {"host": address.ip().to_string(), "port": address.port()},
        "requests": [{"name": "get", "method": "GET", "path": "/"}],
        "load": load,
        "timeouts": {"connect_ns": 5 * SECOND, "total_ns": 5 * SECOND},
    })
}

/// A run of one workload; `duration_ms` 0: until its requests are done.
pub fn one(workload: Value, duration_ms: u64) -> Value {
    several(vec![workload], duration_ms)
}

pub fn several(workloads: Vec<Value>, duration_ms: u64) -> Value {
    let duration = (duration_ms > 0).then_some(duration_ms * MS);
    json!({"seed": 7, "threads": 2, "interval_ns": 50 * MS, "duration_ns": duration, "rows": true, "workloads": workloads})
}

/// Merges `change` into the object at `pointer`.
pub fn with(mut spec: Value, pointer: &str, change: Value) -> Value {
    let place = spec
        .pointer_mut(pointer)
        .unwrap_or_else(|| panic!("no {pointer} in the specification"));
    match (place.as_object_mut(), change) {
        (Some(object), Value::Object(change)) => object.extend(change),
        (_, change) => *place = change,
    }
    spec
}

pub fn start(spec: Value) -> Result<Run, StartError> {
    Run::start(serde_json::from_value(spec).unwrap())
}

pub fn run(spec: Value) -> Seen {
    Seen::of(&start(spec).unwrap())
}

/// All intervals of a run.
pub struct Seen(pub Vec<Interval>);

impl Seen {
    pub fn of(run: &Run) -> Self {
        let mut intervals = Vec::new();
        loop {
            match run.next_interval(Duration::from_secs(20)) {
                Poll::Interval(interval) => intervals.push(*interval),
                Poll::Pending => panic!("no interval in 20 s"),
                Poll::Finished => break,
            }
        }
        let seen = Self(intervals);
        seen.check();
        seen
    }

    /// What is true of every run.
    fn check(&self) {
        let last = self.0.last().expect("every run has an interval");
        assert!(last.last && self.0.iter().filter(|interval| interval.last).count() == 1);
        assert_eq!(last.workers_lost, 0);
        for (index, interval) in self.0.iter().enumerate() {
            assert_eq!(interval.index, index as u64);
            let before = index
                .checked_sub(1)
                .map_or(0, |before| self.0[before].end_ns);
            assert_eq!(interval.start_ns, before, "intervals are without gaps");
            assert!(
                interval.end_ns > interval.start_ns,
                "an interval has a length"
            );
            assert_eq!(interval.threads.len(), self.0[0].threads.len());
            assert!(
                interval.rows.end_ns.iter().all(|end| *end <= last.end_ns),
                "nothing that comes after the end counts"
            );
        }
        for workload in 0..last.workloads.len() {
            let due = self.sum(workload, |state| state.due);
            assert_eq!(
                due,
                self.series(workload)
                    .map(|s| s.outcomes.iter().sum::<u64>())
                    .sum::<u64>(),
                "due = Σ outcomes"
            );
            let sent = self.sum(workload, |state| state.sent);
            if self
                .rows()
                .any(|rows| rows.workload.contains(&(workload as u16)))
            {
                assert_eq!(
                    sent,
                    due - self.unsent_rows(workload as u16),
                    "what was due was sent or never sent"
                );
            }
            let busy: u128 = self.series(workload).map(|series| series.busy_sum_ns).sum();
            let in_flight: u128 = self
                .0
                .iter()
                .map(|i| i.workloads[workload].in_flight_ns)
                .sum();
            // Events are timed by the kernel's stamp, which a stalled machine may read only after the interval in which
            // they came: what was counted as in flight since then has no later interval to be taken from at the end.
            let stamped = |interval: &Interval| {
                let mut streams = interval.streams.iter();
                streams.any(|stream| stream.workload as usize == workload)
            };
            if self.0.iter().any(stamped) {
                assert!(
                    busy <= in_flight,
                    "streams were in flight for as long as they lasted"
                );
            } else {
                assert_eq!(
                    busy, in_flight,
                    "Little's law holds exactly over a whole run"
                );
            }
            assert_eq!(last.workloads[workload].in_flight, 0);
        }
    }

    fn unsent_rows(&self, workload: u16) -> u64 {
        let rows = self
            .rows()
            .flat_map(|rows| rows.workload.iter().zip(&rows.sent_ns));
        rows.filter(|row| *row.0 == workload && *row.1 == 0).count() as u64
    }

    pub fn series(&self, workload: usize) -> impl Iterator<Item = &Series> {
        let series = self.0.iter().flat_map(|interval| &interval.series);
        series.filter(move |series| series.workload as usize == workload)
    }

    pub fn sum(&self, workload: usize, of: impl Fn(&WorkloadState) -> u64) -> u64 {
        self.0
            .iter()
            .map(|interval| of(&interval.workloads[workload]))
            .sum()
    }

    pub fn outcomes_of(&self, workload: usize) -> [u64; OUTCOMES] {
        self.series(workload).fold([0; OUTCOMES], |sum, s| {
            std::array::from_fn(|i| sum[i] + s.outcomes[i])
        })
    }

    pub fn count(&self, outcome: Outcome) -> u64 {
        self.outcomes_of(0)[outcome as usize]
    }

    /// Outcomes that occurred, by name.
    pub fn outcomes(&self) -> BTreeMap<&'static str, u64> {
        let counts = OUTCOME_NAMES.into_iter().zip(self.outcomes_of(0));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    /// Why requests of the first workload failed, by outcome and text.
    pub fn failures(&self) -> BTreeMap<(&'static str, String), u64> {
        let mut all = Failures::default();
        self.series(0)
            .for_each(|series| all.append(&series.failures));
        let by_outcome = all.iter().flat_map(|(outcome, texts)| {
            let name = OUTCOME_NAMES[outcome as usize];
            texts
                .iter()
                .map(move |(text, count)| ((name, text.to_owned()), count))
        });
        by_outcome.collect()
    }

    /// Texts that the first workload's state has, and how often.
    pub fn texts(&self, of: impl Fn(&WorkloadState) -> &Texts) -> BTreeMap<String, u64> {
        let mut all = Texts::default();
        for interval in &self.0 {
            all.append(of(&interval.workloads[0]));
        }
        all.iter()
            .map(|(text, count)| (text.to_owned(), count))
            .collect()
    }

    pub fn recorded(&self, measure: Measure) -> u64 {
        self.series(0)
            .map(|series| series.histograms[measure as usize].len())
            .sum()
    }

    /// The lowest and highest recorded value in ms.
    pub fn range_ms(&self, measure: Measure) -> (f64, f64) {
        let histograms = self
            .series(0)
            .map(|series| &series.histograms[measure as usize]);
        let histograms: Vec<_> = histograms.filter(|h| !h.is_empty()).collect();
        let low = histograms.iter().map(|h| h.min()).min().unwrap();
        let high = histograms.iter().map(|h| h.max()).max().unwrap();
        (low as f64 / 1000.0, high as f64 / 1000.0)
    }

    /// The streams of the only request that has any.
    pub fn streams(&self) -> StreamSeries {
        let mut all = Vec::new();
        for interval in &self.0 {
            streams::append(&mut all, &interval.streams);
        }
        assert_eq!(all.len(), 1, "one request has streams");
        all.remove(0)
    }

    pub fn rows(&self) -> impl Iterator<Item = &Rows> {
        self.0.iter().map(|interval| &interval.rows)
    }

    /// The times of a single client in ns between the end of each request and the intended start of the next one.
    pub fn pauses(&self) -> Vec<u64> {
        let rows = self
            .rows()
            .flat_map(|r| r.intended_ns.iter().copied().zip(r.end_ns.iter().copied()));
        let rows: Vec<(u64, u64)> = rows.collect();
        let pairs = rows.windows(2);
        pairs.map(|pair| pair[1].0 - pair[0].1).collect()
    }
}

/// A load of so many clients, who send so many requests together.
pub fn closed(clients: u64, requests: u64) -> Value {
    json!({"closed": {"clients": clients, "requests": requests}})
}

/// All that there is: so many requests with a right response.
pub fn ok(count: u64) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([("ok", count)])
}
