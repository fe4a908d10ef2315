//! Values that a configuration may have, and that do something else than one may expect.

use super::{CcMode, Config};
use crate::error::Warning;
use crate::topology::Topology;
use units::Rate;

/// Returns the warnings. A link that fails and is none is left out of the configuration.
pub(crate) fn oddities(config: &mut Config, topology: &Topology) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = gain(config).into_iter().collect();
    warnings.extend(steps(config));
    warnings.extend(target(config));
    warnings.extend(failing_link(config, topology));
    warnings
}

/// Without the key the gain is 0: the original computes 1 / 16 in whole numbers.
fn gain(config: &Config) -> Option<Warning> {
    let usual = match config.cc_mode {
        CcMode::Dcqcn => "0.00390625",
        CcMode::Dctcp => "0.0625",
        _ => return None,
    };
    let what = match config.ewma_gain {
        Some(gain) if gain > 0.0 => return None,
        Some(_) => "is 0",
        None => "is missing, which means 0",
    };
    Some(config.places.warning(
        "EWMA_GAIN",
        format!(
            "EWMA_GAIN {what}: alpha stays 1, and each cut halves the rate, as in the original; \
             {usual} is usual"
        ),
    ))
}

/// A lower rate is no step. HPCC's is one of many terms, and may be 0.
const LEAST_STEP: Rate = Rate::from_bps(100_000);

fn steps(config: &Config) -> Vec<Warning> {
    let (ai, hai) = (("RATE_AI", config.rate_ai), ("RATE_HAI", config.rate_hai));
    let used = match config.cc_mode {
        CcMode::Dcqcn | CcMode::Timely => vec![ai, hai],
        CcMode::Dctcp => vec![("DCTCP_RATE_AI", Some(config.dctcp_rate_ai))],
        CcMode::Hpcc | CcMode::HpccPint | CcMode::None(_) => Vec::new(),
    };
    let used = used.into_iter().filter_map(|(key, step)| Some((key, step?)));
    let small = used.filter(|(_, step)| *step < LEAST_STEP);
    let told = small.map(|(key, step)| {
        let raises = if step == Rate::ZERO { "raises nothing" } else { "raises next to nothing" };
        let what = format!("{key} is {step}: such a step {raises}, as in the original");
        config.places.warning(key, format!("{what}; without a unit it is in bit/s"))
    });
    told.collect()
}

fn target(config: &Config) -> Option<Warning> {
    let measures = matches!(config.cc_mode, CcMode::Hpcc | CcMode::HpccPint);
    (measures && config.u_target > 1.0).then(|| {
        let target = config.u_target;
        let what = format!("U_TARGET is {target}: senders aim at more than links carry, so that");
        config.places.warning("U_TARGET", format!("{what} queues stay, as in the original"))
    })
}

fn failing_link(config: &mut Config, topology: &Topology) -> Option<Warning> {
    let down = config.link_down?;
    let is_it = |a, b| (a, b) == (down.a, down.b);
    if topology.links.iter().any(|link| is_it(link.a, link.b) || is_it(link.b, link.a)) {
        return None;
    }
    config.link_down = None;
    let what = format!(
        "LINK_DOWN names {} and {}, which no link joins: nothing fails, as in the original",
        down.a, down.b
    );
    Some(config.places.warning("LINK_DOWN", what))
}
