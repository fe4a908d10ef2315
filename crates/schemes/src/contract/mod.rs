//! The plug-in points: what a scheme is made of, all in one place.
//!
//! A [`Scheme`] names its parameters, what its packets carry, and its three parts: [`Rp`] at the
//! sender, [`Np`] at the receiver, [`Cp`] in switches. A hook that is written is
//! called: a mistake does not compile. The fabric is generic over the scheme: hooks are called
//! by static dispatch and the empty ones vanish.
//!
//! There are three kinds of hooks:
//!
//! - Required: the compiler asks for them.
//! - Always called, empty by default: `on_send`, `on_ack`, `on_depart` and the others that traits
//!   declare with a body. An empty one is inlined to nothing and switches off no fast path.
//! - Optional capabilities, each a trait of its own, such as [`OnArrival`]. A part names those that
//!   it has: a congestion point by [`hooks!`](crate::hooks!), the others by `type Timer`.

mod capabilities;
mod ctl;
mod effects;
mod facts;
mod level;
mod mix;
mod needs;
mod packet;
mod preset;
mod rates;
mod receiver;
mod scheme;
mod sender;
mod stack;
mod switch;

pub use capabilities::{
    Absent, ArrivalSlot, ArriveCx, Both, CpTimer, CpTimerSlot, Crossing, DequeueAction,
    EnqueueSlot, Gate, HoldVerdict, Holding, InputQueueSlot, InputQueues, InputView, NpTimer,
    NpTimerSlot, OnArrival, OnArrivalOrHold, OnEnqueue, Present, Requeue, RequeueSlot, RpTimer,
    RpTimerSlot, SubQueueSlot, SubQueues, Verdict,
};
pub use ctl::{Ctl, NoCtl};
pub use effects::{HostCx, QpEnd, SwitchEffect, SwitchEffects};
pub use facts::{
    ClassSpec, Classes, HostFacts, HostLocation, PathFacts, PortFacts, QueueLimit, SwitchFacts,
    WireFacts,
};
pub use level::{Departure, EmitCx, Emits, FullCx, Join, Level, LocalCx, Order, PortLocal, Strict};
pub use mix::{
    Either, LevelOf, Mix, MixHost, MixParams, MixReceiver, MixSender, MixSwitch, Mixable,
};
pub use needs::{Fit, Needs, Tolerates};
pub use packet::{Address, EcnCodePoint, Flags, Header, Packet, PacketKind};
pub use preset::{EcnLaw, Preset, PresetInfo};
pub use rates::{LinkRates, RateCode};
pub use receiver::{Np, PlainReceiver};
pub use scheme::Scheme;
pub use sender::{Ack, Pacing, Rp, SendLimits, SenderMetric};
pub use stack::Stack;
pub use switch::{Cp, PlainSwitch, PortView, Ports, SwitchFlowMetric};
