//! The fabric compiled for one type of a scheme: an instantiation, which hides the type.
//!
//! The fabric is generic over the scheme, so it is compiled for every type that `schemes.txt` and
//! `mixes.txt` list. This takes most of the time that rocelab takes to compile. Four crates,
//! `instantiations-1` to `-4`, have a fourth of the types each. They are compiled side by side, and
//! each as a whole: rustc would divide one crate into units, optimise each of them, and then all of
//! them again, together.

use fabric::{Hop, Plan, ProgressCallback, RunOutput, Setup, SetupError, Simulation};
use schemes::contract::{Join, LevelOf, Mix, MixParams, Mixable, Scheme};
use schemes::params::Value;
use schemes::registry::{SchemeInfo, params_of};
use units::Rate;

/// A network built for a scheme, whose type it hides.
pub trait Built {
    /// Returns what messages ask of the network.
    fn plan(&self) -> Plan;
    /// Returns which ports messages pass.
    fn hops(&self) -> Vec<Hop>;
    /// Runs it on up to `threads` threads; see [`Simulation::run`].
    ///
    /// # Errors
    /// As [`Simulation::run`].
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

/// What a scenario says of the parameters of a scheme. They are valid.
pub struct SchemeChoice {
    /// The preset that they start from.
    pub preset: String,
    /// What replaces its values.
    pub overrides: Vec<(String, Value)>,
    /// The rate of the slowest host, which presets follow.
    pub host_rate: Rate,
}

impl SchemeChoice {
    fn params<S: Scheme>(&self) -> S::Params {
        params_of::<S>(&self.preset, self.host_rate, &self.overrides)
            .expect("a valid scenario has valid parameters")
    }
}

/// Builds a network for a type of a scheme. `Choice` says the parameters.
type Build<Choice> = fn(&Choice, &Setup) -> Result<Box<dyn Built>, SetupError>;

/// How the fabric is built for one type of a scheme. Made by
/// [`scheme_types!`](crate::scheme_types).
#[derive(Clone, Copy)]
pub struct Instantiation {
    build: Build<SchemeChoice>,
}

impl Instantiation {
    #[doc(hidden)]
    pub const fn of<S: Scheme>() -> Instantiation {
        Instantiation { build: |choice, setup| build::<S>(choice.params::<S>(), setup) }
    }

    /// Builds the network.
    ///
    /// # Errors
    /// If the fabric refuses it.
    pub fn build(
        &self,
        choice: &SchemeChoice,
        setup: &Setup,
    ) -> Result<Box<dyn Built>, SetupError> {
        (self.build)(choice, setup)
    }
}

fn build<S: Scheme>(params: S::Params, setup: &Setup) -> Result<Box<dyn Built>, SetupError> {
    Ok(Box::new(Simulation::<S>::new(setup, params)?))
}

/// A scheme and the types that carry it, the one with room for the shortest paths first. Made by
/// [`scheme_types!`](crate::scheme_types).
#[derive(Clone, Copy)]
pub struct SchemeTypes {
    /// The scheme as the registry shows it.
    pub info: SchemeInfo,
    /// One for each type.
    pub types: &'static [Instantiation],
}

impl SchemeTypes {
    #[doc(hidden)]
    pub const fn new<S: Scheme>(types: &'static [Instantiation]) -> SchemeTypes {
        SchemeTypes { info: SchemeInfo::of::<S>(), types }
    }
}

/// Two schemes that one run may have.
#[derive(Clone, Copy)]
pub struct MixType {
    names: [&'static str; 2],
    build: Build<[SchemeChoice; 2]>,
}

impl MixType {
    #[doc(hidden)]
    pub const fn of<A, B>() -> MixType
    where
        A: Mixable,
        B: Mixable,
        LevelOf<A>: Join<LevelOf<B>>,
    {
        MixType {
            names: [A::NAME, B::NAME],
            build: |[first, second], setup| {
                let params = MixParams { first: first.params::<A>(), second: second.params::<B>() };
                build::<Mix<A, B>>(params, setup)
            },
        }
    }

    /// Returns whether these are the names of its schemes, in its order.
    pub fn is_of(&self, first: &str, second: &str) -> bool {
        self.names == [first, second]
    }

    /// Builds the network.
    ///
    /// # Errors
    /// If the fabric refuses it.
    pub fn build(
        &self,
        choices: &[SchemeChoice; 2],
        setup: &Setup,
    ) -> Result<Box<dyn Built>, SetupError> {
        (self.build)(choices, setup)
    }
}

/// What one crate has compiled of what `schemes.txt` and `mixes.txt` list.
pub struct Part {
    /// Its schemes.
    pub schemes: &'static [SchemeTypes],
    /// Its mixes of two schemes.
    pub mixes: &'static [MixType],
}

/// A scheme of another crate: the types that carry it, the one with room for the shortest paths
/// first. The fabric is instantiated for each type, in the crate that calls this.
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

/// The [`Part`] of a crate: instantiates the fabric for schemes and mixes.
#[macro_export]
macro_rules! part {
    (
        schemes { $($first:ty $(, $deeper:ty)*;)* }
        mixes { $($one:ty, $other:ty;)* }
    ) => {
        $crate::Part {
            schemes: &[$($crate::scheme_types!($first $(, $deeper)*)),*],
            mixes: &[$($crate::MixType::of::<$one, $other>()),*],
        }
    };
}
