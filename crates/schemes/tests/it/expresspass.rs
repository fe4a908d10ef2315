//! ExpressPass's sender and feedback control against sequences worked out by hand: 100 Gb/s,
//! credits of one size, 84 B, and packets of 1090 B, so that the least gap between credits is
//! 1174 B or 93.92 ns.

use schemes::contract::{
    Ack, Address, Ctl, EcnCodePoint, Flags, Header, HostCx, HostFacts, Np, NpTimer, PacketKind,
    PathFacts, QueueLimit, Rp, RpTimer, Scheme, WireFacts,
};
use schemes::expresspass::{
    Control, Credit, ExpressPass, ExpressPassParams, HostState, NotificationPoint, ReactionPoint,
};
use schemes::registry::params_of;
use schemes::testing;
use units::{Bytes, NodeId, Priority, Rate, Time};

const LINE: Rate = Rate::from_gbps(100);
const WIRE: WireFacts = WireFacts {
    profile: wire::Profile::Rocev2,
    packet_bytes: Bytes::new(1090),
    ack_bytes: Bytes::new(86),
    min_control_bytes: Bytes::new(84),
};

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn preset(name: &str) -> ExpressPassParams {
    let params = params_of::<ExpressPass>(name, LINE, &[]).unwrap();
    ExpressPassParams { credit_spread: Bytes::ZERO, ..params }
}

fn host(params: &ExpressPassParams) -> HostState {
    let facts = HostFacts {
        node: NodeId::new(0),
        line_rate: LINE,
        network_rtt: us(8),
        wire: WIRE,
        seed: 3,
    };
    ExpressPass::host(params, &facts)
}

#[track_caller]
fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-9, "{got}, not {expected}");
}

#[test]
fn credits_have_a_class_of_their_own() {
    let params = preset("expresspass-xpass");
    let classes = ExpressPass::CLASSES.expect("credits have a class");
    let [class] = classes(&params, &WIRE)[..] else { panic!("one class") };
    assert_eq!(
        (class.priority, class.limit, class.burst),
        (Priority::new(7), QueueLimit::DropTail(8), 2)
    );
    close(class.share, 84.0 / 1174.0);
    // In the paper 84 of 84 + 1538 are 5.18 %.
    let paper = WireFacts { packet_bytes: Bytes::new(1538), ..WIRE };
    assert!((classes(&params, &paper)[0].share - 0.0518).abs() < 1e-4);
    // A credit, a data packet and its ACK.
    let with_room = ExpressPassParams { ack_room: true, ..preset("expresspass-xpass") };
    close(classes(&with_room, &WIRE)[0].share, 84.0 / 1260.0);
    let credit = Control::Credit(Credit::default());
    assert_eq!(credit.priority(&params), Some(Priority::new(7)));
    assert_eq!(Control::Stop.priority(&params), None, "the control class");
}

// ---- the sender ----

/// A sender and what its host shares.
struct Sender {
    params: ExpressPassParams,
    host: HostState,
    rp: ReactionPoint,
    credits: u32,
    sent: u64,
}

impl Sender {
    fn new(params: ExpressPassParams) -> Sender {
        let path = PathFacts { packet_bytes: WIRE.packet_bytes, ..testing::path(LINE, us(8)) };
        let rp = ReactionPoint::new(&params, &path);
        Sender { host: host(&params), params, rp, credits: 0, sent: 0 }
    }

