//! What there is to choose from, as JSON.

use ::schemes::contract::{Fit, PresetInfo};
use ::schemes::params::{Kind, ParamSpec};
use ::schemes::registry::{SchemeInfo, beside};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

#[derive(Serialize)]
struct Scheme {
    name: &'static str,
    summary: &'static str,
    paper: &'static str,
    caveat: &'static str,
    symmetric_paths: bool,
    input_queues: bool,
    tolerates: [Tolerated; 5],
    /// The schemes that one run may have beside this one.
    beside: Vec<&'static str>,
    presets: Vec<NamedPreset>,
    params: Vec<Param>,
}

/// How a scheme goes together with a way to spread or recover packets.
#[derive(Serialize)]
struct Tolerated {
    name: &'static str,
    /// `works`, `note` or `refused`.
    fit: &'static str,
    /// The note or the reason; empty if it works.
    why: &'static str,
}

impl Tolerated {
    fn new(name: &'static str, fit: Fit) -> Tolerated {
        let (fit, why) = match fit {
            Fit::Works => ("works", ""),
            Fit::Note(why) => ("note", why),
            Fit::Refused(why) => ("refused", why),
        };
        Tolerated { name, fit, why }
    }
}

#[derive(Serialize)]
struct NamedPreset {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    ecn: Option<Ecn>,
}

#[derive(Serialize)]
struct Ecn {
    kmin: String,
    kmax: String,
    pmax: f64,
    at: String,
}

#[derive(Serialize)]
struct Param {
    name: &'static str,
    symbol: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<&'static [&'static str]>,
    range: Option<[String; 2]>,
    summary: &'static str,
    source: &'static str,
}

impl From<&SchemeInfo> for Scheme {
    fn from(info: &SchemeInfo) -> Scheme {
        Scheme {
            name: info.name,
            summary: info.title,
            paper: info.paper,
            caveat: info.caveat,
            symmetric_paths: info.symmetric_paths,
            input_queues: info.input_queues,
            tolerates: [
                Tolerated::new("spraying", info.tolerates.spraying),
                Tolerated::new("adaptive routing", info.tolerates.adaptive),
                Tolerated::new("flowlets", info.tolerates.flowlets),
                Tolerated::new("rerouting", info.tolerates.rerouting),
                Tolerated::new("selective repeat", info.tolerates.selective_repeat),
            ],
            beside: beside(info.name),
            presets: (info.presets)().iter().map(NamedPreset::from).collect(),
            params: (info.params)().iter().map(Param::from).collect(),
        }
    }
}

impl From<&PresetInfo> for NamedPreset {
    fn from(preset: &PresetInfo) -> NamedPreset {
        NamedPreset {
            name: preset.name,
            summary: preset.summary,
            source: preset.source,
            ecn: preset.ecn.map(|law| Ecn {
                kmin: law.kmin.to_string(),
                kmax: law.kmax.to_string(),
                pmax: law.pmax,
                at: law.at.to_string(),
            }),
        }
    }
}

impl From<&ParamSpec> for Param {
    fn from(spec: &ParamSpec) -> Param {
        let (kind, choices) = match spec.kind {
            Kind::Time => ("time", None),
            Kind::Rate => ("rate", None),
            Kind::Bytes => ("bytes", None),
            Kind::Number => ("number", None),
            Kind::Count => ("count", None),
            Kind::Flag => ("flag", None),
            Kind::Choice(words) => ("choice", Some(words)),
        };
        Param {
            name: spec.name,
            symbol: spec.symbol,
            kind,
            choices,
            range: spec.range.map(|(low, high)| [low.to_string(), high.to_string()]),
            summary: spec.doc,
            source: spec.source,
        }
    }
}

fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Every scheme with its presets and parameters, as a JSON list.
#[pyfunction]
pub(crate) fn schemes() -> PyResult<String> {
    to_json(&::schemes::registry::all().iter().map(Scheme::from).collect::<Vec<_>>())
}

/// The JSON Schema of scenario files.
#[pyfunction]
pub(crate) fn json_schema() -> PyResult<String> {
    to_json(&scenario::json_schema())
}

#[derive(Serialize)]
struct Topology {
    name: String,
    summary: String,
    keys: Vec<Key>,
}

#[derive(Serialize)]
struct Key {
    name: String,
    summary: String,
    required: bool,
    /// As JSON.
    default: Option<String>,
}

/// Every topology kind with its keys, as a JSON list.
#[pyfunction]
pub(crate) fn topologies() -> PyResult<String> {
    let kinds = scenario::topology_kinds().into_iter().map(|kind| Topology {
        name: kind.name,
        summary: kind.summary,
        keys: kind
            .keys
            .into_iter()
            .map(|key| Key {
                name: key.name,
                summary: key.summary,
                required: key.required,
                default: key.default,
            })
            .collect(),
    });
    to_json(&kinds.collect::<Vec<_>>())
}

#[derive(Serialize)]
struct Workload {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    mean_bytes: f64,
    p50_bytes: f64,
    p99_bytes: f64,
}

#[derive(Serialize)]
struct Probe {
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    no_rows: &'static str,
}

/// Every kind of probe, as a JSON list.
#[pyfunction]
pub(crate) fn probe_kinds() -> PyResult<String> {
    let kinds = scenario::ProbeKind::ALL.iter().map(|kind| Probe {
        name: kind.name(),
        unit: kind.unit(),
        title: kind.title(),
        no_rows: kind.no_rows(),
    });
    to_json(&kinds.collect::<Vec<_>>())
}

/// Every flow-size distribution that ships with rocelab, as a JSON list.
#[pyfunction]
pub(crate) fn workloads() -> PyResult<String> {
    let workloads = scenario::workload::all().iter().map(|workload| Workload {
        name: workload.name,
        summary: &workload.summary,
        source: &workload.source,
        mean_bytes: workload.mean,
        p50_bytes: workload.p50,
        p99_bytes: workload.p99,
    });
    to_json(&workloads.collect::<Vec<_>>())
}
