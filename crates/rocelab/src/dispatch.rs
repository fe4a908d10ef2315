//! The one place where the scheme's name becomes a type: one instantiation of the fabric for each
//! line (and INT depth) of the registry.

use crate::Error;
use fabric::{Output, Progress, Ready, Setup, TooLong};
use scenario::Scenario;
use schemes::contract::Scheme;
use schemes::registry::params_of;
use std::time::Instant;

/// Builds and runs with one scheme's type.
type RunAs = fn(&Scenario, &Setup, usize, &mut Instant, Watch<'_>) -> Result<Output, TooLong>;
/// Told how far the run has come; says whether it goes on.
pub(crate) type Watch<'a> = &'a (dyn Fn(Progress) -> bool + Sync);

/// Builds and runs; `started` becomes the time at which the run proper began.
pub(crate) fn run(
    scenario: &Scenario,
    setup: &Setup,
    threads: usize,
    started: &mut Instant,
    watch: Watch<'_>,
) -> Result<Output, Error> {
    macro_rules! of_name {
        ($($name:ident: $($scheme:ty),+;)*) => {
            match scenario.scheme.info.name {
                $(stringify!($name) => &[$(run_as::<$scheme>),+],)*
                name => unreachable!("{name} is not registered, yet the scenario is valid"),
            }
        };
    }
    let types: &[RunAs] = schemes::for_each_scheme!(of_name);
    // Each type of a scheme has room for longer paths than the one before.
    let mut refused = TooLong::default();
    for run_as in types {
        match run_as(scenario, setup, threads, started, watch) {
            Ok(output) => return Ok(output),
            Err(too_long) => refused = too_long,
        }
    }
    Err(Error {
        key: "topology",
        message: format!(
            "paths have up to {} switches, {} has room for {} in its packets; use a topology with \
             shorter paths",
            refused.switches, scenario.scheme.info.name, refused.room
        ),
    })
}

fn run_as<S: Scheme>(
    scenario: &Scenario,
    setup: &Setup,
    threads: usize,
    started: &mut Instant,
    watch: Watch<'_>,
) -> Result<Output, TooLong> {
    let host_rate = scenario.network.lowest_host_rate();
    let overrides = scenario.scheme.overrides();
    let params = params_of::<S>(&scenario.scheme.preset, host_rate, &overrides)
        .expect("a valid scenario has valid parameters");
    let ready = Ready::<S>::new(setup, params)?;
    *started = Instant::now();
    Ok(ready.run(threads, watch))
}
