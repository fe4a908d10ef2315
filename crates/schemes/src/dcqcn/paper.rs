//! What only the paper's reaction point does (section 3.1).

use super::reaction_point::{Law, ReactionPoint};
use units::Time;

/// Cuts at once, raises alpha, and restarts its quiet period.
#[inline]
pub(super) fn notify(rp: &mut ReactionPoint, now: Time) {
    rp.age_alpha(now);
    // The cut uses alpha before it is raised (section 3.1, equation 1).
    rp.cut(now);
    rp.raise_alpha();
    rp.alpha_due = now + rp.law.alpha_timer;
}

/// Returns the increase of the target: R_HAI times the number of steps in this phase.
#[inline]
pub(super) fn hyper_increase(law: &Law, steps: u64) -> u64 {
    law.rate_hai.saturating_mul(steps)
}
