//! What ConWeave's simulator does in another way than the HPCC simulator, which it was made from.
//!
//! - `buffer`: buffers, marks, and pauses that expire.
//! - `timeouts`, `selective_repeat`: recovery.
//! - `paths`: the paths between leaves, and tags that packets carry along them.
//! - `balance`: which way data goes; with DRILL and LetFlow.
//! - `conga`, `reroute`: with CONGA, and with ConWeave itself.
//!
//! Source: the rules of conweave-project/conweave-ns3 (commit 236a801), as its published code has
//! them, checked against its runs. No code of it is used.

mod balance;
mod buffer;
mod conga;
mod paths;
mod reroute;
mod selective_repeat;
mod timeouts;

pub(crate) use buffer::size_buffers;

use crate::network::{self, Node, Port};
use crate::routes::Routes;
use crate::settings::Settings;
use balance::{Flowlet, FlowletKey};
use buffer::{Buffer, Pauses};
use conga::Conga;
use fabric::ns3::conweave_marks;
use hpcc_files::{Config, Experiment, LoadBalancing};
use paths::{Paths, Tag};
use reroute::{Avoided, Destination, Source};
use selective_repeat::{Blocks, Sender};
use std::collections::HashMap;
use timeouts::Timeout;

/// The state of a run that the HPCC simulator does not have.
#[derive(Default)]
pub(crate) struct ConWeave {
    /// By node.
    switches: Vec<Buffer>,
    /// By port.
    pauses: Vec<Pauses>,
    /// By flow.
    timeouts: Vec<Timeout>,
    /// With selective repeat: by flow, and by connection what its receiver keeps.
    senders: Vec<Sender>,
    kept: Vec<Blocks>,
    paths: Paths,
    /// By slot of a packet: the tag that it carries, if a leaf has given it one.
    tags: Vec<Tag>,
    /// LetFlow and CONGA: by leaf and flow.
    flowlets: HashMap<(u32, FlowletKey), Flowlet>,
    /// DRILL: by switch and destination, the port that was best.
    best: HashMap<(u32, u32), u32>,
    /// DRILL: the ports that a packet draws from; empty between packets.
    shuffled: Vec<u32>,
    /// CONGA: by node.
    conga: Vec<Conga>,
    /// ConWeave: by flow, what its leaves keep.
    sources: Vec<Source>,
    destinations: Vec<Destination>,
    /// ConWeave: by leaf and place in its table. Another path of the same place replaces an entry.
    avoided: HashMap<(u32, u32), Avoided>,
    /// By node: whether its timers run, and when entries were last removed that were not used, in
    /// nanoseconds.
    timers_run: Vec<bool>,
    aged_at: Vec<u64>,
}

impl ConWeave {
    /// `seed`: that of ns-3.
    pub(crate) fn new(
        config: &Config,
        settings: &Settings,
        (nodes, ports, routes): (&[Node], &[Port], &Routes),
        (flows, connections): (usize, usize),
        seed: u64,
    ) -> ConWeave {
        let marks = conweave_marks(seed);
        let with = |is_so: bool, count: usize| if is_so { count } else { 0 };
        let has_paths = needs_paths(config);
        let reroutes = settings.balance == LoadBalancing::ConWeave;
        ConWeave {
            switches: nodes.iter().map(|node| Buffer::new(config, node, &marks)).collect(),
            pauses: vec![Pauses::NONE; ports.len()],
            timeouts: vec![Timeout::default(); flows],
            senders: vec![Sender::default(); with(settings.selective, flows)],
            kept: vec![Blocks::default(); with(settings.selective, connections)],
            paths: if has_paths { Paths::new(nodes, ports, routes) } else { Paths::default() },
            conga: nodes.iter().map(|_| Conga::default()).collect(),
            sources: vec![Source::NEW; with(reroutes, flows)],
            destinations: vec![Destination::NEW; with(reroutes, flows)],
            timers_run: vec![false; nodes.len()],
            aged_at: vec![0; nodes.len()],
            ..ConWeave::default()
        }
    }

    /// The tag of a packet.
    fn tag(&mut self, slot: u32) -> &mut Tag {
        let slot = slot as usize;
        if self.tags.len() <= slot {
            self.tags.resize(slot + 1, Tag::NONE);
        }
        &mut self.tags[slot]
    }
}

/// Whether leaves choose paths.
fn needs_paths(config: &Config) -> bool {
    !matches!(config.load_balancing, LoadBalancing::Ecmp | LoadBalancing::Drill)
}

/// Returns what keeps leaves from knowing a path for each flow, if they choose paths.
pub(crate) fn obstacle(experiment: &Experiment) -> Option<String> {
    let Experiment { config, flows, .. } = experiment;
    if !needs_paths(config) {
        return None;
    }
    let settings = Settings::new(config);
    let (nodes, ports) = network::build(experiment, &settings);
    let routes = Routes::new(&nodes, &ports, &settings);
    paths::obstacle(&nodes, &ports, &routes, flows)
}
