//! No congestion control: every QP sends at line rate, and only PFC prevents losses.

use crate::contract::{
    Absent, HostFacts, NoCtl, PathFacts, PlainReceiver, PlainSwitch, Preset, Rp, Scheme,
    SendLimits, SwitchFacts,
};
use crate::rate_window::{RateWindow, WindowMode};
use units::{Bytes, Rate, Time};

crate::params! {
    /// Parameters of `none`.
    pub struct NoParams {
        /// Limit of the bytes in flight: none, or the BDP of the network or of the path. The rate
        /// is always the line rate, so scaled and fixed windows are equal.
        window: WindowMode, "", (), "HPCC simulator, HAS_WIN";
    }
}

/// The scheme `none`.
#[derive(Debug)]
pub struct NoControl;

impl Scheme for NoControl {
    const NAME: &'static str = "none";
    const TITLE: &'static str = "No congestion control (PFC alone)";
    const PAPER: &'static str = "IEEE 802.1Qbb";
    const PRESETS: &'static [Preset<NoParams>] = &[Preset {
        name: "none",
        summary: "Every QP sends at line rate",
        source: "definition",
        ecn: None,
        params: presets::none,
    }];

    type Params = NoParams;
    type Meta = ();
    type Ctl = NoCtl;
    type Host = ();
    type Rp = LineRate;
    type Np = PlainReceiver;
    type Cp = PlainSwitch;

    fn host(_params: &NoParams, _facts: &HostFacts) {}
    fn congestion_point(_params: &NoParams, _facts: &SwitchFacts<'_>) -> Option<PlainSwitch> {
        None
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `none`: every QP sends at line rate.
    pub fn none(_host_rate: Rate) -> NoParams {
        NoParams { window: WindowMode::None }
    }
}

/// A sender at line rate.
#[derive(Debug)]
pub struct LineRate {
    window: Bytes,
}

impl Rp<NoControl> for LineRate {
    type Timer = Absent;
    fn open(params: &NoParams, _host: &mut (), path: &PathFacts, _now: Time) -> LineRate {
        LineRate { window: RateWindow::new(params.window, path).at(path.line_rate.bps()) }
    }
    fn limits(&self) -> SendLimits {
        SendLimits { window: self.window, ..SendLimits::UNLIMITED }
    }
}
