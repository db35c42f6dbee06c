//! `jostle._engine`: the engine as Python sees it. Classes and conversions, nothing else; the typed
//! boundary is `python/jostle/_engine.pyi`.

mod grpc;
mod interval;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jostle_discipline::spec::DisciplineSpec;
use jostle_engine::spec::{Change, Continuation, RunSpec};
use jostle_engine::{Poll, StartError};
use jostle_simulator::burst::{self, Request};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// The engine's tasks and sockets are aligned to 128 bytes, for which the C library's allocator uses up to 128 bytes
/// more. With jemalloc, an idle client takes 30 % less memory (`make bench ONLY=memory`).
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// A run of the engine. It works in its own threads; Python only asks for intervals.
#[pyclass(frozen)]
struct Run(jostle_engine::Run);

#[pymethods]
impl Run {
    #[new]
    fn new(py: Python<'_>, spec_json: &str) -> PyResult<Self> {
        let spec: RunSpec = serde_json::from_str(spec_json)
            .map_err(|error| PyValueError::new_err(format!("the run's specification: {error}")))?;
        py.detach(|| jostle_engine::Run::start(spec))
            .map(Run)
            .map_err(|error| refusal(&error))
    }

    /// Waits up to `timeout_s` seconds for the next interval; `None` when there is none yet.
    fn next_interval<'py>(
        &self,
        py: Python<'py>,
        timeout_s: f64,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|error| PyValueError::new_err(format!("timeout_s = {timeout_s}: {error}")))?;
        match py.detach(|| self.0.next_interval(timeout)) {
            Poll::Interval(interval) => interval::to_dict(py, &interval).map(Some),
            Poll::Pending => Ok(None),
            Poll::Finished => Err(PyValueError::new_err(
                "the run has ended: its last interval was given",
            )),
        }
    }

    /// Changes a load. Returns from when on (ns from the start), and by "rate", "clients" or "phase" what it does then.
    #[pyo3(signature = (workload, change_json, at_ns=None))]
    fn steer(
        &self,
        py: Python<'_>,
        workload: usize,
        change_json: &str,
        at_ns: Option<u64>,
    ) -> PyResult<(u64, &'static str, f64)> {
        let change: Change = serde_json::from_str(change_json)
            .map_err(|error| PyValueError::new_err(format!("the change: {error}")))?;
        let steered = py
            .detach(|| self.0.steer(workload, change, at_ns))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let (what, value) = match steered.continuation {
            Continuation::Rate(rate) => ("rate", rate),
            Continuation::Clients(clients) => ("clients", clients as f64),
            Continuation::Phase(phase) => ("phase", phase as f64),
        };
        Ok((steered.at_ns, what, value))
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.0.stop());
    }

    #[getter]
    fn started_unix_ns(&self) -> u64 {
        self.0.started_unix_ns()
    }
}

/// `OSError` if the system refused a thread or a descriptor, else `ValueError`.
fn refusal(error: &StartError) -> PyErr {
    match error {
        StartError::Worker { error: cause, .. } => match cause.raw_os_error() {
            Some(number) => PyOSError::new_err((number, error.to_string())),
            None => PyValueError::new_err(error.to_string()),
        },
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// A simulated run, calculated interval by interval on demand.
#[pyclass(frozen)]
struct Simulation(Mutex<jostle_simulator::Simulation>);

#[pymethods]
impl Simulation {
    #[new]
    fn new(py: Python<'_>, spec_json: &str, server_json: &str) -> PyResult<Self> {
        let wrong = |what: &str, error: serde_json::Error| {
            PyValueError::new_err(format!("the {what}'s specification: {error}"))
        };
        let run = serde_json::from_str(spec_json).map_err(|error| wrong("run", error))?;
        let server = serde_json::from_str(server_json).map_err(|error| wrong("server", error))?;
        py.detach(|| jostle_simulator::Simulation::new(run, server))
            .map(|simulation| Simulation(Mutex::new(simulation)))
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Returns the next interval; `None` after the last.
    fn next_interval<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let interval = py.detach(|| {
            let simulation = self.0.lock();
            simulation.unwrap_or_else(PoisonError::into_inner).next()
        });
        interval
            .map(|interval| interval::to_dict(py, &interval))
            .transpose()
    }
}

/// Returns when each request of each burst is answered by a server of this discipline that was idle before it.
#[pyfunction]
#[pyo3(signature = (discipline_json, bursts, seed, room=None))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "pyo3 hands over what it has converted"
)]
fn burst_answers(
    py: Python<'_>,
    discipline_json: &str,
    bursts: Vec<Vec<(u64, u64, u64)>>,
    seed: u64,
    room: Option<usize>,
) -> PyResult<Vec<Vec<Option<u64>>>> {
    let discipline: DisciplineSpec = serde_json::from_str(discipline_json)
        .map_err(|error| PyValueError::new_err(format!("the discipline: {error}")))?;
    let request = |&(at, demand, connection): &(u64, u64, u64)| Request {
        at,
        demand,
        connection,
    };
    let responses = bursts.iter().zip(seed..).map(|(requests, seed)| {
        let requests: Vec<Request> = requests.iter().map(request).collect();
        burst::responses(discipline, &requests, room, seed)
    });
    py.detach(|| responses.collect::<Result<_, _>>())
        .map_err(|error| PyValueError::new_err(format!("the discipline: {error}")))
}

/// Method, name, accepted statuses, and whether it may ask for a URL.
type ScriptRequest = (String, String, Vec<u16>, bool);

/// Returns the requests of a script, in the order of their numbers.
#[pyfunction]
fn script_requests(py: Python<'_>, file: &str, source: &str) -> PyResult<Vec<ScriptRequest>> {
    let sites = py.detach(|| jostle_engine::script::requests(file, source));
    let sites = sites.map_err(PyValueError::new_err)?.into_iter();
    Ok(sites
        .map(|site| (site.method, site.name, site.expect, site.anywhere))
        .collect())
}

/// Returns the sum of several `Hist["v2"]`; `None` if nothing was recorded in any of them.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "pyo3 hands over what it has converted"
)]
fn merge_v2<'py>(
    py: Python<'py>,
    parts: Vec<Bound<'py, PyBytes>>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let parts: Vec<&[u8]> = parts.iter().map(PyBytesMethods::as_bytes).collect();
    let merged = py
        .detach(|| jostle_engine::merge_v2(parts))
        .map_err(|error| PyValueError::new_err(format!("a histogram cannot be read: {error}")))?;
    interval::histogram(py, &merged)
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Run>()?;
    module.add_class::<Simulation>()?;
    module.add_function(wrap_pyfunction!(burst_answers, module)?)?;
    module.add_function(wrap_pyfunction!(script_requests, module)?)?;
    module.add_function(wrap_pyfunction!(grpc::compile_protos, module)?)?;
    module.add_function(wrap_pyfunction!(grpc::grpc_methods, module)?)?;
    module.add_function(wrap_pyfunction!(grpc::grpc_reflected, module)?)?;
    module.add_function(wrap_pyfunction!(grpc::grpc_refusal, module)?)?;
    module.add_function(wrap_pyfunction!(merge_v2, module)?)
}
