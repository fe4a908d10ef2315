//! How old INT is when it comes to the sender: HPCC's, which data carry, and FNCC's, which ACKs
//! carry ("FNCC", Xu et al., 2024, section 5.4.1 and Figure 12), on a line of three switches.

use crate::common::{ACK, BYTE, Build, FIRST, FULL, G100, line, run};
use crate::toy::{Basic, Log, Meta, Parts, Port, Sender, Switch, ToyScheme, Watching, parts};
use schemes::contract::{
    Ack, Cp, FullCx, HostCx, LocalCx, OnEnqueue, Packet, PortView, RateCode, Scheme, Strict,
    SwitchFacts,
};
use schemes::fncc::{Fncc, IntTable};
use schemes::hpcc::Hpcc;
use schemes::int::{IntRecord, StampInt};
use units::Time;

const SWITCHES: u64 = 3;
/// Times in ps: a cable's delay, and what packets take to be sent.
const DELAY: u64 = 1_500_000;
const FIRST_TAKES: u64 = FIRST * BYTE;
const TAKES: u64 = FULL * BYTE;
const ACK_TAKES: u64 = ACK * BYTE;

/// When an ACK reached the first flow's sender, and its INT records, the first switch's first.
type Telemetry = (u64, Vec<IntRecord>);

/// Calls a hook of scheme `S` with a packet of a toy that is data or an ACK. `part` is what the
/// packets of `S` carry of a toy's.
fn call<T: ToyScheme, S: Scheme>(
    packet: &mut Packet<T>,
    part: fn(&mut Meta) -> &mut S::Meta,
    hook: impl FnOnce(&mut Packet<S>),
) {
    let header = packet.header;
    let Some(meta) = packet.meta_mut() else { return };
    let part = part(meta);
    let mut own = Packet::with_meta(header, *part);
    hook(&mut own);
    if let Some(changed) = own.meta() {
        *part = *changed;
    }
}

/// HPCC's stamps on data.
struct Stamps {
    point: StampInt,
    code: RateCode,
}

impl Stamps {
    fn new(facts: &SwitchFacts<'_>) -> Option<Stamps> {
        let params = schemes::hpcc::presets::paper(G100);
        let point = Hpcc::<5>::congestion_point(&params, facts)?;
        // All ports have one rate.
        let code = Cp::<Hpcc<5>>::port(&point, &params, &facts.ports[0]);
        Some(Stamps { point, code })
    }
}

impl Switch<Basic> for Stamps {
    fn on_depart(
        &mut self,
        cx: &mut LocalCx,
        _: &mut Port,
        view: &PortView,
        packet: &mut Packet<Basic>,
    ) {
        call::<_, Hpcc<5>>(
            packet,
            |meta| &mut meta.report.int,
            |packet| self.point.on_depart(cx, &mut self.code, view, packet),
        );
    }
}

/// FNCC's table, which writes into ACKs.
struct Table(IntTable);

