//! Seed and end of a run, from `[run]`.

use crate::error::{Result, ScenarioError};
use crate::spec::{Quantity, RunSpec, StopSpec};
use crate::traffic::check_time;
use units::Time;

/// Seed and end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Seed of every random choice.
    pub seed: u64,
    /// When the run stops.
    pub stop: Stop,
    /// Give up at this simulated time; with [`Stop::At`] that time.
    pub time_limit: Time,
    /// Most samples of all probes, an event of a trace being five; with more they stop, and the run
    /// goes on.
    pub max_samples: u64,
}

/// When a run stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// When every message has completed.
    FlowsDone,
    /// At a simulated time.
    At(Time),
}

pub(crate) fn run(spec: &RunSpec) -> Result<Run> {
    if i64::try_from(spec.seed).is_err() {
        return Err(ScenarioError::new("run.seed", "must be below 2^63"));
    }
    let time_limit = check_time(spec.time_limit, || "run.time_limit".to_owned())?;
    if time_limit == Time::ZERO {
        return Err(ScenarioError::new("run.time_limit", "must be above zero"));
    }
    let (stop, time_limit) = match spec.stop {
        StopSpec::FlowsDone => (Stop::FlowsDone, time_limit),
        StopSpec::At(Time::ZERO) => {
            return Err(ScenarioError::new("run.stop", "must be above zero"));
        }
        StopSpec::At(stop) => {
            let stop = check_time(Quantity(stop), || "run.stop".to_owned())?;
            (Stop::At(stop), stop)
        }
    };
    Ok(Run { seed: spec.seed, stop, time_limit, max_samples: spec.max_samples })
}
