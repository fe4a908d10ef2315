use super::Scheme;
use units::{PortId, Time};

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketKind {
    /// Part of a message.
    Data,
    /// Acknowledges data.
    Ack,
    /// Asks the sender to go back.
    Nack,
    /// A control packet of the scheme, from host to host or from switch to host.
    Control,
    /// A control packet of the scheme between the two ends of a link.
    LinkControl,
    /// A packet of the fabric's load balancing, from switch to switch. No scheme has to do with it.
    PathControl,
    /// A PFC frame.
    Pfc,
}

impl PacketKind {
    /// Returns whether switches forward it. Link control and PFC frames end at the other end of a
    /// link.
    #[inline(always)]
    pub fn is_routed(self) -> bool {
        !matches!(self, PacketKind::LinkControl | PacketKind::Pfc)
    }
}

/// What the network says about the path in the packet's ECN field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum EcnCodePoint {
    /// Nothing to say.
    #[default]
    NotMarked,
    /// Undetermined: the port was held back by PFC (TCD).
    Undetermined,
    /// Congestion experienced. Overrides the others.
    CongestionExperienced,
}

/// Where the packets of a QP come from and go to. A switch that wants to notify a sender keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The sending host: its index among the hosts.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// The message.
    pub flow: u32,
    /// Where the sender finds the QP. Another QP of the sender may be there later.
    pub sender_slot: u32,
    /// Where the receiver finds the QP: its number among all that the receiver ever has.
    pub receiver_slot: u32,
    /// Hash of the five-tuple.
    pub hash: u32,
}

impl Address {
    /// Returns a key of the QP that is unique, as its five-tuple is: the receiver, and the number
    /// of the QP there.
    #[inline]
    pub fn qp(&self) -> u64 {
        u64::from(self.dst) << 32 | u64::from(self.receiver_slot)
    }
}

bitflags::bitflags! {
    /// Properties of a packet, one bit each.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Flags: u8 {
        /// Data: last of its message.
        const LAST = 1;
        /// Data: the sender wants an ACK for it.
        const ACK_REQUESTED = 2;
        /// It travels to `address.src` (ACKs, notifications) and not to `address.dst`.
        const TO_SOURCE = 4;
        /// A bit for the scheme: a notification handled on the way, a marked packet.
        const MARK = 8;
        /// For the fabric: sender and receiver are in one rack, whose links are shorter than
        /// others.
        const NEIGHBOURLY = 16;
        /// For the fabric: a control packet that is a CNP of RoCEv2 ([`Ctl::is_cnp`]).
        ///
        /// [`Ctl::is_cnp`]: super::Ctl::is_cnp
        const CNP = 32;
    }
}

impl Flags {
    /// Returns these flags if `condition` holds, else none.
    #[inline(always)]
    pub fn when(self, condition: bool) -> Flags {
        if condition { self } else { Flags::empty() }
    }
}

/// The header of every packet. It takes 52 bytes, so that a packet with the arena's link and 8
/// bytes of its scheme fits a cache line of 64 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub struct Header {
    /// The QP that it belongs to, seen from its data: `src` is the data's sender also on ACKs.
    pub address: Address,
    /// Data: first byte of the QP's stream in it. ACK and NACK: the first byte not yet received.
    pub sequence: u64,
    /// When the data packet left its sender; the ACK carries it back. PFC: when the frame was made.
    pub sent_at: Time,
    /// Bytes on the wire, preamble and gap included where the wire profile has them.
    pub size: u16,
    /// Data: payload bytes. ACK and NACK: the low 16 bits of the number of the packet that is
    /// answered, in its QP's stream, if receivers keep data that is out of order; else 0.
    pub payload: u16,
    /// In a switch: the port through which the packet came, or [`NO_INGRESS`](Self::NO_INGRESS) if
    /// the switch made it ([`in_port`](Self::in_port)). On a link, in runs with the quirk
    /// `ns3_tie_order`: how long before its sending the sending was scheduled, in ns.
    pub ingress: u16,
    /// What it is.
    pub kind: PacketKind,
    /// Its priority (PFC: the priority that is paused or resumed).
    pub priority: u8,
    /// Its ECN field.
    pub code_point: EcnCodePoint,
    /// ACK and NACK: the code point of the data packet answered. PFC: see
    /// [`is_pause`](Self::is_pause).
    pub echo: EcnCodePoint,
    /// Further properties, one bit each.
    pub flags: Flags,
}

