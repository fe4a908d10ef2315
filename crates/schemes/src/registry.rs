//! What schemes there are: the table behind `rocelab list`. A scheme of this crate is registered by
//! its line in `schemes.txt`, one of another crate by [`add`].

use crate::contract::{
    Cp, InputQueueSlot, NetworkFacts, Np, Preset, PresetInfo, RateFloor, Scheme, Tolerates,
};
use crate::params::{ParamError, ParamSpec, Params, Value};
use std::fmt;
use std::sync::OnceLock;
use units::Rate;

/// Gives the value of every parameter, by name, of a preset at the hosts' port rate with overrides.
pub type Resolve = fn(
    preset: &str,
    host_rate: Rate,
    overrides: &[(String, Value)],
) -> Result<Vec<(&'static str, Value)>, ParamError>;

/// Returns what `min_rate` means with the parameters that [`Resolve`] gives.
pub type ResolveFloor = fn(
    preset: &str,
    host_rate: Rate,
    overrides: &[(String, Value)],
) -> Result<Option<RateFloor>, ParamError>;

/// Returns the warnings of a network, with the parameters that [`Resolve`] gives.
pub type ResolveWarnings = fn(
    preset: &str,
    host_rate: Rate,
    overrides: &[(String, Value)],
    facts: &NetworkFacts,
) -> Result<Vec<String>, ParamError>;

/// A scheme as `rocelab list` shows it. Made by [`SchemeInfo::of`].
#[derive(Clone, Copy)]
pub struct SchemeInfo {
    /// Its name in scenario files.
    pub name: &'static str,
    /// Its full name.
    pub title: &'static str,
    /// The paper that defines it.
    pub paper: &'static str,
    /// What a user must know before trusting a figure made with it; empty where there is nothing.
    pub caveat: &'static str,
    /// Its presets; the first is the default.
    pub presets: fn() -> Vec<PresetInfo>,
    /// The scheme needs data and ACKs to take the same path.
    pub symmetric_paths: bool,
    /// The scheme takes the queues of a port for one: all data must have one priority.
    pub one_data_priority: bool,
    /// The scheme may react to ECN marks though its presets bring no marking law.
    pub marks_if_asked: bool,
    /// The scheme works on the input queues of combined input- and output-queued (CIOQ) switches.
    /// It may then move data to another next hop of equal cost.
    pub input_queues: bool,
    /// Receivers only send the transport's ACKs.
    pub silent_receivers: bool,
    /// Which ways to spread and to recover packets it goes together with.
    pub tolerates: Tolerates,
    /// The table of its parameters.
    pub params: fn() -> &'static [ParamSpec],
    /// The value of every parameter under a preset at the hosts' port rate, with overrides; or why
    /// not.
    pub resolve: Resolve,
    /// Calls [`Scheme::rate_floor`].
    pub rate_floor: ResolveFloor,
    /// Calls [`Scheme::warnings`].
    pub warnings: ResolveWarnings,
}

impl SchemeInfo {
    /// The registry's view of scheme `S`.
    pub const fn of<S: Scheme>() -> SchemeInfo {
        SchemeInfo {
            name: S::NAME,
            title: S::TITLE,
            paper: S::PAPER,
            caveat: S::CAVEAT,
            presets: || S::PRESETS.iter().map(Preset::info).collect(),
            symmetric_paths: S::NEEDS.symmetric_paths,
            one_data_priority: S::NEEDS.one_data_priority,
            marks_if_asked: S::NEEDS.marks_if_asked,
            input_queues: <<S::Cp as Cp<S>>::InputQueues as InputQueueSlot<S, S::Cp>>::ENABLED,
            silent_receivers: <S::Np as Np<S>>::IS_SILENT,
            tolerates: S::NEEDS.tolerates,
            params: <S::Params as Params>::specs,
            resolve: |preset, host_rate, overrides| {
                let params = params_of::<S>(preset, host_rate, overrides)?;
                Ok(<S::Params as Params>::specs()
                    .iter()
                    .filter_map(|spec| Some((spec.name, params.get(spec.name)?)))
                    .collect())
            },
            rate_floor: |preset, host_rate, overrides| {
                Ok(S::rate_floor(&params_of::<S>(preset, host_rate, overrides)?))
            },
            warnings: |preset, host_rate, overrides, facts| {
                Ok(S::warnings(&params_of::<S>(preset, host_rate, overrides)?, facts))
            },
        }
    }

    /// The preset called `name`.
    pub fn preset(&self, name: &str) -> Option<PresetInfo> {
        (self.presets)().into_iter().find(|preset| preset.name == name)
    }
}

/// The parameters of `S` under `preset` at the hosts' port rate, with `overrides` on top.
pub fn params_of<S: Scheme>(
    preset: &str,
    host_rate: Rate,
    overrides: &[(String, Value)],
) -> Result<S::Params, ParamError> {
    let Some(preset) = S::PRESETS.iter().find(|known| known.name == preset) else {
        return Err(ParamError::UnknownPreset(
            preset.to_owned(),
            S::PRESETS.iter().map(|known| known.name).collect(),
        ));
    };
    let mut params = (preset.params)(host_rate);
    for (name, value) in overrides {
        params.set(name, *value)?;
    }
    // What a preset makes of the hosts' rate has bounds, too.
    for spec in S::Params::specs() {
        if let Some(value) = params.get(spec.name) {
            params.set(spec.name, value)?;
        }
    }
    S::check(&params)?;
    Ok(params)
}

include!(concat!(env!("OUT_DIR"), "/for_each_scheme.rs"));

macro_rules! table {
    ($($module:ident: $first:ty $(, $deeper:ty)*;)*) => {
        &[$(SchemeInfo::of::<$first>()),*]
    };
}

/// Two schemes that one run may have.
#[derive(Clone, Copy)]
pub struct MixInfo {
    /// The name of the first.
    pub first: &'static str,
    /// The name of the second.
    pub second: &'static str,
    /// What both together need and tolerate.
    pub info: SchemeInfo,
}

impl MixInfo {
    /// Whether these are its schemes, in this order or the other.
    pub fn is_of(&self, one: &str, other: &str) -> bool {
        (self.first, self.second) == (one, other) || (self.second, self.first) == (one, other)
    }
}

macro_rules! mix_table {
    ($($first:ty, $second:ty;)*) => {
        &[$(MixInfo {
            first: <$first as Scheme>::NAME,
            second: <$second as Scheme>::NAME,
            info: SchemeInfo::of::<$crate::contract::Mix<$first, $second>>(),
        }),*]
    };
}

/// Every mix of two schemes, in the order of `mixes.txt`.
pub fn mixes() -> &'static [MixInfo] {
    const TABLE: &[MixInfo] = for_each_mix!(mix_table);
    TABLE
}

