//! What the neighbour downstream of a port has notified.

use crate::rcm::{Cam, FlowId, Notice};
use units::Time;

/// The last CN from the neighbour downstream, and its flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Remote {
    pub(super) degree: u8,
    pub(super) until: Time,
    /// Number of CNs in a row.
    pub(super) notices: u64,
    /// The harmful flows, the latest first.
    pub(super) flows: Vec<NotifiedFlow>,
}

/// A harmful flow from a neighbour's CN.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotifiedFlow {
    pub(super) flow: FlowId,
    pub(super) until: Time,
    /// The port through which it comes; `None` until one of its packets is seen.
    pub(super) input: Option<u16>,
}

impl Remote {
    #[inline]
    pub(super) fn is_valid(&self, now: Time) -> bool {
        now < self.until
    }

    /// Stores a CN that is valid until `until`. The port's own CAM may know through which ports the
    /// flows come.
    pub(super) fn on_notice(&mut self, now: Time, until: Time, notice: &Notice, cam: &Cam) {
        self.notices = if self.is_valid(now) { self.notices + 1 } else { 1 };
        (self.degree, self.until) = (notice.degree, until);
        self.flows.retain(|entry| now < entry.until);
        for &flow in notice.flows().iter().rev() {
            let before = self.flows.iter().position(|entry| entry.flow == flow);
            let input = before.and_then(|place| self.flows.remove(place).input);
            let sampled = || cam.harmful(now).iter().find(|(known, _)| *known == flow);
            let input = input.or_else(|| sampled().map(|(_, input)| *input));
            self.flows.insert(0, NotifiedFlow { flow, until, input });
        }
    }

    /// Returns the index of a flow's entry, while it is valid.
    #[inline]
    pub(super) fn position_of(&self, flow: FlowId, now: Time) -> Option<usize> {
        self.flows.iter().position(|entry| entry.flow == flow && now < entry.until)
    }
}
