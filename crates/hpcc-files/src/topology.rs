//! `topology.txt`: the numbers of nodes, switches and links, then the switches, then one line for
//! each link.
//!
//! ```text
//! 3 1 2
//! 2
//! 0 2 100Gbps 1000ns 0
//! 1 2 100Gbps 1000ns 0
//! ```
//!
//! A link has two nodes, rate, one-way delay, and the probability that a packet is lost on it. A
//! probability of 0 means that of the configuration. Some forks have more in the first line: see
//! [`Form`].

mod header;

use self::header::Header;
use crate::columns;
use crate::config::refuse_htsim;
use crate::error::{FileError, Result, Warning, counted};
use crate::quantity;
use crate::tokens::{Token, Tokens};
use std::collections::BTreeMap;
use units::{DisjointSets, NodeId, Rate, Time, cancel};

pub use header::Form;

/// Maximum number of ports of a node in the original.
const MAX_PORTS: u32 = 256;

/// Nodes and links.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Whose form the file has.
    pub form: Form,
    /// Whether each node is a switch.
    pub is_switch: Vec<bool>,
    /// Whether each node is an NVSwitch, which is a switch that marks nothing.
    pub is_nvswitch: Vec<bool>,
    /// The links in the order of the file. Ports are numbered in this order.
    pub links: Vec<Link>,
}

/// A link and the ports it has at its ends. Ports are numbered from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// One end.
    pub a: NodeId,
    /// The number of its port there.
    pub a_port: u32,
    /// The other end.
    pub b: NodeId,
    /// The number of its port there.
    pub b_port: u32,
    /// Rate, the same in both directions.
    pub rate: Rate,
    /// Propagation delay of one direction, in whole nanoseconds.
    pub delay: Time,
    /// Probability that a packet is lost on it. 0 means that of the configuration.
    pub error_rate: f64,
    /// Its line in the file.
    pub line: usize,
}

impl Topology {
    /// The hosts, in the order of their numbers.
    pub fn hosts(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes().filter(|node| !self.is_switch[node.index()])
    }

    /// The switches, in the order of their numbers.
    pub fn switches(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes().filter(|node| self.is_switch[node.index()])
    }

    /// The links that have a switch at an end.
    pub fn switch_links(&self) -> impl Iterator<Item = &Link> {
        self.links
            .iter()
            .filter(|link| self.is_switch[link.a.index()] || self.is_switch[link.b.index()])
    }

    /// The links that have a switch at an end which marks.
    pub fn marking_links(&self) -> impl Iterator<Item = &Link> {
        let marks = |node: NodeId| self.is_switch[node.index()] && !self.is_nvswitch[node.index()];
        self.links.iter().filter(move |link| marks(link.a) || marks(link.b))
    }

    /// Whether it has a node without a link, or parts that no link joins.
    pub fn is_in_parts(&self) -> bool {
        self.parts().len() > 1
    }

    /// The number of nodes of each part that links join. A node without a link is one of them.
    fn parts(&self) -> Vec<usize> {
        let mut parts = DisjointSets::new(self.is_switch.len());
        for link in &self.links {
            parts.join(link.a.index(), link.b.index());
        }
        let mut sizes = vec![0; self.is_switch.len()];
        (0..sizes.len()).for_each(|node| sizes[parts.of(node)] += 1);
        sizes.retain(|&size| size > 0);
        sizes
    }

    fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.is_switch.len() as u32).map(NodeId::new)
    }

    /// Refuses links without a delay, on which nothing can be simulated.
    pub(crate) fn check_delays(&self) -> Result<()> {
        match self.links.iter().find(|link| link.delay == Time::ZERO) {
            Some(link) => {
                let what = "a delay of 0 ns is not served: packets must take time between nodes";
                Err(FileError::new(what)
                    .at(link.line)
                    .hint("give it 1ns or more: 5ns is a metre of fibre"))
            }
            None => Ok(()),
        }
    }

    /// Returns the node that `token` names.
    pub(crate) fn node(&self, token: Token<'_>, what: &str) -> Result<NodeId> {
        node(token, what, self.is_switch.len())
    }
}

