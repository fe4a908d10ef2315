//! What only the reaction point of the Mellanox firmware does.

use super::reaction_point::ReactionPoint;
use units::Time;

/// Notes the notification for the next periodic checks: one updates alpha, one cuts.
///
/// The first notification starts both checks and sets the rate to a configured share.
#[inline]
pub(super) fn notify(rp: &mut ReactionPoint, now: Time) {
    if rp.first_notified == Time::NEVER {
        rp.first_notified = now;
        rp.alpha_due = now + rp.law.alpha_timer;
        rp.set_current((rp.current as f64 * rp.law.first_cnp_rate) as u64);
        rp.target = rp.current;
        // Alpha starts at its initial value and is not raised, but the first check cuts.
        rp.cut_due = now + rp.law.decrease_interval;
        return;
    }
    rp.age_alpha(now);
    rp.alpha_notified = true;
    if rp.cut_due == Time::NEVER {
        let since = now - rp.first_notified;
        rp.cut_due = rp.first_notified + since.round_up(rp.law.decrease_interval);
    }
}
