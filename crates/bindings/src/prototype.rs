//! A law in Python: a scheme whose hooks call methods of Python classes.
//!
//! The law of a run is not part of its scenario. It is given to the thread that builds and runs the
//! simulation ([`with_law`]), and the parameters take it from there. Such a run has one thread.

mod hosts;
mod law;
mod switch;
mod values;

pub(crate) use law::{Law, LawFailed, with_law};
pub(crate) use values::{Ack, Context, Header, Limits, PathFacts, PortView};

use crate::errors::internal_error;
use crate::worker::outcome_of;
use hosts::{Receiver, Sender};
use law::Classes;
use pyo3::exceptions::PyAssertionError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rocelab::{SchemeTypes, scheme_types};
use schemes::contract::{Ctl, HostFacts, Needs, Preset, Scheme, SwitchFacts};
use schemes::params::{ParamError, ParamSpec, Params, Value};
use schemes::testing::check_invariants;
use std::sync::Arc;
use switch::Switch;
use units::Rate;

/// The numbers that packets of a law in Python carry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fields([f64; 4]);

/// The scheme of laws in Python.
pub(crate) struct Prototype;

/// The law that the thread runs, if it runs one.
#[derive(Clone)]
pub(crate) struct PrototypeParams(Option<Arc<Classes>>);

impl Params for PrototypeParams {
    fn specs() -> &'static [ParamSpec] {
        &[]
    }
    fn get(&self, _name: &str) -> Option<Value> {
        None
    }
    fn set(&mut self, name: &str, _value: Value) -> Result<(), ParamError> {
        Err(ParamError::UnknownParam(name.to_owned(), Vec::new()))
    }
}

impl Scheme for Prototype {
    const NAME: &'static str = "prototype";
    const TITLE: &'static str = "A law in Python";
    const PAPER: &'static str = "none";
    const CAVEAT: &'static str =
        "The law is a Python class that the scenario does not contain: keep it with the result.";
    const PRESETS: &'static [Preset<PrototypeParams>] = &[Preset {
        name: "prototype",
        summary: "The law that rocelab.prototype was given",
        source: "the caller",
        ecn: None,
        params: |_host_rate: Rate| PrototypeParams(law::current()),
    }];

    const NEEDS: Needs = Needs { marks_if_asked: true, ..Needs::NONE };

    type Params = PrototypeParams;
    type Meta = Fields;
    type Ctl = Fields;
    /// A dictionary that the QPs of a host share.
    type Host = Py<PyDict>;
    type Rp = Sender;
    type Np = Receiver;
    type Cp = Switch;

    fn meta_bytes(params: &PrototypeParams) -> (u32, u32) {
        params.0.as_ref().map_or((0, 0), |law| law.meta_bytes)
    }
    fn host(_params: &PrototypeParams, _facts: &HostFacts) -> Py<PyDict> {
        Python::attach(|py| PyDict::new(py).unbind())
    }
    fn congestion_point(params: &PrototypeParams, facts: &SwitchFacts<'_>) -> Option<Switch> {
        Switch::new(params.0.as_ref()?, facts)
    }
}

impl Ctl<PrototypeParams> for Fields {
    /// The shortest frame.
    const MAX_FRAME_BYTES: u32 = 64;
}

/// The scheme, for the registry.
pub(crate) fn scheme() -> SchemeTypes {
    scheme_types!(Prototype)
}

/// Checks that a law keeps what every scheme promises, by this many random histories. Raises
/// `AssertionError` where it does not, and what the law raises.
#[pyfunction]
pub(crate) fn check_law(py: Python<'_>, law: &Law, histories: u64) -> PyResult<()> {
    let classes = law.classes();
    let work = move || {
        with_law(&classes, || law::quietly(|| check_invariants::<Prototype>(histories)));
    };
    let Err(panic) = outcome_of(py, work)? else { return Ok(()) };
    let panic = match panic.downcast::<LawFailed>() {
        Ok(failed) => return Err(failed.0),
        Err(panic) => panic,
    };
    Err(match panic.downcast_ref::<String>() {
        Some(promise) => PyAssertionError::new_err(promise.clone()),
        None => internal_error(py, &*panic),
    })
}
