//! Measures single parts: the engine without a network, and HPCC's law without an engine.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::{Device, Layout, Link, Rank, RunLimits, Window, run};
use schemes::contract::{PathFacts, Scheme};
use schemes::hpcc::{self, Hpcc};
use schemes::hpcc::window::ReactionPoint;
use schemes::int::{IntRecord, IntStack};
use schemes::testing;
use std::hint::black_box;
use units::{Bytes, NodeId, PortId, Rate, Time};

/// Forwards each packet to the next relay. Serialising it takes 100 ns.
struct Relay {
    next: Link,
    free: Time,
    tokens: u32,
}

const WIRE: Time = Time::from_ns(100);
const CABLE: Time = Time::from_us(1);

impl Device for Relay {
    type Packet = u64;
    fn advance(&mut self, window: &mut Window<'_, '_, u64>) -> Time {
        for token in 0..std::mem::take(&mut self.tokens) {
            let handle = window.packets.insert(u64::from(token));
            self.free = self.free + WIRE;
            window.send(&mut self.next, self.free + CABLE, Rank::Third, handle);
        }
        while let Some((now, _, mut handle)) = window.next_arrival() {
            *window.packets.get_mut(&mut handle) += 1;
            self.free = self.free.max(now) + WIRE;
            window.send(&mut self.next, self.free + CABLE, Rank::Third, handle);
        }
        Time::NEVER
    }
}

fn engine(criterion: &mut Criterion) {
    const RELAYS: u32 = 64;
    const TOKENS: u32 = 8;
    let limits = RunLimits { stop: Time::from_us(200), goal: None, max_records: u64::MAX };
    let layout = Layout::one_group_per_device(RELAYS as usize, 1, CABLE);
    // Each hop of a token takes 1.1 us, and no relay is busy all the time.
    let hops = u64::from(RELAYS * TOKENS) * 200_000 / 1_100;
    let mut group = criterion.benchmark_group("engine");
    group.throughput(Throughput::Elements(hops));
    group.bench_function("tokens round a ring of 64", |bencher| {
        bencher.iter(|| {
            let relay = |number| Relay {
                next: Link::new((number + 1) % RELAYS, 0),
                free: Time::ZERO,
                tokens: TOKENS,
            };
            run((0..RELAYS).map(relay).collect(), &layout, limits, &|_| true)
        });
    });
    group.finish();
}

fn hpcc(criterion: &mut Criterion) {
    let line = Rate::from_gbps(100);
    let rtt = Time::from_us(12);
    let packet_bytes = Bytes::new(1124);
    let path = PathFacts { switches: 5, packet_bytes, ..testing::path(line, rtt) };
    let params = hpcc::presets::paper(line);
    let mut law = ReactionPoint::<5>::new(&params, &path);
    let mut round = 0u64;
    criterion.bench_function("HPCC's window, an ACK with 5 hops", |bencher| {
        bencher.iter(|| {
            round += 1;
            let mut records = IntStack::<5>::default();
            for hop in 0..5u32 {
                let now = Time::from_ns(100 * round + u64::from(hop));
                let record = IntRecord {
                    rate: path.rates.code(line),
                    time: now,
                    tx_bytes: 1_124 * round,
                    queue_bytes: u64::from(hop) * 500,
                };
                records.push(NodeId::new(hop), PortId::new(1), record);
            }
            let acknowledged = 1_000 * round;
            law.new_ack(Time::from_ns(100 * round), acknowledged, acknowledged + 90_000, &records);
            black_box(law.window())
        });
    });
}

criterion_group!(parts, engine, hpcc);
criterion_main!(parts);
