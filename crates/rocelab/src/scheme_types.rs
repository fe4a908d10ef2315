//! The one place where a scheme's name becomes a type, one of those that the fabric is compiled
//! for: see [`instantiations`].

use crate::setup_error::describe_setup_error;
use fabric::{Setup, SetupError};
use instantiations::{Built, MixType, Part, SchemeChoice, SchemeTypes};
use scenario::{ResolvedScheme, Scenario, ScenarioError};
use schemes::registry::{self, AddError, SchemeInfo};
use std::sync::OnceLock;

static PARTS: [&Part; 4] = [
    &instantiations_1::PART,
    &instantiations_2::PART,
    &instantiations_3::PART,
    &instantiations_4::PART,
];

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

/// The types that carry the scheme called `name`.
fn types_of(name: &str) -> &'static SchemeTypes {
    let compiled_in = PARTS.iter().flat_map(|part| part.schemes);
    let mut all = compiled_in.chain(ADDED.get().into_iter().flatten());
    let found = all.find(|scheme| scheme.info.name == name);
    found.expect("a valid scenario has a scheme that is registered")
}

/// The type of a run with two schemes, in the order of the registry's mix.
fn mix_of(first: &str, second: &str) -> &'static MixType {
    let found = PARTS.iter().flat_map(|part| part.mixes).find(|mix| mix.is_of(first, second));
    found.expect("a valid scenario has a mix that is compiled in")
}

fn choice(scenario: &Scenario, scheme: &ResolvedScheme) -> SchemeChoice {
    SchemeChoice {
        preset: scheme.preset.clone(),
        overrides: scheme.overrides(),
        host_rate: scenario.network.min_host_rate(),
    }
}

/// Builds the network of a scenario, for the first type of its scheme that is not refused. Each
/// type has room for longer paths than the one before.
pub(crate) fn build(scenario: &Scenario, setup: &Setup) -> Result<Box<dyn Built>, ScenarioError> {
    let described = |refusal| describe_setup_error(scenario, refusal);
    if let Some((first, second)) = scenario.schemes_of_mix() {
        let choices = [first, second].map(|scheme| choice(scenario, scheme));
        return mix_of(first.info.name, second.info.name).build(&choices, setup).map_err(described);
    }
    let choice = choice(scenario, &scenario.scheme);
    let mut longest = None;
    for one in types_of(scenario.scheme.info.name).types {
        match one.build(&choice, setup) {
            Ok(built) => return Ok(built),
            Err(refused @ SetupError::PathTooLong { .. }) => longest = Some(refused),
            Err(refused) => return Err(described(refused)),
        }
    }
    Err(described(longest.expect("every scheme has a type")))
}
