//! From `[[traffic]]` to messages. Traffic depends on the seed, the network and its own keys, and
//! on nothing else: it is the same whatever the scheme.

mod bursts;
mod collective;
mod flow_file;
mod flows;
mod incast;
mod permutation;
mod poisson;
mod request_response;
mod waits;

use crate::error::{Result, ScenarioError};
use crate::memory;
use crate::network::{Network, Reachability};
use crate::read_file::Files;
use crate::selector::Selector;
use crate::spec::{Quantity, QuirksSpec, TrafficSpec};
use crate::workload::MAX_MESSAGE;
use model::{Joins, Message};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, MixSide, NodeId, Time, cancel};
use waits::{After, Waits};

/// The most messages that a scenario may have. Fuzzers stay with few: they look for other things
/// than a lack of memory.
pub const MAX_MESSAGES: u64 = if cfg!(fuzzing) { 20_000 } else { 50_000_000 };
/// What helps where there are more.
const FEWER: &str = "let the traffic last shorter, repeat less often or have less load";
/// Most bytes of all messages together: sums of what they take on the wire fit 64 bits.
const MAX_BYTES: u128 = 1 << 56;

/// The latest time that a scenario may name, about 11 days; sums of times stay far from overflow.
pub const MAX_TIME: Time = Time::from_ms(1_000_000_000);

/// RoCEv2's UDP destination port.
pub const ROCE_PORT: u16 = 4791;

/// UDP source ports as the HPCC simulator numbers them: the QPs of each pair of hosts count from
/// 10000, in the order of the flows.
#[derive(Default)]
pub struct SourcePorts(BTreeMap<(NodeId, NodeId), u16>);

impl SourcePorts {
    /// The port of the first QP of a pair of hosts.
    pub const FIRST: u16 = 10_000;

    /// Returns the port of the next QP from `src` to `dst`.
    pub fn next(&mut self, src: NodeId, dst: NodeId) -> u16 {
        let next = self.0.entry((src, dst)).or_insert(SourcePorts::FIRST);
        std::mem::replace(next, next.wrapping_add(1))
    }
}

/// UDP ports as ConWeave's simulator numbers them: each host counts its QPs, in the order of the
/// flows, as their sender and as their receiver.
#[derive(Default)]
pub struct HostPorts {
    source: BTreeMap<NodeId, u16>,
    destination: BTreeMap<NodeId, u16>,
}

impl HostPorts {
    /// The destination port of the first QP to a host.
    const FIRST_DESTINATION: u16 = 100;

    /// Returns the source and the destination port of the next QP from `src` to `dst`.
    pub fn next(&mut self, src: NodeId, dst: NodeId) -> (u16, u16) {
        let take = |next: &mut u16| std::mem::replace(next, next.wrapping_add(1));
        (
            take(self.source.entry(src).or_insert(SourcePorts::FIRST)),
            take(self.destination.entry(dst).or_insert(HostPorts::FIRST_DESTINATION)),
        )
    }
}

/// Who numbers the UDP ports of QPs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortNumbers {
    /// Nobody: no hash looks at them.
    None,
    /// [`SourcePorts`].
    Pairs,
    /// [`HostPorts`].
    Hosts,
}

impl PortNumbers {
    pub(crate) fn of(quirks: &QuirksSpec) -> PortNumbers {
        match quirks {
            QuirksSpec { ns3_ecmp_hash: true, .. } => PortNumbers::Pairs,
            QuirksSpec { conweave_ecmp_hash: true, .. } => PortNumbers::Hosts,
            _ => PortNumbers::None,
        }
    }
}

/// What generators need to know of the scenario.
pub(crate) struct Context<'a> {
    pub seed: u64,
    pub nodes: &'a Selector<'a>,
    pub data_class: u8,
    /// The end of the run, where it is known.
    pub stop: Option<Time>,
    pub files: &'a Files,
    pub port_numbers: PortNumbers,
}

