//! From the scenario's words to the fabric's.

use crate::RunOptions;
use fabric::{
    ClassConfig, ClassMarking, ClassSettings, EcnConfig, EcnLaw, Headroom, PfcConfig, Quirks,
    Records, ScanQuirks, Setup, SwitchConfig, Threshold,
};
use scenario::{Scenario, Stop, Trace};
use units::memory::collect;
use units::{Bytes, Time};

/// Buffers and thresholds of the fabric count alpha in these.
const ALPHA_UNIT: f64 = 65_536.0;

pub(crate) fn setup(scenario: &Scenario, options: &RunOptions) -> Setup {
    let (stop, until_done) = match scenario.run.stop {
        Stop::FlowsDone => (scenario.run.time_limit, true),
        Stop::At(stop) => (stop, false),
    };
    Setup {
        nodes: scenario.network.nodes.clone(),
        links: scenario.network.links.clone(),
        outages: scenario.outages.clone(),
        impairments: scenario.impairments.clone(),
        messages: collect(scenario.messages.iter().copied(), "messages"),
        joins: scenario.joins.clone(),
        wire: match scenario.wire.profile {
            scenario::WireProfile::Rocev2 => wire::Profile::Rocev2,
            scenario::WireProfile::HpccNs3 => wire::Profile::HpccNs3,
        },
        payload: scenario.wire.payload,
        host: scenario.host,
        slow_receivers: scenario.slow_receivers.clone(),
        switch: SwitchConfig {
            buffer: scenario.switch.buffer,
            lossy_alpha: lossy_alpha(scenario),
            latency: scenario.switch.latency,
            cioq: scenario.switch.cioq,
        },
        pfc: pfc(scenario),
        ecn: ecn(scenario),
        class_settings: scenario.class_settings.clone(),
        classes: ClassConfig {
            ack: scenario.classes.ack,
            control: scenario.classes.control,
            strict: mask(&scenario.classes.strict),
            quanta: scenario
                .classes
                .weights
                .map(|weight| weight.saturating_mul(scenario.classes.quantum.get() as u32)),
        },
        paths: scenario.routing,
        balance: scenario.balance.clone(),
        quirks: quirks(&scenario.quirks),
        seed: scenario.run.seed,
        stop,
        until_done,
        probes: scenario.probes.iter().map(|named| named.probe.clone()).collect(),
        max_samples: scenario.run.max_samples,
        records: records(&scenario.trace, options),
        spill: options.spill.clone(),
        reference_mode: options.reference_mode,
    }
}

/// The marking law of a run. It marks nothing if only single classes are marked.
fn ecn(scenario: &Scenario) -> Option<EcnConfig> {
    let at_enqueue = scenario.mark_at == scenario::MarkAt::Enqueue;
    let Some(ecn) = &scenario.ecn else {
        let is_law =
            |class: &ClassSettings| matches!(class.marking, Some(ClassMarking::Law { .. }));
        let marks = scenario.class_settings.iter().any(is_law);
        return marks.then(|| EcnConfig::off(at_enqueue));
    };
    Some(EcnConfig {
        law: EcnLaw { kmin: ecn.kmin, kmax: ecn.kmax, pmax: ecn.pmax },
        at: ecn.at,
        by_rate: ecn
            .by_rate
            .iter()
            .map(|&(rate, kmin, kmax, pmax)| (rate, EcnLaw { kmin, kmax, pmax }))
            .collect(),
        at_enqueue,
    })
}

/// By priority, the share of the free buffer that a queue without PFC may take.
fn lossy_alpha(scenario: &Scenario) -> [Option<u32>; 8] {
    let units = |alpha: f64| (alpha * ALPHA_UNIT) as u32;
    let mut alphas = [scenario.switch.lossy_alpha.map(units); 8];
    for class in &scenario.class_settings {
        if let Some(own) = class.lossy_alpha {
            alphas[usize::from(class.priority)] = Some(units(own));
        }
    }
    alphas
}

/// How many samples of a probe an event of a trace counts as.
pub(crate) const SAMPLES_PER_EVENT: u64 = 5;

/// What the scenario, or else who runs it, wants to have recorded.
fn records(trace: &Trace, options: &RunOptions) -> Records {
    if !trace.is_enabled() {
        return options.records.clone();
    }
    Records {
        pfc: trace.pfc,
        packets: trace.packets.iter().copied().collect(),
        queues: None,
        start: trace.start,
        end: trace.end.unwrap_or(Time::NEVER),
        samples_per_event: SAMPLES_PER_EVENT,
    }
}

fn quirks(spec: &scenario::QuirksSpec) -> Quirks {
    // Without a default for what is left out no quirk can be forgotten.
    let scenario::QuirksSpec {
        whole_nanoseconds,
        ns3_ecmp_hash,
        conweave_ecmp_hash,
        conweave_drill,
        conweave_conga,
        conweave_buffer,
        conweave_recovery,
        one_way_rtt,
        acks_ignore_pause,
        silent_duplicates,
        scan_queue_pairs,
        missed_wakeup,
        stale_scan_index,
        // A property of the thresholds.
        rate_scaled_alpha: _,
        threshold_wraparound,
        ns3_ecn_draws,
        conweave_ecn_draws,
        ns3_tie_order,
        packet_round_robin,
    } = *spec;
    let scan = ScanQuirks { missed_wakeup, stale_index: stale_scan_index };
    Quirks {
        whole_nanoseconds,
        ns3_ecmp_hash,
        conweave_ecmp_hash,
        conweave_drill,
        conweave_conga,
        conweave_buffer,
        conweave_recovery,
        one_way_rtt,
        acks_ignore_pause,
        silent_duplicates,
        scan_queue_pairs: scan_queue_pairs.then_some(scan),
        threshold_wraparound,
        ns3_ecn_draws,
        conweave_ecn_draws,
        ns3_tie_order,
        packet_round_robin,
    }
}

fn mask(priorities: &[u8]) -> u8 {
    priorities.iter().fold(0, |mask, priority| mask | 1 << priority)
}

fn pfc(scenario: &Scenario) -> PfcConfig {
    let pfc = &scenario.pfc;
    let shifted_above = scenario.quirks.rate_scaled_alpha.map(|at| at.0);
    let threshold = |threshold| match threshold {
        scenario::Threshold::Static { xoff, xon } => Threshold::Static { xoff, xon },
        scenario::Threshold::Dynamic { alpha, resume_offset, reserve } => {
            let alpha = (alpha * ALPHA_UNIT) as u32;
            Threshold::Dynamic { alpha, shifted_above, resume_offset, reserve }
        }
    };
    PfcConfig {
        timing: pfc.timing,
        lossless: if pfc.enabled { mask(&scenario.classes.lossless) } else { 0 },
        threshold: threshold(pfc.threshold),
        of_class: pfc.of_class.map(|own| own.map(threshold)),
        headroom: match pfc.headroom {
            scenario::Headroom::Auto => Headroom::Auto,
            scenario::Headroom::Fixed(given) => Headroom::Fixed(given),
            scenario::Headroom::TwoBdp => Headroom::CableBdp(2, scenario::Headroom::TWO_PACKETS),
            scenario::Headroom::ThreeBdp => Headroom::CableBdp(3, Bytes::ZERO),
        },
    }
}
