//! Mercury: "Accurate and fast congestion feedback in MEC-enabled RDMA datacenters", He et al.,
//! Journal of Cloud Computing 13:72, 2024.
//!
//! Congestion point and notification point are both in the switch: a congested port sends the
//! senders of its flows CNPs that carry a window. Algorithms 1 and 2 appear in the paper as
//! figures; the sections "State-driven congestion detection" and "Window-based congestion
//! notification" describe them. The sender keeps its own law and adds the window, so Mercury works
//! on top of any scheme ([`Base`]). Receivers send no CNPs, and RED is off.
//!
//! Each part can be turned off, to see the effect of the other. Without state-driven detection, a
//! port is congested if its queue is above the threshold. Without window notification, its CNPs are
//! plain.
//!
//! The switch is in `mercury/switch.rs`. When data joins a congested port, all flows that have
//! bytes there get a CNP, unless they got one recently. If flows are pairs of hosts, all QPs from
//! one host to the other get it. On a CNP, the sender does this:
//!
//! - The base law reacts as to any notification. DCQCN cuts its rate; TIMELY and HPCC have no
//!   reaction.
//! - cwnd becomes the window of the CNP, between one packet and the initial C baseRTT. Ports may
//!   disagree: the smallest window of the last notice interval counts, then the newest.
//! - After 55 us without a CNP, DCQCN's first quiet period, cwnd is C baseRTT again. The paper says
//!   only "no longer receives CNP".
//!
//! # C and baseRTT
//! C counts link bytes. cwnd is computed from it and limits payload. So 8.2 % more is in flight
//! than fills the link, with 1000 B of payload in packets of 1082 B. baseRTT includes the time to
//! send a full packet and its ACK at each hop. The paper's baseRTT is propagation only, which is 2
//! to 4 % less in its networks. Both are as in HPCC and in its simulator, on which such papers
//! build.
//!
//! # What is counted
//! The simulator knows which ports are the roots of congestion: those that would be congested if no
//! port had ever been paused. `cnps_off_root` counts CNPs of other ports. `misidentified_flows`
//! counts QPs that got CNPs, but none from a root. A CNP counts for each QP that it reaches.

mod base;
mod detector;
mod flow_table;
mod pauses;
mod switch;

pub use base::{Base, MercuryHpccParams, MercuryParams, MercuryTimelyParams, presets};
pub use detector::{Detector, State};
pub use flow_table::FlowTable;
pub use pauses::Pauses;
pub use switch::{CongestionPoint, PortState};

use crate::contract::{
    Ack, Ctl, Fit, Header, HostCx, HostFacts, Needs, NetworkFacts, Pacing, PathFacts,
    PlainReceiver, Present, Preset, RateFloor, Rp, RpTimer, RpTimerSlot, Scheme, SendLimits,
    SenderMetric, SwitchFacts, Tolerates,
};
use crate::dcqcn::Cnp;
use crate::params::ParamError;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use units::{Bytes, Rate, Time};

const SPAN: RangeInclusive<Time> = Time::from_ns(100)..=Time::from_ms(100);

crate::choice! {
    /// What a flow is to a switch.
    pub enum FlowKey {
        /// A pair of addresses.
        HostPair = "host-pair",
        /// A QP.
        FiveTuple = "five-tuple",
    }
}

crate::choice! {
    /// Who has the window of a CNP.
    pub enum WindowScope {
        /// Each QP has the whole window.
        Qp = "qp",
        /// The QPs from one host to another that have data to send share the window equally.
        HostPair = "host-pair",
    }
}

crate::params! {
    /// Parameters of Mercury itself.
    pub struct FeedbackParams {
        /// Only ports in the Determined state notify. Otherwise all ports with a queue above the
        /// threshold do.
        state_detection: bool, "", (), "State-driven congestion detection";
        /// CNPs carry a window.
        window_notification: bool, "", (), "Window-based congestion notification";
        /// Queue above which a port of 100 Gb/s is congested. It scales with the port rate, and is
        /// at least a full packet.
        congestion_threshold: Bytes, "", Bytes::new(100)..=Bytes::new(100_000_000),
            "decided: Kmin of the DCQCN preset; the paper gives no value";
        /// Period in which an Undetermined port checks its queue.
        check_period: Time, "T", SPAN, "Parameter settings: 10 us";
        /// Minimum time between two CNPs of a port to a flow.
        notice_interval: Time, "", SPAN, "decided: DCQCN's N; the paper gives no value";
        /// Time without a CNP after which the window no longer limits the sender.
        quiet_time: Time, "", SPAN, "decided: DCQCN's alpha timer; the paper gives no value";
        /// Key of a flow in a switch: a pair of addresses, or a QP.
        flow_key: FlowKey, "FID", (),
            "Window-based congestion notification: addresses";
        /// Who has the window of a CNP: each QP has all of it, or the QPs of a pair of hosts that
        /// have data to send share it equally. The initial window is treated alike.
        window_scope: WindowScope, "", (),
            "decided: each QP; Window-based congestion notification limits the packets in flight \
             of a flow, which is a pair of addresses";
        /// Entries of each port's flow table, rounded up to a power of two.
        flow_entries: u64, "", 1..=65_536, "decided";
    }
}

