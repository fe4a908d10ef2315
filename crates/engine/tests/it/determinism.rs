//! The engine's promise: neither threads nor grouping change anything.
//!
//! A toy network of devices that mix what they see into a running hash, so that any change in the
//! order or time of any event changes the result.

use crate::mix;
use engine::{
    Bucketing, Device, Group, Layout, Link, Outcome, Progress, Rank, RunLimits, TieBreak, Window,
    run, run_reference,
};
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::ThreadId;
use std::time::Duration;
use units::Time;

/// Miri, which finds undefined behaviour, is a thousand times slower.
const CASES: u32 = if cfg!(miri) { 1 } else { 24 };
const SPAN: Time = Time::from_us(if cfg!(miri) { 15 } else { 300 });

#[derive(Clone, Copy)]
struct Token {
    value: u64,
    hops_left: u32,
}

struct Mixer {
    /// The link, its delay, and when the last token arrives: a link serialises.
    links: Vec<(Link, Time, Time)>,
    hash: u64,
    seen: u64,
    next_own: Time,
    own_left: u32,
}

impl Mixer {
    fn emit(&mut self, window: &mut Window<'_, '_, Token>, now: Time, token: Token) {
        if token.hops_left == 0 || self.links.is_empty() {
            window.count_finished(1);
            return;
        }
        let pick = (self.hash >> 20) as usize % self.links.len();
        let rank = [Rank::First, Rank::Second, Rank::Third][(self.hash >> 9) as usize % 3];
        let (link, delay, last) = &mut self.links[pick];
        // A coarse additional time makes simultaneous arrivals from several links common.
        let arrival = now + *delay + Time::from_ns((self.hash >> 13) % 3 * 250);
        let arrival = arrival.max(*last + Time::from_ns(50));
        *last = arrival;
        let token = Token { value: self.hash, hops_left: token.hops_left - 1 };
        let handle = window.packets.insert(token);
        window.send(link, arrival, rank, handle);
    }
}

impl Device for Mixer {
    type Packet = Token;
    fn advance(&mut self, window: &mut Window<'_, '_, Token>) -> Time {
        loop {
            let own = if self.own_left > 0 { self.next_own } else { Time::NEVER };
            if window.next_arrival_time() <= own {
                let Some((now, port, handle)) = window.next_arrival() else { break };
                let token = window.packets.remove(handle);
                self.seen += 1;
                self.hash = mix(self.hash, mix(now.ps() ^ u64::from(port) << 50, token.value));
                self.emit(window, now, token);
            } else if own < window.until() {
                self.own_left -= 1;
                self.hash = mix(self.hash, own.ps());
                self.next_own = own + Time::from_ns(100 + self.hash % 7 * 500);
                self.emit(window, own, Token { value: self.hash, hops_left: 12 });
            } else {
                break;
            }
        }
        if self.own_left > 0 { self.next_own } else { Time::NEVER }
    }
}

/// Runs devices. All threads must start.
fn run_all<D: Device + Send>(
    devices: Vec<D>,
    layout: &Layout,
    limits: RunLimits,
    watch: &(dyn Fn(Progress) -> bool + Sync),
) -> (Vec<D>, Outcome) {
    let (devices, outcome, _) = run(devices, layout, limits, watch).expect("threads start");
    (devices, outcome)
}

/// Links as (from, to, delay in units of 50 ns).
type Edges = Vec<(usize, usize, u64)>;

fn devices(count: usize, edges: &Edges) -> Vec<Mixer> {
    let mut devices: Vec<Mixer> = (0..count)
        .map(|number| Mixer {
            links: Vec::new(),
            hash: number as u64,
            seen: 0,
            next_own: Time::from_ns(number as u64 % 3 * 250),
            own_left: 20,
        })
        .collect();
    let mut ports = vec![0; count];
    for &(from, to, delay) in edges {
        devices[from].links.push((
            Link::new(to as u32, ports[to]),
            Time::from_ns(50 * delay),
            Time::ZERO,
        ));
        ports[to] += 1;
    }
    devices
}

