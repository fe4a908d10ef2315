//! `config.txt`: keys and their values, separated by white space, in any order.
//!
//! Tokens that are no key are skipped. If a key occurs twice, its last value counts. The format has
//! no comments, so a key inside one takes effect. Each of these gives a [`Warning`].

mod attributes;
mod check;
mod forks;
mod keys;
mod oddities;
mod skipped;

use self::forks::{LeftOut, Use};
use self::skipped::Skipped;
use crate::error::{FileError, Result, Warning};
use crate::tokens::Tokens;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use units::{Bytes, NodeId, Rate, Time};

pub(crate) use check::check;
pub(crate) use forks::refuse_htsim;
pub use forks::{ConWeaveTimes, LoadBalancing};
pub(crate) use oddities::oddities;

/// A configuration, with the original's defaults for keys that the file does not have.
///
/// A key without a default there is an `Option`. In an [`Experiment`](crate::Experiment), which is
/// checked, those that the control law needs are present.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `TOPOLOGY_FILE`, as written.
    pub topology_file: PathBuf,
    /// `FLOW_FILE`, as written.
    pub flow_file: PathBuf,
    /// `TRACE_FILE`, the nodes to trace, as written.
    pub trace_file: Option<PathBuf>,
    /// `TRACE_OUTPUT_FILE`, the packet trace; nothing but its header unless `ENABLE_TRACE`.
    pub trace_output_file: Option<PathBuf>,
    /// `FCT_OUTPUT_FILE`; `fct.txt`.
    pub fct_output_file: PathBuf,
    /// `PFC_OUTPUT_FILE`; `pfc.txt`.
    pub pfc_output_file: PathBuf,
    /// `QLEN_MON_FILE`, the histograms of queues.
    pub qlen_mon_file: Option<PathBuf>,
    /// `QLEN_MON_START`, ns: the first sample; 2 s.
    pub qlen_mon_start: Time,
    /// `QLEN_MON_END`, ns: time of the last sample; 2.1 s.
    pub qlen_mon_end: Time,
    /// `ENABLE_TRACE`: whether packets are traced; yes.
    pub enable_trace: bool,
    /// `SIMULATOR_STOP_TIME`, s; 3.01 s. None: beyond 200 days, so when nothing is left to do.
    pub simulator_stop_time: Option<Time>,
    /// `LINK_DOWN`, a link that fails; none.
    pub link_down: Option<LinkDown>,
    /// `ERROR_RATE_PER_LINK`: probability of a loss on links that do not give their own; 0.
    pub error_rate_per_link: f64,

    /// `PACKET_PAYLOAD_SIZE`; 1000 bytes.
    pub packet_payload_size: Bytes,
    /// `L2_CHUNK_SIZE`: the multiple of bytes to which go-back-0 returns, and at which additional
    /// ACKs are due; 0.
    pub l2_chunk_size: Bytes,
    /// `L2_ACK_INTERVAL`, bytes: from this byte of a flow on, each packet is acknowledged; 0.
    pub l2_ack_interval: Bytes,
    /// `L2_BACK_TO_ZERO`: go-back-0 instead of go-back-N; no. "Yes" is refused.
    pub l2_back_to_zero: bool,
    /// `ACK_HIGH_PRIO`: ACKs leave hosts at the highest priority; no. Switches still queue them
    /// with the data.
    pub ack_high_prio: bool,
    /// `HAS_WIN`: bytes in flight are limited; yes.
    pub has_win: bool,
    /// `GLOBAL_T`: window and base RTT of every pair are the largest in the network; yes.
    pub global_t: bool,
    /// `VAR_WIN`: the window shrinks with the rate; no.
    pub var_win: bool,
    /// `RATE_BOUND`: packets are paced at the control law's rate instead of line rate; yes. "No" is
    /// refused.
    pub rate_bound: bool,

    /// `BUFFER_SIZE` of a switch, MiB; 16 MiB.
    pub buffer_size: Bytes,
    /// `ENABLE_PFC`, a key of ConWeave: switches pause; yes.
    pub enable_pfc: bool,
    /// `ENABLE_IRN`, a key of ConWeave: selective repeat with a limit of data in flight; no.
    pub enable_irn: bool,
    /// `LB_MODE`, a key of ConWeave; ECMP.
    pub load_balancing: LoadBalancing,
    /// The keys of ConWeave that are parameters of its load balancing.
    pub conweave: ConWeaveTimes,
    /// `PAUSE_TIME` in PFC frames, us; 5 us. A pause lasts until the resume, except that a time of
    /// 0 pauses nothing.
    pub pause_time: Time,
    /// `ENABLE_QCN`: switches mark; yes.
    pub enable_qcn: bool,
    /// `KMIN_MAP`, by the port's rate: bytes up to which nothing is marked. Written in 1000 bytes.
    pub kmin: BTreeMap<Rate, Bytes>,
    /// `KMAX_MAP`, by the port's rate: bytes above which all is marked. Written in 1000 bytes.
    pub kmax: BTreeMap<Rate, Bytes>,
    /// `PMAX_MAP`, by the port's rate: probability of a mark at Kmax.
    pub pmax: BTreeMap<Rate, f64>,
    /// `INT_MULTI`: factor by which the units of bytes and queues in INT are larger; 1.
    pub int_multi: u32,

    /// `CC_MODE`; 1, DCQCN.
    pub cc_mode: CcMode,
    /// `RATE_AI`: additive increase; of HPCC W_AI as a rate.
    pub rate_ai: Option<Rate>,
    /// `RATE_HAI`: hyper increase.
    pub rate_hai: Option<Rate>,
    /// `MIN_RATE`: the lowest rate of every law; 100 Mb/s.
    pub min_rate: Rate,
    /// `EWMA_GAIN`: g of DCQCN and DCTCP. `None` means 0.
    pub ewma_gain: Option<f64>,
    /// `ALPHA_RESUME_INTERVAL`, us: DCQCN's alpha timer; 55 us.
    pub alpha_resume_interval: Time,
    /// `RATE_DECREASE_INTERVAL`, us: how often DCQCN checks whether to cut its rate; 4 us.
    pub rate_decrease_interval: Time,
    /// `RP_TIMER`, us: DCQCN's increase timer.
    pub rp_timer: Option<Time>,
    /// `FAST_RECOVERY_TIMES`: DCQCN's F; 5.
    pub fast_recovery_times: u32,
    /// `CLAMP_TARGET_RATE`: DCQCN sets the target rate at each cut; no.
    pub clamp_target_rate: bool,
    /// `DCTCP_RATE_AI`: DCTCP's increase per RTT; 1000 Mb/s.
    pub dctcp_rate_ai: Rate,
    /// `U_TARGET`: HPCC's eta; 0.95.
    pub u_target: f64,
    /// `MI_THRESH`: HPCC's maxStage; 5.
    pub mi_thresh: u32,
    /// `FAST_REACT`: HPCC reacts to each ACK, not once an RTT; yes.
    pub fast_react: bool,
    /// `MULTI_RATE`: HPCC has a rate for each hop; yes.
    pub multi_rate: bool,
    /// `SAMPLE_FEEDBACK`: HPCC skips hops without a queue between its full updates; no.
    pub sample_feedback: bool,
    /// `PINT_LOG_BASE` of HPCC-PINT; 1.05.
    pub pint_log_base: f64,
    /// `PINT_PROB`: probability that HPCC-PINT looks at an ACK; 1.
    pub pint_prob: f64,

    /// `ENABLE_THEMIS`, a key of the THEMIS prototype, which is based on the original. `None` if
    /// the file does not have the key: then it is a file of the original.
    pub enable_themis: Option<bool>,

    /// `RANDOM_SEED`, a key of ConWeave: ns-3's seed; 1.
    pub random_seed: u64,

    /// `FLOWGEN_START_TIME`, s, a key of ConWeave: when it begins to count flows; 2 s.
    pub flowgen_start_time: Time,
    /// `FLOWGEN_STOP_TIME`, s, a key of ConWeave: its runs end three seconds later.
    pub flowgen_stop_time: Option<Time>,
    /// `SW_MONITORING_INTERVAL`, ns, a key of ConWeave: how often it counts flows; 10 us.
    pub sw_monitoring_interval: Time,

    /// Lines of the keys, for errors.
    pub(crate) places: Places,
}

