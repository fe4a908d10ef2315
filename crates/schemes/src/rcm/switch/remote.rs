//! What the neighbour downstream of a port has notified.

use crate::rcm::{Cam, FlowId, Notice};
use units::Time;

/// What a neighbour downstream told.
#[derive(Clone, Debug, Default)]
pub(super) struct Remote {
    pub(super) degree: u8,
    pub(super) until: Time,
    /// CNs in a row.
    pub(super) notices: u64,
    /// The harmful flows, those told last first.
    pub(super) flows: Vec<NotifiedFlow>,
}

/// A harmful flow that a neighbour downstream told.
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

    /// A CN, which counts until then; where its flows come from the port itself may know.
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

    /// The entry of a flow, while it counts.
    #[inline]
    pub(super) fn position_of(&self, flow: FlowId, now: Time) -> Option<usize> {
        self.flows.iter().position(|entry| entry.flow == flow && now < entry.until)
    }
}
