//! HierCC's laws on sequences worked out by hand: equation 1, the credits of a VOQ, the lists of
//! flows, the credit scheduler.

use schemes::contract::{
    Address, EcnCodePoint, Flags, Header, HostCx, HostLocation, LinkRates, PacketKind, PathFacts,
    Rp, Scheme, SwitchFacts,
};
use schemes::hiercc::{
    self, Control, CreditRequest, Downlink, FirstHop, Flows, FullRate, Hiercc, HierccParams,
    ReactionPoint, SentCounter, Stamp, Voq,
};
use schemes::params::{ParamError, Value};
use schemes::registry::params_of;
use schemes::testing;
use units::{Bytes, NodeId, Rate, Time};

const LINE: Rate = Rate::from_gbps(25);

fn paper() -> HierccParams {
    hiercc::presets::paper(LINE)
}

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn ns(n: u64) -> Time {
    Time::from_ns(n)
}

#[test]
fn the_papers_values_at_its_rate() {
    let params = paper();
    let kb = |n: u64| Bytes::new(n * 1000);
    assert_eq!((params.initial_credits, params.credit), (kb(10), kb(1)));
    assert_eq!(
        (params.target_queue, params.stop_queue, params.resume_queue),
        (kb(20), kb(70), kb(50))
    );
    assert_eq!((params.beta, params.hop_rtt, params.mark_interval), (0.2, us(2), us(10)));
    assert!(!params.fill_path && params.sent_counter == SentCounter::Left);
}

#[test]
fn values_that_do_not_go_together_are_refused() {
    let refused = |name: &str, value| {
        let overrides = [(name.to_owned(), value)];
        match params_of::<Hiercc>("hiercc-ahead", LINE, &overrides) {
            Err(ParamError::Conflict(which, _)) => assert_eq!(which, name),
            other => panic!("{name}: {other:?}"),
        }
    };
    refused("resume_queue", Value::Bytes(Bytes::new(71_000)));
    refused("target_queue", Value::Bytes(Bytes::new(71_000)));
    refused("voq_per", Value::Choice("rack"));
}

/// At 1 Gb/s q0 of 800 B is less than a packet, and V_high twice its 2.8 KB: 44.8 us, not 22.4.
#[test]
fn what_waits_in_a_full_voq_is_not_lost() {
    let line = Rate::from_gbps(1);
    let check = |loss_timeout| {
        let params = HierccParams { loss_timeout, ..hiercc::presets::path(line) };
        let facts = SwitchFacts {
            node: NodeId::new(0),
            tier: 1,
            ports: &[],
            hosts: &[HostLocation { tor: NodeId::new(0), rack: 0, pod: 0, rate: line, ports: 1 }],
            network_rtt: us(8),
            packet_bytes: Bytes::new(1_082),
            rates: &LinkRates::new([]),
            seed: 1,
        };
        Hiercc::check_switch(&params, &facts)
    };
    let least = us(8) + line.time_for(Bytes::new(5_600));
    assert_eq!(check(least), Ok(()));
    let refused = check(least - ns(1)).expect_err("a full VOQ takes longer");
    let ParamError::Conflict("loss_timeout", why) = &refused else { panic!("{refused:?}") };
    assert!(why.contains("5600B") && why.contains("52800ns"), "{why}");
}

/// A packet in 10 us, as senders hear of their rate by what they mark; of slow lines a tenth, of
/// fast ones a hundredth.
#[test]
fn a_sender_always_hears_of_its_rate() {
    let least = |gbps| hiercc::presets::path(Rate::from_gbps(gbps)).min_rate;
    assert_eq!([1, 10, 25, 100].map(least), [100, 870, 870, 1000].map(Rate::from_mbps));
}