impl FeedbackParams {
    /// Returns whether flows are pairs of hosts.
    fn by_pair(&self) -> bool {
        self.flow_key == FlowKey::HostPair
    }
}

/// The scheme `mercury` on top of `B`.
#[derive(Debug)]
pub struct Mercury<B>(PhantomData<B>);

/// What several paths mean for Mercury over a law that tolerates this.
const fn tolerates(base: Tolerates) -> Tolerates {
    let note = Fit::Note(
        "each port of several computes the window as if all of the flow passed there, so it gets \
         too small",
    );
    match base.spraying {
        Fit::Refused(_) => base,
        Fit::Works | Fit::Note(_) => {
            Tolerates { spraying: note, adaptive: note, flowlets: note, rerouting: note, ..base }
        }
    }
}

/// Warns of a threshold that holds few packets at some port: it follows the rate of ports.
fn few_packets(params: &FeedbackParams, facts: &NetworkFacts) -> Option<String> {
    const MIN_PACKETS: u64 = 3;
    let (threshold, slowest) = (params.congestion_threshold, facts.min_link_rate);
    let there = threshold.get() as f64 * slowest.bps() as f64 / Rate::from_gbps(100).bps() as f64;
    (there < (MIN_PACKETS * facts.payload.get()) as f64).then(|| {
        format!(
            "scheme.params.congestion_threshold is {threshold} at 100Gbps and {} at ports of \
             {slowest}, less than {MIN_PACKETS} packets: {} takes packets that meet for \
             congestion; raise it",
            Bytes::new(there as u64),
            facts.scheme
        )
    })
}

impl<B: Base> Scheme for Mercury<B> {
    const NAME: &'static str = <B as Base>::NAME;
    const TITLE: &'static str = <B as Base>::TITLE;
    const PAPER: &'static str = "He et al., Accurate and fast congestion feedback in \
                                 MEC-enabled RDMA datacenters, Journal of Cloud Computing 2024";
    const CAVEAT: &'static str = "The paper gives neither the congestion threshold nor the spacing \
                                  of CNPs.";
    const PRESETS: &'static [Preset<B::Joined>] = <B as Base>::PRESETS;
    const NEEDS: Needs = Needs { tolerates: tolerates(B::NEEDS.tolerates), ..B::NEEDS };

    type Params = B::Joined;
    type Meta = B::Meta;
    type Ctl = Notice;
    type Host = Host<B::Host>;
    type Rp = Sender<B>;
    type Np = PlainReceiver;
    type Cp = CongestionPoint;

    fn check(params: &B::Joined) -> Result<(), ParamError> {
        let own = params.as_ref();
        if own.quiet_time <= own.notice_interval {
            let bound = format!(
                "must be above notice_interval, which is {}: a flow would be quiet between two \
                 notices",
                own.notice_interval
            );
            return Err(ParamError::Conflict("quiet_time", bound));
        }
        B::check(B::base(params))
    }
    fn rate_floor(params: &B::Joined) -> Option<RateFloor> {
        let base = B::rate_floor(B::base(params))?;
        let has_window = base.has_window || params.as_ref().window_notification;
        Some(RateFloor { has_window, ..base })
    }
    fn warnings(params: &B::Joined, facts: &NetworkFacts) -> Vec<String> {
        let own = few_packets(params.as_ref(), facts);
        own.into_iter().chain(B::warnings(B::base(params), facts)).collect()
    }
    fn meta_bytes(params: &B::Joined) -> (u32, u32) {
        B::meta_bytes(B::base(params))
    }
    fn host(params: &B::Joined, facts: &HostFacts) -> Host<B::Host> {
        let base = B::host(B::base(params), facts);
        Host {
            base,
            busy_qps: Vec::new(),
            cnps: 0,
            off_root: 0,
            notified: 0,
            misidentified: 0,
            late: 0,
        }
    }
    fn on_late_ctl(host: &mut Host<B::Host>, _notice: &Notice) {
        host.late += 1;
    }
    fn counters(host: &Host<B::Host>) -> Vec<(&'static str, u64)> {
        vec![
            ("cnps", host.cnps),
            ("cnps_off_root", host.off_root),
            ("notified_flows", host.notified),
            ("misidentified_flows", host.misidentified),
            ("late_cnps", host.late),
        ]
    }
    fn congestion_point(params: &B::Joined, facts: &SwitchFacts<'_>) -> Option<CongestionPoint> {
        Some(CongestionPoint::new(params.as_ref(), facts))
    }
}