fn layout(count: usize, edges: &Edges, group_of: &[usize], threads: usize) -> Layout {
    let groups_count = group_of.iter().max().map_or(0, |&last| last + 1);
    let group = |number: usize| Group {
        devices: Vec::new(),
        owner: (number * 7 % threads) as u16,
        internal_lookahead: Time::NEVER,
        hub: None,
    };
    let mut groups: Vec<Group> = (0..groups_count).map(group).collect();
    for device in 0..count {
        groups[group_of[device]].devices.push(device as u32);
    }
    let mut lookahead = Time::from_us(1);
    for &(from, to, delay) in edges {
        let delay = Time::from_ns(50 * delay);
        if group_of[from] == group_of[to] {
            let known = &mut groups[group_of[from]].internal_lookahead;
            *known = delay.min(*known);
        } else {
            lookahead = lookahead.min(delay);
        }
    }
    Layout {
        groups,
        threads,
        lookahead,
        tie_break: TieBreak::RotatePorts,
        solo_periods: true,
        tags: false,
    }
}

fn digest(
    count: usize,
    edges: &Edges,
    layout: &Layout,
    limits: RunLimits,
) -> (Vec<u64>, Time, u64) {
    let (devices, outcome) = run_all(devices(count, edges), layout, limits, &|_| true);
    let states = devices.iter().map(|device| mix(device.hash, device.seen)).collect();
    (states, outcome.end, outcome.finished)
}

/// Returns what [`digest`] returns, from the reference engine.
fn reference_digest(count: usize, edges: &Edges, limits: RunLimits) -> (Vec<u64>, Time, u64) {
    let layout = Layout::one_group_per_device(count, 1, Time::from_us(1));
    let (devices, outcome, _) = run_reference(devices(count, edges), &layout, limits);
    let states = devices.iter().map(|device| mix(device.hash, device.seen)).collect();
    (states, outcome.end, outcome.finished)
}