/// Equation 1 every RTT_hop / beta = 10 us. A byte above q0 = 20 KB takes 0.2 x 8 b / 2 us =
/// 0.8 Mb/s.
#[test]
fn the_rate_follows_credits_arrivals_and_the_queue() {
    let mut hop = FirstHop::new(&paper(), LINE, Time::ZERO);
    let mut interval = |now: u64, arrived, credited, queue| {
        hop.arrive(arrived);
        hop.credit(credited);
        hop.update(us(now), queue, 1_100);
        hop.rate()
    };
    // 50 Gb/s came, 25 Gb/s of credits, 10 KB too much: 25 x (25 - 8) / 50.
    assert_eq!(interval(10, 62_500, 31_250, 30_000), Rate::from_mbps(8_500));
    // The interval is not over: nothing happens, but what came counts.
    assert_eq!(interval(15, 10_000, 0, 90_000), Rate::from_mbps(8_500));
    // 17 Gb/s, 25 Gb/s, 5 KB too much: 8.5 x (25 - 4) / 17.
    assert_eq!(interval(20, 11_250, 31_250, 25_000), Rate::from_mbps(10_500));
    // Nothing arrived: R stays.
    assert_eq!(interval(30, 0, 31_250, 25_000), Rate::from_mbps(10_500));
    // 40 KB too much take 32 Gb/s: below nothing, so the least.
    assert_eq!(interval(40, 25_000, 31_250, 60_000), Rate::from_mbps(870));
    // Below q0: the line rate, and never more.
    assert_eq!(interval(50, 25_000, 31_250, 19_999), LINE);
    assert_eq!(interval(60, 12_500, 31_250, 20_000), LINE);
}

/// A slower link of the rack's fastest host lowers R_line, and with it R(t); a faster one only
/// lets R(t) rise.
#[test]
fn the_line_rate_is_the_present_one() {
    let mut hop = FirstHop::new(&paper(), LINE, Time::ZERO);
    let slow = Rate::from_mbps(500);
    hop.set_line(&paper(), slow);
    assert_eq!(hop.rate(), slow);
    // Below q0, and then far above it: the least rate is no more than the line's.
    hop.update(us(10), 0, 1_100);
    assert_eq!(hop.rate(), slow);
    hop.arrive(25_000);
    hop.update(us(20), 60_000, 1_100);
    assert_eq!(hop.rate(), slow);
    hop.set_line(&paper(), LINE);
    assert_eq!(hop.rate(), slow);
    hop.update(us(30), 0, 1_100);
    assert_eq!(hop.rate(), LINE);
}

/// With `full_rate = FullRate::Empty` the rate rises towards q0 from below, too.
#[test]
fn below_q0_equation_1_lets_the_queue_grow_unless_it_is_empty() {
    let params = HierccParams { full_rate: FullRate::Empty, ..paper() };
    let mut hop = FirstHop::new(&params, LINE, Time::ZERO);
    let mut interval = |now: u64, arrived, credited, queue| {
        hop.arrive(arrived);
        hop.credit(credited);
        hop.update(us(now), queue, 1_100);
        hop.rate()
    };
    // 50 Gb/s came, 17 Gb/s of credits, 10 KB too little: 25 x (17 + 8) / 50.
    assert_eq!(interval(10, 62_500, 21_250, 10_000), Rate::from_mbps(12_500));
    // The packet that asks is not alone; 18.8 KB too little are 15.04 Gb/s: 12.5 x 20.04 / 25.
    assert_eq!(interval(20, 31_250, 6_250, 1_200), Rate::from_mbps(10_020));
    assert_eq!(interval(30, 31_250, 0, 1_100), LINE);
}

