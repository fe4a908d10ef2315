//! Random networks and traffic.

use super::{Build, Dice, LEAST, US, empty};
use fabric::{EcnConfig, EcnLaw, Paths, Setup, Threshold};
use proptest::prelude::*;
use units::{Bytes, Rate, Time};

#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Star,
    Chain,
    LeafSpine,
    FatTree,
    Tree,
    Mesh,
}

#[derive(Clone, Copy, Debug)]
pub enum Traffic {
    Incast,
    Permutation,
    Listed,
}

#[derive(Clone, Copy, Debug)]
pub enum Law {
    None,
    DcqcnPaper,
    DcqcnHpcc,
    Hpcc,
}

#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub shape: Shape,
    pub traffic: Traffic,
    pub law: Law,
    pub dynamic: bool,
    pub ack_every: u32,
    /// ACKs travel in the data's class, as in the HPCC simulator.
    pub acks_with_data: bool,
    /// Decides all the rest: sizes, rates, delays, thresholds, who sends to whom.
    pub seed: u64,
}

pub fn cases() -> impl Strategy<Value = Case> {
    use Shape::{Chain, FatTree, LeafSpine, Mesh, Star, Tree};
    (
        prop::sample::select(vec![Star, Chain, LeafSpine, FatTree, Tree, Mesh]),
        prop::sample::select(vec![
            Traffic::Incast,
            Traffic::Incast,
            Traffic::Permutation,
            Traffic::Listed,
        ]),
        prop::sample::select(vec![
            Law::None,
            Law::None,
            Law::DcqcnPaper,
            Law::DcqcnHpcc,
            Law::Hpcc,
        ]),
        prop::sample::select(vec![false, false, true]),
        prop::sample::select(vec![1, 1, 1, 4, 16]),
        prop::sample::select(vec![false, false, false, true]),
        any::<u64>(),
    )
        .prop_map(|(shape, traffic, law, dynamic, ack_every, acks_with_data, seed)| Case {
            shape,
            traffic,
            law,
            dynamic,
            ack_every,
            acks_with_data,
            seed,
        })
}

fn rate(dice: &mut Dice) -> Rate {
    // Every other rate has no whole number of picoseconds to a byte.
    if dice.one_in(2) {
        Rate::from_gbps(dice.pick(&[10, 25, 40, 50, 100, 200, 400]))
    } else {
        Rate::from_gbps(dice.between(10, 400))
    }
}

fn delay(dice: &mut Dice) -> Time {
    if dice.one_in(2) {
        Time::from_ns(dice.pick(&[10, 100, 500, 1_000, 5_000]))
    } else {
        Time::from_ps(dice.between(50_000, 5_000_000))
    }
}

/// Cables `count` hosts to each of `switches`; all hosts alike, or each with a cable of its own.
fn hosts(setup: &mut Setup, dice: &mut Dice, switches: &[u32], count: u64) -> Vec<u32> {
    let alike = dice.one_in(2);
    let common = (rate(dice), delay(dice));
    let mut all = Vec::new();
    for &switch in switches {
        for _ in 0..count {
            let host = setup.host();
            let (rate, delay) = if alike { common } else { (rate(dice), delay(dice)) };
            setup.cable(host, switch, rate, delay);
            all.push(host);
        }
    }
    all
}

