//! What hooks in Python get and return. Times are whole picoseconds.

use super::Fields;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use schemes::contract::{self, EcnCodePoint, PacketKind, SendLimits};
use units::{Bytes, Rate, Time};

/// What a sender may do now. What is left out does not limit it.
///
/// - `rate_bps`: bits per second on the wire
/// - `window_bytes`: a packet may go while less payload than this is in flight; 0 stops the sender
///   until a timer or a control packet changes it
/// - `credit_limit`: the first byte of the QP's stream for which the sender has no credit
/// - `not_before_ps`: no packet goes before this time
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
    /// The receiver: its number among the hosts.
    receiver: u32,
    /// Rate of the sender's port.
    line_rate_bps: u64,
    /// Lowest rate on the path.
    bottleneck_rate_bps: u64,
    /// Round trip of a full packet and its ACK in an empty network.
    base_rtt_ps: u64,
    /// The largest of any pair of hosts.
    network_rtt_ps: u64,
    /// What the sender's port sends in that time.
    network_bdp_bytes: u64,
    /// Switches on the path.
    switches: u32,
    /// Bytes of payload of a full packet.
    payload_bytes: u64,
    /// Bytes of a full packet on the wire.
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
    /// What it is: `data`, `ack`, `nack`, `control` or `pfc`.
    kind: &'static str,
    /// Number of the host that sends the data, also on ACKs.
    src: u32,
    /// Number of the host that receives the data.
    dst: u32,
    /// Number of the message.
    flow: u32,
    /// Of data the first byte of the QP's stream in it; of an ACK the first byte that is missing.
    sequence: u64,
    /// When the data left its sender; an ACK carries it back.
    sent_at_ps: u64,
    /// Bytes on the wire.
    size: u16,
    /// Bytes of payload, of data alone.
    payload: u16,
    /// Its priority.
    priority: u8,
    /// Whether a switch has marked it.
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
    /// First byte of the QP's stream that the receiver waits for.
    next_expected: u64,
    /// Bytes of payload that were not acknowledged before.
    newly_acked: u64,
    /// First byte of the QP's stream that the sender has not sent yet.
    next_to_send: u64,
    /// Whether the receiver has seen a gap.
    nack: bool,
    /// Whether the data that it answers was marked.
    marked: bool,
    /// From the departure of the data to the arrival of the ACK.
    rtt_ps: u64,
    /// Whether it acknowledges bytes that were not acknowledged before.
    acks_new_data: bool,
    /// The four numbers that it carries.
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
    /// Its number at the switch.
    port: usize,
    /// Its rate.
    rate_bps: u64,
    /// Bytes that wait in all its queues, without the packet at hand.
    queue_bytes: u64,
    /// Bytes that wait in the queue of the packet's priority, without the packet at hand.
    class_bytes: u64,
    /// Bytes that it sent before the packet at hand.
    tx_bytes: u64,
    /// When its last packet began to leave.
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
