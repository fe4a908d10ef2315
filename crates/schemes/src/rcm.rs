//! RCM: "Regional Congestion Mitigation in Lossless Datacenter Networks", Liu et al., NPC 2017.
//!
//! Switches are combined input- and output-queued, and mitigate congestion hop by hop. Four parts, in
//! each switch (section 3):
//!
//! - **CRD** ([`Detector`]) samples input and output queues as QCN does (equation 1). An input queue
//!   that is congested sends a congestion notification (CN) with the harmful flows and a degree, into
//!   which the downstream neighbour's is mixed (equation 2), to the neighbour upstream. A port that
//!   found congestion itself is a *root*, one that was told of it is at the *edge* of the congestion
//!   region, one that did both is *inner*.
//! - **CFR** ([`Cam`]) keeps the flows of sampled packets, and knows by them who is harmful.
//! - **RCC** ([`SendWindow`]) limits what harmful flows send of a window of W bytes (equations 3 to 6).
//!   Packets of other flows pass those that are held.
//! - **SAR** ([`FlowTable`]) takes new flows that are not harmful to the port with the least regional
//!   degree among those of equal cost.
//!
//! Below it all, hosts run [DCQCN](crate::dcqcn) with the adapter's defaults. Those say nothing of
//! marking; it is that of the DCQCN paper, at output queues.
//!
//! # Decided here
//! - Ports have two sides. CRD's flags, CFR and RCC belong to the output; what an input queue finds
//!   counts for the output to which most of its bytes wait, whose harmful flows are those to blame.
//! - A window also ends when W bytes could have left at the port's rate: "period W". By bytes alone,
//!   harmful flows would wait for ever where no other flow sends.
//! - A sample or CN sets Wc to what was measured less its cut (`cuts`). Equations 4 and 5 are
//!   recurrences: each cuts what the last one left. Then Wc does not grow again before congestion is
//!   over, links idle, and some flows are slower than with DCQCN alone; the scheme's page has numbers.
//! - Wc is never below a packet for each harmful flow.
//! - At a root harmful flows may go where the link would idle (`release`): limiting the flows of the
//!   only bottleneck wins nothing.
//! - Not every flow in the CAM is harmful, but those with no fewer entries than its mean flow
//!   (`harmful_share`): flows of "relatively high injection rate". With any, a fast burst and the slow
//!   flows beside it are all harmful, and nothing tells them apart.

mod cam;
mod detector;
mod paths;
mod switch;
mod window;

pub use cam::Cam;
pub use detector::{Detector, Sampling};
pub use paths::FlowTable;
pub use switch::{RcmSwitch, Role};
pub use window::{SendWindow, SentPacket};

use crate::contract::{Address, Ctl, HostFacts, Preset, Scheme, SwitchFacts};
use crate::dcqcn::{self, Cnp, Dcqcn, DcqcnHosts, DcqcnParams, NotificationPoint, ReactionPoint};
use crate::params::ParamError;
use std::ops::RangeInclusive;
use units::{Bytes, Priority, Rate, Time};

const LENGTH: RangeInclusive<Bytes> = Bytes::new(100)..=Bytes::new(1_000_000_000);
const SPAN: RangeInclusive<Time> = Time::ZERO..=Time::from_ms(100);
const LASTS: RangeInclusive<Time> = Time::from_ns(100)..=Time::from_ms(100);
const SHARE: RangeInclusive<f64> = 0.0..=1.0;

