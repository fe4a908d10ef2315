//! The notification point: what a scheme does at the receiver.

use super::{Absent, Header, HostCx, NpTimerSlot, Scheme};
use units::Time;

/// Notification point: answers data packets at the receiver.
pub trait Np<S: Scheme>: Sized + Send + 'static {
    /// Whether it has a timer: [`Present`](super::Present) with an implementation of
    /// [`NpTimer`](super::NpTimer), else [`Absent`].
    type Timer: NpTimerSlot<S, Self>;
    /// Whether it sends nothing, so that a receiver only sends the transport's ACKs.
    const IS_SILENT: bool = false;

    /// Makes the notification point of a QP whose first packet arrived at `now`.
    fn open(params: &S::Params, host: &mut S::Host, now: Time) -> Self;
    /// Called for every data packet, in order or not. Its ECN mark and INT records count even if
    /// the payload is discarded.
    fn on_packet(&mut self, _cx: &mut HostCx<'_, S>, _data: &Header, _meta: &S::Meta) {}
    /// Called for every data packet that the receiver keeps, after [`on_packet`](Np::on_packet):
    /// all that arrive in order, and with `host.reorder` those ahead of a gap that it keeps. Called
    /// once for each of them, as it arrives. `meta` is what the packet carried and becomes what its
    /// ACK carries.
    fn on_kept_data(&mut self, _cx: &mut HostCx<'_, S>, _data: &Header, _meta: &mut S::Meta) {}
    /// Called when one of the scheme's control packets arrives from the sender.
    fn on_ctl(&mut self, _cx: &mut HostCx<'_, S>, _ctl: &S::Ctl) {}
    /// Called when the last byte of a message arrives. `is_last`: the QP has no other message.
    fn on_message_end(&mut self, _cx: &mut HostCx<'_, S>, _is_last: bool) {}
}

/// The notification point of a scheme whose receivers only send the transport's ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainReceiver;

impl<S: Scheme> Np<S> for PlainReceiver {
    type Timer = Absent;
    const IS_SILENT: bool = true;
    fn open(_params: &S::Params, _host: &mut S::Host, _now: Time) -> PlainReceiver {
        PlainReceiver
    }
}
