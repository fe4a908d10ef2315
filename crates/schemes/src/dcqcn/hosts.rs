//! Senders and receivers of DCQCN, for every scheme that uses them.

use super::{DcqcnParams, NotificationPoint, ReactionPoint};
use crate::contract::{
    Absent, Ack, Header, HostCx, Np, PathFacts, Present, Rp, RpTimer, Scheme, SendLimits,
    SenderMetric,
};
use units::Time;

/// A scheme whose senders are DCQCN's. Its receivers are DCQCN's, too, if they send notifications.
pub trait DcqcnHosts: Scheme {
    /// Returns DCQCN's part of the parameters.
    fn dcqcn(params: &Self::Params) -> &DcqcnParams;
    /// Returns the control packet that says that a marked packet arrived.
    fn cnp() -> Self::Ctl;
}

impl<S: DcqcnHosts> Rp<S> for ReactionPoint {
    type Timer = Present;
    fn open(
        params: &S::Params,
        _host: &mut S::Host,
        path: &PathFacts,
        _now: Time,
    ) -> ReactionPoint {
        ReactionPoint::new(S::dcqcn(params), path)
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        self.limits()
    }
    #[inline]
    fn on_send(&mut self, cx: &mut HostCx<'_, S>, data: &mut Header, _meta: &mut S::Meta) {
        self.count_bytes(cx.now, u64::from(data.size));
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, S>, ack: &Ack<'_, S>) {
        self.on_ecn_echo(cx.now, ack.echo);
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, S>, _cnp: &S::Ctl) {
        self.notify(cx.now);
    }
    fn observe(&self, now: Time, what: SenderMetric) -> Option<f64> {
        self.metric_at(now, what)
    }
}

impl<S: DcqcnHosts> RpTimer<S> for ReactionPoint {
    #[inline]
    fn next_timer(&self) -> Time {
        self.next_window()
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, S>) {
        self.advance_to(cx.now);
    }
}

impl<S: DcqcnHosts> Np<S> for NotificationPoint {
    type Timer = Absent;
    fn open(params: &S::Params, _host: &mut S::Host, _now: Time) -> NotificationPoint {
        NotificationPoint::new(S::dcqcn(params))
    }
    #[inline]
    fn on_packet(&mut self, cx: &mut HostCx<'_, S>, data: &Header, _meta: &S::Meta) {
        if self.should_send_cnp(cx.now, S::dcqcn(cx.params), data.code_point) {
            cx.send(S::cnp());
        }
    }
}