crate::params! {
    /// Parameters of RCM's switches. Bytes are counted on the wire.
    pub struct RegionParams {
        /// Congested ports limit harmful flows by a window (RCC).
        rcc: bool, "", (), "NPC'17 section 3.4";
        /// Flows that are not harmful are taken around congestion (SAR).
        sar: bool, "", (), "NPC'17 section 3.4";
        /// Equilibrium length of a queue.
        equilibrium: Bytes, "Q_eq", LENGTH, "decided: 20% of a 100 KB queue, QCN's ratio";
        /// Weight of the queue's growth in Fb.
        growth_weight: f64, "w (eq. 1)", 0.0..=100.0, "802.1Qau: 2";
        /// Weight of the downstream neighbour's degree in what is sent upstream.
        mix_weight: f64, "w (eq. 2)", SHARE, "decided";
        /// Bytes that join a queue from one sample to the next where it is not congested; QCN's table
        /// shortens it with Fb.
        sample_interval: Bytes, "", LENGTH, "decided: 15 KB, QCN's 150 KB scaled to a 100 KB queue";
        /// Samples, of queues and of flows, come so much earlier or later, at random.
        sample_jitter: f64, "", SHARE, "802.1Qau: 0.15";
        /// A queue is congested until so many samples in a row have Fb <= 0.
        calm_samples: u64, "", 1..=1000, "decided";
        /// Or until it had no sample for so long; a neighbour's CN counts for so long.
        memory: Time, "", LASTS, "decided";
        /// Least time between two CNs of an input queue.
        notice_interval: Time, "", SPAN, "decided";
        /// Most flows in a CN.
        notice_flows: u64, "", 1..=MAX_FLOWS as u64, "decided";
        /// Entries of an output's CAM.
        cam_depth: u64, "", 1..=1024, "decided";
        /// Bytes through an output queue from one sampled flow to the next.
        cam_interval: Bytes, "", LENGTH, "decided: 16 packets";
        /// An entry counts for so long, as of the last one: who is harmful is found at each, and is forgotten
        /// where none comes for so long.
        cam_age: Time, "", LASTS, "decided";
        /// A flow is harmful where it has so many times the entries of the CAM's mean flow; 0 for any
        /// flow in the CAM.
        harmful_share: f64, "", 0.0..=1000.0, "decided; NPC'17 section 3.3: any";
        /// Least W.
        least_window: Bytes, "", LENGTH, "decided";
        /// W is this much at most, whether or not all harmful flows have sent by then.
        most_window: Bytes, "", LENGTH, "decided: a queue";
        /// Each sample cuts the Wc that was measured, or what is left of it.
        cuts: &'static str, "", &["measured", "compound"], "decided; NPC'17 equation 5: compound";
        /// Where harmful flows that have spent Wc may send what else would be idle time.
        release: &'static str, "", &["root", "never", "always"], "decided";
        /// Which flows SAR moves: those that are new at a switch, or all that are not harmful.
        detour: &'static str, "", &["new-flows", "any"],
            "NPC'17 section 3.4: any; decided: to keep packets in order";
        /// CNs that a port gets in a row before SAR moves flows from it.
        detour_notices: u64, "", 1..=1000, "decided; NPC'17 section 3.4: several";
        /// Or the share of the greatest Fb that its own must exceed.
        detour_degree: f64, "", SHARE, "decided; NPC'17 section 3.4: any";
        /// A flow of which nothing came for so long is a new one.
        flow_gap: Time, "", SPAN, "decided";
        /// Flows that a switch follows for SAR.
        flow_entries: u64, "", 1..=65_536, "decided";
    }
}

crate::join_params! {
    /// Parameters of RCM.
    pub struct RcmParams {
        /// The loop from end to end.
        dcqcn: DcqcnParams;
        /// The switches.
        region: RegionParams;
    }
}

/// The scheme `rcm`.
#[derive(Debug)]
pub struct Rcm;

