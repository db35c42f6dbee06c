//! What plans with gRPC need to know before a run.

use std::path::Path;
use std::time::Duration;

use jostle_engine::reflection::{Inquiry, UnknownSchema, reflect};
use jostle_engine::schema::{Schema, edition_is_refused, encode};
use protox::Compiler;
use pyo3::exceptions::{PyConnectionError, PyPermissionError, PyValueError};
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
    let schema = py.detach(|| {
        let mut compiler = Compiler::new(&imports)?;
        compiler.include_imports(true).open_files(&files)?;
        Ok::<_, protox::Error>(compiler.encode_file_descriptor_set())
    });
    let schema = schema.map_err(|error| PyValueError::new_err(refusal(&error, &imports)))?;
    Ok(PyBytes::new(py, &schema))
}

/// Why files are refused. The compiler takes the first word of an edition for a mistake.
fn refusal(error: &protox::Error, imports: &[String]) -> String {
    let file = error.file().filter(|_| error.is_parse());
    let text = |file: &str| {
        let mut places = imports.iter().map(|folder| Path::new(folder).join(file));
        places.find_map(|place| std::fs::read_to_string(place).ok())
    };
    let edition = file.and_then(|file| Some((file, edition_of(&text(file)?)?)));
    match edition {
        Some((file, edition)) => edition_is_refused(file, edition),
        // The debug form includes the file and the place in it.
        None => format!("{error:?}"),
    }
}

/// The edition that a `.proto` file begins with, after comments.
fn edition_of(text: &str) -> Option<String> {
    let mut rest = text.trim_start();
    while let Some((end, comment)) = rest
        .strip_prefix("//")
        .map(|comment| ("\n", comment))
        .or_else(|| rest.strip_prefix("/*").map(|comment| ("*/", comment)))
    {
        rest = comment.split_once(end)?.1.trim_start();
    }
    let value = rest.strip_prefix("edition")?.trim_start();
    let value = value.strip_prefix('=')?.trim_start();
    let value = value.strip_prefix(['"', '\''])?;
    value.split(['"', '\'']).next().map(str::to_owned)
}

#[pyfunction]
pub fn grpc_methods(schema: &[u8]) -> PyResult<Vec<Method>> {
    let schema = Schema::decode(schema).map_err(PyValueError::new_err)?;
    let methods = schema.methods();
    Ok(methods
        .map(|method| (method.name, method.takes_stream, method.gives_stream))
        .collect())
}

/// Asks the server of this `TargetSpec` for the `FileDescriptorSet` of a service and of further messages.
///
/// If the server does not have the service, returns `None` and the services that it has. Raises `PermissionError` if it
/// describes nothing without another authentication, `ValueError` if what it says cannot be read, and `ConnectionError`
/// if it says nothing.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "pyo3 hands over what it has converted"
)]
pub fn grpc_reflected<'py>(
    py: Python<'py>,
    target_json: &str,
    service: &str,
    types: Vec<String>,
    metadata: Vec<(String, String)>,
    patience_s: f64,
) -> PyResult<(Option<Bound<'py, PyBytes>>, Vec<String>)> {
    let target = serde_json::from_str(target_json)
        .map_err(|error| PyValueError::new_err(format!("the target: {error}")))?;
    let patience = Duration::try_from_secs_f64(patience_s)
        .map_err(|error| PyValueError::new_err(format!("patience_s = {patience_s}: {error}")))?;
    let inquiry = Inquiry {
        service,
        types: &types,
        metadata: &metadata,
    };
    match py.detach(|| reflect(&target, inquiry, patience)) {
        Ok(schema) => Ok((Some(PyBytes::new(py, &schema)), Vec::new())),
        Err(UnknownSchema::Service(known)) => Ok((None, known)),
        Err(UnknownSchema::Refused(why)) => Err(PyPermissionError::new_err(why)),
        Err(UnknownSchema::Unreadable(why)) => Err(PyValueError::new_err(why)),
        Err(UnknownSchema::Failed(why)) => Err(PyConnectionError::new_err(why)),
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
        let descriptor = schema.method(method);
        let descriptor = descriptor.ok_or_else(|| format!("there is no method {method}"))?;
        Ok(encode(&descriptor, message_json.as_bytes()).err())
    });
    let refusal = refusal.map_err(PyValueError::new_err::<String>)?;
    Ok(refusal.map(|refusal| (refusal.place, refusal.problem, refusal.unknown)))
}
