//! RCM: "Regional Congestion Mitigation in Lossless Datacenter Networks", Liu et al., NPC 2017.
//!
//! Switches are combined input- and output-queued, and mitigate congestion hop by hop. Each switch
//! has four parts (section 3):
//!
//! - **CRD** ([`Detector`]) samples input and output queues as QCN does (equation 1). A congested
//!   input queue sends a congestion notification (CN) to the neighbour upstream. The CN carries the
//!   harmful flows and a degree, which includes the downstream neighbour's degree (equation 2). A
//!   port that found congestion itself is a *root*, one that a neighbour has notified is at the
//!   *edge* of the congestion region, and one with both is *inner*.
//! - **CFR** ([`Cam`]) stores the flows of sampled packets, and finds the harmful flows by them.
//! - **RCC** ([`SendWindow`]) limits what harmful flows send in a window of W bytes (equations 3 to
//!   6). Packets of other flows overtake those that are held.
//! - **SAR** ([`FlowTable`]) sends new flows that are not harmful to the equal-cost port with the
//!   smallest regional degree.
//!
//! Hosts run [DCQCN](crate::dcqcn) with the adapter's defaults. These say nothing about marking, so
//! marking is that of the DCQCN paper, at output queues.
//!
//! # Our choices
//! - Ports have two sides. CRD's flags, CFR and RCC belong to the output. Congestion of an input
//!   queue counts for the output to which most of its bytes wait, and the harmful flows of that
//!   output are to blame.
//! - A window also ends when W bytes could have left at the port's rate: "period W". Counted in
//!   bytes alone, harmful flows would wait for ever if no other flow sends.
//! - A sample or CN sets Wc to the measured value less its cut (`cut_rule`). Equations 4 and 5 are
//!   recurrences: each cuts what the last one left. Then Wc does not grow again before the
//!   congestion is over, links idle, and some flows are slower than with DCQCN alone. The page of
//!   the scheme has numbers.
//! - Wc is at least one packet for each harmful flow.
//! - At a root, harmful flows may send when the link would idle (`release_rule`): limiting the
//!   flows of the only bottleneck gains nothing.
//! - Not every flow in the CAM is harmful, but only those with at least as many entries as its mean
//!   flow (`harmful_share`): flows of "relatively high injection rate". If every flow counts, a
//!   fast burst and the slow flows beside it are all harmful, and nothing distinguishes them.

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

use crate::contract::{
    Address, Ctl, Fit, HostFacts, Needs, Preset, RateFloor, Scheme, SwitchFacts, Tolerates,
};
use crate::dcqcn::{self, Cnp, Dcqcn, DcqcnHosts, DcqcnParams, NotificationPoint, ReactionPoint};
use crate::params::ParamError;
use std::ops::RangeInclusive;
use units::{Bytes, Priority, Rate, Time};

const LENGTH: RangeInclusive<Bytes> = Bytes::new(100)..=Bytes::new(1_000_000_000);
const SPAN: RangeInclusive<Time> = Time::ZERO..=Time::from_ms(100);
const LASTS: RangeInclusive<Time> = Time::from_ns(100)..=Time::from_ms(100);
const SHARE: RangeInclusive<f64> = 0.0..=1.0;

crate::choice! {
    /// What a sample cuts.
    pub enum CutRule {
        /// The Wc that was measured.
        Measured = "measured",
        /// What is left of it.
        Compound = "compound",
    }
}

crate::choice! {
    /// Where harmful flows that have spent Wc may send what else would be idle time.
    pub enum ReleaseRule {
        /// At roots of congestion.
        Root = "root",
        /// Nowhere.
        Never = "never",
        /// Everywhere.
        Always = "always",
    }
}

crate::choice! {
    /// Which flows SAR moves.
    pub enum DetourRule {
        /// Those that are new at a switch.
        NewFlows = "new-flows",
        /// All that are not harmful.
        Any = "any",
    }
}

