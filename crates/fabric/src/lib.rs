//! The simulated network: hosts with RDMA NICs, switches with PFC and ECN, and the links between
//! them, generic over a congestion-control scheme.
//!
//! [`Setup`] describes a run. [`Simulation`] is the network built for a scheme. [`RunOutput`] holds
//! the results of the run.
//!
//! A packet's life: a `host` paces it out of a QP. A `port` serialises it onto a link. A `switch`
//! selects a next hop (`routing`, `forwarding`), asks its `mmu` for buffer space, queues the
//! packet, and marks or stamps it when it leaves. The receiving host turns it into its own ACK.
//! Nothing on this path allocates, hashes strings, or calls through a `dyn`.
//!
//! # Rooms
//! A room is a module with all below it. A room may use the rooms that are listed before it and no
//! others. Rooms of one entry do not use each other. `tools/check_rooms.py` checks this.
//!
//! - `error`: why a run cannot be built or started.
//! - `stream`: seeds of random streams, one for each purpose and entity.
//! - `compat`: what the HPCC authors' ns-3 simulator does differently; values and pure functions.
//! - `ns3`: the functions of `compat` that the crate `ns3-order` shares.
//! - `packet`: how packets are made; the types are those of the scheme contract.
//! - `hooks`: which optional hooks a scheme has, as types.
//! - `network`: the description of a run; its graph, racks and messages; groups of nodes for the
//!   engine's threads.
//! - `routing`: for each switch and host, the next hops that are equally good.
//! - `port`: queues of an egress port, their scheduler, shapers, RED, serialisation, link errors.
//! - `forwarding`: how a switch selects one of the next hops for a packet.
//! - `context`: what all nodes of a run share and none changes.
//! - `mmu`: the shared buffer of a switch: admission, PFC thresholds, headroom.
//! - `observe`: probes, traces of packets, pauses and queues, and where they are stored.
//! - `switch`: the output-queued switch, and what every switch has (`chassis`, `egress`).
//! - `cioq`, `host`: the switch with input queues and a crossbar; hosts with their NICs and QPs.
//! - `build`: from a description to nodes.
//! - `unfinished`: why messages were not finished when a run ended.
//! - `output`: what comes out of a run.
//! - `simulation`: builds and runs.
//! - `plan`: what the messages of a run ask of the network, computed without running it.

mod build;
mod cioq;
mod compat;
mod context;
mod error;
pub mod forwarding;
mod hooks;
mod host;
mod mmu;
mod network;
pub mod ns3;
mod observe;
mod output;
mod packet;
mod plan;
mod port;
mod routing;
mod simulation;
mod stream;
mod switch;
mod unfinished;

pub use build::sufficient_headroom;
pub use compat::{Quirks, ScanQuirks};
pub use engine::arena::OutOfAddressSpace;
pub use engine::{Outcome, Progress, ProgressCallback};
pub use error::SetupError;
pub use host::FlowOutcome;
pub use model::Cause;
pub use model::{
    Balance, Cioq, ClassMarking, ClassSettings, HostConfig, Impairment, Joins, Link, LossRule,
    Message, Node, NodeKind, Outage, Paths, PauseTiming, PortUse, Probe, ProbeKind, ProbeTargets,
    Recovery, RecoveryMode, SlowReceiver, Span, Spray,
};
pub use network::setup::{
    ClassConfig, EcnConfig, EcnLaw, Headroom, PfcConfig, QueueSampling, Records, Setup, Spill,
    SwitchConfig, Threshold,
};
pub use observe::lossless_drops::{LosslessDrop, Memory};
pub use observe::recorder::{PacketEvent, PacketEventKind, PfcEvent, QueueBlock};
pub use observe::samples::{Sample, Samples};
pub use observe::sequence::Sequence;
pub use observe::spill::{SpillError, unlinked_file};
pub use output::{PortReport, RunOutput};
pub use plan::{BufferCycle, Hop, Plan, PlannedPath, PortLoad, SwitchBuffer};
pub use port::PortCounters;
pub use port::pause_clock::{WATCHDOG_DROPS, WATCHDOG_STORMS};
pub use simulation::Simulation;
pub use switch::chassis::SwitchAudit;