/// A CNP from a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The window in bytes, in the CNP's reserved bytes. 0 in a plain CNP.
    pub window: u32,
    /// The port is a root of congestion. Not on the wire: only the simulator can know it.
    pub from_root: bool,
}

impl<P: AsRef<FeedbackParams>> Ctl<P> for Notice {
    const MAX_FRAME_BYTES: u32 = Cnp::FRAME_BYTES;

    fn is_cnp(&self) -> bool {
        true
    }
    fn for_all_qps(&self, params: &P) -> bool {
        params.as_ref().by_pair()
    }
}

/// State that the QPs of a host share: that of the base law, and counts.
#[derive(Clone, Debug)]
pub struct Host<H> {
    base: H,
    /// QPs with data to send, by receiver. Empty unless they share a window.
    busy_qps: Vec<u32>,
    cnps: u64,
    off_root: u64,
    notified: u64,
    misidentified: u64,
    late: u64,
}

/// The ports that have notified a QP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NotifiedBy {
    Nobody,
    OthersOnly,
    Root,
}

/// The timer of the base law.
type TimerOf<B> = <<B as Scheme>::Rp as Rp<B>>::Timer;

/// The reaction point, one per QP: the base law, and cwnd.
#[derive(Debug)]
pub struct Sender<B: Base> {
    law: B::Rp,
    /// C baseRTT.
    max_window: Bytes,
    /// One packet, as a smaller window would stop the sender.
    min_window: Bytes,
    /// cwnd.
    window: Bytes,
    /// This QP's part of `window`.
    share: Bytes,
    /// The receiver, if its QPs share the window.
    shared_with: Option<u32>,
    /// Whether this QP counts as one with data to send.
    busy: bool,
    /// When the CNP of `window` came.
    since: Time,
    /// When the window is lifted. `NEVER` if it does not limit.
    quiet_at: Time,
    notified_by: NotifiedBy,
}

impl<B: Base> Sender<B> {
    /// Calls a hook of the base law.
    #[inline]
    fn below<T>(
        &mut self,
        cx: &mut HostCx<'_, Mercury<B>>,
        hook: impl FnOnce(&mut B::Rp, &mut HostCx<'_, B>) -> T,
    ) -> T {
        // A `Vec` without capacity allocates nothing.
        let mut outbox = Vec::new();
        let result = hook(
            &mut self.law,
            &mut HostCx {
                now: cx.now,
                params: B::base(cx.params),
                host: &mut cx.host.base,
                outbox: &mut outbox,
            },
        );
        debug_assert!(outbox.is_empty(), "the law below sends nothing to its receiver");
        result
    }

    /// Computes this QP's part of cwnd. Called at each hook, as other QPs may begin and end.
    #[inline]
    fn divide(&mut self, host: &Host<B::Host>) {
        self.share = match self.shared_with {
            None => self.window,
            Some(receiver) => {
                let busy = host.busy_qps.get(receiver as usize).copied().unwrap_or(0).max(1);
                Bytes::new(self.window.get() / u64::from(busy)).max(self.min_window)
            }
        };
    }

    /// Counts this QP among those with data to send, or no longer.
    fn set_busy(&mut self, host: &mut Host<B::Host>, busy: bool) {
        let Some(receiver) = self.shared_with else { return };
        if busy == self.busy {
            return;
        }
        self.busy = busy;
        let receiver = receiver as usize;
        if host.busy_qps.len() <= receiver {
            host.busy_qps.resize(receiver + 1, 0);
        }
        if busy {
            host.busy_qps[receiver] += 1;
        } else {
            host.busy_qps[receiver] -= 1;
        }
    }

    fn count(&mut self, host: &mut Host<B::Host>, from_root: bool) {
        host.cnps += 1;
        host.off_root += u64::from(!from_root);
        host.notified += u64::from(self.notified_by == NotifiedBy::Nobody);
        match (self.notified_by, from_root) {
            (NotifiedBy::Nobody, false) => {
                host.misidentified += 1;
                self.notified_by = NotifiedBy::OthersOnly;
            }
            (NotifiedBy::OthersOnly, true) => {
                host.misidentified -= 1;
                self.notified_by = NotifiedBy::Root;
            }
            (NotifiedBy::Nobody, true) => self.notified_by = NotifiedBy::Root,
            (NotifiedBy::OthersOnly, false) | (NotifiedBy::Root, _) => {}
        }
    }
}

impl<B: Base> Rp<Mercury<B>> for Sender<B> {
    type Timer = Present;

