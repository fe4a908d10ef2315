//! Which optional hooks the parts of scheme `S` have. The fabric calls them through these types;
//! `ENABLED` is a constant, so that what is absent leaves no code.

use crate::packet::Scheme;
use schemes::contract::{Cp, Np, Rp};

/// Whether the congestion point sees arrivals, and whether it may hold them.
pub(crate) type ArrivalsOf<S> = <<S as Scheme>::Cp as Cp<S>>::Arrivals;
/// Whether the congestion point sees packets join queues.
pub(crate) type EnqueuesOf<S> = <<S as Scheme>::Cp as Cp<S>>::Enqueues;
/// Whether the congestion point has sub-queues.
pub(crate) type SubQueuesOf<S> = <<S as Scheme>::Cp as Cp<S>>::SubQueues;
/// Whether the congestion point sends packets back to the tail of their queue.
pub(crate) type RequeueOf<S> = <<S as Scheme>::Cp as Cp<S>>::Requeue;
/// Whether the congestion point works on input queues.
pub(crate) type InputQueuesOf<S> = <<S as Scheme>::Cp as Cp<S>>::InputQueues;
/// Whether the congestion point has a timer.
pub(crate) type CpTimerOf<S> = <<S as Scheme>::Cp as Cp<S>>::Timer;
/// Whether the reaction point has a timer.
pub(crate) type RpTimerOf<S> = <<S as Scheme>::Rp as Rp<S>>::Timer;
/// Whether the notification point has a timer.
pub(crate) type NpTimerOf<S> = <<S as Scheme>::Np as Np<S>>::Timer;

/// Whether the scheme has traffic classes of its own.
#[inline(always)]
pub(crate) const fn has_own_classes<S: Scheme>() -> bool {
    S::CLASSES.is_some()
}
