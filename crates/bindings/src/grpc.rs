//! What plans with gRPC need to know before a run.

use std::time::Duration;

use jostle_engine::reflection::{Unknown, reflect};
use jostle_engine::schema::{Schema, encode};
use protox::Compiler;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A method's name, and whether it takes and whether it returns a stream of messages.
type Method = (String, bool, bool);
/// Place, problem, and if a field is unknown, its name with those of the known fields.
type Refusal = (String, String, Option<(String, Vec<String>)>);

/// Returns the `FileDescriptorSet` of these `.proto` files and of all that they import from the folders `imports`.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "pyo3 hands over what it has converted"
)]
pub fn compile_protos(
    py: Python<'_>,
    files: Vec<String>,
    imports: Vec<String>,
) -> PyResult<Bound<'_, PyBytes>> {
    // The debug form includes the file and the place in it.
    let refused = |error: protox::Error| PyValueError::new_err(format!("{error:?}"));
    let schema = py.detach(|| {
        let mut compiler = Compiler::new(&imports)?;
        compiler.include_imports(true).open_files(&files)?;
        Ok(compiler.encode_file_descriptor_set())
    });
    Ok(PyBytes::new(py, &schema.map_err(refused)?))
}

#[pyfunction]
pub fn grpc_methods(schema: &[u8]) -> PyResult<Vec<Method>> {
    let schema = Schema::decode(schema).map_err(PyValueError::new_err)?;
    let methods = schema.methods();
    Ok(methods
        .map(|method| (method.name, method.takes_stream, method.gives_stream))
        .collect())
}

/// Asks the server of this `TargetSpec` for the `FileDescriptorSet` of a service.
///
/// If the server does not have the service, returns `None` and the services that it has.
#[pyfunction]
pub fn grpc_reflected<'py>(
    py: Python<'py>,
    target_json: &str,
    service: &str,
    patience_s: f64,
) -> PyResult<(Option<Bound<'py, PyBytes>>, Vec<String>)> {
    let target = serde_json::from_str(target_json)
        .map_err(|error| PyValueError::new_err(format!("the target: {error}")))?;
    let patience = Duration::try_from_secs_f64(patience_s)
        .map_err(|error| PyValueError::new_err(format!("patience_s = {patience_s}: {error}")))?;
    match py.detach(|| reflect(&target, service, patience)) {
        Ok(schema) => Ok((Some(PyBytes::new(py, &schema)), Vec::new())),
        Err(Unknown::Service(known)) => Ok((None, known)),
        Err(Unknown::Failed(why)) => Err(PyValueError::new_err(why)),
    }
}

/// Returns why the method does not accept this message or list of messages; `None` if it does.
#[pyfunction]
pub fn grpc_refusal(
    py: Python<'_>,
    schema: &[u8],
    method: &str,
    message_json: &str,
) -> PyResult<Option<Refusal>> {
    let refusal = py.detach(|| {
        let schema = Schema::decode(schema)?;
        let found = schema.method(method);
        let found = found.ok_or_else(|| format!("there is no method {method}"))?;
        Ok(encode(&found, message_json.as_bytes()).err())
    });
    let refusal = refusal.map_err(PyValueError::new_err::<String>)?;
    Ok(refusal.map(|refusal| (refusal.place, refusal.problem, refusal.unknown)))
}
