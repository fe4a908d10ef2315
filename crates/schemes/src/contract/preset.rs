//! Named parameter sets of a scheme.

use units::{Bytes, Rate};

/// RED thresholds that go with a preset: given at one port rate and proportional to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EcnLaw {
    /// Queue length up to which nothing is marked, at a port of rate `at`.
    pub kmin: Bytes,
    /// Queue length above which everything is marked, at a port of rate `at`.
    pub kmax: Bytes,
    /// Marking probability at `kmax`.
    pub pmax: f64,
    /// The port rate that `kmin` and `kmax` are given for; ports of k times the rate use k times
    /// the thresholds.
    pub at: Rate,
}

/// A named set of parameters of type `P`.
#[derive(Clone, Copy, Debug)]
pub struct Preset<P: 'static> {
    /// Its name.
    pub name: &'static str,
    /// What it stands for, in a sentence.
    pub summary: &'static str,
    /// Where its values come from.
    pub source: &'static str,
    /// The marking law it was tuned with; `None` where switches need not mark.
    pub ecn: Option<EcnLaw>,
    /// The parameters, given the rate of the hosts' ports. A public function of the scheme's
    /// module `presets`, so that other schemes can start from it.
    pub params: fn(host_rate: Rate) -> P,
}

impl<P> Preset<P> {
    /// Returns what it says of itself.
    pub fn info(&self) -> PresetInfo {
        let Preset { name, summary, source, ecn, .. } = *self;
        PresetInfo { name, summary, source, ecn }
    }
}

/// A preset as `rocelab list` shows it: a [`Preset`] of any parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PresetInfo {
    /// Its name.
    pub name: &'static str,
    /// What it stands for, in a sentence.
    pub summary: &'static str,
    /// Where its values come from.
    pub source: &'static str,
    /// The marking law it was tuned with; `None` where switches need not mark.
    pub ecn: Option<EcnLaw>,
}
