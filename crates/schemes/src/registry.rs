//! What schemes there are: the table behind `rocelab list`, and the one place where a new scheme
//! is registered.

use crate::contract::{Cp, InputQueueSlot, Preset, PresetInfo, Scheme};
use crate::params::{ParamError, ParamSpec, Params, Value};
use units::Rate;

/// Gives the value of every parameter, by name, of a preset at the hosts' port rate with overrides.
pub type Resolve = fn(
    preset: &str,
    host_rate: Rate,
    overrides: &[(String, Value)],
) -> Result<Vec<(&'static str, Value)>, ParamError>;

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
    /// The scheme may move data to another next hop of equal cost.
    pub reroutes: bool,
    /// The scheme takes the queues of a port for one: all data must have one priority.
    pub one_data_priority: bool,
    /// The scheme works on the input queues of combined input- and output-queued (CIOQ) switches.
    pub input_queues: bool,
    /// The table of its parameters.
    pub params: fn() -> &'static [ParamSpec],
    /// The value of every parameter under a preset at the hosts' port rate, with overrides; or why
    /// not.
    pub resolve: Resolve,
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
            reroutes: <<S::Cp as Cp<S>>::InputQueues as InputQueueSlot<S, S::Cp>>::ENABLED,
            one_data_priority: S::NEEDS.one_data_priority,
            input_queues: <<S::Cp as Cp<S>>::InputQueues as InputQueueSlot<S, S::Cp>>::ENABLED,
            params: <S::Params as Params>::specs,
            resolve: |preset, host_rate, overrides| {
                let params = params_of::<S>(preset, host_rate, overrides)?;
                Ok(<S::Params as Params>::specs()
                    .iter()
                    .filter_map(|spec| Some((spec.name, params.get(spec.name)?)))
                    .collect())
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

/// Calls `$callback!` with every scheme: a word for it, the name of its file, and the types that
/// carry it, one for each INT depth where the scheme stamps INT. Registering a scheme is adding its
/// line.
#[macro_export]
macro_rules! for_each_scheme {
    ($callback:ident) => {
        $callback! {
            none: $crate::none::NoControl;
            dcqcn: $crate::dcqcn::Dcqcn;
            hpcc: $crate::hpcc::Hpcc<5>, $crate::hpcc::Hpcc<10>;
            timely: $crate::timely::Timely;
            dctcp: $crate::dctcp::Dctcp;
            hpcc_pint: $crate::hpcc_pint::HpccPint;
            dcqcn_tcd: $crate::dcqcn_tcd::DcqcnTcd;
            timely_tcd: $crate::timely_tcd::TimelyTcd;
            hpcc_tcd: $crate::hpcc_tcd::HpccTcd<5>, $crate::hpcc_tcd::HpccTcd<10>;
            pacc: $crate::pacc::Pacc;
            expresspass: $crate::expresspass::ExpressPass;
            rocc: $crate::rocc::Rocc;
            swift: $crate::swift::Swift;
            mercury: $crate::mercury::Mercury<$crate::dcqcn::Dcqcn>;
            mercury_timely: $crate::mercury::Mercury<$crate::timely::Timely>;
            mercury_hpcc: $crate::mercury::Mercury<$crate::hpcc::Hpcc<5>>;
            fncc: $crate::fncc::Fncc<5>, $crate::fncc::Fncc<10>;
            themis: $crate::themis::Themis;
            themis_hpcc: $crate::themis::over_hpcc::ThemisHpcc<5>,
                $crate::themis::over_hpcc::ThemisHpcc<10>;
            annulus: $crate::annulus::Annulus;
            hiercc: $crate::hiercc::Hiercc;
            rcm: $crate::rcm::Rcm;
        }
    };
}

macro_rules! table {
    ($($module:ident: $first:ty $(, $deeper:ty)*;)*) => {
        &[$(SchemeInfo::of::<$first>()),*]
    };
}

/// Every scheme, in the order of the table.
pub fn all() -> &'static [SchemeInfo] {
    const ALL: &[SchemeInfo] = for_each_scheme!(table);
    ALL
}

/// The scheme called `name`.
pub fn find(name: &str) -> Option<&'static SchemeInfo> {
    all().iter().find(|scheme| scheme.name == name)
}