#[test]
fn a_voq_sends_what_it_has_credits_for() {
    let mut voq = Voq::new(3_000, 1, 4, FirstHop::new(&paper(), LINE, Time::ZERO));
    for port in [1, 2, 2, 2] {
        voq.join(port, 1_100);
    }
    assert_eq!((voq.queue(), voq.sent(0, false), voq.sent(0, true)), (4_400, 0, 4_400));
    assert!(voq.may_send(1_100));
    voq.leave(us(1), 0, 1, 1_100);
    voq.leave(us(1), 0, 2, 1_100);
    assert_eq!((voq.credits(), voq.sent(0, false)), (800, 2_200));
    assert!(!voq.may_send(1_100) && voq.may_send(800));
    assert_eq!(voq.ports().collect::<Vec<_>>(), [2]);
    voq.credit(us(1), 0, 1_000);
    assert!(voq.may_send(1_100));
}

#[test]
fn a_voq_with_all_its_credits_sends_packets_that_are_larger() {
    let mut voq = Voq::new(1_000, 1, 1, FirstHop::new(&paper(), LINE, Time::ZERO));
    voq.join(0, 1_500);
    assert!(voq.may_send(1_500));
    voq.leave(us(1), 0, 0, 1_500);
    voq.credit(us(1), 0, 1_000);
    assert!(!voq.may_send(1_500), "500 are still out");
    voq.credit(us(1), 0, 2_000);
    assert!(voq.may_send(1_500));
}

#[test]
fn a_voq_whose_credits_were_lost_begins_anew() {
    let mut voq = Voq::new(2_000, 1, 1, FirstHop::new(&paper(), LINE, Time::ZERO));
    for _ in 0..3 {
        voq.join(0, 1_500);
    }
    voq.leave(us(1), 0, 0, 1_500);
    assert!(!voq.reset(us(10_000), 1_500, us(10_000)), "they may still come");
    voq.credit(us(10_000), 0, 500);
    assert!(!voq.reset(us(10_001), 1_500, us(10_000)), "something moved");
    assert!(voq.reset(us(20_000), 1_500, us(10_000)));
    assert_eq!(voq.credits(), 2_000);
    assert!(!voq.reset(us(40_000), 1_500, us(10_000)), "it has enough");
    // The next credit includes what was lost, and C0 has made up for it.
    voq.credit(us(40_000), 0, 1_500);
    assert_eq!(voq.credits(), 2_000, "of old");
    voq.leave(us(40_000), 0, 0, 1_500);
    voq.credit(us(40_001), 0, 3_000);
    assert_eq!(voq.credits(), 2_000, "never more than C0");
}

#[test]
fn the_next_credit_makes_up_for_a_lost_one() {
    let mut link = downlink();
    let mut voq = Voq::new(4_000, 1, 1, FirstHop::new(&paper(), LINE, Time::ZERO));
    for _ in 0..3 {
        voq.join(0, 1_000);
        voq.leave(us(1), 0, 0, 1_000);
    }
    link.on_request(us(1), &request(0, 1, voq.sent(0, false)));
    let mut grant = || link.grant(link.due()).granted;
    let (_lost, second, third) = (grant(), grant(), grant());
    assert_eq!(voq.credits(), 1_000);
    voq.credit(us(2), 0, third);
    assert_eq!(voq.credits(), 4_000, "all three");
    voq.credit(us(3), 0, second);
    assert_eq!(voq.credits(), 4_000, "the second was overtaken");
}

/// The VOQ for a rack has a credit loop with each of its downlinks.
#[test]
fn downlinks_that_share_a_voq_have_accounts_of_their_own() {
    let mut voq = Voq::new(4_000, 2, 1, FirstHop::new(&paper(), LINE, Time::ZERO));
    for (receiver, size) in [(0, 1_000), (1, 1_500), (0, 1_000)] {
        voq.join(0, size);
        voq.leave(us(1), receiver, 0, size);
    }
    assert_eq!([0, 1].map(|receiver| voq.sent(receiver, false)), [2_000, 1_500]);
    voq.credit(us(2), 0, 2_000);
    assert_eq!(voq.credits(), 2_500);
    voq.credit(us(2), 1, 1_000);
    assert_eq!(voq.credits(), 3_500, "each counts from nothing");
    // Written off is what the second lacks; the first goes on as it was.
    assert!(voq.reset(us(20_000), 4_000, us(10_000)));
    voq.credit(us(20_001), 1, 1_500);
    assert_eq!(voq.credits(), 4_000);
    voq.join(0, 1_000);
    voq.leave(us(20_001), 0, 0, 1_000);
    voq.credit(us(20_002), 0, 3_000);
    assert_eq!(voq.credits(), 4_000);
}

