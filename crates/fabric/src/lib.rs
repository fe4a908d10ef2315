//! The lossless network: hosts with RDMA NICs, shared-buffer switches with PFC and ECN, and the
//! cables between them, generic over a congestion-control scheme.
//!
//! [`Setup`] says what is to be run, [`Ready`] is the network built for a scheme, [`Output`] what
//! came out. A packet's life: a host's `nic` paces it out of a `qp`; a `port` serialises it onto a
//! link; a `switch` asks its `mmu` for room, its `routing` for the way, queues it, and marks or
//! stamps it when it leaves; the receiving host turns it into its own ACK.
//!
//! Nothing on a packet's way allocates, hashes strings, or calls through a `dyn`.

mod build;
mod chassis;
mod cioq;
mod common;
mod due;
mod egress;
mod graph;
mod held;
mod host;
mod ideal;
mod layout;
mod losses;
mod mmu;
mod mrg;
mod network;
mod nic;
mod packet;
mod pauses;
mod places;
mod plan;
mod port;
mod probe;
mod qp;
mod quirks;
mod record;
mod red;
mod routing;
mod run;
mod samples;
mod scheduler;
mod spill;
mod stream;
mod sub_queue;
mod switch;
mod tournament;
mod unfinished;

pub use chassis::{LosslessDrop, Memory, SwitchAudit};
pub use engine::arena::NoRoom;
pub use engine::{Outcome, Progress, Watch};
pub use host::FlowOutcome;
pub use network::{
    After, Cable, Cioq, ClassConfig, EcnConfig, EcnLaw, Headroom, HostConfig, Message, Node,
    NodeKind, Outage, Paths, PfcConfig, Probe, ProbeKind, ProbeTargets, Setup, SwitchConfig,
    Threshold,
};
pub use plan::{Plan, PortLoad, Way};
pub use port::PortCounters;
pub use quirks::Quirks;
pub use record::{Happening, PacketEvent, PfcEvent, QueueBlock, QueueClock, Records};
pub use run::{Output, PortReport, Ready, Refusal};
pub use samples::{Sample, Samples};
pub use spill::{Sequence, Spill, SpillError};
pub use unfinished::Unfinished;
