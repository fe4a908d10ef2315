//! The notification point: when a receiver sends a CNP.

use super::DcqcnParams;
use crate::contract::EcnCodePoint;
use crate::dcqcn::MarkFeedback;
use units::Time;

/// The notification point, one per QP. Answers a marked packet with a CNP, unless the last CNP was
/// sent less than `cnp_interval` ago (section 3.1).
#[derive(Clone, Copy, Debug)]
pub struct NotificationPoint {
    /// No CNP before this time. `NEVER` if ACKs echo the marks.
    silent_until: Time,
}

impl NotificationPoint {
    /// Returns the state of a new QP.
    pub fn new(params: &DcqcnParams) -> NotificationPoint {
        let sends = params.notification == MarkFeedback::Cnp;
        NotificationPoint { silent_until: if sends { Time::ZERO } else { Time::NEVER } }
    }

    /// Returns whether the receiver must send a CNP for a data packet that arrived with this code
    /// point. If so, the next CNP is at least `cnp_interval` later.
    #[inline]
    pub fn should_send_cnp(
        &mut self,
        now: Time,
        params: &DcqcnParams,
        code_point: EcnCodePoint,
    ) -> bool {
        let sends = code_point == EcnCodePoint::CongestionExperienced && now >= self.silent_until;
        if sends {
            self.silent_until = now + params.cnp_interval;
        }
        sends
    }
}
