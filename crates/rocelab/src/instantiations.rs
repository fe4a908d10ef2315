//! The one place where the scheme's name becomes a type: one instantiation of the fabric for each
//! line (and INT depth) of the registry, and for each scheme that another crate adds.

use crate::setup_error::describe_setup_error;
use fabric::{Hop, Plan, ProgressCallback, RunOutput, Setup, SetupError, Simulation};
use scenario::{ResolvedScheme, Scenario, ScenarioError};
use schemes::contract::{Join, LevelOf, Mix, MixParams, Mixable, Scheme};
use schemes::registry::{self, AddError, SchemeInfo, params_of};
use std::sync::OnceLock;
use std::time::Instant;

/// What is done with one type of a scheme. Made by [`scheme_types!`](crate::scheme_types).
#[derive(Clone, Copy)]
pub struct Instantiation {
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

/// A scheme and the types that carry it. Made by [`scheme_types!`](crate::scheme_types).
pub struct SchemeTypes {
    info: SchemeInfo,
    types: &'static [Instantiation],
}

impl SchemeTypes {
    #[doc(hidden)]
    pub const fn new<S: Scheme>(types: &'static [Instantiation]) -> SchemeTypes {
        SchemeTypes { info: SchemeInfo::of::<S>(), types }
    }

    /// The scheme's name in scenario files.
    pub fn name(&self) -> &'static str {
        self.info.name
    }
}

/// A scheme of another crate, for [`add_schemes`](crate::add_schemes): the types that carry it, the
/// one with room for the shortest paths first. The fabric is instantiated for each type, in the
/// crate that calls this.
#[macro_export]
macro_rules! scheme_types {
    ($first:ty $(, $deeper:ty)*) => {
        $crate::SchemeTypes::new::<$first>(
            const {
                &[
                    $crate::Instantiation::of::<$first>()
                    $(, $crate::Instantiation::of::<$deeper>())*
                ]
            },
        )
    };
}

static ADDED: OnceLock<Vec<SchemeTypes>> = OnceLock::new();

/// Adds schemes of other crates to those of rocelab, listed in the registry or not. A program does
/// it once, first of all.
///
/// # Errors
/// As [`registry::add`].
pub fn add_schemes(
    mut listed: Vec<SchemeTypes>,
    unlisted: Vec<SchemeTypes>,
) -> Result<(), AddError> {
    let infos = |schemes: &[SchemeTypes]| -> Vec<SchemeInfo> {
        schemes.iter().map(|scheme| scheme.info).collect()
    };
    registry::add(&infos(&listed), &infos(&unlisted))?;
    listed.extend(unlisted);
    ADDED.set(listed).map_err(|_| AddError::TooLate)
}

/// The types that carry the scheme of a scenario, or its two schemes.
fn types(scenario: &Scenario) -> &'static [Instantiation] {
    if let Some(also) = &scenario.also {
        return mixed_types(scenario.scheme.info.name, also.scheme.info.name);
    }
    macro_rules! of_name {
        ($($module:ident: $first:ty $(, $deeper:ty)*;)*) => {
            match scenario.scheme.info.name {
                $(<$first as Scheme>::NAME => {
                    const { &[Instantiation::of::<$first>() $(, Instantiation::of::<$deeper>())*] }
                })*
                name => added_types(name),
            }
        };
    }
    schemes::for_each_scheme!(of_name)
}

/// The type of a run with two schemes, in either order.
fn mixed_types(one: &str, other: &str) -> &'static [Instantiation] {
    macro_rules! of_pair {
        ($($first:ty, $second:ty;)*) => {
            match [one, other] {
                $(names if names == [<$first>::NAME, <$second>::NAME]
                    || names == [<$second>::NAME, <$first>::NAME] =>
                {
                    const { &[Instantiation::of_params::<Mix<$first, $second>, OfMix>()] }
                })*
                _ => unreachable!("a valid scenario has a mix that is compiled in"),
            }
        };
    }
    schemes::for_each_mix!(of_pair)
}

fn added_types(name: &str) -> &'static [Instantiation] {
    let mut added = ADDED.get().into_iter().flatten();
    let scheme = added.find(|scheme| scheme.name() == name);
    scheme.expect("a valid scenario has a scheme that is registered").types
}

/// Where the parameters of scheme `S` come from.
trait ParamsSource<S: Scheme> {
    fn params(scenario: &Scenario) -> S::Params;
}

/// From the scenario's scheme.
enum OfScheme {}

impl<S: Scheme> ParamsSource<S> for OfScheme {
    fn params(scenario: &Scenario) -> S::Params {
        resolved::<S>(scenario, &scenario.scheme)
    }
}

/// From the scenario's two schemes.
#[allow(dead_code, reason = "a build with few schemes may have no two that go together")]
enum OfMix {}

impl<A, B> ParamsSource<Mix<A, B>> for OfMix
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
{
    fn params(scenario: &Scenario) -> MixParams<A::Params, B::Params> {
        let (first, second) = scenario.schemes_of_mix().expect("it has two schemes");
        MixParams { first: resolved::<A>(scenario, first), second: resolved::<B>(scenario, second) }
    }
}

fn resolved<S: Scheme>(scenario: &Scenario, scheme: &ResolvedScheme) -> S::Params {
    let host_rate = scenario.network.min_host_rate();
    params_of::<S>(&scheme.preset, host_rate, &scheme.overrides())
        .expect("a valid scenario has valid parameters")
}

impl Instantiation {
    #[doc(hidden)]
    pub const fn of<S: Scheme>() -> Instantiation {
        Instantiation::of_params::<S, OfScheme>()
    }

    const fn of_params<S: Scheme, P: ParamsSource<S>>() -> Instantiation {
        Instantiation {
            check: check_as::<S, P>,
            plan: plan_as::<S, P>,
            hops: hops_as::<S, P>,
            run: run_as::<S, P>,
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

fn run_as<S: Scheme, P: ParamsSource<S>>(
    scenario: &Scenario,
    setup: &Setup,
    threads: usize,
    started: &mut Instant,
    watch: ProgressCallback<'_>,
) -> Result<RunOutput, SetupError> {
    let ready = Simulation::<S>::new(setup, P::params(scenario))?;
    *started = Instant::now();
    ready.run(threads, watch)
}

fn check_as<S: Scheme, P: ParamsSource<S>>(
    scenario: &Scenario,
    setup: &Setup,
) -> Result<(), SetupError> {
    Simulation::<S>::new(setup, P::params(scenario)).map(drop)
}

fn plan_as<S: Scheme, P: ParamsSource<S>>(
    scenario: &Scenario,
    setup: &Setup,
) -> Result<Plan, SetupError> {
    Simulation::<S>::new(setup, P::params(scenario)).map(|ready| ready.plan())
}

fn hops_as<S: Scheme, P: ParamsSource<S>>(
    scenario: &Scenario,
    setup: &Setup,
) -> Result<Vec<Hop>, SetupError> {
    Simulation::<S>::new(setup, P::params(scenario)).map(|ready| ready.hops())
}
