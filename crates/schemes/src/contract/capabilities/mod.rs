//! Optional hooks: what a part of a scheme may have and most have not.
//!
//! Each capability is a trait of its own. A part names the ones that it has, a congestion point by
//! [`hooks!`](crate::hooks!), a reaction or notification point by `type Timer = Present`. A hook
//! that is written without its word, or a word without its hook, does not compile. What is absent
//! costs nothing: its calls are empty, and the fabric's fast paths see that by constants.
//!
//! # How it works
//! A word sets an associated type of [`Cp`](super::Cp) to a marker. Markers implement the slot
//! trait of the capability ([`ArrivalSlot`] and the others): [`Absent`] with empty calls,
//! [`Present`] with calls of the hook, if the part implements the capability. The fabric calls
//! slots.
//!
//! # What does not compile
//! A hook without its word, here `hooks!(enqueues)`: E0271, which points at `hooks!`.
//! ```compile_fail,E0271
//! use schemes::contract::{Cp, LocalCx, OnEnqueue, Packet, PortFacts, PortLocal, PortView, Scheme};
//! struct Counter(u64);
//! impl<S: Scheme> Cp<S> for Counter {
//!     type Level = PortLocal;
//!     type Port = ();
//!     schemes::hooks!();
//!     fn port(&self, _: &S::Params, _: &PortFacts) {}
//!     fn on_rate(&mut self, _: &S::Params, (): &mut (), _: &PortFacts) {}
//! }
//! impl<S: Scheme> OnEnqueue<S> for Counter {
//!     fn on_enqueue(&mut self, _: &mut LocalCx, _: &mut (), _: &PortView, _: &mut Packet<S>) {
//!         self.0 += 1;
//!     }
//! }
//! ```
//! A word without its hook: E0277, "`Counter` says `hooks!(enqueues)` and does not implement
//! `OnEnqueue`".
//! ```compile_fail,E0277
//! use schemes::contract::{Cp, PortFacts, PortLocal, Scheme};
//! struct Counter(u64);
//! impl<S: Scheme> Cp<S> for Counter {
//!     type Level = PortLocal;
//!     type Port = ();
//!     schemes::hooks!(enqueues);
//!     fn port(&self, _: &S::Params, _: &PortFacts) {}
//!     fn on_rate(&mut self, _: &S::Params, (): &mut (), _: &PortFacts) {}
//! }
//! ```
//! Sub-queues at another level than [`Strict`](super::Strict): E0271.
//! ```compile_fail,E0271
//! use schemes::contract::{Cp, Gate, Packet, PortFacts, PortLocal, Scheme, SubQueues};
//! use units::{PortId, Time};
//! struct Parking;
//! impl<S: Scheme> Cp<S> for Parking {
//!     type Level = PortLocal;
//!     type Port = ();
//!     schemes::hooks!(sub_queues);
//!     fn port(&self, _: &S::Params, _: &PortFacts) {}
//!     fn on_rate(&mut self, _: &S::Params, (): &mut (), _: &PortFacts) {}
//! }
//! impl<S: Scheme> SubQueues<S> for Parking {
//!     fn sub_queue(&self, _: PortId, _: PortId, _: &Packet<S>) -> u32 {
//!         1
//!     }
//!     fn gate(&self, _: &(), _: u32, _: &Packet<S>, _: Time) -> Gate {
//!         Gate::Open
//!     }
//! }
//! ```
//! Holding a packet under `arrivals`, where `holding_arrivals` is needed: E0308.
//! ```compile_fail,E0308
//! use schemes::contract::{
//!     Cp, HoldVerdict, LocalCx, OnArrival, Packet, PortFacts, PortLocal, Scheme, Verdict,
//! };
//! use units::PortId;
//! struct Holder;
//! impl<S: Scheme> Cp<S> for Holder {
//!     type Level = PortLocal;
//!     type Port = ();
//!     schemes::hooks!(arrivals);
//!     fn port(&self, _: &S::Params, _: &PortFacts) {}
//!     fn on_rate(&mut self, _: &S::Params, (): &mut (), _: &PortFacts) {}
//! }
//! impl<S: Scheme> OnArrival<S> for Holder {
//!     fn on_arrival(&mut self, cx: &mut LocalCx, _: PortId, _: &mut Packet<S>) -> Verdict {
//!         HoldVerdict::Hold(cx.now)
//!     }
//! }
//! ```

mod arrivals;
mod enqueues;
mod input_queues;
mod requeue;
mod sub_queues;
mod timer;