/// Messages, and the joins and tags that they refer to.
pub(crate) struct Traffic {
    pub messages: Vec<Message>,
    pub joins: Joins,
    pub tags: Vec<String>,
    /// The entries that have no message, by their index.
    pub empty: Vec<usize>,
}

/// Generates the messages of every entry and completes the entries.
pub(crate) fn resolve(specs: &mut [TrafficSpec], context: &Context<'_>) -> Result<Traffic> {
    let mut sink = Sink {
        messages: Vec::new(),
        joins: Joins::default(),
        waits: Waits::default(),
        tags: Vec::new(),
        tag_numbers: BTreeMap::new(),
        qps: BTreeMap::new(),
        next_qp: 0,
        bytes: 0,
        network: context.nodes.network(),
        reach: Reachability::new(context.nodes.network(), &BTreeSet::new()),
    };
    let mut ordinals: BTreeMap<String, u64> = BTreeMap::new();
    let mut empty = Vec::new();
    for (index, spec) in specs.iter_mut().enumerate() {
        let key = format!("traffic.{index}");
        let (kind, spec_tag, spec_priority) = common(spec);
        let (first, known_tags) = (sink.messages.len(), sink.tags.len());
        let tag_key = format!("{key}.tag");
        let tag = sink.tag(spec_tag.get_or_insert_with(|| kind.to_owned()), &tag_key)?;
        let priority = *spec_priority.get_or_insert(context.data_class);
        check_priority(priority, || format!("{key}.priority"))?;
        // Random streams go by tag, and by the count of entries with that tag, so that an entry
        // more or less changes no other.
        let name = &sink.tags[usize::from(tag)];
        let ordinal = ordinals.entry(name.clone()).or_insert(0);
        let entity = crate::random::entity_of(name).wrapping_add(*ordinal);
        *ordinal += 1;
        let after = after(spec, |name| format!("{key}.{name}"))?;
        let entry = Entry { key, tag, priority, entity, after };
        match spec {
            TrafficSpec::Flows(flows) => flows::flows(flows, &entry, context, &mut sink)?,
            TrafficSpec::Bursts(bursts) => bursts::bursts(bursts, &entry, context, &mut sink)?,
            TrafficSpec::Incast(incast) => incast::incast(incast, &entry, context, &mut sink)?,
            TrafficSpec::Permutation(permutation) => {
                permutation::permutation(permutation, &entry, context, &mut sink)?;
            }
            TrafficSpec::Poisson(poisson) => {
                poisson::poisson(poisson, &entry, context, &mut sink)?;
            }
            TrafficSpec::RequestResponse(spec) => {
                request_response::request_response(spec, &entry, context, &mut sink)?;
            }
            TrafficSpec::Collective(collective) => {
                collective::collective(collective, &entry, context, &mut sink)?;
            }
        }
        if sink.messages.len() == first {
            empty.push(index);
        }
        if usize::from(tag) == known_tags {
            sink.take_back(tag, first);
        }
    }
    sink.check_waits()?;
    sink.check_order()?;
    Ok(sink.finish(context.port_numbers, empty))
}

/// The keys that every kind has, tag and priority, and what its tag is by default.
fn common(spec: &mut TrafficSpec) -> (&'static str, &mut Option<String>, &mut Option<u8>) {
    match spec {
        TrafficSpec::Flows(s) => ("flows", &mut s.tag, &mut s.priority),
        TrafficSpec::Poisson(s) => ("poisson", &mut s.tag, &mut s.priority),
        TrafficSpec::RequestResponse(s) => ("request", &mut s.tag, &mut s.priority),
        TrafficSpec::Incast(s) => ("incast", &mut s.tag, &mut s.priority),
        TrafficSpec::Permutation(s) => ("permutation", &mut s.tag, &mut s.priority),
        TrafficSpec::Bursts(s) => ("bursts", &mut s.tag, &mut s.priority),
        TrafficSpec::Collective(s) => ("collective", &mut s.tag, &mut s.priority),
    }
}

