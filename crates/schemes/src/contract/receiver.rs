//! The notification point: what a scheme does at the receiver.

use super::{Absent, Header, HostCx, NpTimerSlot, Scheme};
use units::Time;

/// Notification point: answers data packets at the receiver.
pub trait Np<S: Scheme>: Sized + Send + 'static {
    /// Whether it has a timer: [`Present`](super::Present) with an implementation of
    /// [`NpTimer`](super::NpTimer), else [`Absent`].
    type Timer: NpTimerSlot<S, Self>;
    /// The first packet of a QP arrived at `now`.
    fn open(params: &S::Params, host: &mut S::Host, now: Time) -> Self;
    /// A data packet arrived, in order or not: what it tells of the network is told even where its bytes are
    /// discarded.
    fn on_packet(&mut self, _cx: &mut HostCx<'_, S>, _data: &Header, _meta: &S::Meta) {}
    /// The same packet, after that, where it arrived in order. `meta` is what it carried and becomes what
    /// its ACK carries.
    fn on_in_order_data(&mut self, _cx: &mut HostCx<'_, S>, _data: &Header, _meta: &mut S::Meta) {}
    /// One of the scheme's control packets arrived from the sender.
    fn on_ctl(&mut self, _cx: &mut HostCx<'_, S>, _ctl: &S::Ctl) {}
    /// The last byte of a message arrived. `is_last`: the QP has no other.
    fn on_message_end(&mut self, _cx: &mut HostCx<'_, S>, _is_last: bool) {}
}

/// The notification point of a scheme whose receivers only send the transport's ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainReceiver;

impl<S: Scheme> Np<S> for PlainReceiver {
    type Timer = Absent;
    fn open(_params: &S::Params, _host: &mut S::Host, _now: Time) -> PlainReceiver {
        PlainReceiver
    }
}