/// Lines of a configuration.
///
/// All instances compare equal, so that configurations are equal whatever line a key is on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The line of each key; the last one if a key occurs several times.
    lines: BTreeMap<&'static str, usize>,
    /// For each key that may have been misspelt: the first such word and its line.
    meant: BTreeMap<&'static str, (String, usize)>,
}

impl PartialEq for Places {
    fn eq(&self, _: &Places) -> bool {
        true
    }
}

impl Places {
    /// The line of `key`, if the file has it.
    pub fn line(&self, key: &str) -> Option<usize> {
        self.lines.get(key).copied()
    }

    /// Notes a key. Warns if it was in an earlier line, too.
    fn note(&mut self, key: &'static str, line: usize) -> Option<Warning> {
        let before = self.lines.insert(key, line)?;
        let counts = if keys::is_map(key) {
            "the entries of both count, and for a rate in both the last"
        } else {
            "the last counts"
        };
        let what = format!("{key} is in line {before} too; {counts}, as in the original");
        Some(Warning::at(line, what))
    }

    /// A warning about `key`, with its line if it has one.
    pub fn warning(&self, key: &str, message: String) -> Warning {
        Warning { line: self.line(key), ..Warning::new(message) }
    }

    /// An error about `key`, with its line if it has one.
    pub fn error(&self, key: &str, message: impl Into<String>) -> FileError {
        FileError { line: self.line(key), ..FileError::new(message) }
    }