/// Reads a topology.
pub fn parse(text: &[u8], warnings: &mut Vec<Warning>) -> Result<Topology> {
    refuse_htsim(text)?;
    let mut tokens = Tokens::new(text);
    let header = Header::read(&mut tokens, warnings)?;
    let list = SwitchList {
        promised: header.nvswitches + header.switches,
        line: tokens.line(),
        rest: tokens.rest(),
    };
    read_rest(tokens, &header, warnings).map_err(|error| list.blamed(error, text))
}

const COLUMNS: [&str; 5] = ["node", "node", "rate", "delay", "error rate"];

/// The words after the first line, which begin with the list of switches.
struct SwitchList<'a> {
    promised: u64,
    /// The line of that number.
    line: usize,
    rest: &'a [u8],
}

impl SwitchList<'_> {
    /// Returns `error`, or its cause if the number of switches differs from the length of the list.
    /// Words of the list are then taken for those of links, or links for the list.
    fn blamed(&self, error: FileError, text: &[u8]) -> FileError {
        let mut lines =
            self.rest.split(|&byte| byte == b'\n').enumerate().filter_map(|(line, text)| {
                let tokens: Vec<Token<'_>> = Tokens::new(text).collect();
                (!tokens.is_empty()).then_some((self.line + line, tokens))
            });
        let (Some((line, switches)), Some((_, link))) = (lines.next(), lines.next()) else {
            return error;
        };
        let is_number = |token: &Token<'_>| token.text.iter().all(u8::is_ascii_digit);
        let with_hint = |error| {
            let is_link = |number: usize, words: &[Token<'_>]| {
                number > self.line && words.get(2).is_some_and(|rate| !is_number(rate))
            };
            columns::blamed(error, text, &COLUMNS, is_link)
        };
        // A list may have several lines. A link must follow so that the list can end here.
        let is_list = line > self.line && switches.iter().all(is_number);
        let is_link = link.len() == 5 && !is_number(&link[2]);
        if !is_list || !is_link || switches.len() as u64 == self.promised {
            return with_hint(error);
        }
        let what = format!(
            "line {} promises {}, but line {line} has {}",
            self.line,
            counted(self.promised, "switch", "switches"),
            switches.len()
        );
        FileError::new(what).at(self.line).hint(
            "the first line has the numbers of nodes, switches and links, the second lists the \
             switches",
        )
    }
}

/// Reads the switches and links, which follow the first line.
fn read_rest(
    mut tokens: Tokens<'_>,
    header: &Header,
    warnings: &mut Vec<Warning>,
) -> Result<Topology> {
    const MIN_LINK_BYTES: usize = "0 1 1 0 0\n".len();
    let (nodes, links) = (header.nodes, header.links);
    let mut is_switch = vec![false; nodes];
    let mut is_nvswitch = vec![false; nodes];
    for found in 0..header.nvswitches + header.switches {
        let token = tokens.need("the number of a switch")?;
        let switch = node(token, "switch", nodes)?;
        if std::mem::replace(&mut is_switch[switch.index()], true) {
            return Err(FileError::new(format!("switch {switch} is listed twice")).at(token.line));
        }
        is_nvswitch[switch.index()] = found < header.nvswitches;
    }
    let mut ports = vec![0_u32; nodes];
    let mut read: Vec<Link> = Vec::with_capacity(links.min(tokens.room(MIN_LINK_BYTES)));
    let mut doubled: Option<(usize, usize, u64)> = None;
    let mut joined: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
    for found in 0..links {
        let Some(first) = tokens.next() else {
            return Err(FileError::new(format!(
                "the first line promises {}, but the file has {found}",
                counted(links as u64, "link", "links")
            ))
            .at(tokens.line())
            .hint("is it complete?"));
        };
        cancel::check();
        let link = read_link(first, &mut tokens, &mut ports)?;
        let pair = (link.a.min(link.b), link.a.max(link.b));
        if let Some(before) = joined.insert(pair, link.line) {
            doubled.get_or_insert((link.line, before, 0)).2 += 1;
        }
        read.push(link);
    }
    if let Some((line, before, count)) = doubled {
        let others = if count > 1 { format!(" ({} more like it)", count - 1) } else { "".into() };
        warnings.push(Warning::at(
            line,
            format!(
                "the nodes of this link have one in line {before} too{others}: the original sends \
                 over the last such link alone"
            ),
        ));
    }
    tokens.warn_trailing("the last link", warnings);
    let topology = Topology { form: header.form, is_switch, is_nvswitch, links: read };
    check_ports(&topology, &ports, warnings)?;
    Ok(topology)
}

