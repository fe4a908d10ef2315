//! The congestion region as a port sees it (section 3.2), and where SAR moves flows (section 3.4).

use super::RcmSwitch;
use crate::rcm::{FlowId, MAX_DEGREE};
use std::hint::select_unpredictable;
use units::{PortId, Time};

/// Role of a port in the congestion region (section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Outside of the region.
    None,
    /// It found congestion itself and got no notification.
    Root,
    /// A neighbour notified it of congestion.
    Edge,
    /// It found congestion itself and was notified.
    Inner,
}

impl RcmSwitch {
    /// Returns the port's local congestion flag: its output queue is congested, or an input queue
    /// that blames it.
    pub(super) fn is_local(&self, port: usize, now: Time) -> bool {
        let output = &self.outputs[port];
        output.detector.is_congested(now) || now < output.blamed_until
    }

    /// Finds until when input queues that blame a port are congested.
    pub(super) fn find_blame(&mut self, port: usize) {
        // Without a branch, as which inputs blame the port is unpredictable.
        let until = self.inputs.iter().map(|input| {
            let until = input.detector.congested_until();
            select_unpredictable(input.blamed == port, until, Time::ZERO)
        });
        self.outputs[port].blamed_until = until.max().unwrap_or(Time::ZERO);
    }

    /// Returns the role of a port in the congestion region.
    #[inline]
    pub fn role(&self, port: usize, now: Time) -> Role {
        match (self.is_local(port, now), self.outputs[port].remote.is_valid(now)) {
            (false, false) => Role::None,
            (true, false) => Role::Root,
            (false, true) => Role::Edge,
            (true, true) => Role::Inner,
        }
    }

    /// Returns Fb of a port: the maximum of its output queue and of the inputs that blame it.
    pub(super) fn own_degree(&self, port: usize, now: Time) -> u8 {
        let inputs = self.inputs.iter().filter(|input| input.blamed == port);
        let of_inputs = inputs.map(|input| input.detector.degree(now)).max().unwrap_or(0);
        self.outputs[port].detector.degree(now).max(of_inputs)
    }

    /// Returns Fb' <- (1 - w) Fb + w Fbr, if the neighbour has notified Fbr (equation 2), and
    /// otherwise Fb.
    pub(super) fn mix(&self, own: u8, port: usize, now: Time) -> u8 {
        let remote = &self.outputs[port].remote;
        if !remote.is_valid(now) {
            return own;
        }
        let w = self.params.mix_weight;
        ((1.0 - w) * f64::from(own) + w * f64::from(remote.degree)).round() as u8
    }

    /// Returns the regional congestion degree of a port, by which SAR chooses.
    fn regional_degree(&self, port: usize, now: Time) -> u8 {
        self.mix(self.own_degree(port, now), port, now)
    }

    /// Returns whether a flow is harmful at a port. A CN from the root takes precedence over the
    /// port's own CAM.
    pub(super) fn is_harmful(&self, port: usize, flow: FlowId, now: Time) -> bool {
        let output = &self.outputs[port];
        if output.remote.is_valid(now) {
            return output.remote.position_of(flow, now).is_some();
        }
        output.cam.is_harmful(now, flow)
    }

    /// Returns the harmful flows of a port that come through `input`.
    pub(super) fn harmful_through(
        &self,
        port: usize,
        input: u16,
        now: Time,
    ) -> impl Iterator<Item = FlowId> {
        let output = &self.outputs[port];
        let is_remote = output.remote.is_valid(now);
        let remote = if is_remote { &output.remote.flows[..] } else { &[] };
        let remote = remote.iter().filter(move |it| now < it.until && it.input == Some(input));
        let own = if is_remote { &[] } else { output.cam.harmful(now) };
        let own = own.iter().filter(move |(_, through)| *through == input);
        remote.map(|entry| entry.flow).chain(own.map(|(flow, _)| *flow))
    }

    /// Returns whether SAR moves flows away from a port.
    fn should_avoid(&self, port: usize, now: Time) -> bool {
        let remote = &self.outputs[port].remote;
        let by_notices = remote.is_valid(now) && remote.notices >= self.params.detour_notices;
        let threshold = self.params.detour_degree * f64::from(MAX_DEGREE);
        by_notices
            || (self.is_local(port, now) && f64::from(self.own_degree(port, now)) > threshold)
    }

    /// Returns the port to which SAR moves a flow that takes `current`, if any.
    pub(super) fn find_better_port(
        &self,
        flow: FlowId,
        current: PortId,
        ports: &[PortId],
        now: Time,
    ) -> Option<PortId> {
        let at = current.index();
        if !self.should_avoid(at, now) || self.is_harmful(at, flow, now) {
            return None;
        }
        let degree = |port: PortId| self.regional_degree(port.index(), now);
        // Among ports of equal degree, flows start at different ones.
        let first = flow.0 as usize % ports.len();
        let turned = ports[first..].iter().chain(&ports[..first]);
        let best = turned.copied().min_by_key(|port| degree(*port))?;
        (degree(best) < degree(current)).then_some(best)
    }
}