    /// An error that `key` is missing: `why` it is needed, and a value that it may have.
    pub fn missing(&self, key: &str, why: &str, example: &str) -> FileError {
        let error = FileError::new(format!("{key} is missing{why}"));
        match self.meant.get(key) {
            Some((token, line)) => error
                .at(*line)
                .hint(format!("{token} is not a key; did you mean {key}? Write {key} {example}")),
            None => error.hint(format!("add a line such as {key} {example}")),
        }
    }
}

/// `CC_MODE`: the control law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CcMode {
    /// 1: DCQCN as of Mellanox firmware.
    Dcqcn,
    /// 3: HPCC.
    Hpcc,
    /// 7: TIMELY.
    Timely,
    /// 8: DCTCP.
    Dctcp,
    /// 10: HPCC-PINT.
    HpccPint,
    /// Any other number: none, packets go at line rate.
    None(u32),
}

impl Config {
    /// The key that makes it a configuration of ConWeave: one of its load balancing or of its loss
    /// recovery, with whatever value.
    pub fn conweave_key(&self) -> Option<&'static str> {
        ["LB_MODE", "ENABLE_IRN"].into_iter().find(|key| self.places.lines.contains_key(key))
    }
}

impl Config {
    /// Cuts each Kmin to Kmax. Above it, nothing is marked up to Kmax in the original either.
    fn cut_kmin(&mut self, warnings: &mut Vec<Warning>) {
        let line = self.places.line("KMIN_MAP").unwrap_or(1);
        for (rate, kmin) in &mut self.kmin {
            let Some(kmax) = self.kmax.get(rate).filter(|kmax| *kmax < kmin) else { continue };
            let (low, high) = (kmin.get() / 1000, kmax.get() / 1000);
            warnings.push(Warning::at(
                line,
                format!(
                    "KMIN_MAP has {low} for {rate}, and KMAX_MAP {high}: all above {high} is \
                     marked, and nothing below, as in the original"
                ),
            ));
            *kmin = *kmax;
        }
    }
}

