use super::{Address, Scheme};
use units::{PortId, Time};

/// What hooks of a host work with: the time, the parameters, the state that QPs share, and a way to
/// send control packets to the other end of the QP.
pub struct HostCx<'a, S: Scheme> {
    /// The time of the event.
    pub now: Time,
    /// The scheme's parameters.
    pub params: &'a S::Params,
    /// What the QPs of this host share.
    pub host: &'a mut S::Host,
    /// Control packets to send, drained by the fabric.
    pub outbox: &'a mut Vec<S::Ctl>,
}

impl<S: Scheme> HostCx<'_, S> {
    /// Sends `ctl` to the QP's other end.
    #[inline]
    pub fn send(&mut self, ctl: S::Ctl) {
        self.outbox.push(ctl);
    }
}

/// Which end of a QP a switch notifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QpEnd {
    /// The sender of its data.
    Sender,
    /// The receiver of its data.
    Receiver,
}

/// What a switch hook asks the fabric to do.
#[derive(Clone, Copy, Debug)]
pub enum SwitchEffect<C> {
    /// Send a control packet to an end of a QP.
    ToHost(Address, QpEnd, C),
    /// Send a control packet to the node at the other end of a port's link.
    ToLink(PortId, C),
    /// Call the gates of a port again.
    Wake(PortId),
}

/// The effects of a switch's hooks, drained by the fabric after each hook.
pub type SwitchEffects<C> = Vec<SwitchEffect<C>>;
