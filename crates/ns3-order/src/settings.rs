//! What the files of an experiment say, in the units of the event list, and what is refused.

use crate::conweave;
use hpcc_files::topology::Form;
use hpcc_files::{CcMode, ConWeaveTimes, Config, Experiment, LoadBalancing};
use units::Time;

/// When flows stop to begin, if the file does not say it, and for how long they are counted then.
const DEFAULT_STOP: Time = Time::from_ms(2500);
const COUNT_EXTRA: u64 = 50_000_000;

/// Why an experiment cannot be run in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The key of the configuration that asks for it, if it is one.
    pub key: Option<&'static str>,
    /// What is asked for.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
}

/// The values that packets meet on their way. Times in nanoseconds, rates in bits per second.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) mode: CcMode,
    pub(crate) payload: u64,
    /// Bytes of a data packet beside its payload, and of an ACK.
    pub(crate) header: u16,
    pub(crate) ack: u16,
    pub(crate) ack_interval: u32,
    pub(crate) chunk: u32,
    /// The class that pauses ACKs at hosts.
    pub(crate) ack_class: u8,
    pub(crate) marks: bool,
    /// Whether pause frames pause.
    pub(crate) pauses: bool,
    /// Whether there are PFC frames: `ENABLE_PFC`, a key of ConWeave.
    pub(crate) has_pfc: bool,
    /// In microseconds, as frames carry it.
    pub(crate) pause_time: u32,
    pub(crate) stop: u64,
    pub(crate) monitor_start: u64,
    pub(crate) monitor_end: u64,
    pub(crate) int_multi: u64,
    /// Whether the experiment is one of ConWeave's simulator.
    pub(crate) conweave: bool,
    /// ConWeave: how switches choose among paths, and whether recovery is selective repeat.
    pub(crate) balance: LoadBalancing,
    pub(crate) selective: bool,
    pub(crate) reroute: Reroute,
    /// When flows with bytes left are counted, in nanoseconds.
    pub(crate) count_start: u64,
    pub(crate) count_interval: u64,
    pub(crate) count_end: u64,
    /// For this long a receiver does not repeat a NACK, in nanoseconds.
    pub(crate) nack_interval: u64,
}

/// Times of ConWeave's load balancing, in nanoseconds. [`ConWeaveTimes`] has their keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reroute {
    /// What a round trip counts for each link, whatever its delay.
    pub(crate) hop: u64,
    /// A flow that is silent for longer begins an epoch.
    pub(crate) inactive: u64,
    /// How much longer than a round trip a reply may take.
    pub(crate) reply_extra: u64,
    /// For how long a path is avoided on which a packet was marked.
    pub(crate) path_busy: u64,
    /// How much later than expected the tail may come.
    pub(crate) resume_extra: u64,
    /// When the tail is expected if no packet of the old path has come.
    pub(crate) resume_default: u64,
}

impl Reroute {
    fn new(times: &ConWeaveTimes) -> Reroute {
        let [inactive, reply_extra, path_busy, resume_extra, resume_default] =
            times.or_defaults().map(Time::ns);
        Reroute { hop: 1_000, inactive, reply_extra, path_busy, resume_extra, resume_default }
    }
}

impl Settings {
    pub(crate) fn new(config: &Config) -> Settings {
        let ack = if config.cc_mode == CcMode::Hpcc { 88 } else { 60 };
        let conweave = config.conweave_key().is_some();
        let pause_time = (config.pause_time.ps() / 1_000_000) as u32;
        Settings {
            mode: config.cc_mode,
            payload: config.packet_payload_size.get(),
            header: config.cc_mode.data_header_bytes(),
            ack,
            ack_interval: config.l2_ack_interval.get() as u32,
            chunk: config.l2_chunk_size.get() as u32,
            ack_class: if config.ack_high_prio || conweave { 0 } else { 3 },
            marks: config.enable_qcn,
            pauses: pause_time != 0,
            has_pfc: config.enable_pfc,
            pause_time,
            stop: config.simulator_stop_time.map_or(u64::MAX, Time::ns),
            monitor_start: config.qlen_mon_start.ns(),
            monitor_end: config.qlen_mon_end.ns(),
            int_multi: u64::from(config.int_multi),
            conweave,
            balance: config.load_balancing,
            selective: config.enable_irn,
            reroute: Reroute::new(&config.conweave),
            count_start: config.flowgen_start_time.ns(),
            count_interval: config.sw_monitoring_interval.ns(),
            count_end: config.flowgen_stop_time.unwrap_or(DEFAULT_STOP).ns() + COUNT_EXTRA,
            nack_interval: if conweave { 4_000 } else { 500_000 },
        }
    }

    /// Returns whether receivers acknowledge a packet in order that ends at this byte of its flow.
    #[inline]
    pub(crate) fn acknowledges(&self, end: u32) -> bool {
        end >= self.ack_interval || end.is_multiple_of(self.chunk)
    }
}

/// Refuses what this order does not reproduce.
///
/// # Errors
/// With the first such setting, or if the network is one that ConWeave's simulator cannot balance.
pub fn check(experiment: &Experiment) -> Result<(), Refusal> {
    check_settings(experiment)?;
    match conweave::obstacle(experiment) {
        None => Ok(()),
        Some(message) => Err(Refusal {
            key: Some("LB_MODE"),
            message,
            hint: "set it to 0 or 2, or leave out --order ns3",
        }),
    }
}

/// Refuses settings that this order does not reproduce, without a look at the routes.
///
/// # Errors
/// With the first such setting.
pub fn check_settings(experiment: &Experiment) -> Result<(), Refusal> {
    let config = &experiment.config;
    let refuse = |key, message: &str, hint| {
        Err(Refusal { key: Some(key), message: message.to_owned(), hint })
    };
    let without = "leave out --order ns3";
    if config.enable_themis.is_some() {
        let what = "it is a key of the THEMIS prototype, whose order of events is not known";
        return refuse("ENABLE_THEMIS", what, without);
    }
    if experiment.topology.form != Form::Original {
        let what = "the topology is one of a fork, whose order of events is not known";
        return refuse("TOPOLOGY_FILE", what, without);
    }
    if config.conweave_key().is_some() {
        if config.cc_mode != CcMode::Dcqcn {
            let what = "in ConWeave's order of events the law is DCQCN";
            return refuse("CC_MODE", what, "set it to 1, or leave out --order ns3");
        }
        if config.link_down.is_some() {
            let what = "ConWeave's order of events has no failing links";
            return refuse("LINK_DOWN", what, "set it to 0 0 0, or leave out --order ns3");
        }
    } else if !config.enable_pfc {
        let what = "it is a key of ConWeave, and the file has neither LB_MODE nor ENABLE_IRN";
        return refuse("ENABLE_PFC", what, "add LB_MODE 0, or leave out --order ns3");
    }
    if config.simulator_stop_time.is_none() {
        let what = "in the order of ns-3 a run ends at a time of less than 200 days";
        return refuse("SIMULATOR_STOP_TIME", what, "set it to when all flows have ended");
    }
    if let Some(flow) = experiment.flows.iter().find(|flow| flow.size.get() > u64::from(u32::MAX)) {
        let message = format!(
            "a flow from {} to {} has {} bytes, and the simulator's sequence numbers have 32 bits",
            flow.src,
            flow.dst,
            flow.size.get()
        );
        return Err(Refusal {
            key: None,
            message,
            hint: "divide the flow, or leave out --order ns3",
        });
    }
    Ok(())
}
