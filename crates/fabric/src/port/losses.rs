//! Packets that links lose: damaged ones, and those that are on a link when it fails.
//!
//! A failure ends an *epoch*: from its time on all nodes use routes without the link. The ports at
//! its ends send nothing more. What waits for them is dropped, and what is on the link is lost. A
//! repair ends an epoch, too. Nothing is on the link any more at that time, and all nodes use
//! routes with the link again.

use crate::network::graph::{Graph, LinkEnd};
use crate::stream;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::cmp::Ordering;

/// The losses on the links to a node.
#[derive(Debug)]
pub(crate) struct Losses {
    ports: Vec<Incoming>,
}

/// The losses on one link.
#[derive(Debug)]
struct Incoming {
    /// Probability that a packet is damaged, in 2^-64.
    damaged: u128,
    random: Pcg64Mcg,
    failed: bool,
}

/// A probability in 2^-64.
fn damaged(error_rate: f64) -> u128 {
    (error_rate * 2f64.powi(64)) as u128
}

impl Losses {
    /// Returns the losses on the links to `node`; `None` if no link to it ever loses a packet.
    pub(crate) fn new(graph: &Graph, node: u32, seed: u64) -> Option<Box<Losses>> {
        let ends = graph.ports(node);
        let never = |(port, end): (usize, &LinkEnd)| !end.fails && !graph.ever_damages(node, port);
        if ends.iter().enumerate().all(never) {
            return None;
        }
        let incoming = ends.iter().enumerate().map(|(port, end)| Incoming {
            damaged: damaged(end.error_rate),
            random: stream::stream(seed, "errors", u64::from(node) << 16 | port as u64),
            failed: false,
        });
        Some(Box::new(Losses { ports: incoming.collect() }))
    }

    /// Sets the probability that the link of `port` damages a packet.
    pub(crate) fn set_error_rate(&mut self, port: usize, error_rate: f64) {
        self.ports[port].damaged = damaged(error_rate);
    }

    /// Notes that the link of `port` fails or is repaired.
    pub(crate) fn set_failed(&mut self, port: usize, failed: bool) {
        self.ports[port].failed = failed;
    }

    /// Draws whether the next packet over the link of `port` is lost. Called once for each.
    pub(crate) fn loses_next(&mut self, port: u16) -> bool {
        let link = &mut self.ports[port as usize];
        if link.failed || link.damaged == 0 {
            return link.failed;
        }
        // The upper half of the draw almost always decides.
        let mut draw = || u128::from(link.random.next_u32());
        match draw().cmp(&(link.damaged >> 32)) {
            Ordering::Less => true,
            Ordering::Equal => draw() < link.damaged & u128::from(u32::MAX),
            Ordering::Greater => false,
        }
    }
}