crate::params! {
    /// Parameters of RCM's switches. Bytes are counted on the wire.
    pub struct RegionParams {
        /// Congested ports limit harmful flows by a window (RCC).
        rcc: bool, "", (), "NPC'17 section 3.4";
        /// Flows that are not harmful are routed around congestion (SAR).
        sar: bool, "", (), "NPC'17 section 3.4";
        /// Equilibrium length of a queue.
        equilibrium: Bytes, "Q_eq", LENGTH, "decided: 20% of a 100 KB queue, QCN's ratio";
        /// Weight of the queue's growth in Fb.
        growth_weight: f64, "w (eq. 1)", 0.0..=100.0, "802.1Qau: 2";
        /// Weight of the downstream neighbour's degree in the degree sent upstream.
        mix_weight: f64, "w (eq. 2)", SHARE, "decided";
        /// Bytes that join a queue from one sample to the next while it is not congested. QCN's
        /// table shortens this with Fb.
        sample_interval: Bytes, "", LENGTH, "decided: 15 KB, QCN's 150 KB scaled to a 100 KB queue";
        /// Maximum random shift of a sample, of queues and of flows, as a share of the interval.
        sample_jitter: f64, "", SHARE, "802.1Qau: 0.15";
        /// Number of samples in a row with Fb <= 0 after which a queue is no longer congested.
        quiet_samples: u64, "", 1..=1000, "decided";
        /// Time without a sample after which a queue is no longer congested. A neighbour's CN is
        /// valid for the same time.
        memory: Time, "", LASTS, "decided";
        /// Minimum time between two CNs of an input queue.
        notice_interval: Time, "", SPAN, "decided";
        /// Maximum number of flows in a CN.
        notice_flows: u64, "", 1..=MAX_FLOWS as u64, "decided";
        /// Entries of an output's CAM.
        cam_depth: u64, "", 1..=1024, "decided";
        /// Bytes through an output queue from one sampled flow to the next.
        cam_interval: Bytes, "", LENGTH, "decided: 16 packets";
        /// Time for which an entry of the CAM is valid, at the time of the newest entry. The
        /// harmful flows are found at each new entry, and are forgotten if none comes for this
        /// time.
        cam_age: Time, "", LASTS, "decided";
        /// A flow is harmful if its number of entries is at least this multiple of the mean flow's
        /// in the CAM; 0 makes every flow in the CAM harmful.
        harmful_share: f64, "", 0.0..=1000.0, "decided; NPC'17 section 3.3: any";
        /// Minimum of W.
        min_window: Bytes, "", LENGTH, "decided";
        /// Maximum of W, even if some harmful flows have not sent by then.
        max_window: Bytes, "", LENGTH, "decided: a queue";
        /// Whether each sample cuts the Wc that was measured, or what is left of it.
        cut_rule: CutRule, "", (), "decided; NPC'17 equation 5: compound";
        /// Ports at which harmful flows that have used up Wc may send when the link would idle.
        release_rule: ReleaseRule, "", (), "decided";
        /// Flows that SAR moves: those that are new at a switch, or all that are not harmful.
        detour: DetourRule, "", (),
            "NPC'17 section 3.4: any; decided: to keep packets in order";
        /// Number of CNs in a row at a port after which SAR moves flows away from it.
        detour_notices: u64, "", 1..=1000, "decided; NPC'17 section 3.4: several";
        /// Share of the maximum Fb that a port's own Fb must exceed for SAR to move flows away from
        /// it.
        detour_degree: f64, "", SHARE, "decided; NPC'17 section 3.4: any";
        /// A flow without a packet for this time counts as new.
        flow_gap: Time, "", SPAN, "decided";
        /// Number of flows that a switch tracks for SAR.
        flow_entries: u64, "", 1..=65_536, "decided";
    }
}

crate::join_params! {
    /// Parameters of RCM.
    pub struct RcmParams {
        /// Parameters of the end-to-end loop.
        dcqcn: DcqcnParams;
        /// Parameters of the switches.
        region: RegionParams;
    }
}

/// The scheme `rcm`.
#[derive(Debug)]
pub struct Rcm;

/// Why switches choose no paths beside RCM.
const OWN_ROUTING: &str = "its selective adaptive routing chooses the paths";