pub use arrivals::{ArrivalSlot, HoldVerdict, OnArrival, OnArrivalOrHold, Verdict};
pub use enqueues::{EnqueueSlot, OnEnqueue};
pub use input_queues::{Crossing, InputQueueSlot, InputQueues, InputView};
pub use requeue::{DequeueAction, Requeue, RequeueSlot};
pub use sub_queues::{Gate, SubQueueSlot, SubQueues};
pub use timer::{CpTimer, CpTimerSlot, NpTimer, NpTimerSlot, RpTimer, RpTimerSlot};

use super::{Cp, Level};
use std::marker::PhantomData;

/// The part does not have the capability.
#[derive(Clone, Copy, Debug)]
pub enum Absent {}

/// The part has the capability.
#[derive(Clone, Copy, Debug)]
pub enum Present {}

/// The congestion point sees arrivals and may hold them.
#[derive(Clone, Copy, Debug)]
pub enum Holding {}

/// What the two parts of a [`Stack`](super::Stack) have.
#[derive(Clone, Copy, Debug)]
pub struct Both<X, Y>(PhantomData<(X, Y)>);

/// What arrival, enqueue, PFC and timer hooks of congestion point `C` work with.
pub type ArriveCx<'a, S, C> = <<C as Cp<S>>::Level as Level>::Arrive<'a, S>;

mod sealed {
    /// Only markers are slots.
    pub trait Marker: 'static {}
    impl Marker for super::Absent {}
    impl Marker for super::Present {}
    impl Marker for super::Holding {}
    impl<X: Marker, Y: Marker> Marker for super::Both<X, Y> {}
}

/// Names the capabilities of a congestion point, in its `impl Cp`: `hooks!()` for none,
/// `hooks!(arrivals, timer)` for two.
///
/// | word | trait |
/// |---|---|
/// | `arrivals` | [`OnArrival`](crate::contract::OnArrival) |
/// | `holding_arrivals` | [`OnArrivalOrHold`](crate::contract::OnArrivalOrHold) |
/// | `enqueues` | [`OnEnqueue`](crate::contract::OnEnqueue) |
/// | `sub_queues` | [`SubQueues`](crate::contract::SubQueues) |
/// | `requeue` | [`Requeue`](crate::contract::Requeue) |
/// | `input_queues` | [`InputQueues`](crate::contract::InputQueues) |
/// | `timer` | [`CpTimer`](crate::contract::CpTimer) |
#[macro_export]
macro_rules! hooks {
    (@arrivals) => { type Arrivals = $crate::contract::Absent; };
    (@arrivals arrivals $($rest:ident)*) => { type Arrivals = $crate::contract::Present; };
    (@arrivals holding_arrivals $($rest:ident)*) => { type Arrivals = $crate::contract::Holding; };
    (@arrivals $other:ident $($rest:ident)*) => { $crate::hooks!(@arrivals $($rest)*); };
    (@enqueues) => { type Enqueues = $crate::contract::Absent; };
    (@enqueues enqueues $($rest:ident)*) => { type Enqueues = $crate::contract::Present; };
    (@enqueues $other:ident $($rest:ident)*) => { $crate::hooks!(@enqueues $($rest)*); };
    (@sub_queues) => { type SubQueues = $crate::contract::Absent; };
    (@sub_queues sub_queues $($rest:ident)*) => { type SubQueues = $crate::contract::Present; };
    (@sub_queues $other:ident $($rest:ident)*) => { $crate::hooks!(@sub_queues $($rest)*); };
    (@requeue) => { type Requeue = $crate::contract::Absent; };
    (@requeue requeue $($rest:ident)*) => { type Requeue = $crate::contract::Present; };
    (@requeue $other:ident $($rest:ident)*) => { $crate::hooks!(@requeue $($rest)*); };
    (@input_queues) => { type InputQueues = $crate::contract::Absent; };
    (@input_queues input_queues $($rest:ident)*) => {
        type InputQueues = $crate::contract::Present;
    };
    (@input_queues $other:ident $($rest:ident)*) => { $crate::hooks!(@input_queues $($rest)*); };
    (@timer) => { type Timer = $crate::contract::Absent; };
    (@timer timer $($rest:ident)*) => { type Timer = $crate::contract::Present; };
    (@timer $other:ident $($rest:ident)*) => { $crate::hooks!(@timer $($rest)*); };
    (@word arrivals) => {};
    (@word holding_arrivals) => {};
    (@word enqueues) => {};
    (@word sub_queues) => {};
    (@word requeue) => {};
    (@word input_queues) => {};
    (@word timer) => {};
    ($($word:ident),* $(,)?) => {
        $( $crate::hooks!(@word $word); )*
        $crate::hooks!(@arrivals $($word)*);
        $crate::hooks!(@enqueues $($word)*);
        $crate::hooks!(@sub_queues $($word)*);
        $crate::hooks!(@requeue $($word)*);
        $crate::hooks!(@input_queues $($word)*);
        $crate::hooks!(@timer $($word)*);
    };
}
