//! TCD's congestion point in a network: which code points packets leave a port with that only PFC
//! holds back, and one that is congested.

use crate::common;
use crate::common::{Build, G100, US, empty, run};
use fabric::{EcnConfig, EcnLaw, Outage, Probe, ProbeKind, ProbeTargets, RunOutput, Setup};
use schemes::contract::Preset;
use schemes::contract::{
    Absent, Cp, EcnCodePoint, Flags, HostFacts, LocalCx, NoCtl, OnEnqueue, Packet, PacketKind,
    PathFacts, PlainReceiver, PortFacts, PortLocal, PortView, Rp, Scheme, SendLimits, Stack,
    SwitchFacts,
};
use schemes::params::{ParamError, ParamSpec, Params, Value};
use schemes::tcd::{Tcd, TcdParams};
use std::sync::{Arc, Mutex};
use units::{Bytes, NodeId, PortId, Rate, Time};

/// What a packet was when it left a port: its message, whether it found others waiting there, and
/// its code point.
#[derive(Clone, Copy, Debug)]
struct Left {
    node: u32,
    port: u16,
    flow: u32,
    queued: bool,
    code_point: EcnCodePoint,
}

#[derive(Clone, Debug, Default)]
struct Watched {
    tcd: TcdParams,
    log: Arc<Mutex<Vec<Left>>>,
}

impl Params for Watched {
    fn specs() -> &'static [ParamSpec] {
        &[]
    }
    fn get(&self, _: &str) -> Option<Value> {
        None
    }
    fn set(&mut self, name: &str, _: Value) -> Result<(), ParamError> {
        Err(ParamError::UnknownParam(name.to_owned(), Vec::new()))
    }
}

/// Senders without control, TCD in the switches, and a record of what leaves them.
#[derive(Debug)]
struct UnderTcd;

impl Scheme for UnderTcd {
    const NAME: &'static str = "under-tcd";
    const TITLE: &'static str = "a toy";
    const PAPER: &'static str = "none";
    const PRESETS: &'static [Preset<Watched>] = &[];
    type Params = Watched;
    type Meta = ();
    type Ctl = NoCtl;
    type Host = ();
    type Rp = LineRate;
    type Np = PlainReceiver;
    type Cp = Stack<Watch, Tcd>;
    fn host(_: &Watched, _: &HostFacts) {}
    fn congestion_point(params: &Watched, facts: &SwitchFacts<'_>) -> Option<Stack<Watch, Tcd>> {
        let watch = Watch { node: facts.node, log: Arc::clone(&params.log) };
        Some(Stack(watch, Tcd(params.tcd.clone())))
    }
}

#[derive(Debug)]
struct LineRate;

impl Rp<UnderTcd> for LineRate {
    type Timer = Absent;
    fn open(_: &Watched, _: &mut (), _: &PathFacts, _: Time) -> LineRate {
        LineRate
    }
    fn limits(&self) -> SendLimits {
        SendLimits::UNLIMITED
    }
}

struct Watch {
    node: NodeId,
    log: Arc<Mutex<Vec<Left>>>,
}

impl Cp<UnderTcd> for Watch {
    type Level = PortLocal;
    type Port = ();
    schemes::hooks!(enqueues);
    fn port(&self, _: &Watched, _: &PortFacts) {}
    fn on_rate(&mut self, _: &Watched, (): &mut (), _: &PortFacts) {}
    fn on_depart(
        &mut self,
        _: &mut LocalCx,
        _: &mut (),
        view: &PortView,
        packet: &mut Packet<UnderTcd>,
    ) {
        let header = &packet.header;
        if header.kind == PacketKind::Data {
            self.log.lock().unwrap().push(Left {
                node: self.node.get(),
                port: view.port.get(),
                flow: header.address.flow,
                queued: header.flags.contains(Flags::MARK),
                code_point: header.code_point,
            });
        }
    }
}

impl OnEnqueue<UnderTcd> for Watch {
    fn on_enqueue(
        &mut self,
        _: &mut LocalCx,
        _: &mut (),
        view: &PortView,
        packet: &mut Packet<UnderTcd>,
    ) {
        packet.header.flags.set(Flags::MARK, view.class_bytes > 0);
    }
}

