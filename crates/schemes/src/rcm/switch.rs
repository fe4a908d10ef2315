//! The switch: its ports, and how CRD, CFR, RCC and SAR work together.

mod region;
mod remote;

pub use region::Role;

use super::{
    Cam, Control, Detector, FlowId, FlowTable, MAX_FLOWS, Notice, Rcm, RegionParams, Sampling,
    SendWindow, SentPacket,
};
use crate::contract::{
    Cp, CpTimer, Crossing, EmitCx, Emits, Header, InputQueues, InputView, OnArrival, OnEnqueue,
    Packet, PacketKind, PortFacts, PortView, Ports, SwitchFacts, Verdict,
};
use crate::rcm::{DetourRule, ReleaseRule};
use remote::Remote;
use units::{PortId, Time};

#[derive(Clone, Debug)]
struct Output {
    detector: Detector,
    /// An input queue that blames the port is congested until this time.
    blamed_until: Time,
    cam: Cam,
    cam_sampling: Sampling,
    remote: Remote,
    window: SendWindow,
    /// Harmful flows that have not sent since congestion began, and how many there were then.
    unsent: Vec<FlowId>,
    harmful: usize,
}

#[derive(Clone, Debug)]
struct Input {
    detector: Detector,
    /// The output that it blames since its last sample.
    blamed: usize,
    /// Whether it sends CNs upstream, and the earliest time of the next one.
    notifies: bool,
    next_notice: Time,
}

/// An RCM switch.
#[derive(Debug)]
pub struct RcmSwitch {
    params: RegionParams,
    any_flow: bool,
    release: ReleaseRule,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    flows: FlowTable,
    /// When the first port's harmful flows may continue.
    wake_at: Time,
    notices: u64,
    cuts: u64,
    detours: u64,
}

impl RcmSwitch {
    /// Returns the state of a switch without congestion.
    pub fn new(params: &RegionParams, facts: &SwitchFacts<'_>) -> RcmSwitch {
        let seed = |what: u64, port: &PortFacts| {
            facts.seed ^ (what << 32 | u64::from(port.port.get())).wrapping_mul(0x9e37_79b9)
        };
        let cam_interval = params.cam_interval.get() as f64;
        let input = |port: &PortFacts| Input {
            detector: Detector::new(params, seed(1, port)),
            blamed: 0,
            notifies: !port.peer_is_host,
            next_notice: Time::ZERO,
        };
        let output = |port: &PortFacts| Output {
            detector: Detector::new(params, seed(2, port)),
            blamed_until: Time::ZERO,
            cam: Cam::new(params),
            cam_sampling: Sampling::new(cam_interval, params.sample_jitter, seed(3, port)),
            remote: Remote::default(),
            window: SendWindow::new(params, port.rate, facts.packet_bytes.get()),
            unsent: Vec::new(),
            harmful: 0,
        };
        RcmSwitch {
            params: params.clone(),
            any_flow: params.detour == DetourRule::Any,
            release: params.release_rule,
            inputs: facts.ports.iter().map(input).collect(),
            outputs: facts.ports.iter().map(output).collect(),
            flows: FlowTable::new(params.flow_entries as usize, params.flow_gap),
            wake_at: Time::NEVER,
            notices: 0,
            cuts: 0,
            detours: 0,
        }
    }

    /// Notes that a packet of a flow crosses to a port. Returns whether the flow is harmful there.
    #[inline]
    fn crosses(&mut self, port: usize, flow: FlowId, input: u16, now: Time) -> bool {
        let output = &mut self.outputs[port];
        if !output.remote.is_valid(now) {
            return output.window.is_on() && output.cam.is_harmful(now, flow);
        }
        let place = output.remote.position_of(flow, now);
        if let Some(place) = place {
            output.remote.flows[place].input = Some(input);
        }
        place.is_some()
    }

    /// Samples an input queue that a packet of `size` bytes joins on its way to `out`, and finds
    /// which output it blames.
    fn sample_input(
        &mut self,
        cx: &mut EmitCx<'_, Rcm>,
        view: &InputView<'_>,
        out: usize,
        size: u64,
    ) {
        let input = view.port.index();
        let feedback = self.inputs[input].detector.sample(cx.now, view.bytes() + size);
        let bytes = |output: usize| view.voqs[output] + if output == out { size } else { 0 };
        // The first one of the longest.
        let blamed = (0..view.voqs.len()).rev().max_by_key(|&output| bytes(output)).unwrap_or(0);
        self.calm_down(blamed, cx.now);
        let before = std::mem::replace(&mut self.inputs[input].blamed, blamed);
        self.find_blame(blamed);
        if before != blamed {
            self.find_blame(before);
        }
        self.calm_down(before, cx.now);
        if feedback <= 0.0 {
            self.calm_down(blamed, cx.now);
        } else {
            let degree = self.inputs[input].detector.degree(cx.now);
            self.react(blamed, degree, cx.now);
            self.notify(cx, input);
        }
    }

