//! In-band network telemetry (INT): what a switch writes into a passing data packet about the port
//! through which it leaves, as HPCC reads it (SIGCOMM 2019,
//! section 3).
//!
//! Records are kept at full precision. The 64-bit format of the paper, with its rounding and its
//! wrap-around, is an encoding and lives in the `wire` crate.

use crate::contract::{
    Body, Cp, Kind, Local, Packet, PortFacts, PortLocal, PortView, Scheme, SwitchFacts,
};
use units::{NodeId, PortId, Rate, Time};

/// What one switch port says of itself as a packet begins to leave through it.
///
/// Every packet carries several, so a record is no larger than it must be: 24 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntRecord {
    /// When the packet began to leave (ts).
    pub time: Time,
    /// Bytes that the port had sent until then, the packet itself not counted (txBytes).
    pub tx_bytes: u64,
    /// Bytes left waiting at the port, all priorities, the packet itself not counted (qlen).
    pub queue_bytes: u32,
    /// The port's rate in units of [`RATE_UNIT`].
    rate: u32,
}

/// A record gives the port's rate in these: 100 kb/s. Link rates are multiples of it.
const RATE_UNIT: u64 = 100_000;

impl IntRecord {
    /// A record of a port of this rate (B), to the next 100 kb/s.
    #[inline]
    pub fn new(rate: Rate, time: Time, tx_bytes: u64, queue_bytes: u64) -> IntRecord {
        IntRecord {
            time,
            tx_bytes,
            queue_bytes: u32::try_from(queue_bytes).unwrap_or(u32::MAX),
            rate: u32::try_from(rate.bps().div_ceil(RATE_UNIT)).unwrap_or(u32::MAX),
        }
    }

    /// The port's rate (B).
    #[inline]
    pub fn rate(&self) -> Rate {
        Rate::from_bps(u64::from(self.rate) * RATE_UNIT)
    }
}

/// The records of a path, first switch first, with room for `N` hops. Their number comes first in
/// memory, next to the packet's header, as every hop reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct IntStack<const N: usize> {
    hops: u8,
    path: u32,
    records: [IntRecord; N],
}

impl<const N: usize> IntStack<N> {
    /// The records that were pushed, in order.
    #[inline]
    pub fn records(&self) -> &[IntRecord] {
        // `hops` never exceeds N; `get` says so to the compiler, which then needs no panic.
        self.records.get(..usize::from(self.hops)).unwrap_or(&self.records)
    }

    /// Another number means another path (pathID); the ports passed and their order make it.
    #[inline]
    pub fn path(&self) -> u32 {
        self.path
    }

    /// Adds the record of the next hop, a port of switch `node`. A run whose paths are longer than `N` is refused before it
    /// starts ([`Scheme::MAX_HOPS`]), so a full stack is a mistake in the program.
    #[inline]
    pub fn push(&mut self, node: NodeId, port: PortId, record: IntRecord) {
        debug_assert!(usize::from(self.hops) < N, "the path has more than {N} switches");
        if let Some(free) = self.records.get_mut(usize::from(self.hops)) {
            *free = record;
            self.hops += 1;
            // An odd multiplier mixes and loses nothing.
            let hop = (node.get() << 8) ^ u32::from(port.get());
            self.path = (self.path.rotate_left(7) ^ hop).wrapping_mul(0x9e37_79b1);
        }
    }
}

impl<const N: usize> Default for IntStack<N> {
    fn default() -> IntStack<N> {
        const { assert!(N <= u8::MAX as usize) };
        IntStack { hops: 0, path: 0, records: [IntRecord::default(); N] }
    }
}

/// What a packet carries, where INT records are part of it.
pub trait CarriesInt {
    /// Adds the record of the port of switch `node` that the packet is leaving through.
    fn push_record(&mut self, node: NodeId, port: PortId, record: IntRecord);
}

impl<const N: usize> CarriesInt for IntStack<N> {
    #[inline]
    fn push_record(&mut self, node: NodeId, port: PortId, record: IntRecord) {
        self.push(node, port, record);
    }
}

/// A switch that stamps each data packet as it begins to leave.
#[derive(Clone, Copy, Debug)]
pub struct StampInt {
    node: NodeId,
}

impl StampInt {
    /// The stamping part of a switch.
    pub fn new(facts: &SwitchFacts<'_>) -> StampInt {
        StampInt { node: facts.node }
    }
}

impl<S: Scheme> Cp<S> for StampInt
where
    S::Meta: CarriesInt,
{
    type Level = PortLocal;
    type Port = ();

    fn port(&self, _params: &S::Params, _facts: &PortFacts) {}

    #[inline]
    fn on_depart(
        &mut self,
        cx: &mut Local,
        _port: &mut (),
        view: &PortView,
        packet: &mut Packet<S>,
    ) {
        // ACKs and NACKs carry the records of the data packet that they answer.
        if packet.header.kind == Kind::Data
            && let Body::Meta(meta) = &mut packet.body
        {
            let record = IntRecord::new(view.rate, cx.now, view.tx_bytes, view.queue_bytes);
            meta.push_record(self.node, view.port, record);
        }
    }
}
