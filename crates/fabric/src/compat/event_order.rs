//! The order of arrivals at the same nanosecond that follows from when they were sent
//! ([`Quirks::ns3_tie_order`](crate::Quirks::ns3_tie_order)).
//!
//! ns-3's event queue handles arrivals of one instant in the order in which they were scheduled,
//! that is, sent. If two packets were also sent at the same instant by different ports, the one
//! goes first whose sending was scheduled earlier. The sending of a packet in a train (it began
//! when the packet before it ended) was scheduled when the packet before it began. The sending of
//! any other packet was scheduled when what caused it was sent. The sender says how long ago that
//! was, in a field of the header that each switch overwrites ([`ns3_lead`]).
//!
//! If that time is equal, too, a train that begins goes before trains that continue: its cause was
//! scheduled before their next packets were. Trains that continue in step keep the order of their
//! last packets. Trains that begin did so with messages that were posted at the same instant, and
//! go in the order of these messages. If the cause of two packets came another way, the order may
//! depend on events further back than is known here.
//!
//! The departure of a packet that waits for the wire was scheduled when the packet before it began
//! to leave. So it comes before an arrival of the same instant that was sent after that. Where
//! every link takes longer than a packet does to leave, there is no such arrival.
//!
//! A host that has nothing to send at the end of a packet may set a timer for the next one. Such a
//! packet counts as one that continues its train: what decides is the order of the ends of the last
//! packets. Its own last packet is older than those of the other trains, so it is compared with
//! theirs before the last.

use crate::compat::clock::Clock;
use engine::Rank;
use schemes::contract::{Header, PacketKind};
use units::{Rate, Time};

/// Returns how long before its sending the sending of a packet was scheduled, in ns; see
/// [`set_ns3_lead`].
#[inline]
pub(crate) fn ns3_lead(header: &Header) -> u16 {
    header.ingress
}

/// Sets how long before its sending the sending of a packet was scheduled, in ns.
///
/// It uses the bits of the ingress port, because the two are needed at different times: the lead
/// while a packet is on a wire, the ingress port while it is in a switch.
#[inline]
pub(crate) fn set_ns3_lead(header: &mut Header, lead: u16) {
    header.ingress = lead;
}

/// Returns the rank that decides what goes first among arrivals of one instant that were sent at
/// different times: the kind that takes longest on the wire was sent first.
#[inline]
pub(crate) fn arrival_rank(kind: PacketKind) -> Rank {
    match kind {
        PacketKind::Data => Rank::First,
        PacketKind::Ack
        | PacketKind::Nack
        | PacketKind::Control
        | PacketKind::LinkControl
        | PacketKind::PathControl => Rank::Second,
        PacketKind::Pfc => Rank::Third,
    }
}

/// Packets that came through a port without a gap between them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ArrivalTrain {
    /// When the last packet began and ended to be sent.
    sent: Time,
    end: Time,
    /// Index of the last packet among all arrivals of the node.
    index: u64,
    /// How the last packet was sent, and the one before it.
    last: Sending,
    parent: Sending,
    /// A timer of the host sent the last packet.
    timed: bool,
    /// A host sends them.
    from_host: bool,
    wire: TrainWire,
}

/// The link that packets of a train come over. Its rate never changes: scenarios refuse impaired
/// links together with `ns3_tie_order`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TrainWire {
    /// Propagation delay of the link.
    propagation: Time,
    rate: Rate,
    clock: Clock,
    /// Full data packets and ACKs.
    common_sizes: [CommonSize; 2],
}

/// What is known of packets of one size.
#[derive(Clone, Copy, Debug, Default)]
struct CommonSize {
    size: u16,
    /// The lead of packets that leave a switch as soon as they have come over the link.
    lead: u16,
    /// Time on the wire.
    time: Time,
}

impl TrainWire {
    pub(crate) fn new(propagation: Time, rate: Rate, clock: Clock, sizes: [u64; 2]) -> TrainWire {
        let mut wire = TrainWire { propagation, rate, clock, ..TrainWire::default() };
        wire.common_sizes = sizes.map(|size| wire.compute(size as u16));
        wire
    }

    #[cold]
    fn compute(&self, size: u16) -> CommonSize {
        let time = self.clock.time_for(self.rate, size.into());
        let lead = u16::try_from((self.propagation + time).ns()).unwrap_or(u16::MAX);
        CommonSize { size, lead, time }
    }

    /// Returns what `value` of a packet of `size` bytes is.
    #[inline(always)]
    fn look_up<T>(&self, size: u16, value: impl Fn(&CommonSize) -> T) -> T {
        match self.common_sizes.iter().find(|common| common.size == size) {
            Some(known) => value(known),
            None => value(&self.compute(size)),
        }
    }

