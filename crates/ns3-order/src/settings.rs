//! What the files of an experiment say, in the units of the event list, and what is refused.

use hpcc_files::topology::Form;
use hpcc_files::{CcMode, Config, Experiment};
use units::Time;

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
    /// In microseconds, as frames carry it.
    pub(crate) pause_time: u32,
    pub(crate) stop: u64,
    pub(crate) monitor_start: u64,
    pub(crate) monitor_end: u64,
    pub(crate) int_multi: u64,
}

impl Settings {
    pub(crate) fn new(config: &Config) -> Settings {
        let ack = if config.cc_mode == CcMode::Hpcc { 88 } else { 60 };
        let pause_time = (config.pause_time.ps() / 1_000_000) as u32;
        Settings {
            mode: config.cc_mode,
            payload: config.packet_payload_size.get(),
            header: config.cc_mode.data_header_bytes(),
            ack,
            ack_interval: config.l2_ack_interval.get() as u32,
            chunk: config.l2_chunk_size.get() as u32,
            ack_class: if config.ack_high_prio { 0 } else { 3 },
            marks: config.enable_qcn,
            pauses: pause_time != 0,
            pause_time,
            stop: config.simulator_stop_time.map_or(u64::MAX, Time::ns),
            monitor_start: config.qlen_mon_start.ns(),
            monitor_end: config.qlen_mon_end.ns(),
            int_multi: u64::from(config.int_multi),
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
/// With the first such setting.
pub fn check(experiment: &Experiment) -> Result<(), Refusal> {
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
    if !config.enable_pfc {
        let what = "it is a key of ConWeave, whose order of events is not known";
        return refuse("ENABLE_PFC", what, without);
    }
    if let Some(key) = config.conweave_key() {
        let what = "it is a key of ConWeave, whose order of events is not known";
        return refuse(key, what, without);
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