impl Scheme for Rcm {
    const NAME: &'static str = "rcm";
    const TITLE: &'static str = "RCM over DCQCN";
    const PAPER: &'static str =
        "Liu et al., Regional Congestion Mitigation in Lossless Datacenter Networks, NPC 2017";
    const CAVEAT: &'static str = "The paper gives no value of any of its parameters. Switches are \
                                  CIOQ: compare with schemes on the same switches.";
    const NEEDS: Needs = Needs {
        one_data_priority: true,
        tolerates: Tolerates {
            spraying: Fit::Refused(OWN_ROUTING),
            adaptive: Fit::Refused(OWN_ROUTING),
            flowlets: Fit::Refused(OWN_ROUTING),
            rerouting: Fit::Refused(OWN_ROUTING),
            ..Tolerates::ALL
        },
        ..Needs::NONE
    };
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
            summary: "The paper's words, as far as they can run: any flow in the CAM is harmful, \
                      each sample cuts again, any other flow may be moved, and a flow is new after \
                      5 ms",
            source: "NPC'17 sections 3.1, 3.3, 3.4; the reading `letter`; values as `rcm`",
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
        if region.min_window > region.max_window {
            let bound = format!("must not be above max_window, which is {}", region.max_window);
            return Err(ParamError::Conflict("min_window", bound));
        }
        if region.harmful_share > region.cam_depth as f64 {
            let bound = format!("no flow has more than cam_depth entries, {}", region.cam_depth);
            return Err(ParamError::Conflict("harmful_share", bound));
        }
        Dcqcn::check(&params.dcqcn)
    }
    fn rate_floor(params: &RcmParams) -> Option<RateFloor> {
        Some(params.dcqcn.rate_floor())
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
                quiet_samples: 2,
                memory: Time::from_us(50),
                notice_interval: Time::from_us(1),
                notice_flows: MAX_FLOWS as u64,
                cam_depth: 16,
                cam_interval: Bytes::new(16_000),
                cam_age: Time::from_us(100),
                harmful_share: 1.0,
                min_window: Bytes::new(10_000),
                max_window: Bytes::new(100_000),
                cut_rule: CutRule::Measured,
                release_rule: ReleaseRule::Root,
                detour: DetourRule::NewFlows,
                detour_notices: 2,
                detour_degree: 0.5,
                flow_gap: Time::from_us(50),
                flow_entries: 1024,
            },
        }
    }

    /// Preset `rcm-letter`: the paper's words, as far as they can run. Any flow in the CAM is
    /// harmful, each sample cuts again, any other flow may be moved, and a flow is new after 5 ms.
    pub fn letter(host_rate: Rate) -> RcmParams {
        let ours = rcm(host_rate);
        RcmParams {
            region: RegionParams {
                harmful_share: 0.0,
                cut_rule: CutRule::Compound,
                detour: DetourRule::Any,
                flow_gap: Time::from_ms(5),
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

/// Maximum number of flows in a CN.
pub const MAX_FLOWS: usize = 8;

/// Maximum of the quantised degree: 6 bits.
pub const MAX_DEGREE: u8 = 63;

/// Identifies a flow by its QP, as the five-tuple does. Packed, so that a CN of eight flows fits
/// into two cache lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct FlowId(pub u64);

impl FlowId {
    /// Returns the flow of a packet.
    #[inline]
    pub fn of(address: &Address) -> FlowId {
        FlowId(address.qp())
    }
}

/// Control packets of RCM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// From the receiver to a sender: a marked packet arrived (DCQCN's CNP).
    Congestion,
    /// From a switch to the neighbour upstream: an input queue is congested.
    Region(Notice),
}

impl Ctl<RcmParams> for Control {
    const MAX_FRAME_BYTES: u32 = notice_frame(MAX_FLOWS as u8);

    fn frame_bytes(&self) -> u32 {
        match self {
            Control::Congestion => Cnp::FRAME_BYTES,
            Control::Region(notice) => notice_frame(notice.count),
        }
    }
    fn is_cnp(&self) -> bool {
        *self == Control::Congestion
    }
    /// CNs have the highest priority.
    fn priority(&self, _params: &RcmParams) -> Option<Priority> {
        matches!(self, Control::Region(_)).then_some(Priority::new(7))
    }
}

/// The frame of a CN: the shortest one, and 13 bytes for each five-tuple.
const fn notice_frame(flows: u8) -> u32 {
    64 + 13 * flows as u32
}

/// A congestion notification (CN).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Fb', quantised to 0..=63.
    pub degree: u8,
    /// Number of flows.
    pub count: u8,
    /// The harmful flows.
    pub flows: [FlowId; MAX_FLOWS],
}

impl Notice {
    /// Returns the harmful flows.
    pub fn flows(&self) -> &[FlowId] {
        &self.flows[..usize::from(self.count)]
    }
}