/// Hosts 0 (victim) and 1 on switch 4, a link P1 of 400 Gb/s to switch 5, and there hosts 2 and 3
/// (receivers) and `bursts` more that send to host 3 as host 1 does. All marks that can be are
/// made: RED with Kmin = Kmax = 20 KB.
fn chain(bursts: u32, size: u64) -> Setup {
    let mut setup = empty();
    for _ in 0..4 {
        setup.host();
    }
    let (near, far) = (setup.switch(1), setup.switch(1));
    setup.cable(near, far, Rate::from_gbps(400), US);
    for host in [0, 1] {
        setup.cable(host, near, G100, US);
    }
    // What P1 lets go at once after a pause must not queue on the victim's last link.
    setup.cable(2, far, Rate::from_gbps(400), US);
    setup.cable(3, far, G100, US);
    setup.message(0, 2, 4 * size, Time::ZERO);
    // Between the victim's packets, which else would find its own waiting.
    setup.message(1, 3, size, Time::from_ns(43));
    for _ in 0..bursts {
        let host = setup.host();
        setup.cable(host, far, G100, US);
        setup.message(host, 3, size, Time::ZERO);
    }
    let threshold = Bytes::new(20_000);
    setup.ecn = Some(EcnConfig {
        law: EcnLaw { kmin: threshold, kmax: threshold, pmax: 1.0 },
        by_rate: Vec::new(),
        at: None,
        at_enqueue: false,
    });
    setup
}

const NEAR: u32 = 4;
const FAR: u32 = 5;

fn watch(setup: &Setup) -> (RunOutput, Vec<Left>) {
    let params = Watched::default();
    let output = run::<UnderTcd>(setup, params.clone(), 1);
    let log = params.log.lock().unwrap().clone();
    (output, log)
}

/// Protects TCD's point: behind a pause a queue is no congestion. P1 gets 200 Gb/s and could send
/// 400; an incast behind it pauses it again and again. Without TCD, RED would mark there.
#[test]
fn a_port_that_only_pfc_holds_back_marks_ue_and_no_ce() {
    let (output, log) = watch(&chain(8, 2_000_000));
    let p1 = common::port(&output, NEAR, 0);
    assert!(p1.pause_frames_received > 10 && p1.max_queue_bytes > 100_000, "{p1:?}");
    assert_eq!(p1.ecn_marked_packets, 0);
    let at_p1 = || log.iter().filter(|left| (left.node, left.port) == (NEAR, 0));
    let none_ce = at_p1().all(|left| left.code_point != EcnCodePoint::CongestionExperienced);
    assert!(none_ce, "CE at P1");
    let queued = at_p1().filter(|left| left.queued).count();
    let ue =
        at_p1().filter(|left| left.queued && left.code_point == EcnCodePoint::Undetermined).count();
    assert!(queued > 1_000 && ue * 100 >= queued * 95, "{ue} UE of {queued} queued");
    // The victim arrives with what P1 gave it; the port where all meet overrides with CE.
    let victim_ce = log
        .iter()
        .any(|left| left.flow == 0 && left.code_point == EcnCodePoint::CongestionExperienced);
    assert!(!victim_ce, "the victim meets congestion nowhere");
    let crossing = log.iter().filter(|left| (left.node, left.flow) == (FAR, 1));
    let (ce, all) = crossing.fold((0, 0), |(ce, all), left| {
        (ce + u32::from(left.code_point == EcnCodePoint::CongestionExperienced), all + 1)
    });
    assert!(ce * 10 > all * 9, "{ce} CE of {all} of the flow that takes part in the incast");
}

