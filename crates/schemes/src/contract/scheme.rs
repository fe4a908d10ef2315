//! A scheme: its three parts, its parameters, and what its packets carry.

use super::{
    Classes, Cp, Ctl, HostFacts, Needs, NetworkFacts, Np, Preset, RateFloor, Rp, SwitchFacts,
};
use crate::params::{ParamError, Params};
use units::MixSide;

/// A congestion-control scheme: RP x NP x CP, and the facts that `rocelab list` shows of it.
pub trait Scheme: Sized + Send + Sync + 'static {
    /// Its name in scenario files.
    const NAME: &'static str;
    /// Its full name.
    const TITLE: &'static str;
    /// The paper that defines it.
    const PAPER: &'static str;
    /// What a user must know before trusting a figure made with it.
    const CAVEAT: &'static str = "";
    /// Its named parameter sets; the first is the default.
    const PRESETS: &'static [Preset<Self::Params>];
    /// What a run must have; other runs are refused.
    const NEEDS: Needs = Needs::NONE;
    /// Traffic classes that need more than the scenario says: a drop-tail limit, a shaper. They
    /// hold at every port, of switches and of hosts. A run is refused if data, ACKs, other control
    /// packets or PFC use a drop-tail one. `None`: the scheme has no classes of its own.
    const CLASSES: Option<Classes<Self::Params>> = None;

    /// Whether QPs of a run may have different laws. Only [`Mix`](super::Mix) sets it.
    #[doc(hidden)]
    const IS_MIX: bool = false;

    /// Its parameters.
    type Params: Params;
    /// What its data packets and their ACKs carry beside the header: `()`, INT records, a credit.
    type Meta: Copy + Default + Send + Sync + 'static;
    /// Its control packets: a CNP, a rate, a credit. [`NoCtl`](super::NoCtl) if it has none.
    type Ctl: Ctl<Self::Params>;
    /// State that all QPs of a host share.
    type Host: Send + 'static;
    /// The reaction point, one per QP at the sender.
    type Rp: Rp<Self>;
    /// The notification point, one per QP at the receiver.
    type Np: Np<Self>;
    /// The congestion point, one per switch that takes part.
    type Cp: Cp<Self>;

    /// Refuses values that contradict each other.
    fn check(_params: &Self::Params) -> Result<(), ParamError> {
        Ok(())
    }
    /// Refuses a switch that the parameters do not fit.
    fn check_switch(_params: &Self::Params, _facts: &SwitchFacts<'_>) -> Result<(), ParamError> {
        Ok(())
    }
    /// Returns what the parameter `min_rate` means, if there is one. Runs warn if it is too high
    /// or too low for their network.
    fn rate_floor(_params: &Self::Params) -> Option<RateFloor> {
        None
    }
    /// Returns what parameters do in this network that a user may not expect: no effect, or harm.
    /// Each text says which parameter, what happens and what to do.
    fn warnings(_params: &Self::Params, _facts: &NetworkFacts) -> Vec<String> {
        Vec::new()
    }
    /// Returns the bytes that [`Meta`](Scheme::Meta) adds to a data packet and to an ACK on the
    /// wire.
    fn meta_bytes(_params: &Self::Params) -> (u32, u32) {
        (0, 0)
    }
    /// Returns the bytes that `Meta` adds to a data packet and to an ACK of QPs of this side. Only
    /// [`Mix`](super::Mix) writes it.
    #[doc(hidden)]
    fn meta_bytes_of_side(params: &Self::Params, _side: MixSide) -> (u32, u32) {
        Self::meta_bytes(params)
    }
    /// Returns the `Meta` of packets of QPs of this side that answer no data packet. Only
    /// [`Mix`](super::Mix) writes it.
    #[doc(hidden)]
    fn blank_meta(_side: MixSide) -> Self::Meta {
        Self::Meta::default()
    }
    /// Makes the state that the QPs of a host share.
    fn host(params: &Self::Params, facts: &HostFacts) -> Self::Host;
    /// Called when a control packet reaches a host and its QP is over.
    fn on_late_ctl(_host: &mut Self::Host, _ctl: &Self::Ctl) {}
    /// Returns what a host counted, by name. All hosts return equal names. A run puts them together
    /// with [`add_counter`](super::add_counter).
    fn counters(_host: &Self::Host) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    /// Makes the congestion point of a switch. `None`: that switch takes no part.
    fn congestion_point(params: &Self::Params, facts: &SwitchFacts<'_>) -> Option<Self::Cp>;
}
