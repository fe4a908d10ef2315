//! Keys that only forks of the original have, and configurations of other simulators.
//!
//! Sources: the configurations that conweave-project/conweave-ns3 (commit 236a801), aliyun/SimAI
//! (commit 08f3d53), aliyun/ns-3-alibabacloud (commit 68e29f6) and astra-sim/astra-network-ns3
//! (commit 23b42ac) come with. Those of inet-tub/ns3-datacenter (PowerTCP, Reverie) have no keys of
//! their own.

use super::Config;
use crate::error::{FileError, Result, Warning};
use crate::tokens::Tokens;
use units::Time;

/// What a key of a fork does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It is honoured, or refused by name: [`Values`](super::keys) reads it.
    Read,
    /// A parameter of ConWeave's load balancing. With other values of `LB_MODE` it has no effect.
    OfConWeave,
    /// It names a file that this program does not write.
    Output,
    /// It changes no result.
    None,
}

/// A key of a fork. It has one value.
pub(super) struct ForkKey {
    pub(super) name: &'static str,
    pub(super) fork: &'static str,
    pub(super) used: Use,
}

const CONWEAVE: &str = "ConWeave";
const SIMAI: &str = "SimAI";
const ASTRA_SIM: &str = "astra-sim";

const fn key(name: &'static str, fork: &'static str, used: Use) -> ForkKey {
    ForkKey { name, fork, used }
}

/// The known keys of forks.
pub(super) const FORK_KEYS: [ForkKey; 33] = [
    key("ENABLE_PFC", CONWEAVE, Use::Read),
    key("ENABLE_IRN", CONWEAVE, Use::Read),
    key("LB_MODE", CONWEAVE, Use::Read),
    key("FLOWGEN_STOP_TIME", CONWEAVE, Use::Read),
    key("FLOWGEN_START_TIME", CONWEAVE, Use::Read),
    key("LOAD", CONWEAVE, Use::None),
    key("RANDOM_SEED", CONWEAVE, Use::Read),
    key("SW_MONITORING_INTERVAL", CONWEAVE, Use::Read),
    key("CONWEAVE_TX_EXPIRY_TIME", CONWEAVE, Use::OfConWeave),
    key("CONWEAVE_REPLY_TIMEOUT_EXTRA", CONWEAVE, Use::OfConWeave),
    key("CONWEAVE_PATH_PAUSE_TIME", CONWEAVE, Use::OfConWeave),
    key("CONWEAVE_EXTRA_VOQ_FLUSH_TIME", CONWEAVE, Use::OfConWeave),
    key("CONWEAVE_DEFAULT_VOQ_WAITING_TIME", CONWEAVE, Use::OfConWeave),
    key("FLOW_INPUT_FILE", CONWEAVE, Use::Output),
    key("CNP_OUTPUT_FILE", CONWEAVE, Use::Output),
    key("VOQ_MON_FILE", CONWEAVE, Use::Output),
    key("VOQ_MON_DETAIL_FILE", CONWEAVE, Use::Output),
    key("UPLINK_MON_FILE", CONWEAVE, Use::Output),
    key("CONN_MON_FILE", CONWEAVE, Use::Output),
    key("EST_ERROR_MON_FILE", CONWEAVE, Use::Output),
    key("BW_MON_FILE", SIMAI, Use::Output),
    key("RATE_MON_FILE", SIMAI, Use::Output),
    key("CNP_MON_FILE", SIMAI, Use::Output),
    key("TX_BW_MON_FILE", SIMAI, Use::Output),
    key("RX_BW_MON_FILE", SIMAI, Use::Output),
    key("SEND_OUTPUT_FILE", SIMAI, Use::Output),
    key("MON_START", SIMAI, Use::None),
    key("MON_END", SIMAI, Use::None),
    key("QP_MON_INTERVAL", SIMAI, Use::None),
    key("QLEN_MON_INTERVAL", SIMAI, Use::None),
    key("BW_MON_INTERVAL", SIMAI, Use::None),
    key("TRACE_NODE", SIMAI, Use::None),
    key("NIC_TOTAL_PAUSE_TIME", ASTRA_SIM, Use::None),
];

/// Returns the key of a fork that `token` spells.
pub(super) fn known(token: &[u8]) -> Option<&'static ForkKey> {
    FORK_KEYS.iter().find(|key| key.name.as_bytes() == token)
}

/// Returns the keys that a misspelt word may be meant to be: those that are not left out.
pub(super) fn read_keys() -> impl Iterator<Item = &'static str> {
    let is_read = |key: &&ForkKey| matches!(key.used, Use::Read | Use::OfConWeave);
    FORK_KEYS.iter().filter(is_read).map(|key| key.name)
}

