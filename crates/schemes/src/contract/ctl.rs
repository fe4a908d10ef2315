//! Control packets of a scheme.

use units::Priority;

/// A control packet of a scheme with parameters `P`: a CNP, a rate, a credit.
pub trait Ctl<P>: Copy + Send + Sync + 'static {
    /// Size in bytes of the longest Ethernet frame that carries one, FCS included: at most 2000.
    /// PFC keeps room for it where packets of data are shorter.
    const MAX_FRAME_BYTES: u32;

    /// Size in bytes of the Ethernet frame that carries it, FCS included: at most
    /// [`MAX_FRAME_BYTES`](Ctl::MAX_FRAME_BYTES).
    fn frame_bytes(&self) -> u32 {
        Self::MAX_FRAME_BYTES
    }
    /// Its priority. `None`: the scenario's control class.
    fn priority(&self, _params: &P) -> Option<Priority> {
        None
    }
    /// Returns whether it is a congestion notification packet (CNP) of RoCEv2. Captures have CNPs
    /// as such, and other control packets as packets that nothing reads.
    fn is_cnp(&self) -> bool {
        false
    }
    /// Returns whether a control packet for a sender is for all its QPs to the same receiver. Those
    /// QPs get it also if the QP that it is addressed to is over.
    fn for_all_qps(&self, _params: &P) -> bool {
        false
    }
    /// Returns whether a control packet from a sender asks for permission to send. If all data has
    /// arrived, the receiver answers it with an ACK of everything, as it answers data.
    fn needs_ack(&self, _params: &P) -> bool {
        false
    }
}

/// The control packets of a scheme that has none: no value exists.
#[derive(Clone, Copy, Debug)]
pub enum NoCtl {}

impl<P> Ctl<P> for NoCtl {
    const MAX_FRAME_BYTES: u32 = 0;
}
