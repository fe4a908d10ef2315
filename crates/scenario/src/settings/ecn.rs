//! `[ecn]`: where marking begins, and how it rises.

use crate::error::{Result, ScenarioError};
use crate::spec::{EcnSpec, Quantity};
use schemes::contract::EcnLaw;
use schemes::registry::SchemeInfo;
use units::{Bytes, Rate};

/// ECN marking: nothing up to `kmin`, a probability rising to `pmax` at `kmax`, everything above.
#[derive(Clone, Debug, PartialEq)]
pub struct Ecn {
    /// Nothing is marked up to this queue length.
    pub kmin: Bytes,
    /// Everything is marked above this queue length.
    pub kmax: Bytes,
    /// Marking probability at `kmax`, from 0 to 1.
    pub pmax: f64,
    /// The port rate that `kmin` and `kmax` are given for; ports of k times the rate use k times
    /// the thresholds. `None`: the same at all ports.
    pub at: Option<Rate>,
    /// Thresholds and probability (`kmin`, `kmax`, `pmax`) of ports of certain rates.
    pub by_rate: Vec<(Rate, Bytes, Bytes, f64)>,
}

pub(crate) fn ecn(
    spec: &mut EcnSpec,
    law: Option<&EcnLaw>,
    scheme: &SchemeInfo,
    preset: &str,
) -> Result<Option<Ecn>> {
    let has_thresholds = spec.kmin.is_some() || spec.kmax.is_some() || !spec.by_rate.is_empty();
    let is_asked = scheme.marks_if_asked && has_thresholds;
    let enabled = *spec.enabled.get_or_insert(law.is_some() || is_asked);
    if let Some(pmax) = spec.pmax {
        check_probability(pmax, "ecn.pmax")?;
    }
    if let (Some(kmin), Some(kmax)) = (spec.kmin, spec.kmax) {
        check_order(kmin.0, kmax.0, "ecn.kmin")?;
    }
    let by_rate = ecn_by_rate(spec)?;
    check_reference_rate(spec.reference_rate, "ecn.reference_rate")?;
    if !enabled {
        return Ok(None);
    }
    // Thresholds that are both given stand for themselves; the preset's rate goes with the
    // preset's thresholds.
    if spec.reference_rate.is_none() && !(spec.kmin.is_some() && spec.kmax.is_some()) {
        spec.reference_rate = law.map(|law| Quantity(law.at));
    }
    let missing = |key: &str| {
        ScenarioError::new(format!("ecn.{key}"), "is missing").hint(format!(
            "preset {preset} of scheme {} has no marking law to take it from",
            scheme.name
        ))
    };
    let kmin = fill(&mut spec.kmin, law.map(|law| Quantity(law.kmin)), || missing("kmin"))?.0;
    let kmax = fill(&mut spec.kmax, law.map(|law| Quantity(law.kmax)), || missing("kmax"))?.0;
    let pmax = fill(&mut spec.pmax, law.map(|law| law.pmax), || missing("pmax"))?;
    check_order(kmin, kmax, "ecn.kmin")?;
    let at = spec.reference_rate.map(|at| at.0);
    Ok(Some(Ecn { kmin, kmax, pmax, at, by_rate }))
}

pub(crate) fn check_probability(pmax: f64, key: &str) -> Result<()> {
    if (0.0..=1.0).contains(&pmax) {
        return Ok(());
    }
    Err(ScenarioError::new(key, format!("must be from 0 to 1, got {pmax}")))
}

/// Checks that `kmin` is not above `kmax`. `key`: that of `kmin`.
pub(crate) fn check_order(kmin: Bytes, kmax: Bytes, key: &str) -> Result<()> {
    if kmin <= kmax {
        return Ok(());
    }
    Err(ScenarioError::new(key, format!("{kmin} is above kmax, which is {kmax}")))
}

/// Checks the rate that thresholds are given for.
pub(crate) fn check_reference_rate(at: Option<Quantity<Rate>>, key: &str) -> Result<()> {
    match at {
        Some(Quantity(Rate::ZERO)) => Err(ScenarioError::new(key, "must be above zero")),
        _ => Ok(()),
    }
}

fn ecn_by_rate(spec: &EcnSpec) -> Result<Vec<(Rate, Bytes, Bytes, f64)>> {
    let mut laws: Vec<(Rate, Bytes, Bytes, f64)> = Vec::new();
    for (index, law) in spec.by_rate.iter().enumerate() {
        let key = |name: &str| format!("ecn.by_rate.{index}.{name}");
        let (rate, kmin, kmax) = (law.rate.0, law.kmin.0, law.kmax.0);
        if rate == Rate::ZERO {
            return Err(ScenarioError::new(key("rate"), "must be above zero"));
        }
        if laws.iter().any(|(known, ..)| *known == rate) {
            return Err(ScenarioError::new(key("rate"), format!("{rate} is listed twice")));
        }
        check_order(kmin, kmax, &key("kmin"))?;
        check_probability(law.pmax, &key("pmax"))?;
        laws.push((rate, kmin, kmax, law.pmax));
    }
    Ok(laws)
}

/// The value in `slot`, or the default, which is written there.
fn fill<T: Copy>(
    slot: &mut Option<T>,
    default: Option<T>,
    missing: impl Fn() -> ScenarioError,
) -> Result<T> {
    *slot = slot.or(default);
    slot.ok_or_else(missing)
}