/// No shape has a cyclic dependency of buffers: paths go up and then down, or over one link between
/// switches, or along one tree. So PFC can't deadlock and every flow must end.
fn network(setup: &mut Setup, dice: &mut Dice, shape: Shape) -> Vec<u32> {
    match shape {
        Shape::Star => {
            let switch = setup.switch(1);
            let count = dice.between(3, 12);
            hosts(setup, dice, &[switch], count)
        }
        Shape::Chain => {
            let switches: Vec<u32> = (0..dice.between(2, 4)).map(|_| setup.switch(1)).collect();
            for pair in switches.windows(2) {
                let (rate, delay) = (rate(dice), delay(dice));
                setup.cable(pair[0], pair[1], rate, delay);
            }
            let count = dice.between(1, 4);
            hosts(setup, dice, &switches, count)
        }
        Shape::LeafSpine => {
            let leaves: Vec<u32> = (0..dice.between(2, 4)).map(|_| setup.switch(1)).collect();
            let spines: Vec<u32> = (0..dice.between(1, 3)).map(|_| setup.switch(2)).collect();
            let (rate, delay) = (rate(dice), delay(dice));
            for &leaf in &leaves {
                for &spine in &spines {
                    setup.cable(leaf, spine, rate, delay);
                }
            }
            let count = dice.between(1, 4);
            hosts(setup, dice, &leaves, count)
        }
        Shape::FatTree => {
            let (rate, delay) = (rate(dice), delay(dice));
            let cores: Vec<u32> = (0..4).map(|_| setup.switch(3)).collect();
            let mut tors = Vec::new();
            for _pod in 0..4 {
                let aggregation = [setup.switch(2), setup.switch(2)];
                for (number, &switch) in aggregation.iter().enumerate() {
                    for &core in &cores[number * 2..number * 2 + 2] {
                        setup.cable(switch, core, rate, delay);
                    }
                }
                for _ in 0..2 {
                    let tor = setup.switch(1);
                    tors.push(tor);
                    for switch in aggregation {
                        setup.cable(tor, switch, rate, delay);
                    }
                }
            }
            hosts(setup, dice, &tors, 2)
        }
        Shape::Tree => {
            let switches: Vec<u32> = (0..dice.between(2, 6)).map(|_| setup.switch(1)).collect();
            for (number, &switch) in switches.iter().enumerate().skip(1) {
                let parent = switches[dice.between(0, number as u64 - 1) as usize];
                // Some links are double: ECMP has something to choose.
                let (rate, delay) = (rate(dice), delay(dice));
                for _ in 0..dice.between(1, 2) {
                    setup.cable(parent, switch, rate, delay);
                }
            }
            let count = dice.between(1, 3);
            hosts(setup, dice, &switches, count)
        }
        Shape::Mesh => {
            let switches: Vec<u32> = (0..dice.between(3, 5)).map(|_| setup.switch(1)).collect();
            for (number, &a) in switches.iter().enumerate() {
                for &b in &switches[number + 1..] {
                    let (rate, delay) = (rate(dice), delay(dice));
                    setup.cable(a, b, rate, delay);
                }
            }
            let count = dice.between(1, 3);
            hosts(setup, dice, &switches, count)
        }
    }
}

fn traffic(setup: &mut Setup, dice: &mut Dice, kind: Traffic, hosts: &[u32]) {
    let mut hosts = hosts.to_vec();
    dice.shuffle(&mut hosts);
    let full_size = dice.between(1, 80_000);
    let start = Time::from_ps(dice.between(0, 3_000_000));
    let mut wanted = Vec::new();
    match kind {
        Traffic::Incast => {
            let senders = dice.between(2, 12).min(hosts.len() as u64 - 1) as usize;
            for round in 0..dice.between(1, 3) {
                for &sender in &hosts[1..=senders] {
                    wanted.push((sender, hosts[0], 20_000 + full_size, start + US * (20 * round)));
                }
            }
        }
        Traffic::Permutation => {
            for (place, &sender) in hosts.iter().enumerate() {
                let receiver = hosts[(place + 1) % hosts.len()];
                wanted.push((sender, receiver, 20_000 + full_size, start));
            }
        }
        Traffic::Listed => {
            for _ in 0..dice.between(5, 30) {
                let (src, dst) = (dice.pick(&hosts), dice.pick(&hosts));
                let size = dice.pick(&[1, 1_000, 1_001, 12_345, 50_000, 100_000]);
                let start = Time::from_ps(dice.between(0, 20_000_000));
                if src != dst {
                    wanted.push((src, dst, size, start));
                }
            }
            // Never nothing at all.
            wanted.push((hosts[0], hosts[1], 5_000, start));
        }
    }
    wanted.sort_by_key(|&(.., start)| start);
    let two_classes = dice.one_in(3);
    for (src, dst, size, start) in wanted {
        let flow = setup.message(src, dst, size, start);
        if two_classes && dice.one_in(2) {
            setup.messages[flow].priority = 4;
        }
    }
    // Some messages share a QP.
    if dice.one_in(4) {
        for later in 1..setup.messages.len() {
            let message = setup.messages[later];
            let same = |m: &&fabric::Message| {
                (m.src, m.dst, m.priority) == (message.src, message.dst, message.priority)
            };
            if let Some(earlier) = setup.messages[..later].iter().find(same) {
                setup.messages[later].qp = earlier.qp;
            }
        }
    }
}