impl CcMode {
    fn new(number: u32) -> CcMode {
        match number {
            1 => CcMode::Dcqcn,
            3 => CcMode::Hpcc,
            7 => CcMode::Timely,
            8 => CcMode::Dctcp,
            10 => CcMode::HpccPint,
            _ => CcMode::None(number),
        }
    }

    /// Bytes of a data packet beside its payload, with what the law adds.
    pub fn data_header_bytes(self) -> u16 {
        const HEADER: u16 = 48;
        match self {
            CcMode::Hpcc => HEADER + 42,
            CcMode::Timely => HEADER + 8,
            CcMode::HpccPint => HEADER + 2,
            CcMode::Dcqcn | CcMode::Dctcp | CcMode::None(_) => HEADER,
        }
    }

    /// The number in the file.
    pub fn number(self) -> u32 {
        match self {
            CcMode::Dcqcn => 1,
            CcMode::Hpcc => 3,
            CcMode::Timely => 7,
            CcMode::Dctcp => 8,
            CcMode::HpccPint => 10,
            CcMode::None(number) => number,
        }
    }

    /// Whether the law reacts to ECN marks.
    pub fn reacts_to_ecn(self) -> bool {
        matches!(self, CcMode::Dcqcn | CcMode::Dctcp)
    }
}

/// `LINK_DOWN t a b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkDown {
    /// Simulated time: 2 s plus the microseconds in the file.
    pub at: Time,
    /// One end of the link.
    pub a: NodeId,
    /// The other.
    pub b: NodeId,
}

impl Config {
    /// The names of the files that a run writes, each with the key that gives it.
    pub fn outputs(&self) -> Vec<(&'static str, &Path)> {
        let named = [
            ("FCT_OUTPUT_FILE", Some(&self.fct_output_file)),
            ("PFC_OUTPUT_FILE", Some(&self.pfc_output_file)),
            ("QLEN_MON_FILE", self.qlen_mon_file.as_ref()),
            ("TRACE_OUTPUT_FILE", self.trace_output_file.as_ref()),
        ];
        named.into_iter().filter_map(|(key, path)| Some((key, path?.as_path()))).collect()
    }

    /// The original's defaults.
    fn new() -> Config {
        Config {
            topology_file: PathBuf::new(),
            flow_file: PathBuf::new(),
            trace_file: None,
            trace_output_file: None,
            fct_output_file: "fct.txt".into(),
            pfc_output_file: "pfc.txt".into(),
            qlen_mon_file: None,
            qlen_mon_start: Time::from_ms(2000),
            qlen_mon_end: Time::from_ms(2100),
            enable_trace: true,
            simulator_stop_time: Some(Time::from_ms(3010)),
            link_down: None,
            error_rate_per_link: 0.0,
            packet_payload_size: Bytes::new(1000),
            l2_chunk_size: Bytes::ZERO,
            l2_ack_interval: Bytes::ZERO,
            l2_back_to_zero: false,
            ack_high_prio: false,
            has_win: true,
            global_t: true,
            var_win: false,
            rate_bound: true,
            buffer_size: Bytes::new(16 << 20),
            enable_pfc: true,
            enable_irn: false,
            load_balancing: LoadBalancing::Ecmp,
            conweave: ConWeaveTimes::default(),
            pause_time: Time::from_us(5),
            enable_qcn: true,
            kmin: BTreeMap::new(),
            kmax: BTreeMap::new(),
            pmax: BTreeMap::new(),
            int_multi: 1,
            cc_mode: CcMode::Dcqcn,
            rate_ai: None,
            rate_hai: None,
            min_rate: Rate::from_mbps(100),
            ewma_gain: None,
            alpha_resume_interval: Time::from_us(55),
            rate_decrease_interval: Time::from_us(4),
            rp_timer: None,
            fast_recovery_times: 5,
            clamp_target_rate: false,
            dctcp_rate_ai: Rate::from_mbps(1000),
            u_target: 0.95,
            mi_thresh: 5,
            fast_react: true,
            multi_rate: true,
            sample_feedback: false,
            pint_log_base: 1.05,
            pint_prob: 1.0,
            enable_themis: None,
            random_seed: 1,
            flowgen_start_time: Time::from_ms(2000),
            flowgen_stop_time: None,
            sw_monitoring_interval: Time::from_us(10),
            places: Places::default(),
        }
    }
}