/// The names of the schemes that one run may have beside `name`.
pub fn beside(name: &str) -> Vec<&'static str> {
    mixes()
        .iter()
        .filter_map(|mix| match (mix.first == name, mix.second == name) {
            (true, _) => Some(mix.second),
            (false, true) => Some(mix.first),
            (false, false) => None,
        })
        .collect()
}

static ALL: OnceLock<Vec<SchemeInfo>> = OnceLock::new();
static UNLISTED: OnceLock<Vec<SchemeInfo>> = OnceLock::new();

fn compiled_in() -> Vec<SchemeInfo> {
    const TABLE: &[SchemeInfo] = for_each_scheme!(table);
    TABLE.to_vec()
}

/// Every scheme, in the order of `schemes.txt`, and after them those that were added.
pub fn all() -> &'static [SchemeInfo] {
    ALL.get_or_init(compiled_in)
}

/// The scheme called `name`, listed or not.
pub fn find(name: &str) -> Option<&'static SchemeInfo> {
    let unlisted = UNLISTED.get().into_iter().flatten();
    all().iter().chain(unlisted).find(|scheme| scheme.name == name)
}

/// Adds schemes of other crates. A program does it once, before anything reads the registry. Those
/// that are `unlisted` are found by their names only: they cannot be run from a scenario alone.
///
/// # Errors
/// If two schemes have one name, or the registry was read before.
pub fn add(listed: &[SchemeInfo], unlisted: &[SchemeInfo]) -> Result<(), AddError> {
    let mut names: Vec<&str> = compiled_in().iter().map(|scheme| scheme.name).collect();
    for scheme in listed.iter().chain(unlisted) {
        if names.contains(&scheme.name) {
            return Err(AddError::NameTaken(scheme.name));
        }
        names.push(scheme.name);
    }
    let mut all = compiled_in();
    all.extend_from_slice(listed);
    ALL.set(all).map_err(|_| AddError::TooLate)?;
    UNLISTED.set(unlisted.to_vec()).map_err(|_| AddError::TooLate)
}

/// Why schemes were not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddError {
    /// There is another scheme of this name.
    NameTaken(&'static str),
    /// The registry was read, or schemes were added, before.
    TooLate,
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddError::NameTaken(name) => write!(
                f,
                "there are two schemes called {name}: give yours another `NAME`, or build without \
                 the other"
            ),
            AddError::TooLate => write!(f, "schemes were added after the registry was read"),
        }
    }
}

impl std::error::Error for AddError {}