fn address(src: u32, sender_slot: u32) -> Address {
    Address { src, sender_slot, ..Address::default() }
}

#[test]
fn flows_are_counted_by_voq_and_forgotten() {
    let mut flows = Flows::new(2);
    flows.add_voq();
    flows.add_voq();
    flows.record_packet(us(1), 0, 0, &address(5, 0));
    flows.record_packet(us(2), 0, 0, &address(5, 1));
    flows.record_packet(us(3), 1, 0, &address(6, 0));
    flows.record_packet(us(4), 0, 0, &address(5, 0));
    let known = |flows: &Flows, voq| {
        flows.of(voq).map(|address| (address.src, address.sender_slot)).collect::<Vec<_>>()
    };
    assert_eq!(known(&flows, 0), [(5, 1), (6, 0), (5, 0)], "the latest last");
    // The number of a QP that is over serves one to elsewhere.
    flows.record_packet(us(5), 1, 1, &address(6, 0));
    assert_eq!((flows.count(0), flows.count(1)), (2, 1));
    flows.forget(0, us(4));
    assert_eq!(known(&flows, 0), [(5, 0)], "seen at 4 us, not before");
    flows.forget(0, us(9));
    flows.forget(0, us(9));
    assert_eq!((flows.count(0), known(&flows, 0).len()), (0, 0));
    flows.record_packet(us(10), 0, 0, &address(5, 1));
    assert_eq!(known(&flows, 0), [(5, 1)]);
}

/// A scheduler of a 25 Gb/s link: a credit of 1000 B every 320 ns.
fn downlink() -> Downlink {
    Downlink::new(LINE, Bytes::new(1000), 3)
}

fn request(rack: u32, flows: u32, sent: u64) -> CreditRequest {
    CreditRequest { rack, flows, sent, address: address(rack * 10, 0) }
}

#[test]
fn credits_go_by_weight_at_the_links_rate() {
    let mut link = downlink();
    assert_eq!(link.due(), Time::NEVER);
    link.on_request(us(1), &request(0, 2, 100_000));
    link.on_request(us(1), &request(2, 1, 100_000));
    for (number, expected) in [0, 2, 0, 2, 0, 0, 2, 0, 0].into_iter().enumerate() {
        let now = us(1) + ns(320) * number as u64;
        assert_eq!(link.due(), now);
        let grant = link.grant(now);
        assert_eq!((grant.rack, grant.address.src), (expected, expected * 10), "credit {number}");
    }
}

/// The first has four flows and one of its credits when the second comes with two.
#[test]
fn a_voq_that_comes_during_a_round_takes_part_in_it() {
    let mut link = downlink();
    link.on_request(us(1), &request(0, 4, 100_000));
    assert_eq!(link.grant(us(1)).rack, 0);
    link.on_request(us(1), &request(2, 2, 100_000));
    let granted = [(); 7].map(|()| link.grant(link.due()).rack);
    assert_eq!(granted, [2, 0, 2, 0, 0, 2, 0]);
}

#[test]
fn credits_go_round_all_racks_that_want_some() {
    let mut link = Downlink::new(LINE, Bytes::new(1000), 130);
    for rack in (0..130).filter(|rack| rack % 3 != 1) {
        link.on_request(us(1), &request(rack, 1, 2_000));
    }
    let granted: Vec<u32> = (0..174).map(|_| link.grant(link.due()).rack).collect();
    let round: Vec<u32> = (0..130).filter(|rack| rack % 3 != 1).collect();
    assert_eq!(granted, [&round[..], &round[..]].concat());
    assert_eq!(link.due(), Time::NEVER);
}

