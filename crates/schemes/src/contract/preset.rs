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

/// A named set of parameters.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it stands for, in a sentence.
    pub summary: &'static str,
    /// Where its values come from.
    pub source: &'static str,
    /// The marking law it was tuned with; `None` where switches need not mark.
    pub ecn: Option<EcnLaw>,
}