/// The known keys of forks of the original.
pub fn fork_keys() -> impl Iterator<Item = &'static str> {
    forks::FORK_KEYS.iter().map(|key| key.name)
}

/// Reads a configuration. If it is refused, `warnings` are filled as well: they may show why.
pub fn parse(text: &[u8], warnings: &mut Vec<Warning>) -> Result<Config> {
    let first_warning = warnings.len();
    let mut skipped = Skipped::default();
    let config = read(text, &mut skipped, warnings);
    skipped.warn(warnings);
    warnings[first_warning..].sort_by_key(|warning| warning.line);
    config
}

/// ConWeave's runs end this long after the last flow may begin.
const AFTER_FLOWGEN: Time = Time::from_ms(3000);

fn read(text: &[u8], skipped: &mut Skipped, warnings: &mut Vec<Warning>) -> Result<Config> {
    forks::check_origin(text)?;
    let text = attributes::without_comments(text);
    let mut config = Config::new();
    let mut left_out = LeftOut::default();
    let mut others = attributes::Others::default();
    let mut has_keys = false;
    let mut tokens = Tokens::new(&text);
    while let Some(token) = tokens.next() {
        let is_attribute = attributes::is_one(token.text);
        has_keys |= is_attribute;
        let name = match attributes::key_of(token.text) {
            Some(key) => key.as_bytes(),
            None if is_attribute => {
                others.take(token, &mut tokens)?;
                continue;
            }
            None => token.text,
        };
        let fork_key = forks::known(name);
        let Some(key) = fork_key.map(|key| key.name).or_else(|| keys::known(name)) else {
            skipped.add(token);
            continue;
        };
        has_keys = true;
        if let Some(key) = fork_key.filter(|key| matches!(key.used, Use::Output | Use::None)) {
            left_out.take(key, token.line, &mut tokens)?;
            continue;
        }
        if skipped.in_comment(token.line) {
            warnings.push(Warning::at(
                token.line,
                format!("{key} counts, though it looks commented out: the format has no comments"),
            ));
        }
        warnings.extend(config.places.note(key, token.line));
        match fork_key {
            Some(key) => config.read_fork_key(key, token.line, &mut tokens)?,
            None => keys::read(&mut config, key, token.line, &mut tokens, warnings)?,
        }
        if is_attribute && matches!(config.cc_mode, CcMode::None(_)) && key == "CC_MODE" {
            let what = format!("CcMode {} is a law that is not served", config.cc_mode.number());
            return Err(FileError::new(what)
                .at(token.line)
                .hint("1 is DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT"));
        }
    }
    config.places.meant = skipped.meant();
    if !has_keys && !skipped.is_empty() && config.places.meant.is_empty() {
        // To list the words of another kind of file helps nobody.
        *skipped = Skipped::default();
        return Err(FileError::new(
            "no word of it is a key of the HPCC simulator's configurations",
        )
        .hint("name the file that has TOPOLOGY_FILE and FLOW_FILE"));
    }
    warnings.extend(others.warning());
    left_out.take_parameters(&config);
    warnings.extend(left_out.warning());
    if let Some(stop) = config.flowgen_stop_time
        && !config.places.lines.contains_key("SIMULATOR_STOP_TIME")
    {
        config.simulator_stop_time = Some(stop + AFTER_FLOWGEN);
    }
    config.cut_kmin(warnings);
    for (key, path, example) in [
        ("TOPOLOGY_FILE", &config.topology_file, "topology.txt"),
        ("FLOW_FILE", &config.flow_file, "flow.txt"),
    ] {
        if path.as_os_str().is_empty() {
            return Err(config.places.missing(key, "", example));
        }
    }
    Ok(config)
}
