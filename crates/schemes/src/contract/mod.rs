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
//!
//! # All hooks
//! | part | hook | called |
//! |---|---|---|
//! | [`Rp`] | `open`, `limits` (required) | when a QP is opened; after each other hook |
//! | | `on_send` | for each data packet that leaves |
//! | | `on_ack`, `on_ctl` | for each ACK or NACK, and each control packet, that arrives |
//! | | `on_backlog` | when a message is posted, and when the last byte leaves |
//! | | `on_retransmission_timeout` | when the timeout passes without an ACK |
//! | | `observe` | by probes |
//! | | [`RpTimer`]: `next_timer`, `on_timer` | `type Timer = Present` |
//! | [`Np`] | `open` (required) | when the first packet of a QP arrives |
//! | | `on_packet`, `on_kept_data` | for each data packet; for each that the receiver keeps |
//! | | `on_ctl`, `on_message_end` | for each control packet; with the last byte of a message |
//! | | [`NpTimer`]: `next_timer`, `on_timer` | `type Timer = Present` |
//! | [`Cp`] | `port` (required) | for each port, when the switch is built |
//! | | `on_rate` (required) | when the rate of a port's link changes |
//! | | `may_mark` | before RED marks a packet |
//! | | `on_depart` | for each packet that begins to leave |
//! | | `on_drop`, `on_pfc` | when a waiting packet is dropped; at each pause and resume |
//! | | `observe`, `observe_flow`, `counters` | by probes; at the end of the run |
//! | | [`OnArrival`]: `on_arrival` | `hooks!(arrivals)`: for each packet that arrives |
//! | | [`OnArrivalOrHold`]: `on_arrival` | `hooks!(holding_arrivals)`: also when a hold ends |
//! | | [`OnEnqueue`]: `on_enqueue` | `hooks!(enqueues)`: for each packet that joins a queue |
//! | | [`SubQueues`]: `sub_queue`, `gate` | `hooks!(sub_queues)`: at enqueue; before a head goes |
//! | | [`Requeue`]: `at_head` | `hooks!(requeue)`: for the packet at the head of a queue |
//! | | [`InputQueues`]: `on_input`, `reroute` | `hooks!(input_queues)`: for each arrival in CIOQ |
//! | | [`InputQueues`]: `may_block`, `crossing` | before a packet crosses the crossbar |
//! | | [`CpTimer`]: `next_timer`, `on_timer` | `hooks!(timer)` |
//! | [`Scheme`] | `host`, `congestion_point` (required) | for each host; for each switch |
//! | | `check`, `check_switch` | before the run, to refuse it |
//! | | `rate_floor`, `warnings` | by `rocelab plan`, and at the end of the run |
//! | | `meta_bytes`, `counters` | before the run; at its end |
//! | | `on_late_ctl` | for a control packet of a QP that is over |
//!
//! Each hook's documentation says which fast paths of ARCHITECTURE.md it turns off.

mod capabilities;
mod counters;
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
mod warnings;

pub use capabilities::{
    Absent, ArrivalSlot, ArriveCx, Both, CpTimer, CpTimerSlot, Crossing, DequeueAction,
    EnqueueSlot, Gate, HoldVerdict, Holding, InputQueueSlot, InputQueues, InputView, NpTimer,
    NpTimerSlot, OnArrival, OnArrivalOrHold, OnEnqueue, Present, Requeue, RequeueSlot, RpTimer,
    RpTimerSlot, SubQueueSlot, SubQueues, Verdict,
};
pub use counters::add_counter;
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
pub use warnings::{NetworkFacts, RateFloor};
