//! Attributes of ns-3's classes, which configurations of SimAI's simulator set by name.
//!
//! Source: `scratch/common.h` of aliyun/ns-3-alibabacloud, which stores most keys in attributes. In
//! such a file a line that begins with `#` is a comment.

use crate::error::{Result, Warning};
use crate::tokens::{Token, Tokens};
use std::borrow::Cow;

/// How the name of an attribute begins.
const PREFIX: &[u8] = b"ns3::";

/// Attributes, and the keys that set the same.
const ATTRIBUTES: [(&str, &str); 28] = [
    ("QbbNetDevice::QcnEnabled", "ENABLE_QCN"),
    ("QbbNetDevice::DynamicThreshold", "USE_DYNAMIC_PFC_THRESHOLD"),
    ("QbbNetDevice::PauseTime", "PAUSE_TIME"),
    ("SwitchNode::PfcEnabled", "ENABLE_PFC"),
    ("RdmaHw::CcMode", "CC_MODE"),
    ("RdmaHw::Mtu", "PACKET_PAYLOAD_SIZE"),
    ("RdmaHw::L2ChunkSize", "L2_CHUNK_SIZE"),
    ("RdmaHw::L2AckInterval", "L2_ACK_INTERVAL"),
    ("RdmaHw::L2BackToZero", "L2_BACK_TO_ZERO"),
    ("RdmaHw::RateAI", "RATE_AI"),
    ("RdmaHw::RateHAI", "RATE_HAI"),
    ("RdmaHw::MinRate", "MIN_RATE"),
    ("RdmaHw::VarWin", "VAR_WIN"),
    ("RdmaHw::RateBound", "RATE_BOUND"),
    ("RdmaHw::TotalPauseTime", "NIC_TOTAL_PAUSE_TIME"),
    ("MellanoxDcqcn::AlphaResumInterval", "ALPHA_RESUME_INTERVAL"),
    ("MellanoxDcqcn::RPTimer", "RP_TIMER"),
    ("MellanoxDcqcn::EwmaGain", "EWMA_GAIN"),
    ("MellanoxDcqcn::RateDecreaseInterval", "RATE_DECREASE_INTERVAL"),
    ("MellanoxDcqcn::FastRecoveryTimes", "FAST_RECOVERY_TIMES"),
    ("MellanoxDcqcn::ClampTargetRate", "CLAMP_TARGET_RATE"),
    ("Dctcp::DctcpRateAI", "DCTCP_RATE_AI"),
    ("Hpcc::MiThresh", "MI_THRESH"),
    ("Hpcc::FastReact", "FAST_REACT"),
    ("Hpcc::MultiRate", "MULTI_RATE"),
    ("Hpcc::SampleFeedback", "SAMPLE_FEEDBACK"),
    ("Hpcc::TargetUtil", "U_TARGET"),
    ("HpccPint::PintProb", "PINT_PROB"),
];

/// Whether a word names an attribute.
pub(super) fn is_one(token: &[u8]) -> bool {
    token.starts_with(PREFIX)
}

/// Returns the key that sets the same as the attribute, if there is one.
pub(super) fn key_of(token: &[u8]) -> Option<&'static str> {
    let name = token.strip_prefix(PREFIX)?;
    let found = ATTRIBUTES.iter().find(|(one, _)| one.as_bytes() == name);
    found.map(|(_, key)| *key)
}

/// Returns the text, with its comments left out if it sets attributes.
pub(super) fn without_comments(text: &[u8]) -> Cow<'_, [u8]> {
    if !Tokens::new(text).any(|token| is_one(token.text)) {
        return Cow::Borrowed(text);
    }
    let lines = text.split(|&byte| byte == b'\n');
    let kept = lines.map(|line| if line.starts_with(b"#") { &[] } else { line });
    Cow::Owned(kept.collect::<Vec<&[u8]>>().join(&b'\n'))
}

/// Attributes that no key sets, gathered for one warning.
#[derive(Default)]
pub(super) struct Others {
    line: usize,
    names: Vec<String>,
}

impl Others {
    /// Takes an attribute and its value.
    pub(super) fn take(&mut self, attribute: Token<'_>, tokens: &mut Tokens<'_>) -> Result<()> {
        tokens.need(&format!("the value of {}", attribute.shown()))?;
        if self.names.is_empty() {
            self.line = attribute.line;
        }
        self.names.push(attribute.shown().trim_matches('"').to_owned());
        Ok(())
    }

    /// The one warning about them.
    pub(super) fn warning(self) -> Option<Warning> {
        let what = format!("attributes of SimAI that are not served: {}", self.names.join(", "));
        (!self.names.is_empty()).then(|| Warning::at(self.line, what))
    }
}
