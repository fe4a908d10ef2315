//! `[[failure]]`: links that fail.

use super::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Time;

/// A link that fails, in both directions, for good or until it is repaired. For that time all
/// routes avoid it; what waits for it or is on it is lost. Every two hosts must still reach each
/// other.
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
}
