//! In-band network telemetry (INT): what a switch writes into a passing data packet about the port
//! through which it leaves, as HPCC reads it (SIGCOMM 2019,
//! section 3).
//!
//! Records are kept at full precision, or as 64 bits of the paper or of the HPCC simulator leave them
//! ([`IntFormat`]); that format as an encoding is in the `wire` crate.

use crate::contract::{
    Body, Cp, LinkRates, LocalCx, Packet, PacketKind, PortFacts, PortLocal, PortView, RateCode,
    Scheme, SwitchFacts,
};
use std::hint::select_unpredictable;
use units::{NodeId, PortId, Rate, Time};
use wire::int::IntHop;

/// What one switch port says of itself as a packet begins to leave through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntRecord {
    /// The port's rate (B).
    pub rate: RateCode,
    /// When the packet began to leave (ts).
    pub time: Time,
    /// Bytes that the port had sent until then, the packet itself not counted (txBytes).
    pub tx_bytes: u64,
    /// Bytes left waiting at the port, all priorities, the packet itself not counted (qlen).
    pub queue_bytes: u64,
}

impl IntRecord {
    /// What the port that `view` shows says now, if this is what it says of its rate.
    #[inline(always)]
    pub fn of(rate: RateCode, now: Time, view: &PortView) -> IntRecord {
        let (tx_bytes, queue_bytes) = (view.tx_bytes, view.queue_bytes);
        IntRecord { rate, time: now, tx_bytes, queue_bytes }
    }
}

/// A record without its rate, as packets carry it. Every packet has room for several, and networks
/// have many packets: 12 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
struct Packed {
    /// Picoseconds, of which 36 bits are left: they wrap around after 69 ms. Below them the queue, up
    /// to 268 MB.
    time_and_queue: u64,
    /// Wraps around after 4.3 GB.
    tx_bytes: u32,
}

const QUEUE_BITS: u32 = 28;
const TIME_BITS: u32 = u64::BITS - QUEUE_BITS;

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl Packed {
    #[inline(always)]
    fn new(record: &IntRecord) -> Packed {
        let queue = record.queue_bytes.min(mask(QUEUE_BITS));
        let time_and_queue = record.time.ps() << QUEUE_BITS | queue;
        Packed { time_and_queue, tx_bytes: record.tx_bytes as u32 }
    }
    #[inline(always)]
    fn record(self, rate: RateCode) -> IntRecord {
        let time_and_queue = self.time_and_queue;
        IntRecord {
            rate,
            time: Time::from_ps(time_and_queue >> QUEUE_BITS),
            tx_bytes: u64::from(self.tx_bytes),
            queue_bytes: time_and_queue & mask(QUEUE_BITS),
        }
    }
}

/// What a record's way through a packet leaves of it: all, or what 64 bits hold.
///
/// Times and bytes sent wrap around in each format, and so do the differences that a sender takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntFormat(Form);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Full,
    Paper,
    /// What the units of bytes are multiplied with (INT_MULTI); and whether a port whose rate has no
    /// code tells the first code's.
    Simulator {
        multiple: u32,
        uncoded: bool,
    },
}

/// Of the HPCC simulator's format, and of the paper's but for the queue.
const NARROW_TIME_BITS: u32 = 24;
const NARROW_SENT_BITS: u32 = 20;
const NARROW_QUEUE_BITS: u32 = 17;
/// Bytes that the fields count in.
const SENT_UNIT: u64 = 128;
const QUEUE_UNIT: u64 = 80;

/// Whole units of `unit` bytes, times `multiple`. It is 1 nearly always, and then the compiler knows
/// what it divides by; a division takes as long as all else that is done with a record.
#[inline(always)]
fn units(multiple: u32, bytes: u64, unit: u64) -> u64 {
    if multiple == 1 { bytes / unit } else { bytes / (unit * u64::from(multiple)) }
}

