//! How a host spreads the packets of its QPs over paths: each data packet carries an entropy value,
//! which switches hash together with the QP's addresses.
//!
//! Draws are hashes of the run's seed, the QP and a counter or a time of the QP, so that no draw
//! depends on another QP.

mod bitmap;
mod cycle;
mod reps;

use crate::host::qp::grown;
use crate::routing::hash::mix32;
use bitmap::Bitmap;
use cycle::Cycle;
use model::Spray;
use reps::Reps;
use units::{Time, splitmix};

/// What is sprayed and how, for all QPs of a host.
#[derive(Debug)]
enum Sprayer {
    Off,
    Random,
    Cycle(Vec<Cycle>),
    Reps(Vec<Reps>),
    Bitmap(Vec<Bitmap>),
    FlowCell { cell: u64 },
}

/// A QP that is about to send a packet.
pub(crate) struct Next {
    pub(crate) now: Time,
    /// The slot of its sending end.
    pub(crate) slot: u32,
    /// The hash of its five-tuple.
    pub(crate) hash: u32,
    /// The packet's first byte in its stream.
    pub(crate) sequence: u64,
    /// Packets of the QP may leave at one instant, through several ports.
    pub(crate) at_once: bool,
}

/// Sprays the packets of a host.
#[derive(Debug)]
pub(crate) struct HostSpray {
    sprayer: Sprayer,
    config: Spray,
    /// The number of entropy values.
    entropies: u32,
    seed: u64,
}

impl HostSpray {
    pub(crate) fn new(config: Spray, entropies: u32, seed: u64) -> HostSpray {
        let sprayer = match config {
            Spray::Off => Sprayer::Off,
            Spray::Random => Sprayer::Random,
            Spray::Cycle => Sprayer::Cycle(Vec::new()),
            Spray::Reps { .. } => Sprayer::Reps(Vec::new()),
            Spray::Bitmap => Sprayer::Bitmap(Vec::new()),
            Spray::FlowCell { cell } => Sprayer::FlowCell { cell: cell.get() },
        };
        HostSpray { sprayer, config, entropies, seed }
    }

    /// Whether packets of a QP have several entropy values.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self.sprayer, Sprayer::Off)
    }

    /// Prepares a slot for a QP with this number.
    pub(crate) fn open(&mut self, slot: u32, qp: u32) {
        let seed = splitmix::mix(self.seed ^ u64::from(qp));
        let (entropies, config) = (self.entropies, self.config);
        match &mut self.sprayer {
            Sprayer::Off | Sprayer::Random | Sprayer::FlowCell { .. } => {}
            Sprayer::Cycle(states) => put(states, slot, || Cycle::new(entropies, seed)),
            Sprayer::Reps(states) => put(states, slot, || Reps::new(&config, entropies, seed)),
            Sprayer::Bitmap(states) => put(states, slot, || Bitmap::new(entropies, seed)),
        }
    }

    /// The entropy value of a packet.
    pub(crate) fn entropy(&mut self, next: &Next) -> u16 {
        let slot = next.slot as usize;
        match &mut self.sprayer {
            Sprayer::Off => 0,
            Sprayer::Random => {
                let first = if next.at_once { splitmix::mix(next.sequence) } else { 0 };
                let flow = u64::from(next.hash) << 32;
                let word = splitmix::mix(self.seed ^ flow ^ next.now.ps() ^ first);
                (word % u64::from(self.entropies)) as u16
            }
            Sprayer::Cycle(states) => states[slot].next(),
            Sprayer::Reps(states) => states[slot].next(next.now),
            Sprayer::Bitmap(states) => states[slot].next(),
            Sprayer::FlowCell { cell } => {
                let first = u64::from(mix32(next.hash));
                ((first + next.sequence / *cell) % u64::from(self.entropies)) as u16
            }
        }
    }

    /// An ACK has come for a packet with this value.
    pub(crate) fn on_ack(&mut self, slot: u32, entropy: u16, is_marked: bool) {
        match &mut self.sprayer {
            Sprayer::Reps(states) => states[slot as usize].on_ack(entropy, is_marked),
            Sprayer::Bitmap(states) => states[slot as usize].on_ack(entropy, is_marked),
            _ => {}
        }
    }

    /// A packet with this value is taken for lost, because later ones have arrived.
    pub(crate) fn on_loss(&mut self, slot: u32, entropy: u16) {
        if let Sprayer::Bitmap(states) = &mut self.sprayer {
            states[slot as usize].on_loss(entropy);
        }
    }

    /// A packet with this value is taken for lost, because nothing was acknowledged for the
    /// timeout.
    pub(crate) fn on_timeout(&mut self, now: Time, slot: u32, entropy: u16) {
        match &mut self.sprayer {
            Sprayer::Reps(states) => states[slot as usize].on_timeout(now),
            Sprayer::Bitmap(states) => states[slot as usize].on_timeout(entropy),
            _ => {}
        }
    }
}

/// The hash that switches see of a packet with an entropy value.
#[inline]
pub(crate) fn hash_with(hash: u32, entropy: u16) -> u32 {
    mix32(hash ^ mix32(u32::from(entropy) + 1))
}

fn put<T>(states: &mut Vec<T>, slot: u32, make: impl Fn() -> T) {
    *grown(states, slot, &make) = make();
}
