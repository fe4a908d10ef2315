//! The one place where the scheme's name becomes a type: one instantiation of the fabric for each
//! line (and INT depth) of the registry.

use crate::setup_error::describe_setup_error;
use fabric::{Hop, Plan, ProgressCallback, RunOutput, Setup, SetupError, Simulation};
use scenario::{Scenario, ScenarioError};
use schemes::contract::Scheme;
use schemes::registry::params_of;
use std::time::Instant;

/// What is done with one type of a scheme.
struct Instantiation {
    /// Builds.
    check: fn(&Scenario, &Setup) -> Result<(), SetupError>,
    /// Builds, and says what is asked of it.
    plan: fn(&Scenario, &Setup) -> Result<Plan, SetupError>,
    /// Builds, and says which ports messages pass.
    hops: fn(&Scenario, &Setup) -> Result<Vec<Hop>, SetupError>,
    /// Builds and runs.
    run: fn(
        &Scenario,
        &Setup,
        usize,
        &mut Instant,
        ProgressCallback<'_>,
    ) -> Result<RunOutput, SetupError>,
}

/// The types that carry the scheme of a scenario.
fn types(scenario: &Scenario) -> &'static [Instantiation] {
    macro_rules! of_name {
        ($($module:ident: $first:ty $(, $deeper:ty)*;)*) => {
            match scenario.scheme.info.name {
                $(<$first as Scheme>::NAME => {
                    const { &[Instantiation::of::<$first>() $(, Instantiation::of::<$deeper>())*] }
                })*
                name => unreachable!("{name} is not registered, yet the scenario is valid"),
            }
        };
    }
    schemes::for_each_scheme!(of_name)
}

impl Instantiation {
    const fn of<S: Scheme>() -> Instantiation {
        Instantiation {
            check: check_as::<S>,
            plan: plan_as::<S>,
            hops: hops_as::<S>,
            run: run_as::<S>,
        }
    }
}

/// Builds and runs; `started` becomes the time at which the run proper began.
pub(crate) fn run(
    scenario: &Scenario,
    setup: &Setup,
    threads: usize,
    started: &mut Instant,
    watch: ProgressCallback<'_>,
) -> Result<RunOutput, ScenarioError> {
    let types = types(scenario).iter();
    let outcomes = types.map(|one| (one.run)(scenario, setup, threads, started, watch));
    first_that_builds(scenario, outcomes)
}

/// Builds, and says what `run` would refuse.
pub(crate) fn check(scenario: &Scenario, setup: &Setup) -> Result<(), ScenarioError> {
    let outcomes = types(scenario).iter().map(|one| (one.check)(scenario, setup));
    first_that_builds(scenario, outcomes)
}

/// Builds, and says what messages ask of the network.
pub(crate) fn plan(scenario: &Scenario, setup: &Setup) -> Result<Plan, ScenarioError> {
    let outcomes = types(scenario).iter().map(|one| (one.plan)(scenario, setup));
    first_that_builds(scenario, outcomes)
}

/// Builds, and says which ports messages pass.
pub(crate) fn hops(scenario: &Scenario, setup: &Setup) -> Result<Vec<Hop>, ScenarioError> {
    let outcomes = types(scenario).iter().map(|one| (one.hops)(scenario, setup));
    first_that_builds(scenario, outcomes)
}

/// The outcome of the first type that was not refused: each type of a scheme has room for longer
/// paths than the one before.
fn first_that_builds<T>(
    scenario: &Scenario,
    outcomes: impl Iterator<Item = Result<T, SetupError>>,
) -> Result<T, ScenarioError> {
    let mut longest = None;
    for outcome in outcomes {
        match outcome {
            Ok(fits) => return Ok(fits),
            Err(refused @ SetupError::PathTooLong { .. }) => longest = Some(refused),
            Err(refused) => return Err(describe_setup_error(scenario, refused)),
        }
    }
    Err(describe_setup_error(scenario, longest.expect("every scheme has a type")))
}

fn run_as<S: Scheme>(
    scenario: &Scenario,
    setup: &Setup,
    threads: usize,
    started: &mut Instant,
    watch: ProgressCallback<'_>,
) -> Result<RunOutput, SetupError> {
    let ready = build::<S>(scenario, setup)?;
    *started = Instant::now();
    ready.run(threads, watch)
}

fn check_as<S: Scheme>(scenario: &Scenario, setup: &Setup) -> Result<(), SetupError> {
    build::<S>(scenario, setup).map(drop)
}

fn plan_as<S: Scheme>(scenario: &Scenario, setup: &Setup) -> Result<Plan, SetupError> {
    build::<S>(scenario, setup).map(|ready| ready.plan())
}

fn hops_as<S: Scheme>(scenario: &Scenario, setup: &Setup) -> Result<Vec<Hop>, SetupError> {
    build::<S>(scenario, setup).map(|ready| ready.hops())
}

fn build<S: Scheme>(scenario: &Scenario, setup: &Setup) -> Result<Simulation<S>, SetupError> {
    let host_rate = scenario.network.min_host_rate();
    let overrides = scenario.scheme.overrides();
    let params = params_of::<S>(&scenario.scheme.preset, host_rate, &overrides)
        .expect("a valid scenario has valid parameters");
    Simulation::<S>::new(setup, params)
}