impl Table {
    fn new(facts: &SwitchFacts<'_>) -> Option<Table> {
        Fncc::<5>::congestion_point(&schemes::fncc::presets::paper(G100), facts).map(Table)
    }
    fn hook(
        &mut self,
        now: Time,
        packet: &mut Packet<Watching<Strict>>,
        hook: impl FnOnce(&mut IntTable, &mut FullCx<'_, Fncc<5>>, &mut Packet<Fncc<5>>),
    ) {
        let mut effects = Vec::new();
        let mut cx = FullCx::new(now, &mut effects, &[]);
        let table = &mut self.0;
        call(packet, |meta| &mut meta.report, |packet| hook(table, &mut cx, packet));
    }
}

impl Switch<Watching<Strict>> for Table {
    fn on_depart(
        &mut self,
        cx: &mut FullCx<'_, Watching<Strict>>,
        _: &mut Port,
        view: &PortView,
        packet: &mut Packet<Watching<Strict>>,
    ) {
        self.hook(cx.now, packet, |table, cx, packet| table.on_depart(cx, &mut (), view, packet));
    }
    fn on_enqueue(
        &mut self,
        cx: &mut FullCx<'_, Watching<Strict>>,
        _: &mut Port,
        view: &PortView,
        packet: &mut Packet<Watching<Strict>>,
    ) {
        self.hook(cx.now, packet, |table, cx, packet| table.on_enqueue(cx, &mut (), view, packet));
    }
}

/// Sends at line rate and notes what ACKs say, the first switch's record first.
struct Listener {
    /// Only of the QP that begins at time 0.
    log: Option<Log<Telemetry>>,
    last_hop_first: bool,
}

impl Listener {
    fn new(log: &Log<Telemetry>, last_hop_first: bool, now: Time) -> Listener {
        Listener { log: (now == Time::ZERO).then(|| log.clone()), last_hop_first }
    }
}

impl<S: ToyScheme> Sender<S> for Listener {
    fn on_ack(&mut self, cx: &mut HostCx<'_, S>, ack: &Ack<'_, S>) {
        let mut records: Vec<_> = ack.meta.report.int.records().collect();
        if self.last_hop_first {
            records.reverse();
        }
        if let Some(log) = &self.log {
            log.push((cx.now.ps(), records));
        }
    }
}

/// HPCC's records, which data carry.
fn with_data(log: &Log<Telemetry>) -> Parts<Basic> {
    let log = log.clone();
    parts().sender(move |_, _, now| Listener::new(&log, false, now)).switch(Stamps::new)
}

/// FNCC's records, which ACKs carry.
fn with_acks(log: &Log<Telemetry>) -> Parts<Watching<Strict>> {
    let log = log.clone();
    parts().sender(move |_, _, now| Listener::new(&log, true, now)).switch(Table::new)
}

/// The INT records that reach the sender of a flow of 600 packets. The flow begins at 0; `joins` is
/// when a second flow begins, from a host on the same switch.
fn telemetry<S: ToyScheme>(
    toy: fn(&Log<Telemetry>) -> Parts<S>,
    joins: Option<Time>,
) -> Vec<Telemetry> {
    let mut setup = line(SWITCHES as u32, G100, Time::from_ps(DELAY));
    setup.message(0, 1, 600_000, Time::ZERO);
    if let Some(joins) = joins {
        let other = setup.host();
        setup.cable(other, 2, G100, Time::from_ps(DELAY));
        setup.message(other, 1, 100_000, joins);
    }
    let log = Log::default();
    run::<S>(&setup, toy(&log), 1);
    log.all()
}

/// When packet `k` begins to leave the sender (switch 0) and the switches 1 to 3 of a flow that is
/// alone: back to back, behind the first, which is longer.
const fn leaves(k: u64, switch: u64) -> u64 {
    let first = switch * (FIRST_TAKES + DELAY);
    if k == 0 { first } else { first + FIRST_TAKES + (k - 1) * TAKES }
}

/// When the ACK of that packet begins to leave the switch, or is at the sender (switch 0).
const fn ack_leaves(k: u64, switch: u64) -> u64 {
    leaves(k, SWITCHES) + TAKES + DELAY + (SWITCHES - switch + 1) * (ACK_TAKES + DELAY)
}

/// The age of each switch's record in each ACK of the flow's middle.
fn ages<S: ToyScheme>(toy: fn(&Log<Telemetry>) -> Parts<S>) -> Vec<Vec<u64>> {
    let acks = telemetry(toy, None);
    assert_eq!(acks.len(), 600);
    (200..400)
        .map(|k| {
            let (at, records) = &acks[k as usize];
            assert_eq!((*at, records.len()), (ack_leaves(k, 0), 3));
            records.iter().map(|record| at - record.time.ps()).collect()
        })
        .collect()
}

/// Protects what FNCC is for (Figure 12): HPCC's record is as old as the way of the data from the
/// switch on and of its ACK; FNCC's is that of the last departure before the ACK passes the switch
/// on its way back, so it is younger by the packets that left in between. Most at the first switch.
#[test]
fn int_in_acks_is_younger_by_the_way_from_the_switch_and_back_to_it() {
    let mut gains = Vec::new();
    for (with_data, with_acks) in ages(with_data).iter().zip(ages(with_acks)) {
        gains.clear();
        for switch in 1..=SWITCHES {
            let at = switch as usize - 1;
            // t8 - t1 and so on: the age does not depend on the packet.
            let old = ack_leaves(9, 0) - leaves(9, switch);
            assert_eq!(with_data[at], old, "HPCC, switch {switch}");
            let back = ack_leaves(9, switch) - leaves(9, switch);
            assert_eq!(with_acks[at], old - back / TAKES * TAKES, "FNCC, switch {switch}");
            gains.push(with_data[at] - with_acks[at]);
        }
    }
    // In packets: whole ones within the 9.3, 6.2 and 3.1 us of the way.
    let packets: Vec<u64> = gains.iter().map(|gain| gain / TAKES).collect();
    assert_eq!(packets, [107, 71, 35]);
}

/// Protects the reaction to a flow that joins at the first switch: the instant, to the picosecond,
/// at which its sender first learns of a queue.
#[test]
fn news_of_a_join_takes_the_way_that_is_left() {
    let joins = Time::from_ps(30 * DELAY + 40_000);
    // The first packet of the other flow is whole at the switch, and waits for a packet's end.
    let waits = joins.ps() + FIRST_TAKES + DELAY;
    let heard = |told: Vec<Telemetry>| {
        let first = told.iter().find(|(_, records)| records[0].queue_bytes > 0);
        first.expect("there is a queue").0
    };

    // FNCC: the next ACK that passes the switch.
    let k = (0..600).find(|k| ack_leaves(*k, 1) >= waits).expect("one does");
    assert_eq!(heard(telemetry(with_acks, Some(joins))), ack_leaves(k, 0));

    // HPCC: the next packet of the flow that leaves, which is the one behind the other's first.
    let next = (0..600).find(|k| leaves(*k, 1) >= waits).expect("one does");
    let late = FIRST_TAKES;
    assert_eq!(heard(telemetry(with_data, Some(joins))), ack_leaves(next, 0) + late);
}
