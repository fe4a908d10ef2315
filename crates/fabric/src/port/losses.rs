//! What links lose: packets that arrive damaged, and what is on a link when it fails.
//!
//! A failure ends an *epoch*: from its time on all nodes go by routes without the link. The ports at
//! its ends send nothing more; what waits for them is dropped, what is on the way is lost. So does a
//! repair: then nothing is on the way any more, and routes with the link are taken again.

use crate::network::graph::Graph;
use crate::stream;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::cmp::Ordering;

/// The links to a node, as far as they lose packets.
#[derive(Debug)]
pub(crate) struct Losses {
    ports: Vec<Incoming>,
}

/// A link to a node.
#[derive(Debug)]
struct Incoming {
    /// Probability that a packet arrives damaged, in 2^-64.
    damaged: u128,
    random: Pcg64Mcg,
    failed: bool,
}

impl Losses {
    /// Of a node; `None` where no link to it ever loses anything.
    pub(crate) fn new(graph: &Graph, node: u32, seed: u64) -> Option<Box<Losses>> {
        let ends = graph.ports(node);
        if ends.iter().all(|end| end.error_rate == 0.0 && !end.fails) {
            return None;
        }
        let incoming = ends.iter().enumerate().map(|(port, end)| Incoming {
            damaged: (end.error_rate * 2f64.powi(64)) as u128,
            random: stream::stream(seed, "errors", u64::from(node) << 16 | port as u64),
            failed: false,
        });
        Some(Box::new(Losses { ports: incoming.collect() }))
    }

    /// The link of `port` fails, or is repaired.
    pub(crate) fn set_failed(&mut self, port: usize, failed: bool) {
        self.ports[port].failed = failed;
    }

    /// Whether a packet that comes over the link of `port` is lost.
    pub(crate) fn take(&mut self, port: u16) -> bool {
        let link = &mut self.ports[port as usize];
        if link.failed || link.damaged == 0 {
            return link.failed;
        }
        // Its upper half decides, almost always.
        let mut draw = || u128::from(link.random.next_u32());
        match draw().cmp(&(link.damaged >> 32)) {
            Ordering::Less => true,
            Ordering::Equal => draw() < link.damaged & u128::from(u32::MAX),
            Ordering::Greater => false,
        }
    }
}