#[test]
fn a_voq_gets_credits_until_they_reach_what_it_sent() {
    let mut link = downlink();
    link.on_request(us(1), &request(0, 1, 1_001));
    assert_eq!(link.grant(us(1)).granted, 1_000);
    // A packet that was overtaken on another path tells an old S.
    link.on_request(us(1), &request(0, 1, 900));
    assert_eq!(link.due(), us(1) + ns(320), "1000 < 1001");
    assert_eq!(link.grant(link.due()).granted, 2_000);
    assert_eq!(link.due(), Time::NEVER, "2000 > 1001");
    link.on_request(us(9), &request(0, 1, 2_000));
    assert_eq!(link.due(), Time::NEVER, "2000 = 2000");
    link.on_request(us(9), &request(0, 1, 2_001));
    assert_eq!(link.due(), us(9), "the link has been free for long");
}

#[test]
fn bytes_without_credits_take_their_time() {
    let mut link = downlink();
    link.carry(us(1), 84);
    link.on_request(us(1), &request(1, 1, 5_000));
    assert_eq!(link.due(), us(1) + Time::from_ps(26_880), "84 B at 25 Gb/s");
    link.grant(link.due());
    link.carry(us(1) + ns(100), 1_000);
    assert_eq!(link.due(), us(1) + Time::from_ps(26_880) + ns(640));
}

#[test]
fn a_sender_marks_every_10_us_and_does_as_it_is_told() {
    let params = paper();
    let path =
        PathFacts { switches: 5, packet_bytes: Bytes::new(1088), ..testing::path(LINE, us(12)) };
    let mut sender = ReactionPoint::new(&params, &path);
    let mut outbox = Vec::new();
    let mut at = |sender: &mut ReactionPoint, now: Time, told: Option<Control>| {
        let mut header = header();
        let mut cx = HostCx { now, params: &params, host: &mut (), outbox: &mut outbox };
        match told {
            Some(control) => sender.on_ctl(&mut cx, &control),
            None => sender.on_send(&mut cx, &mut header, &mut Stamp::default()),
        }
        header.flags.contains(Flags::MARK)
    };
    let marked = [0, 1, 9, 10, 19, 25, 34, 35].map(|now| at(&mut sender, us(now), None));
    assert_eq!(marked, [true, false, false, true, false, true, false, true]);
    assert_eq!((sender.limits().rate, sender.limits().not_before), (LINE, Time::ZERO));
    at(&mut sender, us(40), Some(Control::Rate(Rate::from_gbps(3))));
    assert_eq!(sender.limits().rate, Rate::from_gbps(3));
    // What a faster host of the rack may send.
    at(&mut sender, us(40), Some(Control::Rate(Rate::from_gbps(100))));
    assert_eq!(sender.limits().rate, LINE);
    at(&mut sender, us(41), Some(Control::Rate(Rate::ZERO)));
    assert_eq!(sender.limits().not_before, us(10_041), "stopped, but not for ever");
    at(&mut sender, us(42), Some(Control::Rate(Rate::from_gbps(2))));
    let goes_on = (sender.limits().rate, sender.limits().not_before);
    assert_eq!(goes_on, (Rate::from_gbps(2), Time::ZERO));
}

fn header() -> Header {
    Header {
        address: Address::default(),
        sequence: 0,
        sent_at: Time::ZERO,
        size: 1088,
        payload: 1000,
        ingress: 0,
        kind: PacketKind::Data,
        priority: 3,
        code_point: EcnCodePoint::NotMarked,
        echo: EcnCodePoint::NotMarked,
        flags: Flags::empty(),
    }
}

