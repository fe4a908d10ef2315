//! The plug-in points: what a scheme is made of, all in one place.
//!
//! A [`Scheme`] names its parameters, what its packets carry, and its three parts: [`Rp`] at the
//! sender, [`Np`] at the receiver, [`Cp`] in switches. Every hook has a default that does nothing,
//! so a scheme says only what is its own. The fabric is generic over the scheme: hooks are called
//! by static dispatch and the empty ones vanish.
//!
//! Some hooks cost time at each packet even where they are empty. They are called only where a constant
//! says so, which stands in their documentation: without it the hook does nothing, and nobody says so
//! but a test of this crate (`tests/hooks.rs`).

mod ctl;
mod effects;
mod facts;
mod level;
mod packet;
mod preset;
mod rates;
mod receiver;
mod scheme;
mod sender;
mod stack;
mod switch;

pub use ctl::{Ctl, NoCtl};
pub use effects::{HostCx, QpEnd, SwitchEffect, SwitchEffects};
pub use facts::{
    ClassSpec, HostFacts, HostLocation, PathFacts, PortFacts, QueueLimit, SwitchFacts, WireFacts,
};
pub use level::{Departure, EmitCx, Emits, FullCx, Level, LocalCx, Order, PortLocal, Strict};
pub use packet::{Address, Body, EcnCodePoint, Flags, Header, Packet, PacketKind};
pub use preset::{EcnLaw, Preset, PresetInfo};
pub use rates::{LinkRates, RateCode};
pub use receiver::{Np, PlainReceiver};
pub use scheme::Scheme;
pub use sender::{Ack, Rp, SendLimits, SenderMetric};
pub use stack::Stack;
pub use switch::{
    Cp, Crossing, DequeueAction, Gate, InputView, PlainSwitch, PortView, Ports, SwitchFlowMetric,
    Verdict,
};
