//! The receiver's part of FNCC: counts concurrent flows, and writes their number into ACKs.

use super::{AckReport, FlowCount, Fncc, FnccParams};
use crate::contract::{Absent, Header, HostCx, Np};
use units::Time;

/// Counts a receiver's concurrent flows.
#[derive(Clone, Debug)]
pub struct ActiveFlows {
    counted: FlowCount,
    /// QPs that have not ended.
    open: u32,
    /// Length of a period: flows with data in this or the previous one are active.
    length: Time,
    /// Number of the period. Starts at 2, so that a flow that was never seen is in no counted
    /// period.
    period: u64,
    /// Number of flows with data in this period, and of those with data only in the previous one.
    this: u32,
    before: u32,
}

impl ActiveFlows {
    /// Returns a counter with periods of this length.
    pub fn new(length: Time, counted: FlowCount) -> ActiveFlows {
        let length = length.max(Time::from_ps(1));
        ActiveFlows { counted, open: 0, length, period: 2, this: 0, before: 0 }
    }

    /// Returns the present number of flows.
    pub fn flows(&self) -> u16 {
        let flows = match self.counted {
            FlowCount::Active => self.this + self.before,
            FlowCount::Open => self.open,
        };
        u16::try_from(flows).unwrap_or(u16::MAX)
    }

    /// Counts a flow whose first data came.
    pub fn opened(&mut self) {
        self.open += 1;
    }

    /// No longer counts a flow that was opened.
    pub fn closed(&mut self) {
        self.open -= 1;
    }

    /// Counts data of a flow that was last seen in the period `seen`.
    pub fn arrived(&mut self, now: Time, seen: &mut u64) {
        let period = 2 + now.ps() / self.length.ps();
        if period != self.period {
            self.before = if period == self.period + 1 { self.this } else { 0 };
            self.this = 0;
            self.period = period;
        }
        if *seen + 1 == period {
            self.before -= 1;
        }
        if *seen != period {
            self.this += 1;
            *seen = period;
        }
    }

    /// Removes a flow that has ended and was last seen in the period `seen`.
    pub fn ended(&mut self, seen: &mut u64) {
        if *seen == self.period {
            self.this -= 1;
        } else if *seen + 1 == self.period {
            self.before -= 1;
        }
        *seen = 0;
    }
}

/// The notification point, one per QP: writes N into the ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotificationPoint {
    seen: u64,
    is_open: bool,
}

impl<const N: usize> Np<Fncc<N>> for NotificationPoint {
    type Timer = Absent;
    fn open(_params: &FnccParams, _host: &mut ActiveFlows, _now: Time) -> NotificationPoint {
        NotificationPoint::default()
    }
    #[inline]
    fn on_kept_data(
        &mut self,
        cx: &mut HostCx<'_, Fncc<N>>,
        _data: &Header,
        report: &mut AckReport<N>,
    ) {
        if !self.is_open {
            self.is_open = true;
            cx.host.opened();
        }
        cx.host.arrived(cx.now, &mut self.seen);
        report.flows = cx.host.flows();
    }
    /// A QP with further messages is still a connection.
    fn on_message_end(&mut self, cx: &mut HostCx<'_, Fncc<N>>, is_last: bool) {
        if is_last {
            cx.host.ended(&mut self.seen);
            if self.is_open {
                self.is_open = false;
                cx.host.closed();
            }
        }
    }
}