/// Room above the threshold that IEEE 802.1Q annex N's reasoning gives for a port: what crosses
/// the threshold, waits behind the packet on the wire, is sent, is on the cable both ways, and the
/// packet that the peer had begun.
fn room(setup: &Setup, node: u32, packet: u64) -> u64 {
    let classes = u64::from(setup.pfc.lossless.count_ones());
    setup
        .links
        .iter()
        .filter(|cable| cable.a.get() == node || cable.b.get() == node)
        .map(|cable| {
            let travelling = cable.rate.bytes_in(cable.delay * 2 + setup.switch.latency).get() + 1;
            classes * (3 * packet + classes * LEAST + travelling)
        })
        .sum()
}

pub fn build(case: &Case) -> Setup {
    let mut dice = Dice::new(case.seed);
    let mut setup = empty();
    let all = network(&mut setup, &mut dice, case.shape);
    traffic(&mut setup, &mut dice, case.traffic, &all);
    setup.seed = dice.word();
    setup.stop = Time::from_ms(2_000);
    // Several trees of a mesh would depend on each other in a cycle.
    let trees = if matches!(case.shape, Shape::Mesh) { 1 } else { dice.between(1, 5) as u32 };
    setup.paths = dice.pick(&[Paths::FiveTuple, Paths::Symmetric, Paths::SpanningTrees(trees)]);
    setup.host.ack_every = case.ack_every;
    setup.host.latency = Time::from_ps(dice.pick(&[0, 0, 300_000, 1_234_567]));
    setup.switch.latency = Time::from_ps(dice.pick(&[0, 0, 400_000, 765_432]));
    setup.payload = dice.pick(&[256, 1_000, 1_000, 4_096]);
    setup.classes.ack = Some(if case.acks_with_data { 3 } else { 6 });
    setup.pfc.lossless = 0b1_1000;
    if !matches!(case.law, Law::None | Law::Hpcc) {
        setup.ecn = Some(EcnConfig {
            law: EcnLaw {
                kmin: Bytes::new(dice.between(0, 20_000)),
                kmax: Bytes::new(dice.between(20_001, 200_000)),
                pmax: 0.2,
            },
            at: None,
            by_rate: Vec::new(),
            at_enqueue: dice.one_in(2),
        });
    }
    // The largest packet that any scheme makes: RETH and INT for ten hops.
    let packet = wire::Profile::Rocev2.data_bytes(setup.payload, true, 82).into();
    let switches = 0..setup.nodes.len() as u32;
    let headrooms = switches.clone().map(|node| room(&setup, node, packet)).max().unwrap();
    let ports = switches
        .map(|node| {
            let ends = setup.links.iter().flat_map(|cable| [cable.a, cable.b]);
            ends.filter(|end| end.get() == node).count() as u64
        })
        .max()
        .unwrap();
    // ACKs that are not lossless use the buffer too.
    let acks = 200_000;
    if case.dynamic {
        let reserve = dice.pick(&[0, 2_000, 4_000]);
        setup.pfc.threshold = Threshold::Dynamic {
            alpha: dice.pick(&[1 << 12, 1 << 14, 1 << 16]),
            shifted_above: None,
            resume_offset: Bytes::new(dice.pick(&[0, 1_000, 3_000])),
            reserve: Bytes::new(reserve),
        };
        let shared = dice.between(10_000, 200_000);
        setup.switch.buffer = Bytes::new(headrooms + ports * reserve + shared + acks);
    } else {
        let xoff = dice.between(2_000, 30_000);
        let xon = dice.between(0, xoff - 1);
        setup.pfc.threshold = Threshold::Static { xoff: Bytes::new(xoff), xon: Bytes::new(xon) };
        setup.switch.buffer = Bytes::new(headrooms + 2 * ports * xoff + acks);
    }
    setup
}