impl IntFormat {
    /// Nothing is lost.
    pub const FULL: IntFormat = IntFormat(Form::Full);
    /// The paper's 64 bits: whole nanoseconds, bytes sent in units of 128 and queues in units of 80
    /// bytes, a longer queue than it can say told as the longest.
    pub const PAPER: IntFormat = IntFormat(Form::Paper);
    /// The rates that the HPCC simulator's format has a code for.
    pub const RATES: [Rate; 5] = [
        Rate::from_gbps(25),
        Rate::from_gbps(50),
        Rate::from_gbps(100),
        Rate::from_gbps(200),
        Rate::from_gbps(400),
    ];
    /// The HPCC simulator's: whole nanoseconds, bytes sent in units of 128 and queues in units of 80
    /// bytes, both times `multiple`.
    pub fn hpcc_ns3(multiple: u32) -> IntFormat {
        IntFormat(Form::Simulator { multiple: multiple.max(1), uncoded: false })
    }

    /// The same, where a port whose rate has no code leaves the field as it was: at 0, which is
    /// 25 Gb/s.
    pub fn with_uncoded(self) -> IntFormat {
        match self.0 {
            Form::Simulator { multiple, .. } => {
                IntFormat(Form::Simulator { multiple, uncoded: true })
            }
            _ => self,
        }
    }

    /// Whether it can tell of a port of this rate.
    pub fn encodes(self, rate: Rate) -> bool {
        match self.0 {
            Form::Paper => wire::int::RATES.contains(&rate),
            Form::Simulator { uncoded: false, .. } => IntFormat::RATES.contains(&rate),
            _ => true,
        }
    }

    /// The code that a port of this rate tells.
    pub fn code(self, rates: &LinkRates, rate: Rate) -> RateCode {
        let told = match self.0 {
            Form::Full | Form::Paper => rate,
            Form::Simulator { uncoded, .. } => {
                let known = !uncoded || IntFormat::RATES.contains(&rate);
                if known { rate } else { IntFormat::RATES[0] }
            }
        };
        rates.code(told)
    }

    /// What it leaves of `record`, rounded down and wrapped around.
    #[inline(always)]
    pub fn round(self, record: IntRecord) -> IntRecord {
        if matches!(self.0, Form::Full) { record } else { self.narrowed(record) }
    }

    // Not in line where full records are stamped.
    #[inline(never)]
    fn narrowed(self, record: IntRecord) -> IntRecord {
        let IntRecord { time, tx_bytes, queue_bytes, .. } = record;
        match self.0 {
            Form::Full => record,
            Form::Paper => {
                let hop = IntHop::new(wire::int::RATES[0], time, tx_bytes, queue_bytes)
                    .expect("the rate has a code");
                IntRecord {
                    time: hop.wrapped_time(),
                    tx_bytes: hop.wrapped_sent(),
                    queue_bytes: hop.queue_bytes(),
                    ..record
                }
            }
            Form::Simulator { multiple, .. } => {
                let sent = units(multiple, tx_bytes, SENT_UNIT) & mask(NARROW_SENT_BITS);
                let queue = units(multiple, queue_bytes, QUEUE_UNIT) & mask(NARROW_QUEUE_BITS);
                IntRecord {
                    time: Time::from_ns(time.ns() & mask(NARROW_TIME_BITS)),
                    tx_bytes: sent * SENT_UNIT * u64::from(multiple),
                    queue_bytes: queue * QUEUE_UNIT * u64::from(multiple),
                    ..record
                }
            }
        }
    }

    /// Whether the number of the path comes with the records. The HPCC simulator has none: records of two
    /// paths are compared as if they were of one.
    #[inline]
    pub fn has_path_id(self) -> bool {
        !matches!(self.0, Form::Simulator { .. })
    }

