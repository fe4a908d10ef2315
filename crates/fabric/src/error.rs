//! Why a run cannot be built or started.

use schemes::params::ParamError;
use units::{Bytes, NodeId, Rate, Time};

/// Why a run cannot be built or started.
#[derive(Clone, Debug, PartialEq)]
pub enum SetupError {
    /// Paths have more switches than packets of the scheme can record.
    PathTooLong {
        /// The most switches on a path.
        switches: usize,
        /// The most that the scheme can record.
        room: usize,
    },
    /// Links have more different rates than packets of the scheme can encode.
    TooManyLinkRates {
        /// The number of different rates.
        rates: usize,
        /// The most that the scheme can encode.
        room: usize,
    },
    /// Something else uses a drop-tail class that the scheme keeps for its own packets.
    ClassInUse {
        /// Its priority.
        priority: u8,
    },
    /// A class of the scheme must be served before all others, and is not.
    ClassNotFirst {
        /// Its priority.
        priority: u8,
    },
    /// The scheme gives a class a share of the link that is not within
    /// [`ClassSpec::SHARES`](schemes::contract::ClassSpec::SHARES), or no packet at a time.
    ClassNotSendable {
        /// Its priority.
        priority: u8,
    },
    /// Data and ACKs of two hosts take different paths, but the scheme needs one path for both.
    AsymmetricPath {
        /// The sender.
        src: NodeId,
        /// The receiver.
        dst: NodeId,
    },
    /// No tree of switches reaches all hosts.
    NoSpanningTree,
    /// The system does not start the threads.
    ThreadStart {
        /// The number of threads.
        threads: usize,
        /// The error of the system.
        reason: String,
    },
    /// A link is repaired so soon that packets that were on it could still arrive.
    OutageTooShort {
        /// The link's index.
        link: u32,
        /// When it fails.
        from: Time,
        /// The outage must be longer than this.
        min: Time,
    },
    /// The ideal completion time of a message is beyond the range of `Time`.
    EndlessMessage {
        /// Its index.
        flow: u32,
        /// The lowest rate on its path.
        rate: Rate,
    },
    /// There are more different sets of next hops than the tables can encode.
    RoutingTableFull,
    /// Between the switches of two racks there are more paths than packets can tell apart.
    TooManyPaths {
        /// The switch of a sender.
        from: NodeId,
        /// The switch of a receiver.
        to: NodeId,
        /// The number of paths.
        paths: u32,
    },
    /// The buffer of a switch is smaller than the headroom that PFC needs.
    BufferTooSmall {
        /// The switch.
        node: NodeId,
        /// Bytes of headroom and reserve.
        needed: u64,
    },
    /// A message has packets that are larger than what the first switch on its way, or its
    /// receiver, ever takes of them: it can never complete.
    NoRoom {
        /// The switch or the receiver.
        node: NodeId,
        /// The message's index.
        flow: u32,
        /// Its largest packet.
        packet: Bytes,
    },
    /// An input queue is smaller than Xoff and the headroom.
    InputQueueTooSmall {
        /// The switch.
        node: NodeId,
        /// Bytes of both.
        needed: u64,
    },
    /// The scheme needs queues or holds that CIOQ switches do not have.
    NotForCioq,
    /// The scheme holds packets at a switch that puts those of its hosts in order.
    HoldsBeforeOrder {
        /// The switch.
        node: NodeId,
    },
    /// Parameters of the scheme do not fit a switch.
    SwitchParams {
        /// The switch.
        node: NodeId,
        /// Which parameter, and why.
        error: ParamError,
    },
}
