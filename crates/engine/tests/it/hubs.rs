//! Groups with a hub are advanced in parts: what goes to uncoupled devices, what goes to coupled
//! ones, and what goes to the rest of the network. That changes no result.
//!
//! Toy racks: hosts send tokens to each other and answer those that they get; switches forward
//! them. Each device mixes what it sees into a running hash. A switch has one hash for each of its
//! ports, as its ports are independent.

use crate::mix;
use engine::{
    Device, Entry, Group, Handle, Layout, Link, Rank, RunLimits, TieBreak, Window, run,
    run_reference,
};
use proptest::prelude::*;
use units::Time;

/// Miri, which finds undefined behaviour, is a thousand times slower.
const CASES: u32 = if cfg!(miri) { 1 } else { 64 };
const SPAN: Time = Time::from_us(if cfg!(miri) { 6 } else { 60 });
/// Serialisation time of a token.
const WIRE: Time = Time::from_ns(20);
const UPLINK: Time = Time::from_us(1);

#[derive(Clone, Copy)]
struct Token {
    from: u32,
    to: u32,
    value: u64,
    answers_left: u32,
}

/// The sending end of a link, which serialises.
struct Port {
    link: Link,
    delay: Time,
    free: Time,
    hash: u64,
}

impl Port {
    fn send(&mut self, window: &mut Window<'_, '_, Token>, now: Time, handle: Handle) {
        self.free = self.free.max(now) + WIRE;
        window.send(&mut self.link, self.free + self.delay, Rank::Third, handle);
    }
}

/// The shape of the network: racks of equally many hosts, and one spine.
#[derive(Clone, Copy, Debug)]
struct Racks {
    racks: u32,
    hosts: u32,
    cable_ns: u64,
}

impl Racks {
    fn tor(self, rack: u32) -> u32 {
        self.racks * self.hosts + rack
    }
    fn spine(self) -> u32 {
        self.tor(self.racks)
    }
}

struct Host {
    number: u32,
    racks: Racks,
    port: Port,
    hash: u64,
    /// When it sends, to whom, and how often the token is answered.
    sends: Vec<(Time, u32, u32)>,
    sent: usize,
    /// By index in the group, which has the hosts first.
    couplings: Vec<i64>,
}

impl Host {
    fn couple(&mut self, token: &Token, more: i64) {
        let Racks { hosts, .. } = self.racks;
        if token.from / hosts == token.to / hosts {
            self.couplings[(token.from % hosts) as usize] += more;
            self.couplings[(token.to % hosts) as usize] += more;
        }
    }

    fn emit(&mut self, window: &mut Window<'_, '_, Token>, now: Time, to: u32, answers_left: u32) {
        let token = Token { from: self.number, to, value: self.hash, answers_left };
        self.couple(&token, 1);
        let handle = window.packets.insert(token);
        self.port.send(window, now, handle);
    }

    fn next_send(&self) -> Time {
        self.sends.get(self.sent).map_or(Time::NEVER, |send| send.0)
    }

    fn advance(&mut self, window: &mut Window<'_, '_, Token>) -> Time {
        loop {
            let own = self.next_send();
            if window.next_arrival_time() <= own {
                let Some((now, _, handle)) = window.next_arrival() else { break };
                let token = window.packets.remove(handle);
                assert_eq!(token.to, self.number);
                self.couple(&token, -1);
                self.hash = mix(self.hash, mix(now.ps(), token.value));
                if token.answers_left > 0 {
                    self.emit(window, now, token.from, token.answers_left - 1);
                }
            } else if own < window.until() {
                let (now, to, answers) = self.sends[self.sent];
                self.sent += 1;
                self.hash = mix(self.hash, now.ps());
                self.emit(window, now, to, answers);
            } else {
                break;
            }
        }
        self.next_send()
    }
}

struct Switch {
    /// Its rack; the spine has none.
    rack: Option<u32>,
    racks: Racks,
    /// To the hosts of its rack, or to all racks; then to the spine.
    ports: Vec<Port>,
    coupled: Vec<bool>,
    /// Number of windows so far: in every fifth it cannot separate its parts.
    asked: u64,
    /// Number of windows that it handled in parts.
    split_windows: u64,
}

/// Returns the port towards a host.
fn out_port(rack: Option<u32>, racks: Racks, to: u32) -> usize {
    let (of, index) = (to / racks.hosts, to % racks.hosts);
    match rack {
        None => of as usize,
        Some(rack) if rack == of => index as usize,
        Some(_) => racks.hosts as usize,
    }
}