    /// From `older` to `newer`; zero where time runs backwards and does not wrap around.
    #[inline(always)]
    pub fn span(self, newer: &IntRecord, older: &IntRecord) -> Time {
        if matches!(self.0, Form::Full) {
            let span = newer.time.ps().wrapping_sub(older.time.ps()) & mask(TIME_BITS);
            let back = span >> (TIME_BITS - 1) != 0;
            return if back { Time::ZERO } else { Time::from_ps(span) };
        }
        let span = newer.time.ns().wrapping_sub(older.time.ns()) & mask(NARROW_TIME_BITS);
        Time::from_ns(span)
    }

    /// Bytes that the port sent from `older` to `newer`.
    #[inline(always)]
    pub fn sent_between(self, newer: &IntRecord, older: &IntRecord) -> u64 {
        let multiple = match self.0 {
            Form::Full => {
                return u64::from((newer.tx_bytes as u32).wrapping_sub(older.tx_bytes as u32));
            }
            Form::Paper => 1,
            Form::Simulator { multiple, .. } => multiple,
        };
        let sent = |record: &IntRecord| units(multiple, record.tx_bytes, SENT_UNIT);
        let units = sent(newer).wrapping_sub(sent(older)) & mask(NARROW_SENT_BITS);
        units * SENT_UNIT * u64::from(multiple)
    }
}

/// The records of a path, first switch first, with room for `N` hops. Their number comes first in
/// memory, next to the packet's header, as every hop reads it. With 5 hops, and nothing else, a packet
/// takes two cache lines.
///
/// Times and bytes sent are those of [`IntRecord`]s that have wrapped around; [`IntFormat`] takes their
/// differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct IntStack<const N: usize> {
    hops: u8,
    rates: [RateCode; N],
    path: u16,
    records: [Packed; N],
}

impl<const N: usize> IntStack<N> {
    /// How many records were pushed.
    #[inline]
    pub fn hops(&self) -> usize {
        usize::from(self.hops)
    }

    /// They, in order.
    #[inline]
    pub fn records(&self) -> impl ExactSizeIterator<Item = IntRecord> + '_ {
        (0..self.hops().min(N)).map(|hop| self.at(hop))
    }

    #[inline(always)]
    fn at(&self, hop: usize) -> IntRecord {
        self.records[hop].record(self.rates[hop])
    }

    /// Each record with the one of `earlier` of the same port, if `earlier` is of the same path.
    #[inline]
    pub fn aligned_with<'a>(
        &'a self,
        earlier: &'a PreviousRecords<N>,
    ) -> impl Iterator<Item = (IntRecord, IntRecord)> + 'a {
        let known = if self.path == earlier.path { usize::from(earlier.hops) } else { 0 };
        // `hops` never exceeds N; the compiler does not know, and needs no panic this way.
        (0..self.hops().min(known).min(N)).map(|hop| {
            let rate = self.rates[hop];
            (self.records[hop].record(rate), earlier.records[hop].record(rate))
        })
    }

    /// Another number means another path (pathID); the ports passed and their order make it. One other
    /// path of 65,536 has the same.
    #[inline]
    pub fn path(&self) -> u16 {
        self.path
    }

    /// The records of the first `hops` switches, to which path `path` leads, and the others.
    pub fn split(&self, hops: usize, path: u16) -> (IntStack<N>, IntStack<N>) {
        let hops = hops.min(self.hops());
        let mut parts = [IntStack::default(); 2];
        for (hop, (record, rate)) in self.records[..self.hops()].iter().zip(self.rates).enumerate()
        {
            let part = &mut parts[usize::from(hop >= hops)];
            let place = part.hops();
            part.records[place] = *record;
            part.rates[place] = rate;
            part.hops += 1;
        }
        let [first, second] = parts;
        (IntStack { path, ..first }, IntStack { path: self.path, ..second })
    }

    /// Adds the record of the next hop, a port of switch `node`. A full stack stays as it is.
    ///
    /// A run whose paths have more than `N` switches is refused before it starts
    /// ([`Scheme::MAX_HOPS`]). Only a packet that is in flight when a link fails or is repaired can
    /// pass more: it begins on a path of before and ends on one of after. Its last switches leave no
    /// record.
    #[inline]
    pub fn push(&mut self, node: NodeId, port: PortId, record: IntRecord) {
        self.push_if(true, node, port, record);
    }

    /// The same if it is `wanted`, which the processor need not guess.
    #[inline(always)]
    pub fn push_if(&mut self, wanted: bool, node: NodeId, port: PortId, record: IntRecord) {
        // Where it is not wanted, what is there is written again.
        let wanted = wanted && self.hops() < N;
        let hop = self.hops().min(N - 1);
        let (old, new) = (self.records[hop], Packed::new(&record));
        self.records[hop] = Packed {
            time_and_queue: select_unpredictable(wanted, new.time_and_queue, old.time_and_queue),
            tx_bytes: select_unpredictable(wanted, new.tx_bytes, old.tx_bytes),
        };
        self.rates[hop] = select_unpredictable(wanted, record.rate, self.rates[hop]);
        self.hops += u8::from(wanted);
        // An odd multiplier mixes and loses nothing; the upper bits are mixed best.
        let step = (node.get() << 8) ^ u32::from(port.get());
        let mixed = (u32::from(self.path).rotate_left(23) ^ step).wrapping_mul(0x9e37_79b1);
        self.path = select_unpredictable(wanted, (mixed >> 16) as u16, self.path);
    }
}

