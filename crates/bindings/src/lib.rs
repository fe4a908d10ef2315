//! Python bindings: [`module!`] makes the extension module `rocelab._rocelab`, which the Python
//! package wraps.
//!
//! Everything here is thin: scenarios are parsed and run by the crates below, tables leave through
//! the Arrow PyCapsule interface, a summary is an object, and other nested data (catalogues) leaves
//! as JSON.
//!
//! It is a library, so that a crate outside of this workspace can make the module with schemes of
//! its own beside those of rocelab. `rocelab scheme new` writes such a crate.

mod allocator;
mod catalogue;
mod errors;
mod hpcc;
mod prototype;
mod run;
mod scenario;
mod summary;
mod table;
mod worker;

#[doc(hidden)]
pub use ::rocelab;
#[doc(hidden)]
pub use pyo3;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use rocelab::SchemeTypes;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

/// Makes the extension module `_rocelab` with the schemes of rocelab and those named: for each, the
/// types that carry it, with a semicolon after them. There are several for a scheme that is generic
/// over the depth of its INT stack, the one with the least room first.
///
/// ```text
/// rocelab_bindings::module! {
///     aimd::Aimd;
///     headroom::Headroom<5>, headroom::Headroom<10>;
/// }
/// ```
#[macro_export]
macro_rules! module {
    ($($first:ty $(, $deeper:ty)*;)*) => {
        #[$crate::pyo3::pymodule(gil_used = false)]
        #[pyo3(crate = "rocelab_bindings::pyo3")]
        fn _rocelab(
            module: &$crate::pyo3::Bound<'_, $crate::pyo3::types::PyModule>,
        ) -> $crate::pyo3::PyResult<()> {
            let added = vec![$($crate::rocelab::scheme_types!($first $(, $deeper)*)),*];
            $crate::fill(module, added)
        }
    };
}

/// Puts all of it into `module`. For [`module!`].
#[doc(hidden)]
pub fn fill(module: &Bound<'_, PyModule>, added: Vec<SchemeTypes>) -> PyResult<()> {
    let names: Vec<&str> = added.iter().map(|scheme| scheme.info.name).collect();
    rocelab::add_schemes(added, vec![prototype::scheme()])
        .map_err(|error| PyImportError::new_err(error.to_string()))?;
    module.add("__version__", rocelab::VERSION)?;
    module.add("ADDED", names)?;
    module.add("DEBUG_BUILD", cfg!(debug_assertions))?;
    module.add("LEFT_OUT", schemes::registry::LEFT_OUT)?;
    module.add_class::<hpcc::HpccExperiment>()?;
    module.add_class::<prototype::Ack>()?;
    module.add_class::<prototype::Context>()?;
    module.add_class::<prototype::Header>()?;
    module.add_class::<prototype::Law>()?;
    module.add_class::<prototype::Limits>()?;
    module.add_class::<prototype::PathFacts>()?;
    module.add_class::<prototype::PortView>()?;
    module.add_class::<run::RunResult>()?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<scenario::Shortage>()?;
    module.add_class::<table::Table>()?;
    summary::add_classes(module)?;
    module.add_function(wrap_pyfunction!(allocator::exit_on_abort, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::json_schema, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::probe_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::schemes, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::topologies, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::workloads, module)?)?;
    module.add_function(wrap_pyfunction!(hpcc::topology_sites, module)?)?;
    module.add_function(wrap_pyfunction!(printable, module)?)?;
    module.add_function(wrap_pyfunction!(prototype::check_law, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(run::run_law, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::judge_memory, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::migrate, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::scenario_data, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::scenario_sections, module)?)
}

/// `text` as a line of at most `most` characters, fit for a terminal: see
/// [`units::text::printable`].
#[pyfunction]
fn printable(text: &str, most: usize) -> String {
    units::text::printable(text, most)
}
