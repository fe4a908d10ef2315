//! In-band network telemetry (INT), as used by HPCC (SIGCOMM 2019, section 3): a switch writes a
//! record of the egress port into each data packet that leaves.
//!
//! Records have full precision, or that of the 64 bits of the paper or of the HPCC simulator
//! ([`IntFormat`]). The encoding of these 64 bits is in the `wire` crate.

mod format;
mod stack;

pub use format::IntFormat;
pub use stack::{IntStack, MAX_RECORD_AGE, PreviousRecords};

use crate::contract::{
    Cp, LinkRates, LocalCx, Packet, PacketKind, PortFacts, PortLocal, PortView, RateCode, Scheme,
    SwitchFacts,
};
use units::{NodeId, PortId, Time};

/// The record of a switch port, taken when a packet begins to leave through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntRecord {
    /// The port's rate (B).
    pub rate: RateCode,
    /// When the packet began to leave (ts).
    pub time: Time,
    /// Bytes that the port had sent before this packet (txBytes).
    pub tx_bytes: u64,
    /// Bytes that wait at the port, all priorities, without this packet (qlen).
    pub queue_bytes: u64,
}

impl IntRecord {
    /// Returns the record of the port that `view` shows, with this code for its rate.
    #[inline(always)]
    pub fn of(rate: RateCode, now: Time, view: &PortView) -> IntRecord {
        let (tx_bytes, queue_bytes) = (view.tx_bytes, view.queue_bytes);
        IntRecord { rate, time: now, tx_bytes, queue_bytes }
    }
}

/// Content of packets that have room for INT records.
pub trait CarriesInt {
    /// Maximum number of records.
    const ROOM: usize;
    /// Adds the record of the port of switch `node` through which the packet leaves, if it is
    /// `wanted`.
    fn push_record(&mut self, wanted: bool, node: NodeId, port: PortId, record: IntRecord);
}

impl<const N: usize> CarriesInt for IntStack<N> {
    const ROOM: usize = N;

    #[inline]
    fn push_record(&mut self, wanted: bool, node: NodeId, port: PortId, record: IntRecord) {
        self.push_if(wanted, node, port, record);
    }
}

/// The congestion point of a switch that stamps each data packet as it begins to leave.
///
/// Its scheme declares in [`Scheme::NEEDS`] what there is room for, so
/// that runs with longer paths or more rates are refused. A scheme without these does not compile:
///
/// ```compile_fail
/// # use schemes::contract::*;
/// # use schemes::int::{IntStack, StampInt};
/// # use units::{Rate, Time};
/// # schemes::params! { /// None.
/// # pub struct Nothing {} }
/// struct Forgetful;
/// impl Scheme for Forgetful {
///     // const NEEDS: Needs =
///     //     Needs { max_hops: 5, max_link_rates: LinkRates::MAX, ..Needs::NONE };
///     type Meta = IntStack<5>;
///     type Cp = StampInt;
/// #   const NAME: &'static str = "forgetful";
/// #   const TITLE: &'static str = "";
/// #   const PAPER: &'static str = "";
/// #   const PRESETS: &'static [schemes::contract::Preset<Nothing>] = &[];
/// #   type Params = Nothing;
/// #   type Ctl = NoCtl;
/// #   type Host = ();
/// #   type Rp = LineRate;
/// #   type Np = PlainReceiver;
/// #   fn host(_: &Nothing, _: &HostFacts) {}
/// #   fn congestion_point(_: &Nothing, facts: &SwitchFacts<'_>) -> Option<StampInt> {
/// #       Some(StampInt::new(facts))
/// #   }
///     // And so on.
/// }
/// # struct LineRate;
/// # impl Rp<Forgetful> for LineRate {
/// #   fn open(_: &Nothing, _: &mut (), _: &PathFacts, _: Time) -> LineRate { LineRate }
/// #   fn limits(&self) -> SendLimits { SendLimits::UNLIMITED }
/// # }
/// # println!("{:p}", <StampInt as Cp<Forgetful>>::port as *const ());
/// ```
#[derive(Clone, Debug)]
pub struct StampInt {
    node: NodeId,
    format: IntFormat,
    rates: LinkRates,
}

impl StampInt {
    /// Returns the stamping part of a switch, with records of full precision.
    pub fn new(facts: &SwitchFacts<'_>) -> StampInt {
        StampInt::with_format(facts, IntFormat::FULL)
    }
    /// Returns the stamping part of a switch, with records of this format.
    pub fn with_format(facts: &SwitchFacts<'_>, format: IntFormat) -> StampInt {
        StampInt { node: facts.node, format, rates: facts.rates.clone() }
    }

    // Not inlined: full records are the common case. Its arguments are plain numbers, so that they
    // need no copy on the stack.
    #[inline(never)]
    fn stamp_narrowed(
        &self,
        rate: RateCode,
        time: Time,
        (tx_bytes, queue_bytes): (u64, u64),
        port: PortId,
        meta: &mut impl CarriesInt,
    ) {
        let record = IntRecord { rate, time, tx_bytes, queue_bytes };
        meta.push_record(true, self.node, port, self.format.narrowed(record));
    }
}

impl<S: Scheme> Cp<S> for StampInt
where
    S::Meta: CarriesInt,
{
    type Level = PortLocal;
    /// The code of the port's rate.
    type Port = RateCode;
    crate::hooks!();

    fn port(&self, _params: &S::Params, facts: &PortFacts) -> RateCode {
        const {
            assert!(
                S::NEEDS.max_hops <= <S::Meta as CarriesInt>::ROOM,
                "Needs::max_hops is above what the packets have room for"
            );
            assert!(
                S::NEEDS.max_link_rates <= LinkRates::MAX,
                "Needs::max_link_rates is above what INT records tell apart"
            );
        }
        self.format.code(&self.rates, facts.rate)
    }
    fn on_rate(&mut self, _params: &S::Params, port: &mut RateCode, facts: &PortFacts) {
        *port = self.format.code(&self.rates, facts.rate);
    }

    #[inline]
    fn on_depart(
        &mut self,
        cx: &mut LocalCx,
        port: &mut RateCode,
        view: &PortView,
        packet: &mut Packet<S>,
    ) {
        // ACKs and NACKs carry the records of the data packet that they answer.
        let is_data = packet.header.kind == PacketKind::Data;
        if let Some(meta) = packet.meta_mut() {
            // Two paths, so that a record of full precision is written to its place directly,
            // without a copy on the stack.
            if self.format.is_full() {
                meta.push_record(is_data, self.node, view.port, IntRecord::of(*port, cx.now, view));
            } else if is_data {
                let sizes = (view.tx_bytes, view.queue_bytes);
                self.stamp_narrowed(*port, cx.now, sizes, view.port, meta);
            }
        }
    }
}