    #[inline]
    fn pacing(&self) -> Pacing {
        self.law.pacing()
    }
    fn open(
        params: &B::Joined,
        host: &mut Host<B::Host>,
        path: &PathFacts,
        now: Time,
    ) -> Sender<B> {
        let max_window = path.line_rate.bytes_in(path.network_rtt).max(path.payload);
        let own = params.as_ref();
        let window = if own.window_notification { max_window } else { Bytes::UNLIMITED };
        let shared = own.window_notification && own.window_scope == WindowScope::HostPair;
        Sender {
            law: B::Rp::open(B::base(params), &mut host.base, path, now),
            max_window,
            min_window: path.payload,
            window,
            share: window,
            shared_with: shared.then_some(path.receiver),
            busy: false,
            since: Time::ZERO,
            quiet_at: Time::NEVER,
            notified_by: NotifiedBy::Nobody,
        }
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        let limits = self.law.limits();
        SendLimits { window: limits.window.min(self.share), ..limits }
    }
    #[inline]
    fn on_send(&mut self, cx: &mut HostCx<'_, Mercury<B>>, data: &mut Header, meta: &mut B::Meta) {
        self.below(cx, |law, cx| law.on_send(cx, data, meta));
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, Mercury<B>>, ack: &Ack<'_, Mercury<B>>) {
        let ack = ack.with_meta::<B>(ack.meta);
        self.below(cx, |law, cx| law.on_ack(cx, &ack));
        self.divide(cx.host);
    }
    /// Algorithm 2, lines 15 to 17.
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Mercury<B>>, notice: &Notice) {
        self.count(cx.host, notice.from_root);
        B::cut(&mut self.law, cx.now);
        if notice.window == 0 {
            return;
        }
        let own = cx.params.as_ref();
        let window = Bytes::new(u64::from(notice.window)).clamp(self.min_window, self.max_window);
        if window <= self.window || cx.now >= self.since + own.notice_interval {
            self.window = window;
            self.since = cx.now;
        }
        self.quiet_at = cx.now + own.quiet_time;
        self.divide(cx.host);
    }
    fn on_backlog(&mut self, cx: &mut HostCx<'_, Mercury<B>>, left: Bytes) {
        self.below(cx, |law, cx| law.on_backlog(cx, left));
        self.set_busy(cx.host, left != Bytes::ZERO);
        self.divide(cx.host);
    }
    fn on_retransmission_timeout(&mut self, cx: &mut HostCx<'_, Mercury<B>>) {
        self.below(cx, |law, cx| law.on_retransmission_timeout(cx));
    }
    fn observe(&self, now: Time, what: SenderMetric) -> Option<f64> {
        let law = self.law.observe(now, what);
        if what != SenderMetric::Window || self.share == Bytes::UNLIMITED {
            return law;
        }
        let window = self.share.get() as f64;
        Some(law.map_or(window, |law| law.min(window)))
    }
}

impl<B: Base> RpTimer<Mercury<B>> for Sender<B> {
    #[inline]
    fn next_timer(&self) -> Time {
        TimerOf::<B>::next_timer(&self.law).min(self.quiet_at)
    }
    /// Algorithm 2, lines 18 to 20, and the law's own timers.
    fn on_timer(&mut self, cx: &mut HostCx<'_, Mercury<B>>) {
        if cx.now >= self.quiet_at {
            self.quiet_at = Time::NEVER;
            self.window = self.max_window;
            self.divide(cx.host);
        }
        if cx.now >= TimerOf::<B>::next_timer(&self.law) {
            self.below(cx, |law, cx| TimerOf::<B>::on_timer(law, cx));
        }
    }
}