impl Switch {
    fn forward(&mut self, window: &mut Window<'_, '_, Token>, at: (Time, u16), mut handle: Handle) {
        let (now, came_through) = at;
        let token = window.packets.get_mut(&mut handle);
        let out = out_port(self.rack, self.racks, token.to);
        let port = &mut self.ports[out];
        port.hash = mix(port.hash, mix(now.ps() ^ u64::from(came_through) << 50, token.value));
        token.value ^= port.hash;
        port.send(window, now, handle);
    }

    fn forward_bucket(&mut self, window: &mut Window<'_, '_, Token>, entries: &[Entry]) {
        for &entry in entries {
            // SAFETY: takes each entry of a bucket of this window once.
            let (now, tag, handle) = unsafe { window.take_bucketed(entry) };
            let came_through = tag.port(window);
            self.forward(window, (now, came_through), handle);
        }
    }

    fn advance_downlinks(&mut self, window: &mut Window<'_, '_, Token>, couplings: &[i64]) -> bool {
        self.asked += 1;
        if self.asked.is_multiple_of(5) {
            return false;
        }
        self.split_windows += 1;
        let (rack, racks, hosts) = (self.rack, self.racks, self.racks.hosts as usize);
        self.coupled = couplings[..hosts].iter().map(|&coupling| coupling > 0).collect();
        let buckets = window.bucket(hosts + 1, |token| out_port(rack, racks, token.to) as u16);
        let buckets = buckets.expect("each token has a port");
        for host in 0..hosts {
            if self.coupled[host] {
                // SAFETY: each bucket of this window is either kept or taken, once.
                unsafe { window.keep_for_coupled(&buckets, host) };
            } else {
                self.forward_bucket(window, buckets.get(host));
            }
        }
        // SAFETY: as above.
        unsafe { window.keep_for_uplinks(&buckets, hosts) };
        window.recycle(buckets);
        true
    }

    fn advance_coupled(&mut self, window: &mut Window<'_, '_, Token>) -> Time {
        while let Some(&Token { to, .. }) = window.peek_ahead(0) {
            let out = out_port(self.rack, self.racks, to);
            if out == self.racks.hosts as usize {
                window.keep_next_for_uplinks();
                continue;
            }
            assert!(self.coupled[out], "its host is not coupled");
            let (now, port, handle) = window.next_arrival().expect("it was peeked at");
            self.forward(window, (now, port), handle);
        }
        Time::NEVER
    }

    fn advance_uplinks(&mut self, window: &mut Window<'_, '_, Token>) -> Time {
        let (rack, racks, hosts) = (self.rack, self.racks, self.racks.hosts as usize);
        let buckets = window.bucket(hosts + 1, |token| out_port(rack, racks, token.to) as u16);
        let buckets = buckets.expect("each token has a port");
        assert!((0..hosts).all(|host| buckets.get(host).is_empty()), "its host is not coupled");
        self.forward_bucket(window, buckets.get(hosts));
        window.recycle(buckets);
        Time::NEVER
    }
}

enum Node {
    Host(Host),
    Switch(Switch),
}

impl Device for Node {
    type Packet = Token;

    fn advance(&mut self, window: &mut Window<'_, '_, Token>) -> Time {
        match self {
            Node::Host(host) => host.advance(window),
            Node::Switch(switch) => {
                while let Some((now, port, handle)) = window.next_arrival() {
                    switch.forward(window, (now, port), handle);
                }
                Time::NEVER
            }
        }
    }

    fn add_couplings(&self, until: Time, couplings: &mut [i64]) {
        let Node::Host(host) = self else { panic!("only hosts are asked") };
        for (coupling, more) in couplings.iter_mut().zip(&host.couplings) {
            *coupling += more;
        }
        let Racks { hosts, .. } = host.racks;
        let due = host.sends[host.sent..].iter().take_while(|send| send.0 < until);
        for &(_, to, _) in due.filter(|send| send.1 / hosts == host.number / hosts) {
            couplings[(host.number % hosts) as usize] += 1;
            couplings[(to % hosts) as usize] += 1;
        }
    }

    fn advance_downlinks(&mut self, window: &mut Window<'_, '_, Token>, couplings: &[i64]) -> bool {
        let Node::Switch(switch) = self else { panic!("hubs are switches") };
        switch.advance_downlinks(window, couplings)
    }

    fn advance_coupled(&mut self, window: &mut Window<'_, '_, Token>) -> Time {
        let Node::Switch(switch) = self else { panic!("hubs are switches") };
        switch.advance_coupled(window)
    }

    fn advance_uplinks(&mut self, window: &mut Window<'_, '_, Token>) -> Time {
        let Node::Switch(switch) = self else { panic!("hubs are switches") };
        switch.advance_uplinks(window)
    }
}