    /// Handles data that joins the output queue of a port, where `queue` bytes of its priority
    /// wait.
    #[inline]
    fn on_data(&mut self, port: usize, header: &Header, queue: u64, now: Time) {
        let (output, size) = (&mut self.outputs[port], u64::from(header.size));
        let is_cam_sample = output.cam_sampling.count_bytes(size);
        let is_sample = output.detector.count_bytes(size);
        // All four conditions in one branch, which is predicted well.
        let concerns =
            is_cam_sample | is_sample | output.window.is_on() | output.remote.is_valid(now);
        if concerns {
            self.inspect(port, header, now, is_cam_sample, is_sample.then_some(queue + size));
        }
    }

    /// Handles data that joins an output queue and is a sample of flows, a sample of the queue, or
    /// part of a window.
    fn inspect(
        &mut self,
        port: usize,
        header: &Header,
        now: Time,
        is_cam_sample: bool,
        sample: Option<u64>,
    ) {
        let (size, flow) = (u64::from(header.size), FlowId::of(&header.address));
        self.calm_down(port, now);
        let output = &mut self.outputs[port];
        if is_cam_sample {
            output.cam.write(now, flow, header.ingress);
            output.cam_sampling.restart(self.params.cam_interval.get() as f64);
        }
        if let Some(queue) = sample {
            if output.detector.sample(now, queue) > 0.0 {
                let degree = output.detector.degree(now);
                self.react(port, degree, now);
            } else {
                self.calm_down(port, now);
            }
        }
        let harmful = self.crosses(port, flow, header.ingress, now);
        let output = &mut self.outputs[port];
        if output.window.is_on() {
            if !output.window.limits() {
                output.unsent.retain(|unsent| *unsent != flow);
            }
            let (all, count) = (output.unsent.is_empty(), output.harmful);
            output.window.sent(&SentPacket { now, size, harmful }, || (all, count));
            if let Some(until) = output.window.held_until(now) {
                self.wake_at = self.wake_at.min(until);
            }
        }
    }

    /// Cuts the window (RCC) after congestion of this degree was found at a port, or notified to
    /// it.
    fn react(&mut self, port: usize, degree: u8, now: Time) {
        if !self.params.rcc {
            return;
        }
        self.cuts += 1;
        if !self.outputs[port].window.is_on() {
            let is_remote = self.outputs[port].remote.is_valid(now);
            let output = &mut self.outputs[port];
            output.unsent.clear();
            if is_remote {
                let flows = output.remote.flows.iter().filter(|entry| now < entry.until);
                output.unsent.extend(flows.map(|entry| entry.flow));
            } else {
                output.unsent.extend(output.cam.harmful(now).iter().map(|(flow, _)| *flow));
            }
            output.harmful = output.unsent.len();
        }
        let window = &mut self.outputs[port].window;
        window.cut(degree);
        if let Some(until) = window.held_until(now) {
            self.wake_at = self.wake_at.min(until);
        }
    }

    /// Ends RCC at a port if its congestion is over, and releases what it held. Must be called
    /// before anything new is found or notified, because that starts it again.
    #[inline]
    fn calm_down(&mut self, port: usize, now: Time) {
        if self.outputs[port].window.is_on() && self.role(port, now) == Role::None {
            if self.outputs[port].window.held_until(now).is_some() {
                self.wake_at = self.wake_at.min(now + Time::from_ps(1));
            }
            self.outputs[port].window.end_congestion();
        }
    }

    /// Handles a CN from the neighbour downstream of a port.
    fn on_notice(&mut self, port: usize, notice: &Notice, now: Time) {
        self.calm_down(port, now);
        let Output { remote, cam, .. } = &mut self.outputs[port];
        remote.on_notice(now, now + self.params.memory, notice, cam);
        self.react(port, notice.degree, now);
    }

    /// Notifies the neighbour upstream of the congestion of an input queue.
    fn notify(&mut self, cx: &mut EmitCx<'_, Rcm>, input: usize) {
        let now = cx.now;
        let Input { blamed, notifies, next_notice, ref detector } = self.inputs[input];
        if !notifies || now < next_notice {
            return;
        }
        let degree = self.mix(detector.degree(now), blamed, now);
        let most = self.params.notice_flows as usize;
        let mut notice = Notice { degree, count: 0, flows: [FlowId::default(); MAX_FLOWS] };
        let flows = self.harmful_through(blamed, input as u16, now);
        for (place, flow) in flows.take(most).enumerate() {
            notice.flows[place] = flow;
            notice.count += 1;
        }
        if notice.count == 0 {
            return;
        }
        self.inputs[input].next_notice = now + self.params.notice_interval;
        self.notices += 1;
        cx.to_link(PortId::new(input as u16), Control::Region(notice));
    }
}