    /// What it says in a hook.
    fn hook(
        &mut self,
        now: Time,
        hook: impl FnOnce(&mut ReactionPoint, &mut HostCx<'_, ExpressPass>),
    ) -> Vec<Control> {
        let mut outbox = Vec::new();
        let Sender { params, host, rp, .. } = self;
        hook(rp, &mut HostCx { now, params, host, outbox: &mut outbox });
        outbox
    }

    /// Posts a message, after which `left` bytes wait.
    fn post(&mut self, now: Time, left: u64) -> Vec<Control> {
        self.hook(now, |rp, cx| rp.on_backlog(cx, Bytes::new(left)))
    }

    fn credit(&mut self, now: Time) -> Vec<Control> {
        let credit = Credit { number: self.credits, sent_at: now, extra: 0 };
        self.credits += 1;
        self.hook(now, |rp, cx| rp.on_ctl(cx, &Control::Credit(credit)))
    }

    fn may_send(&self) -> bool {
        self.sent < self.rp.limits().credit_limit
    }

    /// Sends a packet of this payload; the credit that it carries, and what is said with it.
    fn send(&mut self, now: Time, payload: u64) -> (Credit, Vec<Control>) {
        assert!(self.may_send());
        let mut header = Header {
            address: Address::default(),
            sequence: self.sent,
            sent_at: now,
            size: 1090,
            payload: payload as u16,
            ingress: 0,
            kind: PacketKind::Data,
            priority: 3,
            code_point: EcnCodePoint::NotMarked,
            echo: EcnCodePoint::NotMarked,
            flags: Flags::ACK_REQUESTED,
        };
        self.sent += payload;
        let mut meta = Credit::default();
        let said = self.hook(now, |rp, cx| rp.on_send(cx, &mut header, &mut meta));
        (meta, said)
    }

    fn ack(&mut self, now: Time, next_expected: u64, nack: bool) -> Vec<Control> {
        if nack {
            self.sent = next_expected;
        }
        let next_to_send = self.sent;
        self.hook(now, |rp, cx| {
            let ack = Ack {
                next_expected,
                newly_acked: Bytes::new(1000),
                newly_lost: Bytes::ZERO,
                next_to_send,
                nack,
                echo: EcnCodePoint::NotMarked,
                rtt: us(8),
                meta: &Credit::default(),
            };
            rp.on_ack(cx, &ack);
        })
    }

    fn counts(&self) -> [u64; 3] {
        let counters = ExpressPass::counters(&self.host);
        [0, 1, 2].map(|at| counters[at].1)
    }
}

#[test]
fn a_credit_is_worth_a_packet() {
    let mut sender = Sender::new(preset("expresspass-paper"));
    assert!(!sender.may_send());
    assert_eq!(sender.post(us(0), 2_500), [Control::Request(3)]);
    assert!(!sender.may_send());
    assert_eq!(sender.credit(us(10)), []);
    assert_eq!(sender.credit(us(11)), []);
    assert_eq!(
        sender.send(us(11), 1000),
        (Credit { number: 0, sent_at: us(10), extra: 0 }, vec![])
    );
    // The third covers the rest, whatever is still to be sent.
    assert_eq!(sender.credit(us(12)), [Control::Stop]);
    assert_eq!(sender.send(us(12), 1000).0.number, 1);
    assert_eq!(sender.send(us(13), 500).0.number, 2);
    assert!(!sender.may_send());
    // What comes after is wasted, also by a QP that is over.
    assert_eq!(sender.credit(us(14)), []);
    assert!(!sender.may_send());
    ExpressPass::on_late_ctl(&mut sender.host, &Control::Credit(Credit::default()));
    ExpressPass::on_late_ctl(&mut sender.host, &Control::Stop);
    assert_eq!(sender.counts(), [0, 3, 2], "sent, used, wasted");
}

#[test]
fn requests_are_repeated_until_a_credit_comes() {
    let mut sender = Sender::new(preset("expresspass-xpass"));
    sender.post(us(0), 100_000);
    assert_eq!(sender.rp.next_timer(), us(100));
    assert_eq!(sender.hook(us(100), |rp, cx| rp.on_timer(cx)), [Control::Request(100)]);
    assert_eq!(sender.rp.next_timer(), us(200));
    sender.credit(us(110));
    // This credit may be one of an earlier request, and the last one lost.
    assert_eq!(sender.rp.next_timer(), us(210));
    // More of the same while credits come needs no request; after the stop it does.
    assert_eq!(sender.post(us(111), 101_000), []);
    let said: Vec<Control> = (0..100).flat_map(|n| sender.credit(us(112 + n / 20))).collect();
    assert_eq!(said, [Control::Stop]);
    assert_eq!(sender.post(us(130), 102_000), [Control::Request(1)]);
}

#[test]
fn credits_stop_early_when_a_round_trip_of_them_will_do() {
    let mut sender = Sender::new(preset("expresspass-xpass"));
    sender.post(us(0), 25_000);
    // The first credit after 8 us: the round trip. Nine more in the next 8 us leave 15.
    for n in 0..10 {
        assert_eq!(sender.credit(Time::from_ns(8_000 + 800 * n)), []);
    }
    // At its end eleven came and fourteen are left.
    assert_eq!(sender.credit(us(16)), []);
    // In the next one eleven came, and three are left.
    for n in 1..11 {
        assert_eq!(sender.credit(Time::from_ns(16_000 + 720 * n)), []);
    }
    assert_eq!(sender.credit(us(24)), [Control::Stop]);
    // Those under way are used, and the last needs no stop of its own.
    assert_eq!(sender.credit(us(25)), []);
    assert_eq!(sender.credit(us(26)), []);
    assert_eq!(sender.rp.next_timer(), us(24 + 16));
    // One is missing: asked for two round trips after the stop.
    let again = sender.hook(us(40), |rp, cx| rp.on_timer(cx));
    assert_eq!(again, [Control::Request(1)]);
    assert_eq!(sender.credit(us(48)), [Control::Stop]);
    assert_eq!(sender.counts()[2], 0);
}

/// A round trip is from the first request to the first credit, however often it is repeated
/// meanwhile.
#[test]
fn a_repeated_request_does_not_shorten_the_round_trip() {
    let mut sender = Sender::new(preset("expresspass-xpass"));
    sender.post(us(0), 25_000);
    sender.hook(us(100), |rp, cx| rp.on_timer(cx));
    // It takes 108 us, as that of the test before took 8, and credits come as slowly.
    for n in 0..10 {
        assert_eq!(sender.credit(us(108) + Time::from_ns(10_800 * n)), []);
    }
    assert_eq!(sender.credit(us(216)), []);
    for n in 1..11 {
        assert_eq!(sender.credit(us(216) + Time::from_ns(9_720 * n)), []);
    }
    assert_eq!(sender.credit(us(324)), [Control::Stop]);
}

/// Credits that were under way from before a stop answer no request.
#[test]
fn a_round_trip_is_no_shorter_than_the_path() {
    let mut sender = Sender::new(preset("expresspass-xpass"));
    sender.post(us(0), 1_000);
    assert_eq!(sender.credit(us(8)), [Control::Stop]);
    assert_eq!(sender.post(us(9), 41_000), [Control::Request(40)]);
    // Nearly at once; twenty more in the 8 us of the path, and all are needed.
    for n in 0..20 {
        assert_eq!(sender.credit(Time::from_ns(9_100 + 300 * n)), []);
    }
    // 21 came, and 19 are left.
    assert_eq!(sender.credit(Time::from_ns(17_100)), [Control::Stop]);
}

#[test]
fn what_was_lost_needs_credits_again() {
    let mut sender = Sender::new(preset("expresspass-paper"));
    sender.post(us(0), 3_000);
    for n in 0..3 {
        sender.credit(us(8 + n));
        sender.send(us(8 + n), 1000);
    }
    assert_eq!(sender.ack(us(16), 1_000, false), []);
    assert_eq!(sender.ack(us(17), 1_000, true), [Control::Request(2)]);
    assert!(!sender.may_send());
    sender.credit(us(25));
    assert_eq!(sender.send(us(25), 1000).0.number, 3);
    // Control that all of it had arrived after all: nothing is left to ask for.
    assert_eq!(sender.ack(us(26), 3_000, false), [Control::Stop]);
    sender.credit(us(27));
    assert_eq!(sender.counts(), [0, 4, 1]);
}

#[test]
fn short_messages_sent_again_get_all_the_credits_they_need() {
    let mut sender = Sender::new(preset("expresspass-paper"));
    // Three messages of 100 B are three packets.
    assert_eq!(sender.post(us(0), 100), [Control::Request(1)]);
    sender.post(us(0), 200);
    sender.post(us(0), 300);
    let said: Vec<Control> = (0..3).flat_map(|n| sender.credit(us(8 + n))).collect();
    assert_eq!(said, [Control::Stop]);
    for n in 0..3 {
        sender.send(us(11 + n), 100);
    }
    // From 300 B alone one packet is to be expected; the others ask when it has gone.
    assert_eq!(sender.ack(us(20), 0, true), [Control::Request(1)]);
    for n in 0..3 {
        assert_eq!(sender.credit(us(28 + 10 * n)), [Control::Stop]);
        let said = sender.send(us(28 + 10 * n), 100).1;
        assert_eq!(said, if n < 2 { vec![Control::Request(1)] } else { vec![] });
    }
    assert!(!sender.may_send());
}

/// Where credits are rare, a QP waits twice as long for one as it had to before it asks again.
#[test]
fn rare_credits_are_no_reason_to_ask_again() {
    let mut sender = Sender::new(preset("expresspass-paper"));
    let again = |sender: &Sender| RpTimer::<ExpressPass>::next_timer(&sender.rp);
    assert_eq!(sender.post(us(0), 3_000), [Control::Request(3)]);
    assert_eq!(sender.credit(us(50)), []);
    assert_eq!(again(&sender), us(150), "request_timeout later");
    assert_eq!(sender.hook(us(150), |rp, cx| rp.on_timer(cx)), [Control::Request(2)]);
    assert_eq!(again(&sender), us(250));
    assert_eq!(sender.credit(us(240)), []);
    assert_eq!(again(&sender), us(240 + 2 * 190));
    assert_eq!(sender.credit(us(500)), [Control::Stop]);
    // What the next request has to wait for is not known yet.
    assert_eq!(sender.post(us(600), 4_000), [Control::Request(1)]);
    assert_eq!(again(&sender), us(700));
}

// ---- the receiver ----

const RTT: u64 = 10;

/// Runs a period of one round trip in which data accounts for `counted` credits, of which `dropped`
/// were lost. Returns the rate and w after it.
fn period(
    np: &mut NotificationPoint,
    number: &mut u32,
    end: u64,
    counted: u32,
    dropped: u32,
) -> (f64, f64) {
    *number += dropped;
    for _ in 0..counted - dropped {
        np.on_credited_data(us(end), Credit { number: *number, sent_at: us(end - RTT), extra: 0 });
        *number += 1;
    }
    np.credit(us(end));
    (np.rate(), np.aggressiveness())
}

#[test]
fn the_codes_feedback_control() {
    let params = ExpressPassParams { initial_rate: 1.0 / 16.0, ..preset("expresspass-xpass") };
    let mut np = NotificationPoint::new(&mut host(&params));
    np.begin(us(0), 1000);
    let mut number = 0;
    close(np.rate(), 1.0 / 16.0);
    let mut step = |end, counted, dropped| period(&mut np, &mut number, end, counted, dropped);
    // No loss: w stays after the first time. 15/16 * 1/16 + 1/16.
    let (rate, w) = step(10, 6, 0);
    close(rate, 0.121_093_75);
    close(w, 0.0625);
    // Again: w + 0.05. 0.8875 * 0.12109375 + 0.1125.
    let (rate, w) = step(20, 12, 0);
    close(w, 0.1125);
    close(rate, 0.219_970_703_125);
    // Half of 20 lost, against a target of (1 - 0.21997) / 8 = 0.0975: ten in 10 us are 0.09392 of
    // the highest rate, times 1.0975.
    let (rate, w) = step(30, 20, 10);
    close(w, 0.05625);
    close(rate, 0.093_92 * (1.0 + 0.780_029_296_875 / 8.0));
    // A loss below the target is none: 1 of 11 < (1 - 0.1031) / 8. w waits a period.
    let (after, w) = step(40, 11, 1);
    close(w, 0.05625);
    close(after, (1.0 - 0.05625) * rate + 0.05625);
    let (_, w) = step(50, 11, 0);
    close(w, 0.10625);
}

#[test]
fn the_papers_feedback_control() {
    let params = preset("expresspass-paper");
    let mut np = NotificationPoint::new(&mut host(&params));
    np.begin(us(0), 1000);
    let mut number = 0;
    let mut step = |end, counted, dropped| period(&mut np, &mut number, end, counted, dropped);
    // 0.5 * 0.5 + 0.5 * 1.1, then w = (0.5 + 0.5) / 2.
    let (rate, w) = step(10, 50, 0);
    close(rate, 0.8);
    close(w, 0.5);
    let (rate, _) = step(20, 80, 8);
    close(rate, 0.95);
    // 20 % lost: 0.95 * 0.8 * 1.1.
    let (rate, w) = step(30, 100, 20);
    close(rate, 0.836);
    close(w, 0.25);
    let (rate, w) = step(40, 100, 0);
    close(rate, 0.75 * 0.836 + 0.275);
    close(w, 0.25);
    let (_, w) = step(50, 100, 0);
    close(w, 0.375);
}

#[test]
fn rates_keep_their_bounds() {
    let params = preset("expresspass-xpass");
    let mut np = NotificationPoint::new(&mut host(&params));
    // One packet of the forty from which on a QP begins at half the highest rate.
    np.begin(us(0), 1);
    close(np.rate(), 1.0 / 80.0);
    let mut number = 0;
    for end in 1..40 {
        period(&mut np, &mut number, 10 * end, 10, 0);
    }
    assert!(np.rate() > 0.99 && np.rate() <= 1.0 && np.aggressiveness() == 0.5);
    for end in 40..80 {
        period(&mut np, &mut number, 10 * end, 1000, 999);
    }
    // A credit in a round trip of 10 us.
    close(np.rate(), 0.009_392);
    close(np.aggressiveness(), 0.01);
}

#[test]
fn credits_are_paced_with_jitter() {
    let params = preset("expresspass-paper");
    let mut np = NotificationPoint::new(&mut host(&params));
    np.begin(us(0), 1000);
    let mut times = vec![Time::ZERO];
    for number in 0..1000 {
        let now = *times.last().unwrap();
        assert_eq!(np.credit(now), Credit { number, sent_at: now, extra: 0 });
        times.push(NpTimer::<ExpressPass>::next_timer(&np));
    }
    // Half the highest rate, 187.84 ns, give or take a tenth.
    let gaps: Vec<u64> = times.windows(2).map(|pair| (pair[1] - pair[0]).ps()).collect();
    assert!(gaps.iter().all(|gap| (169_055..=206_625).contains(gap)));
    let mean = gaps.iter().sum::<u64>() as f64 / 1000.0;
    assert!((mean / 187_840.0 - 1.0).abs() < 0.01, "{mean}");
    assert!(gaps.iter().any(|&gap| gap < 172_000) && gaps.iter().any(|&gap| gap > 203_000));
    // Two receivers of a host have streams of their own.
    let mut shared = host(&params);
    let next = |np: &mut NotificationPoint| {
        np.begin(us(0), 1000);
        np.credit(us(0));
        NpTimer::<ExpressPass>::next_timer(np)
    };
    let mut first = NotificationPoint::new(&mut shared);
    assert_ne!(next(&mut first), next(&mut NotificationPoint::new(&mut shared)));
}

/// Sizes differ by as much as they may, and a class still lets one credit pass for each data
/// packet, on average and in both profiles of sizes.
#[test]
fn credits_have_sizes_at_random() {
    let params = params_of::<ExpressPass>("expresspass-xpass", LINE, &[]).unwrap();
    let mut np = NotificationPoint::new(&mut host(&params));
    np.begin(us(0), 1000);
    let frames: Vec<u32> =
        (0..17_000).map(|_| Control::Credit(np.credit(np.next_timer())).frame_bytes()).collect();
    for size in 64..=80 {
        let share = frames.iter().filter(|&&frame| frame == size).count();
        assert!((850..1150).contains(&share), "{share} of 17,000 have {size} B");
    }
    assert!(frames.iter().all(|frame| (64..=80).contains(frame)));
    assert_eq!(Control::Stop.frame_bytes(), 64);
    for profile in [wire::Profile::Rocev2, wire::Profile::HpccNs3] {
        let facts = WireFacts { profile, ..WIRE };
        let class = &(ExpressPass::CLASSES.expect("credits have a class"))(&params, &facts)[0];
        let bytes = |frame: &u32| f64::from(profile.control_bytes(*frame));
        let mean = frames.iter().map(bytes).sum::<f64>() / 17_000.0;
        let spacing = mean / class.share;
        assert!((mean + 1090.0 - 0.2..mean + 1091.2).contains(&spacing), "{mean} {spacing}");
    }
}

#[test]
fn a_request_begins_a_stop_ends_and_a_new_request_begins_anew() {
    let params = ExpressPassParams { initial_rate: 1.0 / 16.0, ..preset("expresspass-xpass") };
    let mut shared = host(&params);
    let mut np = NotificationPoint::new(&mut shared);
    let mut outbox = Vec::new();
    let mut cx = HostCx { now: us(5), params: &params, host: &mut shared, outbox: &mut outbox };
    np.on_ctl(&mut cx, &Control::Request(100));
    assert_eq!(
        *cx.outbox,
        [Control::Credit(Credit { number: 0, sent_at: us(5), extra: 0 })],
        "at once"
    );
    let due = NpTimer::<ExpressPass>::next_timer(&np);
    np.on_ctl(&mut cx, &Control::Request(100));
    assert_eq!((cx.outbox.len(), NpTimer::<ExpressPass>::next_timer(&np)), (1, due), "under way");
    cx.now = us(9);
    np.on_ctl(&mut cx, &Control::Stop);
    assert_eq!(NpTimer::<ExpressPass>::next_timer(&np), Time::NEVER);
    // The first credit was wasted. That is no loss to the next request.
    cx.now = us(50);
    np.on_ctl(&mut cx, &Control::Request(100));
    np.on_credited_data(us(60), Credit { number: 1, sent_at: us(50), extra: 0 });
    np.credit(us(60));
    close(np.rate(), 0.121_093_75);
    assert_eq!(ExpressPass::counters(&shared)[0], ("credits_sent", 2));
}

#[test]
fn a_receiver_whose_stop_was_lost_ends_by_itself() {
    let params = preset("expresspass-xpass");
    let mut shared = host(&params);
    let mut np = NotificationPoint::new(&mut shared);
    let mut outbox = Vec::new();
    let mut cx = HostCx { now: us(0), params: &params, host: &mut shared, outbox: &mut outbox };
    np.on_ctl(&mut cx, &Control::Request(1));
    np.on_credited_data(us(10), Credit { number: 0, sent_at: us(0), extra: 0 });
    // While data is missing it goes on, however long none comes.
    cx.now = us(1000);
    np.on_timer(&mut cx);
    assert_eq!(cx.outbox.len(), 2);
    // Then as long as a sender waits that asks.
    np.on_message_end(&mut cx, false);
    np.on_credited_data(us(1010), Credit { number: 1, sent_at: us(1000), extra: 0 });
    cx.now = us(1109);
    np.on_timer(&mut cx);
    assert_eq!(cx.outbox.len(), 3);
    cx.now = us(1110);
    np.on_timer(&mut cx);
    assert_eq!((cx.outbox.len(), NpTimer::<ExpressPass>::next_timer(&np)), (3, Time::NEVER));
    // Another request starts again.
    np.on_ctl(&mut cx, &Control::Request(1));
    assert_eq!(cx.outbox.len(), 4);
}