impl Scheme for Rcm {
    const NAME: &'static str = "rcm";
    const TITLE: &'static str = "RCM over DCQCN";
    const PAPER: &'static str =
        "Liu et al., Regional Congestion Mitigation in Lossless Datacenter Networks, NPC 2017";
    const CAVEAT: &'static str = "The paper gives no value of any of its parameters. Switches are \
                                  CIOQ: compare with schemes on the same switches.";
    const ONE_DATA_PRIORITY: bool = true;
    const PRESETS: &'static [Preset<RcmParams>] = &[
        Preset {
            name: "rcm",
            summary: "Sampling by QCN's ratios for 100 KB queues, over dcqcn-mlx",
            source: "NPC'17; values decided; the marking law is SIGCOMM'15's",
            ecn: Some(dcqcn::presets::PAPER_ECN),
            params: presets::rcm,
        },
        Preset {
            name: "rcm-letter",
            summary: "Any flow in the CAM is harmful, each sample cuts anew, held flows wait for the \
                      window's end, any other flow is moved from any congestion",
            source: "NPC'17 sections 3.3, 3.4, to the letter; values as `rcm`",
            ecn: Some(dcqcn::presets::PAPER_ECN),
            params: presets::letter,
        },
    ];

    type Params = RcmParams;
    type Meta = ();
    type Ctl = Control;
    type Host = ();
    type Rp = ReactionPoint;
    type Np = NotificationPoint;
    type Cp = RcmSwitch;

    fn check(params: &RcmParams) -> Result<(), ParamError> {
        let region = &params.region;
        if region.least_window > region.most_window {
            let bound = format!("must not be above most_window, which is {}", region.most_window);
            return Err(ParamError::Conflict("least_window", bound));
        }
        if region.harmful_share > region.cam_depth as f64 {
            let bound = format!("no flow has more than cam_depth entries, {}", region.cam_depth);
            return Err(ParamError::Conflict("harmful_share", bound));
        }
        Dcqcn::check(&params.dcqcn)
    }
    fn host(_params: &RcmParams, _facts: &HostFacts) {}
    fn congestion_point(params: &RcmParams, facts: &SwitchFacts<'_>) -> Option<RcmSwitch> {
        Some(RcmSwitch::new(&params.region, facts))
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `rcm`: sampling by QCN's ratios for 100 KB queues, over dcqcn-mlx.
    pub fn rcm(host_rate: Rate) -> RcmParams {
        RcmParams {
            dcqcn: dcqcn::presets::mlx(host_rate),
            region: RegionParams {
                rcc: true,
                sar: true,
                equilibrium: Bytes::new(20_000),
                growth_weight: 2.0,
                mix_weight: 0.5,
                sample_interval: Bytes::new(15_000),
                sample_jitter: 0.15,
                calm_samples: 2,
                memory: Time::from_us(50),
                notice_interval: Time::from_us(1),
                notice_flows: MAX_FLOWS as u64,
                cam_depth: 16,
                cam_interval: Bytes::new(16_000),
                cam_age: Time::from_us(100),
                harmful_share: 1.0,
                least_window: Bytes::new(10_000),
                most_window: Bytes::new(100_000),
                cuts: "measured",
                release: "root",
                detour: "new-flows",
                detour_notices: 2,
                detour_degree: 0.5,
                flow_gap: Time::from_us(50),
                flow_entries: 1024,
            },
        }
    }

    /// Preset `rcm-letter`: any flow in the CAM is harmful, each sample cuts anew, held flows wait for the window's end, any other flow is moved from any congestion.
    pub fn letter(host_rate: Rate) -> RcmParams {
        let ours = rcm(host_rate);
        RcmParams {
            region: RegionParams {
                harmful_share: 0.0,
                cuts: "compound",
                release: "never",
                detour: "any",
                detour_degree: 0.0,
                ..ours.region
            },
            ..ours
        }
    }
}

impl DcqcnHosts for Rcm {
    fn dcqcn(params: &RcmParams) -> &DcqcnParams {
        &params.dcqcn
    }
    fn cnp() -> Control {
        Control::Congestion
    }
}

/// The most flows that a CN has room for.
pub const MAX_FLOWS: usize = 8;

/// The most that a quantised degree may be: 6 bits.
pub const MAX_DEGREE: u8 = 63;

/// What identifies a flow: its QP, as the five-tuple does. Packed, so that a CN of eight fits two cache
/// lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct FlowId(pub u64);

impl FlowId {
    /// The flow of a packet.
    #[inline]
    pub fn of(address: &Address) -> FlowId {
        FlowId(address.qp())
    }
}

/// What RCM's control packets say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// To a sender, by the receiver: a marked packet arrived (DCQCN's CNP).
    Congestion,
    /// To the neighbour upstream: an input queue is congested.
    Region(Notice),
}

impl Ctl<RcmParams> for Control {
    /// Of a CN: a least frame, and 13 bytes for each five-tuple.
    fn frame_bytes(&self) -> u32 {
        match self {
            Control::Congestion => Cnp::FRAME_BYTES,
            Control::Region(notice) => 64 + 13 * u32::from(notice.count),
        }
    }
    /// CNs go before all else.
    fn priority(&self, _params: &RcmParams) -> Option<Priority> {
        matches!(self, Control::Region(_)).then_some(Priority::new(7))
    }
}

/// A congestion notification (CN).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Fb', quantised: 63 for the greatest.
    pub degree: u8,
    /// How many flows there are.
    pub count: u8,
    /// The harmful flows.
    pub flows: [FlowId; MAX_FLOWS],
}

impl Notice {
    /// The flows in it.
    pub fn flows(&self) -> &[FlowId] {
        &self.flows[..usize::from(self.count)]
    }
}
