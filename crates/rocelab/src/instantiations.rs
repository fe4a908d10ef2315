//! The one place where the scheme's name becomes a type: one instantiation of the fabric for each
//! line (and INT depth) of the registry, and for each scheme that another crate adds.

use crate::setup_error::describe_setup_error;
use fabric::{Hop, Plan, ProgressCallback, RunOutput, Setup, SetupError, Simulation};
use scenario::{ResolvedScheme, Scenario, ScenarioError};
use schemes::contract::{Join, LevelOf, Mix, MixParams, Mixable, Scheme};
use schemes::registry::{self, AddError, SchemeInfo, params_of};
use std::sync::OnceLock;

/// A network built for a scheme, whose type it hides.
pub(crate) trait Built {
    /// Returns what messages ask of the network.
    fn plan(&self) -> Plan;
    /// Returns which ports messages pass.
    fn hops(&self) -> Vec<Hop>;
    /// Runs it on up to `threads` threads; see [`Simulation::run`].
    fn run(
        self: Box<Self>,
        threads: usize,
        watch: ProgressCallback<'_>,
    ) -> Result<RunOutput, SetupError>;
}

impl<S: Scheme> Built for Simulation<S> {
    fn plan(&self) -> Plan {
        Simulation::plan(self)
    }

    fn hops(&self) -> Vec<Hop> {
        Simulation::hops(self)
    }

    fn run(
        self: Box<Self>,
        threads: usize,
        watch: ProgressCallback<'_>,
    ) -> Result<RunOutput, SetupError> {
        Simulation::run(*self, threads, watch)
    }
}

/// How the fabric is built for one type of a scheme. Made by
/// [`scheme_types!`](crate::scheme_types).
#[derive(Clone, Copy)]
pub struct Instantiation {
    build: fn(&Scenario, &Setup) -> Result<Box<dyn Built>, SetupError>,
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
        Instantiation { build: build_as::<S, P> }
    }
}

fn build_as<S: Scheme, P: ParamsSource<S>>(
    scenario: &Scenario,
    setup: &Setup,
) -> Result<Box<dyn Built>, SetupError> {
    let simulation = Simulation::<S>::new(setup, P::params(scenario))?;
    Ok(Box::new(simulation))
}

/// Builds the network of a scenario, for the first type of its scheme that is not refused. Each
/// type has room for longer paths than the one before.
pub(crate) fn build(scenario: &Scenario, setup: &Setup) -> Result<Box<dyn Built>, ScenarioError> {
    let mut longest = None;
    for one in types(scenario) {
        match (one.build)(scenario, setup) {
            Ok(built) => return Ok(built),
            Err(refused @ SetupError::PathTooLong { .. }) => longest = Some(refused),
            Err(refused) => return Err(describe_setup_error(scenario, refused)),
        }
    }
    Err(describe_setup_error(scenario, longest.expect("every scheme has a type")))
}