    /// Returns how long `size` bytes take on the wire.
    #[inline(always)]
    fn time_of(&self, size: u16) -> Time {
        self.look_up(size, |known| known.time)
    }
}

/// How a packet was sent. Two words: what is read right after it was written in other parts than
/// these makes the processor wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Sending {
    /// When that was scheduled.
    scheduled: Time,
    /// The index of the train's last packet or the message that the train begins with, and
    /// [`Sending::CONTINUES`] if the packet continues a train.
    rank: u64,
}

impl Sending {
    /// The bit of `rank` that decides before all others.
    const CONTINUES: u64 = 1 << 63;

    #[inline(always)]
    fn new(scheduled: Time, continues: bool, rank: u64) -> Sending {
        Sending { scheduled, rank: (u64::from(continues) * Sending::CONTINUES) | rank }
    }

    /// Returns whether the packet continues a train.
    #[inline(always)]
    fn continues(self) -> bool {
        self.rank & Sending::CONTINUES != 0
    }

    /// Returns the index or the message.
    #[inline(always)]
    fn rank(self) -> u64 {
        self.rank & !Sending::CONTINUES
    }

    /// Sets the index or the message.
    #[inline(always)]
    fn set_rank(&mut self, rank: u64) {
        self.rank = self.rank & Sending::CONTINUES | rank;
    }
}

/// What decides among arrivals of one instant, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EmissionKey {
    sent: Time,
    scheduled: Time,
    /// The packet continues a train.
    continues: bool,
    /// How the train's last packet was sent. If a timer of the host sent this one, how the end of
    /// the last packet came about.
    parent: Sending,
    /// Index of the train's last packet or the message that the train begins with.
    rank: u64,
    pub(crate) port: u16,
}

impl EmissionKey {
    /// Returns whether the packet of `other` continues its train and was sent and scheduled at the
    /// same times as this one. Then the last packets of both trains are comparable.
    #[inline]
    pub(crate) fn continues_with(&self, other: &EmissionKey) -> bool {
        (other.sent, other.scheduled, other.continues) == (self.sent, self.scheduled, true)
    }
}

impl ArrivalTrain {
    pub(crate) fn new(from_host: bool, wire: TrainWire) -> ArrivalTrain {
        ArrivalTrain { from_host, wire, ..ArrivalTrain::default() }
    }

    /// Returns the lead that a packet of `size` bytes is sent on with. At the earliest it leaves
    /// when it has arrived, and its sending was scheduled when it was sent here.
    #[inline]
    pub(crate) fn lead_of(&self, size: u16) -> u16 {
        self.wire.look_up(size, |known| known.lead)
    }

    /// Returns how long a packet of `size` bytes takes, from when it begins to be sent.
    pub(crate) fn time_of(&self, size: u16) -> Time {
        self.wire.propagation + self.wire.time_of(size)
    }

    /// Notes a packet that arrives at `time`. Its index is not known yet.
    #[inline(always)]
    pub(crate) fn add(&mut self, time: Time, header: &Header) {
        let end = time - self.wire.propagation;
        let sent = end - self.wire.time_of(header.size);
        let in_train = sent == self.end;
        let scheduled = if in_train && !self.from_host {
            self.sent
        } else {
            sent.saturating_sub(Time::from_ns(ns3_lead(header).into()))
        };
        let timed = self.from_host && !in_train && scheduled == self.end && self.index > 0;
        let continues = in_train || timed;
        let mut parent = match (in_train, timed) {
            (true, _) => self.last,
            (false, true) => Sending::new(self.sent, true, self.index),
            (false, false) => Sending::default(),
        };
        if end == self.end {
            // Packets that take no time on the wire keep their order.
            parent = parent.max(self.parent);
        }
        let rank = if continues { self.index } else { u64::from(header.address.flow) };
        (self.sent, self.end, self.parent, self.timed) = (sent, end, parent, timed);
        self.last = Sending::new(scheduled, continues, rank);
    }

    /// Returns the key of the packet that was just added. It came through `port`.
    #[inline]
    pub(crate) fn key(&self, port: u16) -> EmissionKey {
        let ArrivalTrain { sent, parent, last: Sending { scheduled, .. }, .. } = *self;
        let (continues, rank) = (self.last.continues(), self.last.rank());
        EmissionKey { sent, scheduled, continues, parent, rank, port }
    }

    /// Notes the index of the last packet, and returns its rank. If a timer of the host sent it, it
    /// goes after the packet before it in the order of the instant, whose rank `peer` returns if
    /// that [continues its train at the same time](EmissionKey::continues_with).
    #[inline(always)]
    pub(crate) fn set_index(&mut self, index: u64, peer: impl FnOnce() -> Option<u64>) -> u64 {
        self.index = index;
        if self.timed {
            self.last.set_rank(peer().unwrap_or(0));
        }
        self.last.rank()
    }
}
