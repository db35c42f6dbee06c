//! An [`Interval`] as the dictionary that `_engine.pyi` describes. Empty histograms and zero counts are left out.

use jostle_engine::PortUse;
use jostle_engine::encode_v2;
use jostle_engine::hdrhistogram::Histogram;
use jostle_engine::head_of_line::{HeadOfLine, StreamTimes};
use jostle_engine::interval::{
    Interval, JOURNEY_MEASURE_NAMES, MEASURE_NAMES, Rows, STREAM_MEASURE_NAMES, Series, Texts,
    ThreadState, WorkloadState,
};
use jostle_engine::journeys::JourneySeries;
use jostle_engine::outcome::OUTCOME_NAMES;
use jostle_engine::pings::PingSeries;
use jostle_engine::streams::StreamSeries;
use jostle_engine::trace::Trace;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

pub fn to_dict<'py>(py: Python<'py>, interval: &Interval) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("index", interval.index)?;
    dict.set_item("start_ns", interval.start_ns)?;
    dict.set_item("end_ns", interval.end_ns)?;
    dict.set_item("last", interval.last)?;
    dict.set_item("open_files", interval.open_files)?;
    dict.set_item("ports", list(py, &interval.ports, port)?)?;
    dict.set_item("loop_lag", histogram(py, &interval.loop_lag_us)?)?;
    dict.set_item("series", list(py, &interval.series, series)?)?;
    dict.set_item("journeys", list(py, &interval.journeys, journey)?)?;
    if !interval.streams.is_empty() {
        dict.set_item("streams", list(py, &interval.streams, stream)?)?;
    }
    if !interval.pings.is_empty() {
        dict.set_item("pings", list(py, &interval.pings, ping)?)?;
    }
    if !interval.head_of_line.is_empty() {
        dict.set_item("head_of_line", list(py, &interval.head_of_line, line)?)?;
    }
    if !interval.traces.is_empty() {
        dict.set_item("traces", list(py, &interval.traces, trace)?)?;
    }
    dict.set_item("workloads", list(py, &interval.workloads, workload)?)?;
    dict.set_item("threads", list(py, &interval.threads, thread)?)?;
    dict.set_item("rows", rows(py, &interval.rows)?)?;
    dict.set_item("rows_lost", interval.rows_lost)?;
    dict.set_item("workers_lost", interval.workers_lost)?;
    Ok(dict)
}

fn list<'py, T>(
    py: Python<'py>,
    items: &[T],
    convert: impl Fn(Python<'py>, &T) -> PyResult<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for item in items {
        list.append(convert(py, item)?)?;
    }
    Ok(list)
}

/// The histograms that hold something, by name.
fn by_measure<'py>(
    py: Python<'py>,
    names: &[&str],
    histograms: &[Histogram<u64>],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, recorded) in names.iter().zip(histograms) {
        if let Some(encoded) = histogram(py, recorded)? {
            dict.set_item(name, encoded)?;
        }
    }
    Ok(dict)
}

fn series<'py>(py: Python<'py>, series: &Series) -> PyResult<Bound<'py, PyDict>> {
    let histograms = by_measure(py, &MEASURE_NAMES, &series.histograms)?;
    let outcomes = PyDict::new(py);
    for (name, count) in OUTCOME_NAMES.iter().zip(series.outcomes) {
        if count > 0 {
            outcomes.set_item(name, count)?;
        }
    }
    let statuses = PyDict::new(py);
    for (status, count) in series.statuses.iter() {
        statuses.set_item(status.to_string(), count)?;
    }
    let failures = PyDict::new(py);
    for (outcome, reasons) in series.failures.iter() {
        failures.set_item(OUTCOME_NAMES[outcome as usize], texts(py, reasons)?)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("workload", series.workload)?;
    dict.set_item("request", series.request)?;
    dict.set_item("phase", series.phase)?;
    dict.set_item("histograms", histograms)?;
    dict.set_item("outcomes", outcomes)?;
    dict.set_item("statuses", statuses)?;
    dict.set_item("failures", failures)?;
    if let Some(refused) = &series.refused {
        dict.set_item("refused", &**refused)?;
    }
    dict.set_item("service_sum_ns", series.service_sum_ns)?;
    dict.set_item("response_sum_ns", series.response_sum_ns)?;
    dict.set_item("busy_sum_ns", series.busy_sum_ns)?;
    dict.set_item("bytes_in", series.bytes_in)?;
    dict.set_item("bytes_out", series.bytes_out)?;
    Ok(dict)
}

