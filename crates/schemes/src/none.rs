//! No congestion control: every QP sends at line rate and PFC alone holds the network together.

use crate::contract::{
    Allow, HostFacts, NoCtl, PathFacts, PlainReceiver, PlainSwitch, Rp, Scheme, SwitchFacts,
};
use crate::registry::Preset;
use units::{Rate, Time};

crate::params! {
    /// `none` has no parameters.
    pub struct NoParams {}
}

/// The scheme `none`.
#[derive(Debug)]
pub struct NoControl;

impl Scheme for NoControl {
    const NAME: &'static str = "none";
    const TITLE: &'static str = "No congestion control (PFC alone)";
    const PAPER: &'static str = "IEEE 802.1Qbb";
    const PRESETS: &'static [Preset] = &[Preset {
        name: "none",
        summary: "Every QP sends at line rate",
        source: "definition",
        ecn: None,
    }];

    type Params = NoParams;
    type Meta = ();
    type Ctl = NoCtl;
    type Host = ();
    type Rp = LineRate;
    type Np = PlainReceiver;
    type Cp = PlainSwitch;

    fn preset(_name: &str, _host_rate: Rate) -> NoParams {
        NoParams {}
    }
    fn ctl_bytes(ctl: &NoCtl) -> u32 {
        match *ctl {}
    }
    fn host(_params: &NoParams, _facts: &HostFacts) {}
    fn cp(_params: &NoParams, _facts: &SwitchFacts<'_>) -> Option<PlainSwitch> {
        None
    }
}

/// A sender without limits.
#[derive(Debug)]
pub struct LineRate;

impl Rp<NoControl> for LineRate {
    fn open(_params: &NoParams, _host: &mut (), _path: &PathFacts, _now: Time) -> LineRate {
        LineRate
    }
    fn allow(&self) -> Allow {
        Allow::EVERYTHING
    }
}