/// What all messages of an entry wait for. Where arrivals are random they wait for nothing.
fn after(spec: &TrafficSpec, key: impl Fn(&str) -> String) -> Result<Option<After>> {
    let (tag, delay) = match spec {
        TrafficSpec::Flows(s) => (&s.after, s.after_delay),
        TrafficSpec::Incast(s) => (&s.after, s.after_delay),
        TrafficSpec::Permutation(s) => (&s.after, s.after_delay),
        TrafficSpec::Collective(s) => (&s.after, s.after_delay),
        TrafficSpec::Poisson(_) | TrafficSpec::RequestResponse(_) | TrafficSpec::Bursts(_) => {
            return Ok(None);
        }
    };
    After::new(tag.as_deref(), delay, key)
}

/// The entry of `[[traffic]]` that is being generated.
struct Entry {
    /// Its path, such as `traffic.0`.
    key: String,
    tag: u16,
    priority: u8,
    /// What its random streams are keyed by, beside seed and purpose.
    entity: u64,
    /// What its messages wait for, if they wait for nothing else.
    after: Option<After>,
}

impl Entry {
    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.key)
    }

    /// The hosts that its key `hosts` names; all without it.
    fn hosts(&self, names: Option<&[String]>, context: &Context<'_>) -> Result<Vec<NodeId>> {
        match names {
            Some(names) => context.nodes.hosts(names, &self.key("hosts")),
            None => Ok(context.nodes.all_hosts().to_vec()),
        }
    }

    /// Returns the selected hosts, of which `what` needs at least two.
    fn two_hosts_or_more(
        &self,
        names: Option<&[String]>,
        what: &str,
        context: &Context<'_>,
    ) -> Result<Vec<NodeId>> {
        let hosts = self.hosts(names, context)?;
        if hosts.len() < 2 {
            let why = format!("{what} needs at least 2 hosts, got {}", hosts.len());
            return Err(ScenarioError::new(self.key("hosts"), why));
        }
        Ok(hosts)
    }

    fn message(&self, src: NodeId, dst: NodeId, size: u64, start: Time) -> Message {
        Message {
            src,
            dst,
            size: Bytes::new(size),
            start,
            after: None,
            priority: self.priority,
            side: MixSide::First,
            tag: self.tag,
            qp: 0,
            udp_ports: (SourcePorts::FIRST, ROCE_PORT),
        }
    }

    /// Makes room for about `more` messages. Refuses more than a scenario may have, or than clearly
    /// fit in memory, before they are made.
    fn make_room(&self, more: u64, sink: &mut Sink) -> Result<()> {
        let total = more.saturating_add(sink.messages.len() as u64);
        if total > MAX_MESSAGES {
            return Err(ScenarioError::new(
                &self.key,
                format!("makes about {total} messages; a scenario has at most {MAX_MESSAGES}"),
            )
            .hint(FEWER));
        }
        memory::check_messages(total, &self.key)?;
        // Where arrivals are random, four standard deviations more.
        let room = more + 4 * more.isqrt();
        units::memory::reserve(&mut sink.messages, room as usize, "messages");
        Ok(())
    }
}

/// Where messages gather.
struct Sink<'a> {
    network: &'a Network,
    messages: Vec<Message>,
    joins: Joins,
    waits: Waits,
    tags: Vec<String>,
    tag_numbers: BTreeMap<String, u16>,
    /// Named QPs: id, ends and priority.
    qps: BTreeMap<String, (u32, NodeId, NodeId, u8)>,
    next_qp: u32,
    /// Of all messages.
    bytes: u128,
    reach: Reachability,
}