fn journey<'py>(py: Python<'py>, series: &JourneySeries) -> PyResult<Bound<'py, PyDict>> {
    let histograms = by_measure(py, &JOURNEY_MEASURE_NAMES, &series.histograms)?;
    let ended = list(py, &series.ended, |py, (step, outcome, count)| {
        let dict = PyDict::new(py);
        dict.set_item("step", step)?;
        dict.set_item("outcome", OUTCOME_NAMES[*outcome as usize])?;
        dict.set_item("count", count)?;
        Ok(dict)
    })?;
    let dict = PyDict::new(py);
    dict.set_item("workload", series.workload)?;
    dict.set_item("journey", series.journey)?;
    dict.set_item("histograms", histograms)?;
    dict.set_item("completed", series.completed)?;
    dict.set_item("unfinished", series.unfinished)?;
    dict.set_item("ended", ended)?;
    Ok(dict)
}

fn stream<'py>(py: Python<'py>, series: &StreamSeries) -> PyResult<Bound<'py, PyDict>> {
    let histograms = by_measure(py, &STREAM_MEASURE_NAMES, &series.histograms)?;
    let dict = PyDict::new(py);
    dict.set_item("workload", series.workload)?;
    dict.set_item("request", series.request)?;
    dict.set_item("histograms", histograms)?;
    dict.set_item("events", series.events)?;
    dict.set_item("whole", series.whole)?;
    dict.set_item("met", series.met)?;
    dict.set_item("tokens", series.tokens)?;
    dict.set_item("without_tokens", series.without_tokens)?;
    dict.set_item("broken_off", series.broken_off)?;
    dict.set_item("unfinished", series.unfinished)?;
    dict.set_item("unanswered", series.unanswered)?;
    Ok(dict)
}

fn ping<'py>(py: Python<'py>, series: &PingSeries) -> PyResult<Bound<'py, PyDict>> {
    let round_trips = std::slice::from_ref(&series.round_trips);
    let dict = PyDict::new(py);
    dict.set_item("workload", series.workload)?;
    dict.set_item("request", series.request)?;
    dict.set_item("histograms", by_measure(py, &["ping"], round_trips)?)?;
    dict.set_item("sent", series.sent)?;
    dict.set_item("unanswered", series.unanswered)?;
    Ok(dict)
}

fn line<'py>(py: Python<'py>, line: &HeadOfLine) -> PyResult<Bound<'py, PyDict>> {
    let (wait, elsewhere) = (&line.wait, &line.elsewhere);
    let dict = PyDict::new(py);
    dict.set_item("workload", line.workload)?;
    dict.set_item("connection", line.connection)?;
    dict.set_item("blocked_ns", wait.blocked_ns)?;
    dict.set_item("stream", wait.stream)?;
    dict.set_item("behind", wait.blocker)?;
    dict.set_item("from_ns", wait.from_ns)?;
    dict.set_item("until_ns", wait.until_ns)?;
    dict.set_item("streams", list(py, &line.streams, times)?)?;
    dict.set_item("elsewhere_connections", elsewhere.connections)?;
    dict.set_item("elsewhere_answers", elsewhere.responses)?;
    dict.set_item("elsewhere_median_ns", elsewhere.median_ns)?;
    Ok(dict)
}

fn times<'py>(py: Python<'py>, times: &StreamTimes) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("stream", times.stream)?;
    dict.set_item("request", times.request)?;
    dict.set_item("ready_ns", times.ready_ns)?;
    dict.set_item("sent_ns", times.sent_ns)?;
    dict.set_item("head_ns", times.head_ns)?;
    dict.set_item("end_ns", times.end_ns)?;
    dict.set_item("bytes", times.bytes)?;
    Ok(dict)
}