impl Cp<Rcm> for RcmSwitch {
    type Level = Emits;
    type Port = PortId;
    crate::hooks!(arrivals, enqueues, input_queues, timer);

    fn port(&self, _params: &super::RcmParams, facts: &PortFacts) -> PortId {
        facts.port
    }
    /// Never called: the links of CIOQ switches keep their rates.
    fn on_rate(&mut self, _: &super::RcmParams, _port: &mut PortId, _facts: &PortFacts) {}
    /// 0 outside the congestion region, 1 root, 2 edge, 3 inner.
    fn observe(&self, port: &PortId, now: Time) -> Option<f64> {
        Some(match self.role(port.index(), now) {
            Role::None => 0.0,
            Role::Root => 1.0,
            Role::Edge => 2.0,
            Role::Inner => 3.0,
        })
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("notices", self.notices), ("cuts", self.cuts), ("detours", self.detours)]
    }
}

impl OnArrival<Rcm> for RcmSwitch {
    #[inline]
    fn on_arrival(
        &mut self,
        cx: &mut EmitCx<'_, Rcm>,
        in_port: PortId,
        packet: &mut Packet<Rcm>,
    ) -> Verdict {
        let Some(Control::Region(notice)) = packet.ctl() else { return Verdict::Forward };
        self.on_notice(in_port.index(), notice, cx.now);
        Verdict::Consume
    }
}

impl OnEnqueue<Rcm> for RcmSwitch {
    #[inline(always)]
    fn on_enqueue(
        &mut self,
        cx: &mut EmitCx<'_, Rcm>,
        port: &mut PortId,
        view: &PortView,
        packet: &mut Packet<Rcm>,
    ) {
        if packet.header.kind == PacketKind::Data {
            self.on_data(port.index(), &packet.header, view.class_bytes, cx.now);
        }
    }
}

impl InputQueues<Rcm> for RcmSwitch {
    #[inline]
    fn reroute(
        &mut self,
        cx: &mut EmitCx<'_, Rcm>,
        header: &Header,
        equal_cost: &[PortId],
        chosen: PortId,
    ) -> PortId {
        if !self.params.sar || equal_cost.len() < 2 {
            return chosen;
        }
        let (now, flow) = (cx.now, FlowId::of(&header.address));
        let Some((current, new)) = self.flows.current(now, flow, chosen) else { return chosen };
        let movable = new || self.any_flow;
        let moved =
            movable.then(|| self.find_better_port(flow, current, equal_cost, now)).flatten();
        self.detours += u64::from(moved.is_some());
        let port = moved.unwrap_or(current);
        self.flows.take(now, flow, port);
        port
    }
    #[inline]
    fn on_input(
        &mut self,
        cx: &mut EmitCx<'_, Rcm>,
        view: &InputView<'_>,
        out_port: PortId,
        header: &Header,
    ) {
        let size = u64::from(header.size);
        if self.inputs[view.port.index()].detector.count_bytes(size) {
            self.sample_input(cx, view, out_port.index(), size);
        }
    }
    #[inline]
    fn may_block(&self, out_port: PortId, now: Time) -> bool {
        self.outputs[out_port.index()].window.held_until(now).is_some()
    }
    #[inline]
    fn crossing(&self, out_port: PortId, header: &Header, now: Time) -> Crossing {
        let port = out_port.index();
        if !self.is_harmful(port, FlowId::of(&header.address), now) {
            return Crossing::Allowed;
        }
        match self.release {
            ReleaseRule::Always => Crossing::AllowedIfLast,
            ReleaseRule::Root if self.role(port, now) == Role::Root => Crossing::AllowedIfLast,
            ReleaseRule::Root | ReleaseRule::Never => Crossing::Blocked,
        }
    }
}

impl CpTimer<Rcm> for RcmSwitch {
    #[inline]
    fn next_timer(&self) -> Time {
        self.wake_at
    }
    /// A window has ended at some port.
    fn on_timer(&mut self, cx: &mut EmitCx<'_, Rcm>, _ports: &mut dyn Ports<PortId>) {
        for port in 0..self.outputs.len() {
            self.calm_down(port, cx.now);
        }
        self.wake_at = Time::NEVER;
        for port in 0..self.outputs.len() {
            if let Some(until) = self.outputs[port].window.held_until(cx.now) {
                self.wake_at = self.wake_at.min(until);
            }
        }
    }
}
