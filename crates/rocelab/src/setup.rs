//! From the scenario's words to the fabric's.

use fabric::{
    Cable, ClassConfig, EcnConfig, HostConfig, Message, Node, PfcConfig, Probe, ProbeKind,
    ProbeTargets, Setup, SwitchConfig, Threshold,
};
use scenario::{Scenario, Stop};
use units::Time;

/// Buffers and thresholds of the fabric count alpha in these.
const ALPHA_UNIT: f64 = 65_536.0;

pub(crate) fn setup(scenario: &Scenario) -> Setup {
    let (stop, until_done) = match scenario.run.stop {
        Stop::FlowsDone => (scenario.run.limit, true),
        Stop::At(stop) => (stop, false),
    };
    Setup {
        nodes: scenario.network.nodes.iter().map(node).collect(),
        cables: scenario
            .network
            .links
            .iter()
            .map(|link| Cable { a: link.a, b: link.b, rate: link.rate, delay: link.delay })
            .collect(),
        messages: scenario
            .messages
            .iter()
            .map(|message| Message {
                src: message.src,
                dst: message.dst,
                size: message.size,
                start: message.start,
                priority: message.priority,
                qp: message.qp,
            })
            .collect(),
        wire: match scenario.wire.profile {
            scenario::WireProfile::Rocev2 => wire::Profile::Rocev2,
            scenario::WireProfile::HpccNs3 => wire::Profile::HpccNs3,
        },
        payload: scenario.wire.payload,
        host: HostConfig {
            ack_every: scenario.host.ack_every,
            retransmit_timeout: scenario.host.retransmit_timeout,
            latency: scenario.host.latency,
            nack: scenario.host.nack,
        },
        switch: SwitchConfig { buffer: scenario.switch.buffer, latency: scenario.switch.latency },
        pfc: pfc(scenario),
        ecn: scenario.ecn.as_ref().map(|ecn| EcnConfig {
            kmin: ecn.kmin,
            kmax: ecn.kmax,
            pmax: ecn.pmax,
            at: ecn.at,
            at_enqueue: ecn.mark_at == scenario::MarkAt::Enqueue,
        }),
        classes: ClassConfig {
            ack: scenario.classes.ack,
            control: scenario.classes.control,
            strict: mask(&scenario.classes.strict),
            quanta: scenario
                .classes
                .weights
                .map(|weight| weight.saturating_mul(scenario.classes.quantum.get() as u32)),
        },
        symmetric: scenario.routing.symmetric,
        seed: scenario.run.seed,
        stop,
        until_done,
        probes: scenario.probes.iter().map(probe).collect(),
    }
}

fn node(node: &scenario::Node) -> Node {
    let kind = match node.kind {
        scenario::NodeKind::Host => fabric::NodeKind::Host,
        scenario::NodeKind::Switch => fabric::NodeKind::Switch,
    };
    Node { kind, tier: node.tier }
}

fn mask(priorities: &[u8]) -> u8 {
    priorities.iter().fold(0, |mask, priority| mask | 1 << priority)
}

fn pfc(scenario: &Scenario) -> PfcConfig {
    let pfc = &scenario.pfc;
    PfcConfig {
        lossless: if pfc.enabled { mask(&scenario.classes.lossless) } else { 0 },
        threshold: match pfc.threshold {
            scenario::Threshold::Static { xoff, xon } => Threshold::Static { xoff, xon },
            scenario::Threshold::Dynamic { alpha, resume_offset, reserve } => {
                Threshold::Dynamic { alpha: (alpha * ALPHA_UNIT) as u32, resume_offset, reserve }
            }
        },
        headroom: match pfc.headroom {
            scenario::Headroom::Auto => None,
            scenario::Headroom::Fixed(given) => Some(given),
        },
    }
}

fn probe(probe: &scenario::Probe) -> Probe {
    use scenario::ProbeKind as From;
    Probe {
        kind: match probe.kind {
            From::Queue => ProbeKind::Queue,
            From::Throughput => ProbeKind::Throughput,
            From::Utilisation => ProbeKind::Utilisation,
            From::Pause => ProbeKind::Pause,
            From::Rate => ProbeKind::Rate,
            From::Window => ProbeKind::Window,
            From::Alpha => ProbeKind::Alpha,
            From::Latency => ProbeKind::Latency,
        },
        interval: probe.interval,
        start: probe.start,
        end: probe.end.unwrap_or(Time::NEVER),
        targets: match &probe.targets {
            scenario::Targets::Ports(ports) => ProbeTargets::Ports(ports.clone()),
            scenario::Targets::Flows(flows) => ProbeTargets::Flows(flows.clone()),
        },
    }
}