fn trace<'py>(py: Python<'py>, trace: &Trace) -> PyResult<Bound<'py, PyDict>> {
    let captured = PyDict::new(py);
    for (name, value) in &trace.captured {
        captured.set_item(name, PyBytes::new(py, value))?;
    }
    let dict = PyDict::new(py);
    dict.set_item("journey", trace.journey)?;
    dict.set_item("step", trace.step)?;
    dict.set_item("intended_ns", trace.intended_ns)?;
    dict.set_item("end_ns", trace.end_ns)?;
    dict.set_item("outcome", OUTCOME_NAMES[trace.outcome as usize])?;
    dict.set_item("why", &trace.why)?;
    dict.set_item("request", PyBytes::new(py, &trace.transcript.request))?;
    dict.set_item("head", PyBytes::new(py, &trace.transcript.head))?;
    dict.set_item("body", PyBytes::new(py, &trace.transcript.body))?;
    dict.set_item("body_bytes", trace.transcript.body_bytes)?;
    dict.set_item("notes", &trace.transcript.notes)?;
    dict.set_item("captured", captured)?;
    Ok(dict)
}

fn texts<'py>(py: Python<'py>, texts: &Texts) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (text, count) in texts.iter() {
        dict.set_item(text, count)?;
    }
    Ok(dict)
}

pub fn histogram<'py>(
    py: Python<'py>,
    recorded: &Histogram<u64>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    if recorded.is_empty() {
        return Ok(None);
    }
    let dict = PyDict::new(py);
    dict.set_item("v2", PyBytes::new(py, &encode_v2(recorded)))?;
    dict.set_item("count", recorded.len())?;
    dict.set_item("max_us", recorded.max())?;
    Ok(Some(dict))
}

fn workload<'py>(py: Python<'py>, state: &WorkloadState) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("due", state.due)?;
    dict.set_item("sent", state.sent)?;
    dict.set_item("in_flight_ns", state.in_flight_ns)?;
    dict.set_item("in_flight", state.in_flight)?;
    dict.set_item("clients", state.clients)?;
    dict.set_item("connections", state.connections)?;
    dict.set_item("backlog", state.waiting)?; // the record's word for requests that wait to be sent
    dict.set_item("connects", state.connects)?;
    dict.set_item("resumed", state.resumed)?;
    dict.set_item("excess", texts(py, &state.excess)?)?;
    dict.set_item("dismissals", texts(py, &state.dismissals)?)?;
    dict.set_item("passed_over", texts(py, &state.passed_over)?)?;
    dict.set_item("backoffs", state.backoffs)?;
    dict.set_item("redirects", state.redirects)?;
    dict.set_item("resent", state.resent)?;
    dict.set_item("stream_waits", state.stream_waits)?;
    dict.set_item("stream_wait_ns", state.stream_wait_ns)?;
    dict.set_item("duplicate_answers", state.duplicate_responses)?;
    dict.set_item("late_answers", state.late_responses)?;
    dict.set_item("overtaken_answers", state.overtaken_responses)?;
    dict.set_item("stray_answers", state.stray_responses)?;
    Ok(dict)
}

fn thread<'py>(py: Python<'py>, state: &ThreadState) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("cpu_ns", state.cpu_ns)?;
    dict.set_item("wall_ns", state.wall_ns)?;
    Ok(dict)
}

/// `from` is "" if the kernel chooses the local address.
fn port<'py>(py: Python<'py>, port: &PortUse) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let from = port.from.map(|from| from.to_string()).unwrap_or_default();
    dict.set_item("from", from)?;
    dict.set_item("to", port.to.to_string())?;
    dict.set_item("held", port.held)?;
    Ok(dict)
}

/// Columns as little-endian arrays; `None` if there are no rows.
fn rows<'py>(py: Python<'py>, rows: &Rows) -> PyResult<Option<Bound<'py, PyDict>>> {
    if rows.end_ns.is_empty() {
        return Ok(None);
    }
    let dict = PyDict::new(py);
    macro_rules! columns {
        ($($name:ident),*) => {
            $(let bytes: Vec<u8> = rows.$name.iter().flat_map(|value| value.to_le_bytes()).collect();
              dict.set_item(stringify!($name), PyBytes::new(py, &bytes))?;)*
        };
    }
    columns!(
        workload,
        request,
        client,
        intended_ns,
        sent_ns,
        headers_ns,
        end_ns,
        outcome,
        status,
        bytes
    );
    Ok(Some(dict))
}