impl Sink<'_> {
    /// Returns the number of a tag; `key` is the one that gives it.
    fn tag(&mut self, tag: &str, key: &str) -> Result<u16> {
        let wrong = |why: &str| ScenarioError::new(key, why);
        if tag.is_empty() {
            return Err(wrong("must not be empty").hint("leave it out"));
        }
        if tag.chars().any(char::is_control) {
            return Err(wrong(&format!("{tag:?} has a control character, which no tag may have")));
        }
        if let Some(&number) = self.tag_numbers.get(tag) {
            return Ok(number);
        }
        let Ok(number) = u16::try_from(self.tags.len()) else {
            return Err(wrong("there are more than 65536 tags"));
        };
        self.tags.push(tag.to_owned());
        self.tag_numbers.insert(tag.to_owned(), number);
        Ok(number)
    }

    /// Takes back a new tag if there are messages from `first` on and all of them have others.
    fn take_back(&mut self, tag: u16, first: usize) {
        let made = &mut self.messages[first..];
        if made.is_empty() || made.iter().any(|message| message.tag == tag) {
            return;
        }
        self.tag_numbers.remove(&self.tags.remove(usize::from(tag)));
        self.waits.take_back(tag);
        let numbers = made.iter_mut().map(|message| &mut message.tag);
        for number in numbers.chain(self.tag_numbers.values_mut()) {
            *number -= u16::from(*number > tag);
        }
    }

    /// Adds a message on a QP of its own; `key` is asked for when something is wrong with it.
    fn push(&mut self, message: Message, key: impl Fn() -> String) -> Result<()> {
        let qp = self.open_qp();
        self.push_to(qp, message, key)
    }

    /// A QP for messages of the same ends and priority.
    fn open_qp(&mut self) -> u32 {
        self.next_qp += 1;
        self.next_qp - 1
    }

    /// Adds a message on a QP.
    fn push_to(&mut self, qp: u32, message: Message, key: impl Fn() -> String) -> Result<()> {
        self.check(&message, &key)?;
        self.bytes += u128::from(message.size.get());
        if self.bytes > MAX_BYTES {
            let why = format!("all messages together have more than {MAX_BYTES} bytes");
            return Err(ScenarioError::new(key(), why));
        }
        self.messages.push(Message { qp, ..message });
        Ok(())
    }

    /// Adds a message on the QP called `name`.
    fn push_on(&mut self, name: &str, message: Message, key: impl Fn() -> String) -> Result<()> {
        let known = self.qps.entry(name.to_owned()).or_insert_with(|| {
            let qp = self.next_qp;
            self.next_qp += 1;
            (qp, message.src, message.dst, message.priority)
        });
        if (known.1, known.2, known.3) != (message.src, message.dst, message.priority) {
            return Err(ScenarioError::new(
                format!("{}.qp", key()),
                format!("the QP `{name}` is used with other ends or another priority before"),
            ));
        }
        let qp = known.0;
        self.push_to(qp, message, key)
    }

    fn check(&self, message: &Message, key: impl Fn() -> String) -> Result<()> {
        cancel::check();
        if self.messages.len() as u64 >= MAX_MESSAGES {
            return Err(ScenarioError::new(
                key(),
                format!("a scenario has at most {MAX_MESSAGES} messages"),
            )
            .hint(FEWER));
        }
        if message.start > MAX_TIME {
            return Err(ScenarioError::new(
                key(),
                format!("a message starts at {}; the latest time is {MAX_TIME}", message.start),
            ));
        }
        if message.src == message.dst {
            return Err(ScenarioError::new(key(), "a host cannot send to itself"));
        }
        if !self.reach.joins(message.src, message.dst) {
            let ends = (self.network.name(message.src), self.network.name(message.dst));
            if !self.network.joins(message.src, message.dst) {
                let why = format!("{} and {} are in parts that no link joins", ends.0, ends.1);
                return Err(ScenarioError::new(key(), why)
                    .hint("join the parts with a link, or leave the message out"));
            }
            return Err(ScenarioError::new(
                key(),
                format!(
                    "{} and {} have no path but through another host, and hosts do not forward",
                    ends.0, ends.1
                ),
            ));
        }
        Ok(())
    }

    /// The messages by start, those of a time in the order of making.
    fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.messages.len() as u32).collect();
        order.sort_by_key(|&made| self.messages[made as usize].start);
        order
    }

    /// Sorts by start, keeping the order of making, and numbers QPs in order of first use.
    /// `port_numbers`: who numbers their UDP ports.
    fn finish(mut self, port_numbers: PortNumbers, empty: Vec<usize>) -> Traffic {
        if !self.joins.delays.is_empty() {
            let order = self.order();
            let mut index = vec![0; order.len()];
            for (at, &made) in order.iter().enumerate() {
                index[made as usize] = at as u32;
            }
            for awaited in &mut self.joins.awaited {
                awaited.message = index[awaited.message as usize];
            }
        }
        self.messages.sort_by_key(|message| message.start);
        let mut renumbered: Vec<Option<u32>> = vec![None; self.next_qp as usize];
        let (mut of_pairs, mut of_hosts) = (SourcePorts::default(), HostPorts::default());
        let mut ports_of_qp = Vec::new();
        let mut next = 0;
        for message in &mut self.messages {
            message.qp = *renumbered[message.qp as usize].get_or_insert_with(|| {
                let (src, dst, given) = (message.src, message.dst, message.udp_ports);
                ports_of_qp.push(match port_numbers {
                    PortNumbers::None => given,
                    PortNumbers::Pairs => (of_pairs.next(src, dst), given.1),
                    PortNumbers::Hosts => of_hosts.next(src, dst),
                });
                next += 1;
                next - 1
            });
            let ports = ports_of_qp[message.qp as usize];
            match port_numbers {
                PortNumbers::None => {}
                PortNumbers::Pairs => message.udp_ports.0 = ports.0,
                PortNumbers::Hosts => message.udp_ports = ports,
            }
        }
        Traffic { messages: self.messages, joins: self.joins, tags: self.tags, empty }
    }
}