fn network() -> impl Strategy<Value = (usize, Edges, Vec<usize>)> {
    (2usize..12).prop_flat_map(|count| {
        let edge = (0..count, 0..count, prop_oneof![1u64..40, Just(10_000u64)]);
        let edges = prop::collection::vec(edge, count..4 * count)
            .prop_map(|edges| edges.into_iter().filter(|edge| edge.0 != edge.1).collect());
        (Just(count), edges, prop::collection::vec(0..count, count))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]
    #[test]
    fn threads_and_grouping_change_nothing((count, edges, group_of) in network()) {
        let limits = RunLimits { stop: SPAN, goal: None, max_records: u64::MAX };
        let singles: Vec<usize> = (0..count).collect();
        let one = digest(count, &edges, &layout(count, &edges, &singles, 1), limits);
        prop_assert_eq!(&reference_digest(count, &edges, limits), &one);
        for threads in if cfg!(miri) { &[2][..] } else { &[1, 2, 3, 7] } {
            for grouping in [&singles, &group_of] {
                let layout = layout(count, &edges, grouping, *threads);
                prop_assert_eq!(&digest(count, &edges, &layout, limits), &one);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes long, or real time")]
    fn a_goal_stops_all_groupings_at_the_same_microsecond((count, edges, group_of) in network()) {
        let limits = RunLimits { stop: Time::from_ms(50), goal: Some(5), max_records: u64::MAX };
        let singles: Vec<usize> = (0..count).collect();
        let one = digest(count, &edges, &layout(count, &edges, &singles, 1), limits);
        prop_assert_eq!(&reference_digest(count, &edges, limits), &one);
        for threads in [1, 3] {
            let layout = layout(count, &edges, &group_of, threads);
            prop_assert_eq!(&digest(count, &edges, &layout, limits), &one);
        }
    }
}

/// Sends tokens to a sink, or is the sink and records what arrives, by value.
struct Ends {
    link: Option<Link>,
    hash: u64,
    last: Time,
    /// If the sink handles its arrivals in buckets: how many, and how it wants the arrivals.
    buckets: Option<(usize, Bucketing)>,
    /// The values in the order in which the sink saw them first.
    seen: Vec<u64>,
    recorded: Vec<Vec<(Time, u16, u64)>>,
    /// Number of tokens that the sink took from buckets.
    bucketed: u64,
}

/// Number of different values of tokens.
const VALUES: u64 = 5;

impl Device for Ends {
    type Packet = Token;

    fn advance(&mut self, window: &mut Window<'_, '_, Token>) -> Time {
        while let Some((now, port, handle)) = window.next_arrival() {
            let token = window.packets.remove(handle);
            self.recorded[token.value as usize].push((now, port, token.value));
            self.seen.push(token.value);
        }
        let until = window.until();
        if let Some(link) = &mut self.link {
            for _ in 0..self.hash % 9 {
                self.hash = mix(self.hash, until.ps());
                let token = Token { value: self.hash % VALUES, hops_left: 0 };
                // Coarse, so that simultaneous arrivals from several links are common.
                self.last = self.last.max(until) + Time::from_ns(250 * (1 + self.hash % 3));
                let handle = window.packets.insert(token);
                window.send_on(&window.link_lane(link), self.last, Rank::Third, handle);
            }
            self.hash = mix(self.hash, 1);
        }
        until
    }

    fn wants_buckets(&self, arrivals: usize) -> Bucketing {
        self.buckets.filter(|_| arrivals > 0).map_or(Bucketing::None, |(_, bucketing)| bucketing)
    }

    fn advance_bucketed(&mut self, window: &mut Window<'_, '_, Token>) -> Option<Time> {
        let (count, _) = self.buckets?;
        let before = self.seen.len();
        let buckets = window.bucket(count, |token| {
            self.seen.push(token.value);
            token.value as u16
        });
        let Some(buckets) = buckets else {
            self.seen.truncate(before);
            return None;
        };
        for bucket in 0..count {
            for &entry in buckets.get(bucket) {
                // SAFETY: takes each entry of each bucket once.
                let (now, tag, handle) = unsafe { window.take_bucketed(entry) };
                let port = tag.port(window);
                let token = window.packets.remove(handle);
                self.recorded[bucket].push((now, port, token.value));
                self.bucketed += 1;
            }
        }
        window.recycle(buckets);
        Some(window.until())
    }
}

#[test]
fn arrivals_in_buckets_keep_their_order_and_none_is_lost() {
    let sink = |senders: u32, buckets| {
        let end = |number: u32| Ends {
            link: (number > 0).then(|| Link::new(0, number as u16)),
            hash: u64::from(number),
            last: Time::ZERO,
            buckets: if number == 0 { buckets } else { None },
            recorded: vec![Vec::new(); VALUES as usize],
            seen: Vec::new(),
            bucketed: 0,
        };
        let limits = RunLimits { stop: SPAN, goal: None, max_records: u64::MAX };
        let layout = Layout::one_group_per_device(senders as usize + 1, 2, Time::from_us(1));
        let (devices, _) = run_all((0..=senders).map(end).collect(), &layout, limits, &|_| true);
        let sink = devices.into_iter().next().expect("it is the first");
        (sink.recorded, sink.bucketed, sink.seen)
    };
    // Buckets of a few tokens, of dozens, and of more than a hundred.
    for senders in if cfg!(miri) { &[1, 7][..] } else { &[1, 7, 40, 250] } {
        let (in_order, none, seen) = sink(*senders, None);
        let all: usize = in_order.iter().map(Vec::len).sum();
        assert!(none == 0 && all > SPAN.ps() as usize / 2_000_000 * *senders as usize);
        for bucketing in [Bucketing::EachAlone, Bucketing::InOrder] {
            let (recorded, bucketed, told) = sink(*senders, Some((VALUES as usize, bucketing)));
            assert_eq!((&recorded, bucketed), (&in_order, all as u64));
            assert!(bucketing == Bucketing::EachAlone || told == seen);
        }
        // In most windows some token belongs to no bucket. Then all are handled in order.
        let few = (VALUES as usize - 1, Bucketing::EachAlone);
        let (recorded, bucketed, _) = sink(*senders, Some(few));
        assert!(recorded == in_order && bucketed < all as u64);
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes long, or real time")]
fn tokens_are_neither_lost_nor_made() {
    // Every token ends at its last hop, so all emitted tokens finish.
    let edges: Edges = vec![(0, 1, 20), (1, 2, 7), (2, 0, 10_000), (0, 2, 3)];
    let layout = layout(3, &edges, &[0, 1, 2], 2);
    let limits = RunLimits { stop: Time::from_ms(100), goal: None, max_records: u64::MAX };
    let (_, end, finished) = digest(3, &edges, &layout, limits);
    assert_eq!((finished, end), (60, Time::from_ms(100)));
}

#[test]
fn a_cancelled_run_ends_early_and_says_so() {
    let edges: Edges = vec![(0, 1, 20), (1, 0, 20)];
    let limits = RunLimits { stop: Time::from_ms(100), goal: None, max_records: u64::MAX };
    let layout = layout(2, &edges, &[0, 1], 2);
    let (_, outcome) = run_all(devices(2, &edges), &layout, limits, &|_| false);
    assert!(outcome.cancelled && outcome.end < Time::from_us(2));
}

#[test]
fn a_panic_in_a_device_reaches_the_caller() {
    struct Bomb;
    impl Device for Bomb {
        type Packet = ();
        fn advance(&mut self, window: &mut Window<'_, '_, ()>) -> Time {
            assert!(window.until() < Time::from_us(3), "boom");
            window.until()
        }
    }
    let result = std::panic::catch_unwind(|| {
        let limits = RunLimits { stop: Time::from_ms(1), goal: None, max_records: u64::MAX };
        let layout = Layout::one_group_per_device(2, 2, Time::from_us(1));
        run_all(vec![Bomb, Bomb], &layout, limits, &|_| true);
    });
    let payload = result.expect_err("the device panics");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"boom"));
}

/// Delays the first thread by `nap` every `windows` windows, as another process on its core would.
fn nap_every(windows: u64, nap: Duration) -> impl Fn(Progress) -> bool + Sync {
    let calls = AtomicU64::new(0);
    move |_| {
        if calls.fetch_add(1, Ordering::Relaxed) % windows == windows - 1 {
            std::thread::sleep(nap);
        }
        true
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes long, or real time")]
fn threads_that_lose_their_core_change_nothing() {
    let edges: Edges = (0..12)
        .flat_map(|from| [(from, (from + 1) % 12, 20), (from, (from * 5 + 2) % 12, 27)])
        .collect();
    let limits = RunLimits { stop: Time::from_ms(4), goal: None, max_records: u64::MAX };
    let singles: Vec<usize> = (0..12).collect();
    let run_with = |threads, solo_periods, naps: &(dyn Fn(Progress) -> bool + Sync)| {
        let layout = Layout { solo_periods, ..layout(12, &edges, &singles, threads) };
        let (devices, outcome) = run_all(devices(12, &edges), &layout, limits, naps);
        (devices.iter().map(|device| mix(device.hash, device.seen)).collect::<Vec<u64>>(), outcome)
    };
    let undisturbed = run_with(1, true, &|_| true);
    for threads in [2, 3] {
        for windows in [7, 50] {
            // Long enough to be noticed, and so short that all threads soon resume.
            let naps = nap_every(windows, Duration::from_micros(700));
            for solo_periods in [true, false] {
                assert_eq!(run_with(threads, solo_periods, &naps), undisturbed);
            }
        }
    }
}

/// Records which thread advanced it in each window.
struct Witness(Vec<ThreadId>);

impl Device for Witness {
    type Packet = ();
    fn advance(&mut self, window: &mut Window<'_, '_, ()>) -> Time {
        self.0.push(std::thread::current().id());
        window.until()
    }
}

/// Runs two devices on two threads. Returns which thread advanced each of them in each window.
fn threads_by_window(
    windows: u64,
    solo_periods: bool,
    watch: &(dyn Fn(Progress) -> bool + Sync),
) -> [Vec<ThreadId>; 2] {
    let limits = RunLimits { stop: Time::from_us(windows), goal: None, max_records: u64::MAX };
    let layout = Layout { solo_periods, ..Layout::one_group_per_device(2, 2, Time::from_us(1)) };
    let devices = vec![Witness(Vec::new()), Witness(Vec::new())];
    let (devices, _) = run_all(devices, &layout, limits, watch);
    <[Witness; 2]>::try_from(devices).ok().expect("there are two").map(|witness| witness.0)
}

#[test]
#[cfg_attr(miri, ignore = "takes long, or real time")]
fn first_thread_works_alone_after_a_loss() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return;
    }
    // The machine may be busy, so that threads lose more time than this. One success is enough.
    let is_one_alone = || {
        let naps = nap_every(20, Duration::from_millis(5));
        let [first, second] = threads_by_window(39, true, &naps);
        let after = 25..39;
        first[after.clone()] == second[after.clone()]
            && first[after.clone()].iter().all(|thread| *thread == first[after.start])
    };
    assert!((0..50).any(|_| is_one_alone()));
}

#[test]
#[cfg_attr(miri, ignore = "takes long, or real time")]
fn first_thread_works_alone_if_others_keep_all_cores_but_one() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        std::thread::sleep(Duration::from_millis(20));
        let says_so = std::fs::read_to_string("/proc/loadavg").is_ok_and(|loads| {
            let running = loads.split([' ', '/']).nth(3).and_then(|word| word.parse().ok());
            running.is_some_and(|running: usize| running >= cores)
        });
        let [first, second] = threads_by_window(3_000, true, &|_| true);
        let [own, other] = threads_by_window(100, false, &|_| true);
        over.store(true, Ordering::Relaxed);
        // If the process may not use all cores of the machine, other cores may be idle.
        let online = std::fs::read_to_string("/sys/devices/system/cpu/online");
        if says_so && online.is_ok_and(|list| list.trim() == format!("0-{}", cores - 1)) {
            assert!(first.iter().chain(&second).all(|thread| *thread == first[0]));
            assert_ne!(own, other, "without solo periods both threads work");
        }
    });
}

/// Sends many tokens over one link that would all arrive at the same instant, or records what
/// arrives.
enum Burst {
    Sends(Link),
    Records(Vec<(Time, u64)>),
}

impl Device for Burst {
    type Packet = Token;
    fn advance(&mut self, window: &mut Window<'_, '_, Token>) -> Time {
        match self {
            Burst::Sends(link) => {
                // The first that is sent is the last that was made, so that addresses cannot
                // decide.
                let tokens = (0..50).map(|value| Token { value, hops_left: 0 });
                let handles: Vec<_> = tokens.map(|token| window.packets.insert(token)).collect();
                for handle in handles.into_iter().rev() {
                    window.send(link, Time::from_us(2), Rank::Third, handle);
                }
                Time::NEVER
            }
            Burst::Records(seen) => {
                while let Some((time, _, handle)) = window.next_arrival() {
                    seen.push((time, window.packets.remove(handle).value));
                }
                Time::NEVER
            }
        }
    }
}

/// Packets that take no time on a link arrive in the order in which they were sent, for any number.
#[test]
fn packets_of_one_instant_stay_in_order() {
    let arrived = |threads: u16, reference: bool| {
        let devices = vec![Burst::Sends(Link::new(1, 0)), Burst::Records(Vec::new())];
        let layout = Layout {
            groups: vec![Group::single(0, 0), Group::single(1, threads - 1)],
            threads: threads.into(),
            lookahead: Time::from_us(1),
            tie_break: TieBreak::RotatePorts,
            solo_periods: true,
            tags: false,
        };
        let limits = RunLimits { stop: Time::from_us(5), goal: None, max_records: u64::MAX };
        let devices = if reference {
            run_reference(devices, &layout, limits).0
        } else {
            run_all(devices, &layout, limits, &|_| true).0
        };
        let Some(Burst::Records(seen)) = devices.into_iter().nth(1) else { panic!("it records") };
        seen
    };
    let expected: Vec<(Time, u64)> =
        (0..50).map(|n| (Time::from_us(2) + Time::from_ps(n / 4), 49 - n)).collect();
    for (threads, reference) in [(1, false), (2, false), (1, true)] {
        let seen = arrived(threads, reference);
        assert_eq!(seen, expected, "{threads} threads, reference: {reference}");
    }
}
