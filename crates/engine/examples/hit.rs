//! For profiling: a load on one URL, and what it cost.
//!
//! `hit HOST:PORT/PATH CLIENTS SECONDS [RATE/s | think:MS | close | journey:SLOTS[:THINK_MS]]`, all on one thread,
//! pinned to core `$CORE` if that is set; responses are waited for `$TIMEOUT_MS` (30,000).

use std::time::Duration;

use hdrhistogram::Histogram;
use jostle_engine::interval::{Interval, MEASURE_NAMES, Measure};
use jostle_engine::outcome::{OUTCOME_NAMES, OUTCOMES};
use jostle_engine::{Poll, Run};
use serde_json::json;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, clients, seconds, rest @ ..] = args.as_slice() else {
        eprintln!(
            "usage: hit HOST:PORT/PATH CLIENTS SECONDS [RATE/s | think:MS | close | journey:SLOTS[:THINK_MS]]"
        );
        std::process::exit(2);
    };
    let clients: u64 = clients.parse().expect("CLIENTS is a whole number");
    let seconds: f64 = seconds.parse().expect("SECONDS is a number");
    let run =
        Run::start(serde_json::from_value(spec(url, clients, seconds, rest)).expect("it is a run"))
            .unwrap_or_else(|error| {
                eprintln!("{error}");
                std::process::exit(2);
            });
    let mut sum = Sum::default();
    loop {
        match run.next_interval(Duration::from_secs(1)) {
            Poll::Interval(interval) => sum.add(&interval),
            Poll::Pending => {}
            Poll::Finished => break,
        }
    }
    sum.print();
}

fn spec(url: &str, clients: u64, seconds: f64, rest: &[String]) -> serde_json::Value {
    let (authority, path) = url.split_once('/').unwrap_or((url, ""));
    let (host, port) = authority.rsplit_once(':').expect("HOST:PORT/PATH");
    let think = rest.first().and_then(|word| word.strip_prefix("think:"));
    let load = match (think, rest.first()) {
        (Some(ms), _) => {
            let ns = ms.parse::<u64>().expect("think:MS is a whole number") * 1_000_000;
            json!({"closed": {"clients": clients, "think": {"uniform": {"ns": ns, "spread": 0.1}}}})
        }
        (None, Some(word)) if word.starts_with("journey:") => {
            json!({"closed": {"clients": clients}})
        }
        (None, Some(word)) if word == "close" => {
            json!({"closed": {"clients": clients, "requests_per_connection": 1}})
        }
        (None, Some(rate)) => {
            let rate: f64 = rate
                .trim_end_matches("/s")
                .parse()
                .expect("RATE/s is a number");
            json!({"open": {"arrivals": "poisson", "max_connections": clients, "rates": [{"from": rate, "to": rate}]}})
        }
        (None, None) => json!({"closed": {"clients": clients}}),
    };
    let cores: Vec<usize> = std::env::var("CORE")
        .iter()
        .map(|core| core.parse().expect("CORE is a number"))
        .collect();
    let timeout_ms = std::env::var("TIMEOUT_MS").map_or(30_000, |ms| {
        ms.parse::<u64>().expect("TIMEOUT_MS is a number")
    });
    let (journeys, slots) = journey(rest);
    json!({
        "seed": 1, "threads": 1, "cores": cores, "interval_ns": 1_000_000_000,
        "duration_ns": (seconds * 1e9) as u64,
        "workloads": [{
            "name": "hit", "role": "measured",
            "target": {"host": host, "port": port.parse::<u16>().expect("PORT is a number")},
            "requests": [{"name": "request", "method": "GET", "path": format!("/{path}")}],
            "load": load, "journeys": journeys, "slots": slots,
            "timeouts": {"connect_ns": 10_000_000_000_u64, "total_ns": timeout_ms * 1_000_000},
        }],
    })
}

/// A journey of the one request, which keeps 32 bytes of the response in each of so many slots.
fn journey(rest: &[String]) -> (serde_json::Value, usize) {
    let Some(word) = rest.first().and_then(|word| word.strip_prefix("journey:")) else {
        return (json!([]), 0);
    };
    let (slots, think) = word.split_once(':').unwrap_or((word, "0"));
    let slots: usize = slots.parse().expect("SLOTS is a whole number");
    let think = think.parse::<u64>().expect("THINK_MS is a whole number") * 1_000_000;
    let capture = |slot| json!({"name": "x", "slot": slot, "from": {"regex": ".{32}"}});
    let captures: Vec<_> = (0..slots).map(capture).collect();
    let step = json!({"request": 0, "capture": captures, "think": {"uniform": {"ns": think, "spread": 0.1}}});
    (json!([{"name": "journey", "steps": [step]}]), slots)
}

#[derive(Default)]
struct Sum {
    histograms: Vec<Histogram<u64>>,
    outcomes: [u64; OUTCOMES],
    cpu_ns: u64,
    end_ns: u64,
    due: u64,
    connects: u64,
    loop_lag: Option<Histogram<u64>>,
}

impl Sum {
    fn add(&mut self, interval: &Interval) {
        self.histograms
            .resize_with(MEASURE_NAMES.len(), || Histogram::new(3).expect("3 digits"));
        for series in &interval.series {
            for (sum, histogram) in self.histograms.iter_mut().zip(&series.histograms) {
                *sum += histogram;
            }
            for (sum, count) in self.outcomes.iter_mut().zip(series.outcomes) {
                *sum += count;
            }
        }
        self.cpu_ns += interval
            .threads
            .iter()
            .map(|thread| thread.cpu_ns)
            .sum::<u64>();
        self.due += interval
            .workloads
            .iter()
            .map(|state| state.due)
            .sum::<u64>();
        self.connects += interval
            .workloads
            .iter()
            .map(|state| state.connects)
            .sum::<u64>();
        self.end_ns = interval.end_ns;
        let lag = self
            .loop_lag
            .get_or_insert_with(|| Histogram::new(3).expect("3 digits"));
        *lag += &interval.loop_lag_us;
    }

    fn print(&self) {
        let done = self.histograms[Measure::Service as usize].len();
        let seconds = self.end_ns as f64 * 1e-9;
        println!(
            "{:.0} requests/s  {:.2} CPU µs/request  generator {:.1} % of a core  {done} done, {} due, {} connects in {seconds:.3} s",
            done as f64 / seconds,
            self.cpu_ns as f64 / 1000.0 / done as f64,
            self.cpu_ns as f64 / self.end_ns as f64 * 100.0,
            self.due,
            self.connects,
        );
        for (name, count) in OUTCOME_NAMES
            .iter()
            .zip(self.outcomes)
            .filter(|(_, count)| *count > 0)
        {
            println!("{name:>16} {count}");
        }
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has /proc");
        let peak = status.lines().find(|line| line.starts_with("VmHWM:"));
        println!("{}", peak.unwrap_or("VmHWM unknown"));
        let named = MEASURE_NAMES.iter().copied().zip(&self.histograms);
        for (name, histogram) in named.chain(self.loop_lag.iter().map(|lag| ("loop lag", lag))) {
            if !histogram.is_empty() {
                let [p50, p90, p99, p999] =
                    [0.5, 0.9, 0.99, 0.999].map(|q| histogram.value_at_quantile(q));
                println!(
                    "{name:>16} p50 {p50}  p90 {p90}  p99 {p99}  p99.9 {p999}  max {} µs",
                    histogram.max()
                );
            }
        }
    }
}
