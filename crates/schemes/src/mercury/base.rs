//! The schemes that Mercury can extend.

use super::FeedbackParams;
use crate::contract::{PortView, Preset, RateCode, Scheme};
use crate::dcqcn::{self, Dcqcn, DcqcnParams, RECEIVER_PARAMS, ReactionPoint};
use crate::hpcc::{self, Hpcc, HpccParams, SIMULATOR_ONLY};
use crate::int::{IntRecord, IntStack};
use crate::mercury::{FlowKey, WindowScope};
use crate::params::Params;
use crate::timely::{self, Timely, TimelyParams};
use units::{Bytes, NodeId, Rate, Time};

/// A scheme that Mercury can extend. Its senders must send nothing to their receivers, and its
/// receivers must send nothing but ACKs, or be able to do without the rest.
pub trait Base: Scheme {
    /// Name of the combination.
    const NAME: &'static str;
    /// Full name of the combination.
    const TITLE: &'static str;
    /// Presets of the combination.
    const PRESETS: &'static [Preset<Self::Joined>];
    /// Parameters of the combination.
    type Joined: Params + AsRef<FeedbackParams>;

    /// Returns the base scheme's part of the parameters.
    fn base(joined: &Self::Joined) -> &Self::Params;
    /// Reacts to one congestion notification. Does nothing if the base scheme has no notifications:
    /// what it measures says more.
    fn cut(_law: &mut Self::Rp, _now: Time) {}
    /// Writes what the base scheme's switches write into a data packet that begins to leave.
    fn stamp(_meta: &mut Self::Meta, _node: NodeId, _now: Time, _rate: RateCode, _view: &PortView) {
    }
}

const SOURCE: &str = "Parameter settings; what the paper leaves open as decided in the parameters";

crate::join_params! {
    /// Parameters of `mercury`.
    pub struct MercuryParams {
        /// DCQCN's.
        dcqcn: DcqcnParams, without RECEIVER_PARAMS;
        /// Parameters of Mercury.
        feedback: FeedbackParams;
    }
}

impl AsRef<FeedbackParams> for MercuryParams {
    fn as_ref(&self) -> &FeedbackParams {
        &self.feedback
    }
}

impl Base for Dcqcn {
    const NAME: &'static str = "mercury";
    const TITLE: &'static str = "Mercury on DCQCN";
    const PRESETS: &'static [Preset<MercuryParams>] = &[
        Preset {
            name: "mercury-paper",
            summary: "Senders of dcqcn-paper, congested above its Kmin",
            source: SOURCE,
            ecn: None,
            params: presets::paper,
        },
        Preset {
            name: "mercury-ns3",
            summary: "Senders of dcqcn-hpcc, congested above its Kmin",
            source: SOURCE,
            ecn: None,
            params: presets::ns3,
        },
        Preset {
            name: "mercury-ns3-paper",
            summary: "Senders of dcqcn-hpcc-paper, congested above its Kmin",
            source: SOURCE,
            ecn: None,
            params: presets::ns3_paper,
        },
    ];
    type Joined = MercuryParams;

    fn base(joined: &MercuryParams) -> &DcqcnParams {
        &joined.dcqcn
    }
    fn cut(law: &mut ReactionPoint, now: Time) {
        law.notify(now);
    }
}

crate::join_params! {
    /// Parameters of `mercury+timely`.
    pub struct MercuryTimelyParams {
        /// TIMELY's.
        timely: TimelyParams;
        /// Parameters of Mercury.
        feedback: FeedbackParams;
    }
}

impl AsRef<FeedbackParams> for MercuryTimelyParams {
    fn as_ref(&self) -> &FeedbackParams {
        &self.feedback
    }
}

impl Base for Timely {
    const NAME: &'static str = "mercury+timely";
    const TITLE: &'static str = "Mercury on TIMELY";
    const PRESETS: &'static [Preset<MercuryTimelyParams>] = &[Preset {
        name: "mercury+timely",
        summary: "Senders of timely-paper",
        source: SOURCE,
        ecn: None,
        params: presets::over_timely,
    }];
    type Joined = MercuryTimelyParams;

    fn base(joined: &MercuryTimelyParams) -> &TimelyParams {
        &joined.timely
    }
}

crate::join_params! {
    /// Parameters of `mercury+hpcc`.
    pub struct MercuryHpccParams {
        /// HPCC's.
        hpcc: HpccParams, without SIMULATOR_ONLY;
        /// Parameters of Mercury.
        feedback: FeedbackParams;
    }
}

impl AsRef<FeedbackParams> for MercuryHpccParams {
    fn as_ref(&self) -> &FeedbackParams {
        &self.feedback
    }
}

impl<const N: usize> Base for Hpcc<N> {
    const NAME: &'static str = "mercury+hpcc";
    const TITLE: &'static str = "Mercury on HPCC";
    const PRESETS: &'static [Preset<MercuryHpccParams>] = &[Preset {
        name: "mercury+hpcc",
        summary: "Senders of hpcc-paper",
        source: SOURCE,
        ecn: None,
        params: presets::over_hpcc,
    }];
    type Joined = MercuryHpccParams;

    fn base(joined: &MercuryHpccParams) -> &HpccParams {
        &joined.hpcc
    }
    #[inline]
    fn stamp(stack: &mut IntStack<N>, node: NodeId, now: Time, rate: RateCode, view: &PortView) {
        stack.push(node, view.port, IntRecord::of(rate, now, view));
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Mercury's own values, with Kmin of 5 KB at 40G, dcqcn-paper's.
    fn feedback() -> FeedbackParams {
        FeedbackParams {
            state_detection: true,
            window_notification: true,
            congestion_threshold: Bytes::new(12_500),
            check_period: Time::from_us(10),
            notice_interval: Time::from_us(50),
            quiet_time: Time::from_us(55),
            flow_key: FlowKey::HostPair,
            window_scope: WindowScope::Qp,
            flow_entries: 512,
        }
    }

    /// Preset `mercury-paper`: senders of dcqcn-paper, congested above its Kmin.
    pub fn paper(host_rate: Rate) -> MercuryParams {
        MercuryParams { dcqcn: dcqcn::presets::paper(host_rate), feedback: feedback() }
    }

    /// Preset `mercury-ns3`: senders of dcqcn-hpcc, congested above its Kmin.
    pub fn ns3(host_rate: Rate) -> MercuryParams {
        MercuryParams {
            dcqcn: dcqcn::presets::hpcc(host_rate),
            // 100 KB at 25G.
            feedback: FeedbackParams { congestion_threshold: Bytes::new(400_000), ..feedback() },
        }
    }

    /// Preset `mercury-ns3-paper`: senders of dcqcn-hpcc-paper, congested above its Kmin.
    pub fn ns3_paper(host_rate: Rate) -> MercuryParams {
        MercuryParams { dcqcn: dcqcn::presets::hpcc_paper(host_rate), ..ns3(host_rate) }
    }

    /// Preset `mercury+timely`: senders of timely-paper.
    pub fn over_timely(host_rate: Rate) -> MercuryTimelyParams {
        MercuryTimelyParams { timely: timely::presets::paper(host_rate), feedback: feedback() }
    }

    /// Preset `mercury+hpcc`: senders of hpcc-paper.
    pub fn over_hpcc(host_rate: Rate) -> MercuryHpccParams {
        MercuryHpccParams { hpcc: hpcc::presets::paper(host_rate), feedback: feedback() }
    }
}