impl<const N: usize> Default for IntStack<N> {
    fn default() -> IntStack<N> {
        const { assert!(N <= u8::MAX as usize) };
        let (rates, records) = ([RateCode::default(); N], [Packed::default(); N]);
        IntStack { hops: 0, rates, path: 0, records }
    }
}

/// The records that a sender compares the next ones with. Their rates are those of the next ones, of the
/// same ports; every QP has them.
#[derive(Clone, Debug)]
pub struct PreviousRecords<const N: usize> {
    hops: u8,
    path: u16,
    /// When they came, [`TICK_BITS`] of its picoseconds left out.
    came: u32,
    records: [Packed; N],
}

/// A tick is about a microsecond.
const TICK_BITS: u32 = 20;
/// Records that come further apart than this, about 10 ms, are not compared: the bytes that a link of
/// 3.2 Tb/s sends until then are about the most that full ones can tell.
const MAX_GAP: u32 = (Time::from_ms(10).ps() >> TICK_BITS) as u32;

impl<const N: usize> PreviousRecords<N> {
    /// Before the first.
    pub const NONE: PreviousRecords<N> = PreviousRecords {
        hops: 0,
        path: 0,
        came: 0,
        records: [Packed { time_and_queue: 0, tx_bytes: 0 }; N],
    };

    /// Those that come `now`.
    #[inline(always)]
    pub fn from(now: Time, stack: &IntStack<N>) -> PreviousRecords<N> {
        let IntStack { hops, path, records, .. } = *stack;
        PreviousRecords { hops, path, came: Self::tick(now), records }
    }

    #[inline(always)]
    fn tick(time: Time) -> u32 {
        (time.ps() >> TICK_BITS) as u32
    }

    /// Whether records of this format are too old to compare those with that come `now`. 64 bits can't
    /// say.
    #[inline]
    pub fn is_stale(&self, format: IntFormat, now: Time) -> bool {
        matches!(format.0, Form::Full) && Self::tick(now).wrapping_sub(self.came) > MAX_GAP
    }

    /// Makes them fit to be beside `stack`, which comes `now`: those that are too old are forgotten, and where
    /// their format tells no path, they are taken as of the same.
    #[inline(always)]
    pub fn prepare_for(&mut self, format: IntFormat, now: Time, stack: &IntStack<N>) {
        if self.is_stale(format, now) {
            *self = Self::NONE;
        }
        // Asked last, as a path seldom changes.
        if self.path != stack.path && !format.has_path_id() {
            self.path = stack.path;
        }
    }