/// Protects detection after PFC: a port that is congested in truth is found so once it has been ON
/// for max(Ton). P1 gets 200 Gb/s and can send 100, and for a while an incast behind it pauses it.
#[test]
fn congestion_is_found_once_pfc_is_over() {
    let mut setup = chain(8, 1_000_000);
    setup.links[0].rate = G100;
    setup.messages[0].size = Bytes::new(40_000_000);
    setup.message(1, 2, 40_000_000, Time::ZERO);
    let interval = US;
    let targets = ProbeTargets::Ports(vec![(NodeId::new(NEAR), PortId::new(0))]);
    let (start, end) = (Time::ZERO, Time::from_ms(3));
    let kinds = [ProbeKind::PortState, ProbeKind::Pause];
    setup.probes = kinds
        .map(|kind| Probe { kind, priority: None, interval, start, end, targets: targets.clone() })
        .to_vec();
    let (output, _) = watch(&setup);
    let of = |probe| output.samples.of(probe).map(Result::unwrap);
    let last_pause = of(1).filter(|sample| sample.value == 1.0).last().expect("a pause").time;
    let after = |value: fn(f64) -> bool| {
        let found = of(0).find(|sample| sample.time > last_pause && value(sample.value));
        (found.expect("it leaves the state").time - last_pause).ns()
    };
    // max(Ton) = 21 (2 tau + B / C), tau = 1 us and a packet of 1082 B, B = 2000 B: 49.0 us; the
    // resume and the change fall between samples.
    let undetermined = after(|state| state != 2.0);
    assert!((49_000..=51_000).contains(&undetermined), "{undetermined} ns after the last pause");
    // The queue may have shrunk since the resume, and is then looked at again.
    let found = after(|state| state == 1.0);
    assert!((49_000..=150_000).contains(&found), "{found} ns after the last pause");
}

/// Protects the derivation of max(Ton): where the rate drained downstream is C / (1 + epsilon), a
/// port is ON for nearly that long at a time, and no longer.
#[test]
fn on_periods_at_epsilon_last_max_on() {
    let mut setup = common::line(2, G100, US);
    setup.links[2].rate = Rate::from_bps(95_238_095_238);
    setup.message(0, 1, 30_000_000, Time::ZERO);
    let targets = ProbeTargets::Ports(vec![(NodeId::new(2), PortId::new(1))]);
    // From when Xoff is first reached: 320 KB at 4.76 Gb/s.
    let (start, end) = (Time::from_us(700), Time::from_us(2_000));
    let interval = Time::from_ns(100);
    setup.probes = vec![Probe {
        kind: ProbeKind::Pause,
        priority: None,
        interval,
        start,
        end,
        targets: targets.clone(),
    }];
    let (output, _) = watch(&setup);
    let samples: Vec<f64> =
        output.samples.of(0).map(Result::unwrap).map(|sample| sample.value).collect();
    let spans: Vec<usize> = samples.chunk_by(|a, b| a == b).map(<[f64]>::len).collect();
    // The first and the last were cut off.
    let longest = *spans[1..spans.len() - 1].iter().max().expect("it was paused") as u64 * 100;
    // 49.0 us, less what pause and resume frames, shorter than data, save of 2 tau.
    assert!(spans.len() > 20 && (44_000..=49_100).contains(&longest), "{longest} ns");
}

/// Protects from a port that counts as paused for ever: its link fails under a pause, and no resume
/// comes.
#[test]
fn a_failure_ends_a_pause_for_tcd_too() {
    let mut setup = chain(8, 1_000_000);
    setup.cable(NEAR, FAR, Rate::from_gbps(400), US);
    setup.host.retransmit_timeout = Time::from_us(500);
    let targets = ProbeTargets::Ports(vec![(NodeId::new(NEAR), PortId::new(0))]);
    let (interval, start, end) = (US, Time::ZERO, Time::from_ms(2));
    let kinds = [ProbeKind::Pause, ProbeKind::PortState];
    setup.probes = kinds
        .map(|kind| Probe { kind, priority: None, interval, start, end, targets: targets.clone() })
        .to_vec();
    let (whole, _) = watch(&setup);
    let paused = whole
        .samples
        .of(0)
        .map(Result::unwrap)
        .find(|sample| sample.value == 1.0)
        .expect("a pause")
        .time;
    setup.outages = vec![Outage { link: 0, from: paused, until: Time::NEVER, entry: 0 }];
    let (output, _) = watch(&setup);
    let state = |from: Time| {
        output.samples.of(1).map(Result::unwrap).find(|sample| sample.time >= from).unwrap().value
    };
    assert_eq!(state(paused - US / 2), 2.0, "it was paused");
    assert_eq!(state(paused + Time::from_us(100)), 0.0, "max(Ton) later");
}