impl Header {
    /// The ingress of a packet that the switch at hand made itself.
    pub const NO_INGRESS: u16 = u16::MAX;

    /// Returns the port through which the packet came to the switch at hand; `None` if that switch
    /// made it. Only for packets in a switch.
    #[inline]
    pub fn in_port(&self) -> Option<PortId> {
        (self.ingress != Self::NO_INGRESS).then_some(PortId::new(self.ingress))
    }
    /// Returns whether a PFC frame pauses; otherwise it resumes.
    #[inline]
    pub fn is_pause(&self) -> bool {
        self.echo != EcnCodePoint::NotMarked
    }
    /// Returns what a port needs to send the packet.
    #[inline(always)]
    pub fn kind_priority_size(&self) -> (PacketKind, u8, u16) {
        (self.kind, self.priority, self.size)
    }
    /// Returns the payload bytes that the packet carries: only data has any.
    #[inline]
    pub fn carried(&self) -> u16 {
        if self.kind == PacketKind::Data { self.payload } else { 0 }
    }
    /// Returns the hosts that the packet travels from and to.
    #[inline]
    pub fn route_ends(&self) -> (u32, u32) {
        let Address { src, dst, .. } = self.address;
        if self.flags.contains(Flags::TO_SOURCE) { (dst, src) } else { (src, dst) }
    }
    /// Returns the host that the packet travels to.
    #[inline]
    pub fn destination(&self) -> u32 {
        self.route_ends().1
    }
}

/// What a packet carries beside its header.
#[derive(Clone, Copy, Debug)]
enum Body<M, C> {
    /// Data and ACKs.
    Meta(M),
    /// The scheme's control packets.
    Ctl(C),
}

/// A packet of scheme `S`. The header comes first in memory: it is all that most hops look at, and
/// with the arena's link before it, it fills a cache line.
///
/// Its [`meta`](Packet::meta_mut) is reached by reference only. To bind it by value, and so write
/// to a copy, does not compile:
/// ```compile_fail,E0616
/// use schemes::contract::{Packet, Scheme};
/// fn stamp<S: Scheme<Meta = u32>>(packet: &mut Packet<S>) {
///     let mut stamp = packet.body;
/// }
/// ```
#[derive(Debug)]
#[repr(C)]
pub struct Packet<S: Scheme> {
    /// What every packet has.
    pub header: Header,
    /// What the scheme adds.
    body: Body<S::Meta, S::Ctl>,
}

impl<S: Scheme> Packet<S> {
    /// Data, an ACK or a NACK, which carries `meta` for the scheme.
    #[inline(always)]
    pub fn with_meta(header: Header, meta: S::Meta) -> Packet<S> {
        Packet { header, body: Body::Meta(meta) }
    }
    /// A control packet of the scheme.
    #[inline(always)]
    pub fn with_ctl(header: Header, ctl: S::Ctl) -> Packet<S> {
        Packet { header, body: Body::Ctl(ctl) }
    }
    /// Returns what data and ACKs carry for the scheme. `None`: it is a control packet.
    #[inline(always)]
    pub fn meta(&self) -> Option<&S::Meta> {
        match &self.body {
            Body::Meta(meta) => Some(meta),
            Body::Ctl(_) => None,
        }
    }
    /// Returns what data and ACKs carry for the scheme, to be written in place. `None`: it is a
    /// control packet.
    #[inline(always)]
    pub fn meta_mut(&mut self) -> Option<&mut S::Meta> {
        self.split_mut().1
    }
    /// Returns the header and [`meta_mut`](Packet::meta_mut), side by side.
    #[inline(always)]
    pub fn split_mut(&mut self) -> (&mut Header, Option<&mut S::Meta>) {
        match &mut self.body {
            Body::Meta(meta) => (&mut self.header, Some(meta)),
            Body::Ctl(_) => (&mut self.header, None),
        }
    }
    /// Returns what a control packet says. `None`: it is data or an ACK.
    #[inline(always)]
    pub fn ctl(&self) -> Option<&S::Ctl> {
        match &self.body {
            Body::Meta(_) => None,
            Body::Ctl(ctl) => Some(ctl),
        }
    }
}

impl<S: Scheme> Clone for Packet<S> {
    fn clone(&self) -> Packet<S> {
        *self
    }
}
impl<S: Scheme> Copy for Packet<S> {}