/// `LB_MODE`, a key of ConWeave: how switches choose among equal paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadBalancing {
    /// 0.
    #[default]
    Ecmp,
    /// 2.
    Drill,
    /// 3.
    Conga,
    /// 6.
    LetFlow,
    /// 9.
    ConWeave,
}

/// Parameters of ConWeave's load balancing, in whole microseconds; `None` where the file has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConWeaveTimes {
    /// `CONWEAVE_TX_EXPIRY_TIME`: a flow that pauses for longer starts over.
    pub inactive: Option<Time>,
    /// `CONWEAVE_REPLY_TIMEOUT_EXTRA`: how long a reply may take beyond the base round trip.
    pub reply_extra: Option<Time>,
    /// `CONWEAVE_PATH_PAUSE_TIME`: for how long a path is avoided on which a packet was marked.
    pub path_busy: Option<Time>,
    /// `CONWEAVE_EXTRA_VOQ_FLUSH_TIME`: how late the last packet of an old path may be.
    pub resume_extra: Option<Time>,
    /// `CONWEAVE_DEFAULT_VOQ_WAITING_TIME`: how late it may be if no packet of that path has come.
    pub resume_default: Option<Time>,
}

impl ConWeaveTimes {
    /// Returns the times in the order of the fields, with that simulator's defaults where the file
    /// has none.
    pub fn or_defaults(&self) -> [Time; 5] {
        let or_us = |time: Option<Time>, us: u64| time.unwrap_or(Time::from_us(us));
        [
            or_us(self.inactive, 1_000),
            or_us(self.reply_extra, 4),
            or_us(self.path_busy, 8),
            or_us(self.resume_extra, 32),
            or_us(self.resume_default, 500),
        ]
    }
}

impl LoadBalancing {
    const MODES: [(u64, LoadBalancing); 5] = [
        (0, LoadBalancing::Ecmp),
        (2, LoadBalancing::Drill),
        (3, LoadBalancing::Conga),
        (6, LoadBalancing::LetFlow),
        (9, LoadBalancing::ConWeave),
    ];

    /// Its number.
    pub fn mode(self) -> u64 {
        let of = LoadBalancing::MODES.iter().find(|(_, one)| *one == self);
        of.map_or(0, |(mode, _)| *mode)
    }
}

/// Keys of forks that change nothing, gathered for one warning.
#[derive(Default)]
pub(super) struct LeftOut {
    line: usize,
    names: Vec<&'static str>,
    outputs: Vec<&'static str>,
    forks: Vec<&'static str>,
}

impl LeftOut {
    /// Takes the value of `key`, which is in `line`.
    pub(super) fn take(
        &mut self,
        key: &'static ForkKey,
        line: usize,
        tokens: &mut Tokens<'_>,
    ) -> Result<()> {
        tokens.need(&format!("the value of {}", key.name))?;
        self.note(key, line);
        Ok(())
    }

    /// Takes the parameters of ConWeave's load balancing that a file has without it.
    pub(super) fn take_parameters(&mut self, config: &Config) {
        if config.load_balancing == LoadBalancing::ConWeave {
            return;
        }
        for key in FORK_KEYS.iter().filter(|key| key.used == Use::OfConWeave) {
            if let Some(&line) = config.places.lines.get(key.name) {
                self.note(key, line);
            }
        }
    }

    fn note(&mut self, key: &'static ForkKey, line: usize) {
        let is_first = self.names.is_empty() && self.outputs.is_empty();
        self.line = if is_first { line } else { self.line.min(line) };
        let list = if key.used == Use::Output { &mut self.outputs } else { &mut self.names };
        if !list.contains(&key.name) {
            list.push(key.name);
        }
        if !self.forks.contains(&key.fork) {
            self.forks.push(key.fork);
        }
    }

    /// The one warning about them.
    pub(super) fn warning(self) -> Option<Warning> {
        let mut parts = Vec::new();
        if !self.names.is_empty() {
            parts.push(format!("{} change nothing here", self.names.join(", ")));
        }
        if !self.outputs.is_empty() {
            parts.push(format!("the files of {} are not written", self.outputs.join(", ")));
        }
        let forks = self.forks.join(" and ");
        (!parts.is_empty())
            .then(|| Warning::at(self.line, format!("keys of {forks}: {}", parts.join("; "))))
    }
}

/// Keys of the simulator of DCQCN's authors (bobzhuyb/ns3-rdma), which the original does not have.
const DCQCN_AUTHORS: [&[u8]; 9] = [
    b"NP_SAMPLING_INTERVAL",
    b"CNP_INTERVAL",
    b"DCTCP_GAIN",
    b"BYTE_COUNTER",
    b"PACKET_LEVEL_ECMP",
    b"FLOW_LEVEL_ECMP",
    b"SEND_IN_CHUNKS",
    b"L2_WAIT_FOR_ACK",
    b"CLAMP_TARGET_RATE_AFTER_TIMER",
];

