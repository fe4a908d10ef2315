//! The notification point of a QP: that of the scheme of its first packet.

use super::{Either, LevelOf, Mix, MixHost, MixParams, Mixable};
use crate::contract::{Both, Header, HostCx, Join, Np, NpTimerSlot, Scheme};
use units::Time;

/// The notification point of a [`Mix`]. `None` until the first packet says which scheme it is of.
#[derive(Debug)]
pub struct MixReceiver<A: Scheme, B: Scheme>(Option<Either<A::Np, B::Np>>);

impl<A, B> MixReceiver<A, B>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
{
    /// The notification point, opened for a packet of this scheme if it was not.
    #[inline]
    fn opened<X, Y>(
        &mut self,
        cx: &mut HostCx<'_, Mix<A, B>>,
        of: &Either<X, Y>,
    ) -> &mut Either<A::Np, B::Np> {
        self.0.get_or_insert_with(|| match of {
            Either::First(_) => {
                Either::First(A::Np::open(&cx.params.first, &mut cx.host.first, cx.now))
            }
            Either::Second(_) => {
                Either::Second(B::Np::open(&cx.params.second, &mut cx.host.second, cx.now))
            }
        })
    }
}

impl<A, B> Np<Mix<A, B>> for MixReceiver<A, B>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
{
    type Timer = Both<<A::Np as Np<A>>::Timer, <B::Np as Np<B>>::Timer>;
    const IS_SILENT: bool = A::Np::IS_SILENT && B::Np::IS_SILENT;

    fn open(
        _params: &MixParams<A::Params, B::Params>,
        _host: &mut MixHost<A, B>,
        _now: Time,
    ) -> Self {
        MixReceiver(None)
    }
    #[inline]
    fn on_packet(
        &mut self,
        cx: &mut HostCx<'_, Mix<A, B>>,
        data: &Header,
        meta: &Either<A::Meta, B::Meta>,
    ) {
        match (self.opened(cx, meta), meta) {
            (Either::First(np), Either::First(meta)) => {
                Mix::as_first(cx, |cx| np.on_packet(cx, data, meta));
            }
            (Either::Second(np), Either::Second(meta)) => {
                Mix::as_second(cx, |cx| np.on_packet(cx, data, meta));
            }
            _ => unreachable!("a QP has one scheme"),
        }
    }
    #[inline]
    fn on_kept_data(
        &mut self,
        cx: &mut HostCx<'_, Mix<A, B>>,
        data: &Header,
        meta: &mut Either<A::Meta, B::Meta>,
    ) {
        match (self.opened(cx, meta), meta) {
            (Either::First(np), Either::First(meta)) => {
                Mix::as_first(cx, |cx| np.on_kept_data(cx, data, meta));
            }
            (Either::Second(np), Either::Second(meta)) => {
                Mix::as_second(cx, |cx| np.on_kept_data(cx, data, meta));
            }
            _ => unreachable!("a QP has one scheme"),
        }
    }
    #[inline]
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Mix<A, B>>, ctl: &Either<A::Ctl, B::Ctl>) {
        match (self.opened(cx, ctl), ctl) {
            (Either::First(np), Either::First(ctl)) => {
                Mix::as_first(cx, |cx| np.on_ctl(cx, ctl));
            }
            (Either::Second(np), Either::Second(ctl)) => {
                Mix::as_second(cx, |cx| np.on_ctl(cx, ctl));
            }
            _ => unreachable!("a QP has one scheme"),
        }
    }
    fn on_message_end(&mut self, cx: &mut HostCx<'_, Mix<A, B>>, is_last: bool) {
        match &mut self.0 {
            Some(Either::First(np)) => Mix::as_first(cx, |cx| np.on_message_end(cx, is_last)),
            Some(Either::Second(np)) => Mix::as_second(cx, |cx| np.on_message_end(cx, is_last)),
            None => unreachable!("a message ends with a packet"),
        }
    }
}

impl<A, B, X, Y> NpTimerSlot<Mix<A, B>, MixReceiver<A, B>> for Both<X, Y>
where
    A: Mixable,
    B: Mixable,
    LevelOf<A>: Join<LevelOf<B>>,
    X: NpTimerSlot<A, A::Np>,
    Y: NpTimerSlot<B, B::Np>,
{
    const ENABLED: bool = X::ENABLED || Y::ENABLED;
    #[inline]
    fn next_timer(np: &MixReceiver<A, B>) -> Time {
        match &np.0 {
            Some(Either::First(np)) => X::next_timer(np),
            Some(Either::Second(np)) => Y::next_timer(np),
            None => Time::NEVER,
        }
    }
    #[inline]
    fn on_timer(np: &mut MixReceiver<A, B>, cx: &mut HostCx<'_, Mix<A, B>>) {
        match &mut np.0 {
            Some(Either::First(np)) => Mix::as_first(cx, |cx| X::on_timer(np, cx)),
            Some(Either::Second(np)) => Mix::as_second(cx, |cx| Y::on_timer(np, cx)),
            None => {}
        }
    }
}
