//! The values that the scenario and the simulator share: nodes, links, outages, messages, and how
//! hosts and switches behave.
//!
//! All are plain data. The scenario checks them and fills in every default; the fabric trusts them.
//! What a scenario file may say (quantities as texts, selectors, defaults left out) is described by
//! the `spec` types of the crate `scenario`, not here.
//!
//! With the feature `serde`, enums that scenario files name can be read and written.

#![forbid(unsafe_code)]

mod balance;
mod cause;
mod class;
mod flow_recovery;
mod host;
mod message;
mod network;
mod pause;
mod probe;
mod receiver;
mod recovery;
mod spray;
mod switch;

pub use balance::{Balance, ConWeave, Conga};
pub use cause::Cause;
pub use class::{ClassMarking, ClassSettings};
pub use flow_recovery::FlowRecovery;
pub use host::{HostConfig, PortUse};
pub use message::{Awaited, Joins, Message};
pub use network::{Impairment, Link, Node, NodeKind, Outage};
pub use pause::{
    PauseExpiry, PauseLength, PauseRenewal, PauseResponse, PauseTiming, Watchdog, WatchdogAction,
};
pub use probe::{Probe, ProbeKind, ProbeTargets};
pub use receiver::SlowReceiver;
pub use recovery::{LossRule, Recovery, RecoveryMode, Span};
pub use spray::Spray;
pub use switch::{Cioq, Paths};
