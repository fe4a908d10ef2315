//! The reaction point of a QP: that of its scheme.

use super::{Either, LevelOf, Mix, MixHost, MixParams, Mixable};
use crate::contract::{
    Ack, Both, Header, HostCx, Join, Pacing, PathFacts, Rp, RpTimerSlot, Scheme, SendLimits,
    SenderMetric,
};
use units::{Bytes, MixSide, Time};

/// The reaction point of a [`Mix`].
#[derive(Debug)]
pub struct MixSender<A: Scheme, B: Scheme>(Either<A::Rp, B::Rp>);

impl<A, B> Rp<Mix<A, B>> for MixSender<A, B>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
{
    type Timer = Both<<A::Rp as Rp<A>>::Timer, <B::Rp as Rp<B>>::Timer>;

    fn open(
        params: &MixParams<A::Params, B::Params>,
        host: &mut MixHost<A, B>,
        path: &PathFacts,
        now: Time,
    ) -> Self {
        MixSender(match path.side {
            MixSide::First => Either::First(A::Rp::open(&params.first, &mut host.first, path, now)),
            MixSide::Second => {
                Either::Second(B::Rp::open(&params.second, &mut host.second, path, now))
            }
        })
    }
    #[inline]
    fn pacing(&self) -> Pacing {
        match &self.0 {
            Either::First(rp) => rp.pacing(),
            Either::Second(rp) => rp.pacing(),
        }
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        match &self.0 {
            Either::First(rp) => rp.limits(),
            Either::Second(rp) => rp.limits(),
        }
    }
    #[inline]
    fn on_send(
        &mut self,
        cx: &mut HostCx<'_, Mix<A, B>>,
        data: &mut Header,
        meta: &mut Either<A::Meta, B::Meta>,
    ) {
        // The packet is blank: it becomes one of the QP's scheme here.
        match &mut self.0 {
            Either::First(rp) => {
                let mut own = A::Meta::default();
                Mix::as_first(cx, |cx| rp.on_send(cx, data, &mut own));
                *meta = Either::First(own);
            }
            Either::Second(rp) => {
                let mut own = B::Meta::default();
                Mix::as_second(cx, |cx| rp.on_send(cx, data, &mut own));
                *meta = Either::Second(own);
            }
        }
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, Mix<A, B>>, ack: &Ack<'_, Mix<A, B>>) {
        match (&mut self.0, ack.meta) {
            (Either::First(rp), Either::First(meta)) => {
                let ack = ack.with_meta::<A>(meta);
                Mix::as_first(cx, |cx| rp.on_ack(cx, &ack));
            }
            (Either::Second(rp), Either::Second(meta)) => {
                let ack = ack.with_meta::<B>(meta);
                Mix::as_second(cx, |cx| rp.on_ack(cx, &ack));
            }
            _ => unreachable!("a QP has one scheme"),
        }
    }
    #[inline]
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Mix<A, B>>, ctl: &Either<A::Ctl, B::Ctl>) {
        match (&mut self.0, ctl) {
            (Either::First(rp), Either::First(ctl)) => {
                Mix::as_first(cx, |cx| rp.on_ctl(cx, ctl));
            }
            (Either::Second(rp), Either::Second(ctl)) => {
                Mix::as_second(cx, |cx| rp.on_ctl(cx, ctl));
            }
            // One for all QPs of a pair of hosts reaches those of the other scheme, too.
            (Either::First(_), Either::Second(_)) | (Either::Second(_), Either::First(_)) => {}
        }
    }
    fn on_backlog(&mut self, cx: &mut HostCx<'_, Mix<A, B>>, left: Bytes) {
        match &mut self.0 {
            Either::First(rp) => Mix::as_first(cx, |cx| rp.on_backlog(cx, left)),
            Either::Second(rp) => Mix::as_second(cx, |cx| rp.on_backlog(cx, left)),
        }
    }
    fn on_retransmission_timeout(&mut self, cx: &mut HostCx<'_, Mix<A, B>>) {
        match &mut self.0 {
            Either::First(rp) => Mix::as_first(cx, |cx| rp.on_retransmission_timeout(cx)),
            Either::Second(rp) => Mix::as_second(cx, |cx| rp.on_retransmission_timeout(cx)),
        }
    }
    fn observe(&self, now: Time, what: SenderMetric) -> Option<f64> {
        match &self.0 {
            Either::First(rp) => rp.observe(now, what),
            Either::Second(rp) => rp.observe(now, what),
        }
    }
}

impl<A, B, X, Y> RpTimerSlot<Mix<A, B>, MixSender<A, B>> for Both<X, Y>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
    X: RpTimerSlot<A, A::Rp>,
    Y: RpTimerSlot<B, B::Rp>,
{
    const ENABLED: bool = X::ENABLED || Y::ENABLED;
    #[inline]
    fn next_timer(rp: &MixSender<A, B>) -> Time {
        match &rp.0 {
            Either::First(rp) => X::next_timer(rp),
            Either::Second(rp) => Y::next_timer(rp),
        }
    }
    #[inline]
    fn on_timer(rp: &mut MixSender<A, B>, cx: &mut HostCx<'_, Mix<A, B>>) {
        match &mut rp.0 {
            Either::First(rp) => Mix::as_first(cx, |cx| X::on_timer(rp, cx)),
            Either::Second(rp) => Mix::as_second(cx, |cx| Y::on_timer(rp, cx)),
        }
    }
}
