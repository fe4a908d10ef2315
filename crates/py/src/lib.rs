//! Python bindings: one module, `rocelab._rocelab`, that the Python package wraps.
//!
//! Everything here is thin: scenarios are parsed and run by the crates below, tables leave through
//! the Arrow PyCapsule interface, and nested plain data (summaries, catalogues) leaves as JSON.

mod allocator;
mod catalogue;
mod errors;
mod hpcc;
mod run;
mod scenario;
mod table;
mod worker;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

/// `text` as a line of at most `most` characters, fit for a terminal: see
/// [`units::text::printable`].
#[pyfunction]
fn printable(text: &str, most: usize) -> String {
    units::text::printable(text, most)
}

#[pymodule(gil_used = false)]
mod _rocelab {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::allocator::exit_on_abort;
    #[pymodule_export]
    use crate::catalogue::{json_schema, probe_kinds, schemes, topologies, workloads};
    #[pymodule_export]
    use crate::hpcc::{HpccExperiment, topology_sites};
    #[pymodule_export]
    use crate::printable;
    #[pymodule_export]
    use crate::run::{RunResult, run};
    #[pymodule_export]
    use crate::scenario::{Scenario, judge_memory, migrate};
    #[pymodule_export]
    use crate::table::Table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("DEBUG_BUILD", cfg!(debug_assertions))
    }
}
