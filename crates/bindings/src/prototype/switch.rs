//! The switch of a law in Python.

use super::law::{Classes, raise};
use super::values::{Header, PortView};
use super::{Fields, Prototype, PrototypeParams};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use schemes::contract::{
    self, Cp, EcnCodePoint, LocalCx, Packet, PacketKind, PortFacts, PortLocal, SwitchFacts,
};
use std::sync::Arc;
use units::Time;

/// The congestion point: marks and stamps packets as they leave.
pub(crate) struct Switch {
    law: Arc<Classes>,
    object: Py<PyAny>,
}

impl Switch {
    /// `None`: the law has no class for it.
    pub(crate) fn new(law: &Arc<Classes>, facts: &SwitchFacts<'_>) -> Option<Switch> {
        let class = law.switch.as_ref()?;
        let object = Python::attach(|py| {
            let arguments = PyTuple::new(py, [facts.node.index(), usize::from(facts.tier)]);
            class.make(py, &arguments.unwrap_or_else(|error| raise(error)))
        });
        Some(Switch { law: Arc::clone(law), object })
    }

    fn has(&self, hook: &str) -> bool {
        self.law.switch.as_ref().is_some_and(|class| class.has(hook))
    }

    /// Shows a packet to the law. Returns whether it marks it, and what it made of `meta`.
    fn depart(
        &self,
        py: Python<'_>,
        now: Time,
        port: &Py<PyAny>,
        view: &contract::PortView,
        header: &contract::Header,
        meta: Fields,
    ) -> PyResult<(bool, Fields)> {
        let list = meta.to_list(py)?;
        let arguments = (now.ps(), port, PortView::from(view), Header::from(header), list.clone());
        let marks: Option<bool> =
            self.object.call_method1(py, "on_depart", arguments)?.extract(py)?;
        Ok((marks == Some(true), Fields::of_list(&list)?))
    }
}

impl Cp<Prototype> for Switch {
    type Level = PortLocal;
    /// What the method `port` returned; a dictionary if there is none.
    type Port = Py<PyAny>;
    schemes::hooks!();

    fn port(&self, _params: &PrototypeParams, facts: &PortFacts) -> Py<PyAny> {
        Python::attach(|py| {
            if !self.has("port") {
                return PyDict::new(py).into_any().unbind();
            }
            let arguments = (facts.port.index(), facts.rate.bps(), facts.peer_is_host);
            self.object.call_method1(py, "port", arguments).unwrap_or_else(|error| raise(error))
        })
    }
    /// Not a hook of laws in Python: `on_depart` shows them the rate of the port at each packet.
    fn on_rate(&mut self, _: &PrototypeParams, _port: &mut Py<PyAny>, _facts: &PortFacts) {}
    fn on_depart(
        &mut self,
        cx: &mut LocalCx,
        port: &mut Py<PyAny>,
        view: &contract::PortView,
        packet: &mut Packet<Prototype>,
    ) {
        if !self.has("on_depart") {
            return;
        }
        let (header, Some(meta)) = packet.split_mut() else { return };
        let called = Python::attach(|py| self.depart(py, cx.now, port, view, header, *meta));
        let (marks, changed) = called.unwrap_or_else(|error| raise(error));
        *meta = changed;
        if marks && header.kind == PacketKind::Data {
            header.code_point = EcnCodePoint::CongestionExperienced;
        }
    }
}