/// Refuses a file of another simulator, which would be read as a configuration without keys.
pub(super) fn check_origin(text: &[u8]) -> Result<()> {
    refuse_htsim(text)?;
    if let Some(token) = Tokens::new(text).find(|token| token.text == b"[topology]") {
        return Err(FileError::new("a scenario of rocelab, not files of the HPCC simulator")
            .at(token.line)
            .hint("run it by `rocelab run FILE`"));
    }
    let mut line = None;
    let found = Tokens::new(text).filter(|token| DCQCN_AUTHORS.contains(&token.text));
    let mut names: Vec<String> = Vec::new();
    for token in found {
        line.get_or_insert(token.line);
        if !names.contains(&token.shown()) {
            names.push(token.shown());
        }
    }
    // A single one may be a word of some fork.
    if let Some(line) = line.filter(|_| names.len() > 2) {
        let what = format!(
            "a configuration of the simulator of DCQCN's authors (bobzhuyb/ns3-rdma), not of \
             HPCC's: it has {} and {} more such keys",
            names[0],
            names.len() - 1
        );
        return Err(FileError::new(what).at(line).hint(
            "write one with the keys of the HPCC simulator: CC_MODE 1, EWMA_GAIN for DCTCP_GAIN, \
             KMIN_MAP, KMAX_MAP and PMAX_MAP for KMIN, KMAX and PMAX",
        ));
    }
    Ok(())
}

/// Refuses files of htsim.
pub(crate) fn refuse_htsim(text: &[u8]) -> Result<()> {
    let mut tokens = Tokens::new(text);
    let first = tokens.next();
    let third = tokens.nth(1);
    let (Some(first), Some(third)) = (first, third) else { return Ok(()) };
    if first.text != b"Nodes" {
        return Ok(());
    }
    match third.text {
        b"Connections" => Err(FileError::new("a connection matrix of htsim")
            .at(first.line)
            .hint("rocelab import cm FILE makes a list of flows of it for a scenario")),
        b"Tiers" | b"Podsize" => Err(FileError::new("a topology of htsim").at(first.line).hint(
            "write a scenario with [topology] kind = \"fat-tree\" or \"leaf-spine\", or list its \
             nodes and links with kind = \"custom\"",
        )),
        _ => Ok(()),
    }
}

/// ns-3's generator takes no seed above this.
const MAX_SEED: u64 = 4_294_944_442;

impl Config {
    /// Reads the value of a key of a fork that is honoured or refused.
    pub(super) fn read_fork_key(
        &mut self,
        key: &'static ForkKey,
        line: usize,
        tokens: &mut Tokens<'_>,
    ) -> Result<()> {
        let token = tokens.need(&format!("the value of {}", key.name))?;
        let whole = || token.whole(key.name, 0..=u64::from(u32::MAX));
        let time = || whole().map(|us| Some(Time::from_us(us)));
        match key.name {
            "ENABLE_PFC" => self.enable_pfc = token.flag(key.name)?,
            "FLOWGEN_STOP_TIME" => {
                self.flowgen_stop_time = Some(crate::quantity::seconds_of(token, key.name)?);
            }
            "FLOWGEN_START_TIME" => {
                self.flowgen_start_time = crate::quantity::seconds_of(token, key.name)?;
            }
            "SW_MONITORING_INTERVAL" => {
                let interval = token.whole(key.name, 1..=u64::from(u32::MAX))?;
                self.sw_monitoring_interval = Time::from_ns(interval);
            }
            "RANDOM_SEED" => {
                self.random_seed = token.whole(key.name, 1..=MAX_SEED)?;
            }
            "ENABLE_IRN" => self.enable_irn = token.flag(key.name)?,
            "LB_MODE" => {
                let mode = whole()?;
                let known = LoadBalancing::MODES.iter().find(|(number, _)| *number == mode);
                let Some((_, balancing)) = known else {
                    return Err(FileError::new(format!("LB_MODE {mode} is none"))
                        .at(line)
                        .hint("0 is ECMP, 2 DRILL, 3 CONGA, 6 LetFlow, 9 ConWeave"));
                };
                self.load_balancing = *balancing;
            }
            "CONWEAVE_TX_EXPIRY_TIME" => self.conweave.inactive = time()?,
            "CONWEAVE_REPLY_TIMEOUT_EXTRA" => self.conweave.reply_extra = time()?,
            "CONWEAVE_PATH_PAUSE_TIME" => self.conweave.path_busy = time()?,
            "CONWEAVE_EXTRA_VOQ_FLUSH_TIME" => self.conweave.resume_extra = time()?,
            "CONWEAVE_DEFAULT_VOQ_WAITING_TIME" => self.conweave.resume_default = time()?,
            _ => unreachable!("{} has Use::Read", key.name),
        }
        Ok(())
    }
}