/// Checks a message's size.
fn check_size(size: Quantity<Bytes>, key: impl Fn() -> String) -> Result<u64> {
    match size.0.get() {
        0 => Err(ScenarioError::new(key(), "must be above zero")),
        bytes if bytes > MAX_MESSAGE => Err(ScenarioError::new(
            key(),
            format!("{} is too large; a message has at most 4000GB", size.0),
        )),
        bytes => Ok(bytes),
    }
}

/// Checks a point in time.
pub(crate) fn check_time(time: Quantity<Time>, key: impl Fn() -> String) -> Result<Time> {
    if time.0 <= MAX_TIME {
        return Ok(time.0);
    }
    Err(ScenarioError::new(key(), format!("{} is too late; the latest time is {MAX_TIME}", time.0)))
}

/// Checks the end of something that begins `at` a time; it may have none.
pub(crate) fn check_until(
    at: Time,
    until: Option<Quantity<Time>>,
    key: impl Fn() -> String,
) -> Result<Time> {
    let Some(until) = until else { return Ok(Time::NEVER) };
    let until = check_time(until, &key)?;
    if until <= at {
        let why = format!("must be later than `at`, which is {at}; got {until}");
        return Err(ScenarioError::new(key(), why));
    }
    Ok(until)
}

/// Checks the two ends of a span of time, which may have no end; `key` makes the keys of `start`
/// and `end`.
pub(crate) fn check_span(
    start: Quantity<Time>,
    end: Option<Quantity<Time>>,
    key: impl Fn(&str) -> String,
) -> Result<(Time, Option<Time>)> {
    let start = check_time(start, || key("start"))?;
    let end = end.map(|end| check_time(end, || key("end"))).transpose()?;
    if let Some(end) = end
        && end < start
    {
        let why = format!("{end} is before the start at {start}");
        return Err(ScenarioError::new(key("end"), why));
    }
    Ok((start, end))
}

/// Checks a priority.
pub(crate) fn check_priority(priority: u8, key: impl Fn() -> String) -> Result<()> {
    if priority <= 7 {
        return Ok(());
    }
    Err(ScenarioError::new(key(), format!("priorities are 0 to 7, got {priority}")))
}

/// `n` times a period, or never.
fn times(period: Time, n: u64) -> Time {
    period.ps().checked_mul(n).map_or(Time::NEVER, Time::from_ps)
}