/// A VOQ at the sending ToR of each of three racks, what is under way, and the downlink they share.
struct Loop {
    voqs: Vec<Voq>,
    link: Downlink,
    /// Claims on their way to the downlink, and credits on theirs to the VOQs.
    requests: Vec<CreditRequest>,
    credits: Vec<(usize, u64)>,
    /// C_sent of each VOQ, and how much of it has come.
    granted: [u64; 3],
    known: [u64; 3],
    now: Time,
}

impl Loop {
    const PACKET: u64 = 1_100;
    const INITIAL: u64 = 10_000;

    fn new() -> Loop {
        let params = paper();
        let voq = || Voq::new(Loop::INITIAL, 1, 1, FirstHop::new(&params, LINE, Time::ZERO));
        Loop {
            voqs: vec![voq(), voq(), voq()],
            link: Downlink::new(LINE, params.credit, 3),
            requests: Vec::new(),
            credits: Vec::new(),
            granted: [0; 3],
            known: [0; 3],
            now: us(1),
        }
    }

    fn join(&mut self, rack: usize) {
        self.voqs[rack].join(0, Loop::PACKET);
    }

    fn leave(&mut self, rack: usize) {
        let voq = &mut self.voqs[rack];
        if voq.queue() > 0 && voq.may_send(Loop::PACKET) {
            voq.leave(self.now, 0, 0, Loop::PACKET);
            self.requests.push(request(rack as u32, 1 + rack as u32, voq.sent(0, false)));
        }
    }

    fn on_request(&mut self, place: usize) {
        if !self.requests.is_empty() {
            let request = self.requests.remove(place % self.requests.len());
            self.link.on_request(self.now, &request);
        }
    }

    fn grant(&mut self) {
        if self.link.due() != Time::NEVER {
            self.now = self.now.max(self.link.due());
            let grant = self.link.grant(self.now);
            let rack = grant.rack as usize;
            self.granted[rack] = grant.granted;
            self.credits.push((rack, grant.granted));
        }
    }

    fn credit(&mut self, place: usize) {
        if !self.credits.is_empty() {
            let (rack, granted) = self.credits.remove(place % self.credits.len());
            self.voqs[rack].credit(self.now, 0, granted);
            self.known[rack] = self.known[rack].max(granted);
        }
    }

    /// Credits are never negative, and none is lost or made: those at hand, those granted that have
    /// not come, and those that the downlink still owes for what has left are C0.
    fn check(&self) {
        for (rack, voq) in self.voqs.iter().enumerate() {
            assert!(voq.credits() >= 0, "rack {rack} has {}", voq.credits());
            let under_way = (self.granted[rack] - self.known[rack]) as i64;
            let owed = voq.sent(0, false) as i64 - self.granted[rack] as i64;
            assert_eq!(voq.credits() + under_way + owed, Loop::INITIAL as i64, "rack {rack}");
        }
    }
}

proptest::proptest! {
    /// Section 3.2, whatever the order in which packets and credits come, which may overtake one
    /// another.
    #[test]
    fn credits_are_conserved_and_never_negative(
        steps in proptest::collection::vec((0_u8..5, 0_usize..8), 1..400),
    ) {
        let mut all = Loop::new();
        for (step, which) in steps {
            match step {
                0 => all.join(which % 3),
                1 => all.leave(which % 3),
                2 => all.on_request(which),
                3 => all.grant(),
                _ => all.credit(which),
            }
            all.check();
        }
        // When all has left and come, each VOQ has C0, and less than a credit more.
        while all.voqs.iter().any(|voq| voq.queue() > 0)
            || !all.requests.is_empty()
            || !all.credits.is_empty()
            || all.link.due() != Time::NEVER
        {
            (0..3).for_each(|rack| all.leave(rack));
            all.on_request(0);
            all.grant();
            all.credit(0);
            all.check();
        }
        for voq in &all.voqs {
            let more = voq.credits() - Loop::INITIAL as i64;
            assert!((0..1_000).contains(&more), "{more}");
        }
    }
}
