//! Errors of the crates below as the exceptions of `rocelab.errors`.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use units::memory::NoMemory;

/// What a user is asked to do when the simulator itself failed.
const BUG: &str = "this is a bug in rocelab; please report it with the scenario";

/// The exception `class` of `rocelab.errors` with `message` and `details`; or what kept it from
/// being made.
fn exception(
    py: Python<'_>,
    class: &str,
    message: String,
    details: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let keywords = PyDict::new(py);
        details(&keywords)?;
        let class = py.import("rocelab.errors")?.getattr(class)?;
        Ok(PyErr::from_value(class.call((message,), Some(&keywords))?))
    };
    made().unwrap_or_else(|error| error)
}

/// A scenario that was refused, as `ConfigError`.
pub(crate) fn config_error(py: Python<'_>, error: &scenario::ScenarioError) -> PyErr {
    exception(py, "ConfigError", error.message.clone(), |details| {
        details.set_item("file", error.file.as_ref().map(|file| file.to_string_lossy()))?;
        details.set_item("key", (!error.key.is_empty()).then_some(&error.key))?;
        details.set_item("line", error.line)?;
        details.set_item("hint", &error.hint)
    })
}

/// The first of `errors`, which are all that a scenario has, with the others. At least one is
/// needed.
pub(crate) fn together(py: Python<'_>, errors: Vec<PyErr>) -> PyErr {
    let mut errors = errors.into_iter().map(|error| error.into_value(py));
    let first = errors.next().expect("a scenario is refused for a reason").into_bound(py);
    match first.setattr("others", errors.collect::<Vec<_>>()) {
        Ok(()) => PyErr::from_value(first.into_any()),
        Err(error) => error,
    }
}

/// A file of the HPCC simulator that was refused, as `ConfigError`.
pub(crate) fn file_error(py: Python<'_>, error: &hpcc_files::FileError) -> PyErr {
    exception(py, "ConfigError", error.message.clone(), |details| {
        details.set_item("file", error.file.as_ref().map(|file| file.to_string_lossy()))?;
        details.set_item("line", error.line)?;
        let warnings = error.warnings.iter().map(ToString::to_string);
        details.set_item("warnings", warnings.collect::<Vec<_>>())?;
        details.set_item("hint", &error.hint)
    })
}

/// A file that could not be written, as `ResultError`.
pub(crate) fn write_error(py: Python<'_>, path: &Path, error: &std::io::Error) -> PyErr {
    let message = format!("cannot write {}: {error}", path.display());
    exception(py, "ResultError", message, |_| Ok(()))
}

/// A run that failed, as `SimulationError`.
pub(crate) fn simulation_error(py: Python<'_>, message: String) -> PyErr {
    exception(py, "SimulationError", message, |_| Ok(()))
}

/// Works without the interpreter; a panic becomes what [`internal_error`] makes of it.
pub(crate) fn catch_panics<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|panic| internal_error(py, &*panic))
}

/// A panic, as `SimulationError` that says so, unless it is for want of memory: then as
/// `MemoryError` where a list could not be allocated.
pub(crate) fn internal_error(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    if let Some(no_room) = panic.downcast_ref::<rocelab::OutOfAddressSpace>() {
        return exception(py, "SimulationError", no_room.to_string(), |details| {
            details.set_item(
                "hint",
                "raise the limit on address space (ulimit -v), or have fewer flows at once",
            )
        });
    }
    if let Some(no_memory) = panic.downcast_ref::<NoMemory>() {
        return PyMemoryError::new_err(no_memory.to_string());
    }
    let what = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("panic without a message");
    exception(py, "SimulationError", what.to_owned(), |details| details.set_item("hint", BUG))
}