/// What hosts send: (from, to, when in units of 10 ns, how often the token is answered).
type Sends = Vec<(u32, u32, u64, u32)>;

fn nodes(racks: Racks, sends: &Sends) -> Vec<Node> {
    let cable = Time::from_ns(racks.cable_ns);
    let port = |device: u32, number: u32, delay: Time| Port {
        link: Link::new(device, number as u16),
        delay,
        free: Time::ZERO,
        hash: u64::from(device) << 16 | u64::from(number),
    };
    let hosts = (0..racks.racks * racks.hosts).map(|number| {
        let own = sends.iter().filter(|send| send.0 == number && send.1 != number);
        let mut sends: Vec<(Time, u32, u32)> =
            own.map(|&(_, to, at, answers)| (Time::from_ns(10 * at), to, answers)).collect();
        sends.sort_unstable();
        Node::Host(Host {
            number,
            racks,
            port: port(racks.tor(number / racks.hosts), number % racks.hosts, cable),
            hash: u64::from(number),
            sends,
            sent: 0,
            couplings: vec![0; racks.hosts as usize + 1],
        })
    });
    let switch = |rack: Option<u32>, ports: Vec<Port>| {
        Node::Switch(Switch { rack, racks, ports, coupled: Vec::new(), asked: 0, split_windows: 0 })
    };
    let tors = (0..racks.racks).map(|rack| {
        let down = (0..racks.hosts).map(|index| port(rack * racks.hosts + index, 0, cable));
        switch(Some(rack), down.chain([port(racks.spine(), rack, UPLINK)]).collect())
    });
    let down = (0..racks.racks).map(|rack| port(racks.tor(rack), racks.hosts, UPLINK));
    let spine = switch(None, down.collect());
    hosts.chain(tors).chain([spine]).collect()
}

/// Makes each rack a group, with its switch as the hub if `hubs`.
fn in_racks(racks: Racks, threads: usize, hubs: bool) -> Layout {
    let owner = |group: u32| (group as usize % threads) as u16;
    let rack = |rack: u32| {
        let hosts = rack * racks.hosts..(rack + 1) * racks.hosts;
        Group {
            devices: hosts.chain([racks.tor(rack)]).collect(),
            owner: owner(rack),
            internal_lookahead: Time::from_ns(racks.cable_ns) + WIRE,
            hub: hubs.then(|| racks.tor(rack)),
        }
    };
    let spine = Group::single(racks.spine(), owner(racks.racks));
    Layout {
        groups: (0..racks.racks).map(rack).chain([spine]).collect(),
        threads,
        lookahead: UPLINK,
        tie_break: TieBreak::RotatePorts,
        solo_periods: true,
        tags: false,
    }
}

/// Returns the hashes of all devices, and how many windows hubs handled in parts.
fn digest(nodes: Vec<Node>) -> (Vec<u64>, u64) {
    let mut split_windows = 0;
    let hashes = nodes.into_iter().flat_map(|node| match node {
        Node::Host(host) => vec![host.hash],
        Node::Switch(switch) => {
            split_windows += switch.split_windows;
            switch.ports.iter().map(|port| port.hash).collect()
        }
    });
    (hashes.collect(), split_windows)
}

fn cases() -> impl Strategy<Value = (Racks, Sends)> {
    let cable = prop_oneof![Just(10u64), Just(0), Just(137), 1u64..900];
    (1u32..4, 1u32..6, cable).prop_flat_map(|(racks, hosts, cable_ns)| {
        let all = racks * hosts;
        let send = (0..all, 0..all, 0u64..5_000, 0u32..40);
        let racks = Racks { racks, hosts, cable_ns };
        (Just(racks), prop::collection::vec(send, 0..60))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn parts_of_a_window_change_nothing((racks, sends) in cases()) {
        let limits = RunLimits { stop: SPAN, goal: None, max_records: u64::MAX };
        let count = nodes(racks, &sends).len();
        let singles = Layout::one_group_per_device(count, 1, Time::from_us(1));
        let expected = digest(run_reference(nodes(racks, &sends), &singles, limits).0).0;
        for (threads, hubs) in [(1, false), (1, true), (2, true), (3, true)] {
            let layout = in_racks(racks, threads, hubs);
            let (after, ..) = run(nodes(racks, &sends), &layout, limits, &|_| true)
                .expect("threads start");
            let (hashes, split_windows) = digest(after);
            prop_assert_eq!(&hashes, &expected, "{} threads, hubs: {}", threads, hubs);
            prop_assert!(split_windows > 0 || !hubs, "no hub handled a window in parts");
        }
    }
}
