//! `[[failure]]`: links that fail, or become slow or lossy.

use super::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Rate, Time};

/// A link that fails, in both directions, for good or until it is repaired. For that time all
/// routes avoid it; what waits for it or is on it is lost. Every two hosts must still reach each
/// other. With `rate` or `error_rate` the link does not fail: it is slower or lossier, and routes
/// stay as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureSpec {
    /// The link, written "node:peer" after its two nodes; several between the same two fail
    /// together.
    pub link: String,
    /// When, above zero.
    pub at: Quantity<Time>,
    /// When it carries packets again, later than what was on it would arrive; default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Quantity<Time>>,
    /// The link has this rate meanwhile, below its own. ECN and PFC thresholds stay those of its
    /// own rate. How long pauses last and take to hold follows the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Quantity<Rate>>,
    /// Probability meanwhile that a packet, also a PFC frame, arrives damaged and is discarded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<f64>,
}