    /// See [`IntStack::path`].
    pub fn path(&self) -> u16 {
        self.path
    }

    /// Puts a record that comes `now` in the place of the one of this hop, which it returns; all zero
    /// where there was none.
    pub fn replace(&mut self, now: Time, hop: usize, record: &IntRecord) -> IntRecord {
        let old = std::mem::replace(&mut self.records[hop], Packed::new(record));
        self.came = Self::tick(now);
        old.record(record.rate)
    }
}

/// What a packet carries, where INT records are part of it.
pub trait CarriesInt {
    /// How many records there is room for.
    const ROOM: usize;
    /// Adds the record of the port of switch `node` that the packet is leaving through, if it is
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

/// A switch that stamps each data packet as it begins to leave.
///
/// Its scheme says in [`Scheme::MAX_HOPS`] and [`Scheme::MAX_RATES`] what there is room for, so that
/// runs with longer paths or more rates are refused. One that doesn't is no program:
///
/// ```compile_fail
/// # use schemes::contract::*;
/// # use schemes::int::{IntStack, StampInt};
/// # use units::{Rate, Time};
/// # schemes::params! { /// None.
/// # pub struct Nothing {} }
/// struct Forgetful;
/// impl Scheme for Forgetful {
///     // const MAX_HOPS: usize = 5;
///     // const MAX_RATES: usize = LinkRates::MAX;
///     type Meta = IntStack<5>;
///     type Cp = StampInt;
/// #   const NAME: &'static str = "forgetful";
/// #   const TITLE: &'static str = "";
/// #   const PAPER: &'static str = "";
/// #   const PRESETS: &'static [schemes::contract::Preset] = &[];
/// #   type Params = Nothing;
/// #   type Ctl = NoCtl;
/// #   type Host = ();
/// #   type Rp = LineRate;
/// #   type Np = PlainReceiver;
/// #   fn preset(_: &str, _: Rate) -> Nothing { Nothing {} }
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
    /// The stamping part of a switch.
    pub fn new(facts: &SwitchFacts<'_>) -> StampInt {
        StampInt::with_format(facts, IntFormat::FULL)
    }
    /// The same with records of this format.
    pub fn with_format(facts: &SwitchFacts<'_>, format: IntFormat) -> StampInt {
        StampInt { node: facts.node, format, rates: facts.rates.clone() }
    }

    #[inline(never)]
    fn stamp_narrowed(&self, record: IntRecord, port: PortId, meta: &mut impl CarriesInt) {
        meta.push_record(true, self.node, port, self.format.narrowed(record));
    }
}

impl<S: Scheme> Cp<S> for StampInt
where
    S::Meta: CarriesInt,
{
    type Level = PortLocal;
    /// What it tells of its rate.
    type Port = RateCode;
    const SEES_JOINS: bool = false;

    fn port(&self, _params: &S::Params, facts: &PortFacts) -> RateCode {
        const {
            assert!(
                S::MAX_HOPS <= <S::Meta as CarriesInt>::ROOM,
                "Scheme::MAX_HOPS is above what the packets have room for"
            );
            assert!(
                S::MAX_RATES <= LinkRates::MAX,
                "Scheme::MAX_RATES is above what INT records tell apart"
            );
        }
        self.format.code(&self.rates, facts.rate)
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
        if let Body::Meta(meta) = &mut packet.body {
            // Apart, so that a full record goes where it belongs without a stop in memory.
            if self.format == IntFormat::FULL {
                meta.push_record(is_data, self.node, view.port, IntRecord::of(*port, cx.now, view));
            } else if is_data {
                self.stamp_narrowed(IntRecord::of(*port, cx.now, view), view.port, meta);
            }
        }
    }
}
