//! Why a run cannot be built or started.

use schemes::params::ParamError;
use units::{NodeId, Rate, Time};

/// Why a network can't be built for a scheme.
#[derive(Clone, Debug, PartialEq)]
pub enum SetupError {
    /// Paths have more switches than the scheme's packets have room for.
    PathTooLong {
        /// Most switches on a path.
        switches: usize,
        /// What the scheme has room for.
        room: usize,
    },
    /// Links have more rates than the scheme's packets can tell apart.
    TooManyLinkRates {
        /// How many.
        rates: usize,
        /// How many it can.
        room: usize,
    },
    /// The scheme keeps a drop-tail class for its own packets, and something else uses it.
    ClassInUse {
        /// Its priority.
        priority: u8,
    },
    /// The scheme keeps a class that must go before all else, and does not.
    ClassNotFirst {
        /// Its priority.
        priority: u8,
    },
    /// Data and ACKs of two hosts take different paths, and the scheme needs them on one.
    AsymmetricPath {
        /// The sender.
        src: NodeId,
        /// The receiver.
        dst: NodeId,
    },
    /// No tree of switches has all hosts on it.
    NoSpanningTree,
    /// The system does not start so many threads.
    ThreadStart {
        /// How many.
        threads: usize,
        /// What it says.
        reason: String,
    },
    /// A cable is repaired so soon that what was on it could still arrive.
    OutageTooShort {
        /// The link's index.
        link: u32,
        /// When it fails.
        from: Time,
        /// It must last longer than this.
        min: Time,
    },
    /// A message takes longer than times reach, even alone in the network.
    EndlessMessage {
        /// Its index.
        flow: u32,
        /// The lowest rate on its path.
        rate: Rate,
    },
    /// The tables have no room for so many different routes.
    RoutingTableFull,
    /// A switch's buffer does not even hold the headroom that PFC needs.
    BufferTooSmall {
        /// The switch.
        node: NodeId,
        /// Bytes that its headroom and reserve take.
        needed: u64,
    },
    /// An input queue does not hold Xoff and the headroom.
    InputQueueTooSmall {
        /// The switch.
        node: NodeId,
        /// Bytes that both take.
        needed: u64,
    },
    /// The scheme has queues or holds of its own that CIOQ switches do not have.
    NotForCioq,
    /// The scheme's parameters do not go with a switch.
    SwitchParams {
        /// The switch.
        node: NodeId,
        /// Which parameter, and why.
        error: ParamError,
    },
}
