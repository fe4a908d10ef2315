//! What Mercury goes on top of.

use super::FeedbackParams;
use crate::contract::{PortView, Preset, RateCode, Scheme};
use crate::dcqcn::{Dcqcn, DcqcnParams, RECEIVER_PARAMS, ReactionPoint};
use crate::hpcc::{Hpcc, HpccParams, SIMULATOR_ONLY};
use crate::int::{IntRecord, IntStack};
use crate::params::Params;
use crate::timely::{Timely, TimelyParams};
use units::{Bytes, NodeId, Rate, Time};

/// A scheme that Mercury can go on top of: one whose senders send nothing to their receivers, and
/// whose receivers only send the transport's ACKs (or need not send more).
pub trait Base: Scheme {
    /// The name of the two together.
    const NAME: &'static str;
    /// Their full name.
    const TITLE: &'static str;
    /// Their presets.
    const PRESETS: &'static [Preset];
    /// Their parameters.
    type Joined: Params + AsRef<FeedbackParams>;

    /// The scheme's own parameters among them.
    fn base(joined: &Self::Joined) -> &Self::Params;
    /// The parameters of a preset.
    fn joined_preset(name: &str, host_rate: Rate) -> Self::Joined;
    /// A sender reacts as to one congestion notification. Not where it knows none: what it measures
    /// tells it more.
    fn cut(_law: &mut Self::Rp, _now: Time) {}
    /// What its switches write into a data packet that begins to leave.
    fn stamp(_meta: &mut Self::Meta, _node: NodeId, _now: Time, _rate: RateCode, _view: &PortView) {
    }
}

/// Mercury's own values, with Kmin of 5 KB at 40G, dcqcn-paper's.
fn feedback() -> FeedbackParams {
    FeedbackParams {
        state_detection: true,
        window_notification: true,
        congestion_threshold: Bytes::new(12_500),
        check_period: Time::from_us(10),
        notice_interval: Time::from_us(50),
        quiet_time: Time::from_us(55),
        flow_key: "host-pair",
        flow_entries: 512,
    }
}

const SOURCE: &str = "Parameter settings; what the paper leaves open as decided in the parameters";

crate::join_params! {
    /// Parameters of `mercury`.
    pub struct MercuryParams {
        /// DCQCN's.
        dcqcn: DcqcnParams, without RECEIVER_PARAMS;
        /// Mercury's.
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
    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "mercury-paper",
            summary: "Senders of dcqcn-paper, congested above its Kmin",
            source: SOURCE,
            ecn: None,
        },
        Preset {
            name: "mercury-ns3",
            summary: "Senders of dcqcn-hpcc, congested above its Kmin",
            source: SOURCE,
            ecn: None,
        },
    ];
    type Joined = MercuryParams;

    fn base(joined: &MercuryParams) -> &DcqcnParams {
        &joined.dcqcn
    }
    fn joined_preset(name: &str, host_rate: Rate) -> MercuryParams {
        match name {
            "mercury-ns3" => MercuryParams {
                dcqcn: Dcqcn::preset("dcqcn-hpcc", host_rate),
                // 100 KB at 25G.
                feedback: FeedbackParams {
                    congestion_threshold: Bytes::new(400_000),
                    ..feedback()
                },
            },
            _ => MercuryParams {
                dcqcn: Dcqcn::preset("dcqcn-paper", host_rate),
                feedback: feedback(),
            },
        }
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
        /// Mercury's.
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
    const PRESETS: &'static [Preset] = &[Preset {
        name: "mercury+timely",
        summary: "Senders of timely-paper",
        source: SOURCE,
        ecn: None,
    }];
    type Joined = MercuryTimelyParams;

    fn base(joined: &MercuryTimelyParams) -> &TimelyParams {
        &joined.timely
    }
    fn joined_preset(_name: &str, host_rate: Rate) -> MercuryTimelyParams {
        MercuryTimelyParams {
            timely: Timely::preset("timely-paper", host_rate),
            feedback: feedback(),
        }
    }
}

crate::join_params! {
    /// Parameters of `mercury+hpcc`.
    pub struct MercuryHpccParams {
        /// HPCC's.
        hpcc: HpccParams, without SIMULATOR_ONLY;
        /// Mercury's.
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
    const PRESETS: &'static [Preset] = &[Preset {
        name: "mercury+hpcc",
        summary: "Senders of hpcc-paper",
        source: SOURCE,
        ecn: None,
    }];
    type Joined = MercuryHpccParams;

    fn base(joined: &MercuryHpccParams) -> &HpccParams {
        &joined.hpcc
    }
    fn joined_preset(_name: &str, host_rate: Rate) -> MercuryHpccParams {
        MercuryHpccParams { hpcc: Hpcc::<N>::preset("hpcc-paper", host_rate), feedback: feedback() }
    }
    #[inline]
    fn stamp(stack: &mut IntStack<N>, node: NodeId, now: Time, rate: RateCode, view: &PortView) {
        stack.push(node, view.port, IntRecord::of(rate, now, view));
    }
}
