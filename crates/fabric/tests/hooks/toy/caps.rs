//! Capabilities of toys: one type for each combination that the tests need.

use super::Toy;
use super::switch::{Make, SwitchPart};
use schemes::contract::{
    ArrivalSlot, Cp, CpTimerSlot, Emits, EnqueueSlot, InputQueueSlot, Level, Needs, Pacing,
    PortLocal, RequeueSlot, Stack, Strict, SubQueueSlot,
};

/// What a toy's congestion point, of level `L`, can do, and what its packets can carry.
pub trait Caps<L: Level>: Sized + 'static {
    /// One [`SwitchPart`], or a stack of two.
    type Cp: Cp<Toy<L, Self>> + Make<Toy<L, Self>>;
    type Arrivals: ArrivalSlot<Toy<L, Self>, SwitchPart<L, Self>>;
    type Enqueues: EnqueueSlot<Toy<L, Self>, SwitchPart<L, Self>>;
    type SubQueues: SubQueueSlot<Toy<L, Self>, SwitchPart<L, Self>>;
    type Requeue: RequeueSlot<Toy<L, Self>, SwitchPart<L, Self>>;
    type InputQueues: InputQueueSlot<Toy<L, Self>, SwitchPart<L, Self>>;
    type Timer: CpTimerSlot<Toy<L, Self>, SwitchPart<L, Self>>;
    const NEEDS: Needs = Needs::NONE;
    const PACING: Pacing = Pacing::FromNextPacket;
    /// Whether the scheme may have classes of its own.
    const OWN_CLASSES: bool = false;
}

/// No capabilities. Packets tell one link rate apart beside those that INT has codes for.
pub struct Nothing;
/// No capabilities. Packets have room for two switches, the scheme may have classes of its own, and
/// a new rate moves the time of the packet that waits.
pub struct NothingButLimits;
/// `enqueues`.
pub struct Enqueues;
/// `arrivals`, `enqueues` and `requeue`, in each of two congestion points that a switch has.
pub struct StackOfTwo;
/// `holding_arrivals` and `enqueues`.
pub struct HoldsAndEnqueues;
/// `arrivals` and `timer`.
pub struct ArrivalsAndTimer;
/// `sub_queues`.
pub struct OwnQueues;
/// `input_queues` and `timer`.
pub struct Inputs;

// The toys that tests use. Each of them, and each level of `Watching`, instantiates the fabric.
pub type Basic = Toy<PortLocal, Nothing>;
pub type Limited = Toy<PortLocal, NothingButLimits>;
pub type Enqueuing = Toy<PortLocal, Enqueues>;
pub type Stacked = Toy<PortLocal, StackOfTwo>;
pub type Watching<L> = Toy<L, HoldsAndEnqueues>;
pub type Emitting = Toy<Emits, ArrivalsAndTimer>;
pub type WithSubQueues = Toy<Strict, OwnQueues>;
pub type WithInputs = Toy<Strict, Inputs>;

impl Caps<PortLocal> for Nothing {
    type Cp = SwitchPart<PortLocal, Self>;
    schemes::hooks!();
    const NEEDS: Needs = Needs { max_link_rates: wire::int::RATES.len() + 1, ..Needs::NONE };
}

impl Caps<PortLocal> for NothingButLimits {
    type Cp = SwitchPart<PortLocal, Self>;
    schemes::hooks!();
    const NEEDS: Needs = Needs { max_hops: 2, ..Needs::NONE };
    const PACING: Pacing = Pacing::Continuous;
    const OWN_CLASSES: bool = true;
}

impl Caps<PortLocal> for Enqueues {
    type Cp = SwitchPart<PortLocal, Self>;
    schemes::hooks!(enqueues);
}

impl Caps<PortLocal> for StackOfTwo {
    type Cp = Stack<SwitchPart<PortLocal, Self>, SwitchPart<PortLocal, Self>>;
    schemes::hooks!(arrivals, enqueues, requeue);
}

impl<L: Level> Caps<L> for HoldsAndEnqueues {
    type Cp = SwitchPart<L, Self>;
    schemes::hooks!(holding_arrivals, enqueues);
}

impl Caps<Emits> for ArrivalsAndTimer {
    type Cp = SwitchPart<Emits, Self>;
    schemes::hooks!(arrivals, timer);
}

impl Caps<Strict> for OwnQueues {
    type Cp = SwitchPart<Strict, Self>;
    schemes::hooks!(sub_queues);
}

impl Caps<Strict> for Inputs {
    type Cp = SwitchPart<Strict, Self>;
    schemes::hooks!(input_queues, timer);
}
