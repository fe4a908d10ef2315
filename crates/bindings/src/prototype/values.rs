//! What hooks in Python get and return. Times are whole picoseconds.

use super::Fields;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use schemes::contract::{self, EcnCodePoint, PacketKind, SendLimits};
use units::{Bytes, Rate, Time};

/// What a sender may do now.
#[pyclass(frozen, module = "rocelab._rocelab")]
#[derive(Clone, Copy)]
pub(crate) struct Limits(pub(crate) SendLimits);

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (*, rate_bps=None, window_bytes=None, credit_limit=None, not_before_ps=0))]
    fn new(
        rate_bps: Option<f64>,
        window_bytes: Option<f64>,
        credit_limit: Option<u64>,
        not_before_ps: u64,
    ) -> PyResult<Limits> {
        let free = SendLimits::UNLIMITED;
        let rate = match rate_bps {
            None => free.rate,
            Some(bps) => Rate::from_bps(whole("rate_bps", bps, 1.0)?),
        };
        let window = match window_bytes {
            None => free.window,
            Some(bytes) => Bytes::new(whole("window_bytes", bytes, 0.0)?),
        };
        let credit_limit = credit_limit.unwrap_or(free.credit_limit);
        let not_before = Time::from_ps(not_before_ps);
        Ok(Limits(SendLimits { rate, window, credit_limit, not_before }))
    }
}

/// `number` without its fraction.
fn whole(name: &str, number: f64, least: f64) -> PyResult<u64> {
    if (least..1e18).contains(&number) {
        return Ok(number as u64);
    }
    let why = format!("{name} is {number}: a number from {least} to below 1e18 is needed");
    Err(PyValueError::new_err(why))
}

/// What a reaction point may know of the path of its QP.
#[pyclass(frozen, get_all, module = "rocelab._rocelab")]
pub(crate) struct PathFacts {
    receiver: u32,
    line_rate_bps: u64,
    bottleneck_rate_bps: u64,
    base_rtt_ps: u64,
    network_rtt_ps: u64,
    network_bdp_bytes: u64,
    switches: u32,
    payload_bytes: u64,
    packet_bytes: u64,
}

impl From<&contract::PathFacts> for PathFacts {
    fn from(path: &contract::PathFacts) -> PathFacts {
        PathFacts {
            receiver: path.receiver,
            line_rate_bps: path.line_rate.bps(),
            bottleneck_rate_bps: path.bottleneck_rate.bps(),
            base_rtt_ps: path.base_rtt.ps(),
            network_rtt_ps: path.network_rtt.ps(),
            network_bdp_bytes: path.network_bdp.get(),
            switches: path.switches,
            payload_bytes: path.payload.get(),
            packet_bytes: path.packet_bytes.get(),
        }
    }
}

/// What hooks of a host work with.
#[pyclass(module = "rocelab._rocelab")]
pub(crate) struct Context {
    /// The time of the event.
    #[pyo3(get)]
    pub(crate) now_ps: u64,
    /// What the QPs of this host share.
    #[pyo3(get)]
    pub(crate) host: Py<PyDict>,
    pub(crate) sent: Vec<Fields>,
}

#[pymethods]
impl Context {
    /// Sends a control packet with up to four numbers to the QP's other end.
    #[pyo3(signature = (*numbers))]
    fn send(&mut self, numbers: &Bound<'_, PyTuple>) -> PyResult<()> {
        let given: Vec<f64> = numbers.extract()?;
        let mut fields = Fields::default();
        let Some(places) = fields.0.get_mut(..given.len()) else {
            return Err(PyTypeError::new_err("a control packet carries up to 4 numbers"));
        };
        places.copy_from_slice(&given);
        self.sent.push(fields);
        Ok(())
    }
}

/// The header of a packet.
#[pyclass(frozen, get_all, module = "rocelab._rocelab")]
pub(crate) struct Header {
    kind: &'static str,
    src: u32,
    dst: u32,
    flow: u32,
    sequence: u64,
    sent_at_ps: u64,
    size: u16,
    payload: u16,
    priority: u8,
    marked: bool,
}

impl From<&contract::Header> for Header {
    fn from(header: &contract::Header) -> Header {
        Header {
            kind: match header.kind {
                PacketKind::Data => "data",
                PacketKind::Ack => "ack",
                PacketKind::Nack => "nack",
                PacketKind::Control | PacketKind::LinkControl | PacketKind::PathControl => {
                    "control"
                }
                PacketKind::Pfc => "pfc",
            },
            src: header.address.src,
            dst: header.address.dst,
            flow: header.address.flow,
            sequence: header.sequence,
            sent_at_ps: header.sent_at.ps(),
            size: header.size,
            payload: header.payload,
            priority: header.priority,
            marked: header.code_point == EcnCodePoint::CongestionExperienced,
        }
    }
}

/// An acknowledgement as the sender sees it.
#[pyclass(frozen, get_all, module = "rocelab._rocelab")]
pub(crate) struct Ack {
    next_expected: u64,
    newly_acked: u64,
    next_to_send: u64,
    nack: bool,
    marked: bool,
    rtt_ps: u64,
    acks_new_data: bool,
    meta: Py<PyList>,
}

impl Ack {
    pub(crate) fn new(py: Python<'_>, ack: &contract::Ack<'_, super::Prototype>) -> PyResult<Ack> {
        Ok(Ack {
            next_expected: ack.next_expected,
            newly_acked: ack.newly_acked.get(),
            next_to_send: ack.next_to_send,
            nack: ack.nack,
            marked: ack.echo == EcnCodePoint::CongestionExperienced,
            rtt_ps: ack.rtt.ps(),
            acks_new_data: ack.acks_new_data(),
            meta: ack.meta.to_list(py)?.unbind(),
        })
    }
}

/// What a hook sees of a port.
#[pyclass(frozen, get_all, module = "rocelab._rocelab")]
pub(crate) struct PortView {
    port: usize,
    rate_bps: u64,
    queue_bytes: u64,
    class_bytes: u64,
    tx_bytes: u64,
    last_departure_ps: u64,
}

impl From<&contract::PortView> for PortView {
    fn from(view: &contract::PortView) -> PortView {
        PortView {
            port: view.port.index(),
            rate_bps: view.rate.bps(),
            queue_bytes: view.queue_bytes,
            class_bytes: view.class_bytes,
            tx_bytes: view.tx_bytes,
            last_departure_ps: view.last_departure.ps(),
        }
    }
}

impl Fields {
    /// As a list that a hook may change.
    pub(crate) fn to_list<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.0)
    }

    /// What a hook has made of the list.
    pub(crate) fn of_list(list: &Bound<'_, PyList>) -> PyResult<Fields> {
        let numbers: Vec<f64> = list.extract()?;
        let fields = numbers.try_into().map_err(|numbers: Vec<f64>| {
            PyValueError::new_err(format!("meta has 4 numbers, and a hook left {}", numbers.len()))
        })?;
        Ok(Fields(fields))
    }
}
