//! `[[classes.settings]]`: settings of single traffic classes.

use super::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate};

/// What one traffic class has of its own at switches. `[classes]` says what is sent in which class,
/// with which weight, and which classes PFC protects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassSpec {
    /// Its priority, 0 to 7.
    pub priority: u8,
    /// ECN marking of its queues; default: as `[ecn]` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<ClassEcnSpec>,
    /// A queue of it takes at most this share of what is free, where PFC does not protect it;
    /// default: `switch.lossy_alpha`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lossy_alpha: Option<f64>,
    /// When PFC pauses it, where PFC protects it; default: as `[pfc]` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pfc: Option<ClassPfcSpec>,
}

/// The PFC threshold of a class. The rest is as `[pfc]` says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassPfcSpec {
    /// Dynamic thresholds: pause at this share of the free shared buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Static thresholds: pause at this many bytes of an ingress port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xoff: Option<Quantity<Bytes>>,
    /// Static thresholds: resume at this many bytes; default: as far below `xoff` as in `[pfc]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xon: Option<Quantity<Bytes>>,
}

/// ECN marking of a class. Thresholds are of the queue of the class at a port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassEcnSpec {
    /// Whether switches mark packets of the class.
    #[serde(default = "enabled")]
    pub enabled: bool,
    /// Nothing is marked up to this queue length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kmin: Option<Quantity<Bytes>>,
    /// Everything is marked above this queue length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kmax: Option<Quantity<Bytes>>,
    /// Marking probability at `kmax`; default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pmax: Option<f64>,
    /// The port rate that `kmin` and `kmax` are given for: other ports scale them with their rate.
    /// Default: all ports have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_rate: Option<Quantity<Rate>>,
}

fn enabled() -> bool {
    true
}
