//! The lossless network: hosts with RDMA NICs, shared-buffer switches with PFC and ECN, and the
//! cables between them, generic over a congestion-control scheme.
//!
//! [`Setup`] says what is to be run, [`Simulation`] is the network built for a scheme, [`RunOutput`] what
//! came out. A packet's life: a host's `nic` paces it out of a `qp`; a `port` serialises it onto a
//! link; a `switch` asks its `mmu` for room, its `routing` for the way, queues it, and marks or
//! stamps it when it leaves; the receiving host turns it into its own ACK.
//!
//! Nothing on a packet's way allocates, hashes strings, or calls through a `dyn`.

mod build;
mod cioq;
mod compat;
mod context;
mod error;
mod host;
mod mmu;
mod network;
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

pub use compat::Quirks;
pub use engine::arena::OutOfAddressSpace;
pub use engine::{Outcome, Progress, ProgressCallback};
pub use error::SetupError;
pub use host::FlowOutcome;
pub use host::unfinished::Unfinished;
pub use model::{After, Link, Message, Node, NodeKind, Outage};
pub use network::setup::{
    Cioq, ClassConfig, EcnConfig, EcnLaw, Headroom, HostConfig, Paths, PfcConfig, Probe, ProbeKind,
    ProbeTargets, QueueSampling, Records, Setup, Spill, SwitchConfig, Threshold,
};
pub use observe::recorder::{PacketEvent, PacketEventKind, PfcEvent, QueueBlock};
pub use observe::samples::{Sample, Samples};
pub use observe::spill::{Sequence, SpillError};
pub use output::{PortReport, RunOutput};
pub use plan::{Plan, PlannedPath, PortLoad};
pub use port::PortCounters;
pub use simulation::Simulation;
pub use switch::chassis::{LosslessDrop, Memory, SwitchAudit};