fn read_link(first: Token<'_>, tokens: &mut Tokens<'_>, ports: &mut [u32]) -> Result<Link> {
    let a = node(first, "node", ports.len())?;
    let b = node(tokens.need("the other node of a link")?, "node", ports.len())?;
    if a == b {
        return Err(FileError::new(format!("a link joins node {a} to itself")).at(first.line));
    }
    let token = tokens.need("the rate of a link")?;
    let rate = quantity::rate(token, "rate")?;
    if rate == Rate::ZERO {
        return Err(token.wrong("rate", "more than 0").hint("such as 100Gbps"));
    }
    let delay = quantity::time(tokens.need("the delay of a link")?, "delay")?;
    let error_rate = tokens.need("the error rate of a link")?.fraction("error rate")?;
    ports[a.index()] += 1;
    ports[b.index()] += 1;
    let (a_port, b_port) = (ports[a.index()], ports[b.index()]);
    Ok(Link { a, a_port, b, b_port, rate, delay, error_rate, line: first.line })
}

fn check_ports(topology: &Topology, ports: &[u32], warnings: &mut Vec<Warning>) -> Result<()> {
    if let Some(host) = topology.hosts().next().filter(|host| ports[host.index()] == 0) {
        let what = format!(
            "host {host} has no link, and it is the first one: the original takes the rate of \
             hosts from its port"
        );
        return Err(FileError::new(what).hint("add one, or leave the host out"));
    }
    let parts = topology.parts();
    if let Some(node) = ports.iter().position(|&count| count == 0) {
        let kind = if topology.is_switch[node] { "switch" } else { "host" };
        let others = match parts.iter().filter(|&&nodes| nodes == 1).count() {
            1 => String::new(),
            2 => " (1 more node, too)".to_owned(),
            count => format!(" ({} more nodes, too)", count - 1),
        };
        warnings.push(Warning::new(format!(
            "{kind} {node} has no link{others}: nothing gets there, as in the original; is the \
             number of nodes in the first line right?"
        )));
    }
    let joined = parts.iter().filter(|&&nodes| nodes > 1).count();
    if joined > 1 {
        warnings.push(Warning::new(format!(
            "the network has {joined} parts that no link joins: flows stay within one, and windows \
             of GLOBAL_T are those of the longest path of all, as in the original"
        )));
    }
    if let Some(node) = ports.iter().position(|&count| count > MAX_PORTS) {
        warnings.push(Warning::new(format!(
            "node {node} has {} ports; the original has room for {MAX_PORTS}",
            ports[node]
        )));
    }
    Ok(())
}

fn node(token: Token<'_>, what: &str, nodes: usize) -> Result<NodeId> {
    match token.whole(what, 0..=nodes as u64 - 1) {
        Ok(number) => Ok(NodeId::new(number as u32)),
        Err(error) if error.hint.is_some() => Err(error),
        Err(error) => Err(error.hint(format!("the topology has nodes 0 to {}", nodes - 1))),
    }
}
