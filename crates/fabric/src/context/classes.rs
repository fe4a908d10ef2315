//! Traffic classes: which priority carries what, and how its queues are limited.

use crate::compat::Compat;
use crate::network::flow::FlowInfo;
use crate::network::setup::{ClassConfig, Setup};
use schemes::contract::{ClassSpec, QueueLimit};
use std::sync::Arc;

/// The traffic classes of a run.
pub(crate) struct Classes {
    pub(crate) config: ClassConfig,
    /// Bytes per round of each priority, shared by all ports.
    pub(crate) quanta: Arc<[u32; 8]>,
    /// The priorities that have data, as a bit mask.
    pub(crate) data: u8,
    /// The classes that the scheme keeps for its own packets.
    pub(crate) own: Vec<ClassSpec>,
    /// How the queues of each priority are limited.
    pub(crate) limits: [QueueLimit; 8],
    /// The queue in which hosts keep ACKs, if it is not that of their priority on the wire.
    pub(crate) ack_queue: Option<u8>,
}

impl Classes {
    /// `own`: the classes that the scheme keeps for its own packets.
    pub(crate) fn new(setup: &Setup, compat: &Compat, own: Vec<ClassSpec>) -> Classes {
        let mut limits = [QueueLimit::Lossless; 8];
        for class in &own {
            limits[class.priority.index()] = class.limit;
        }
        Classes {
            config: setup.classes,
            quanta: Arc::new(setup.classes.quanta),
            data: setup.messages.iter().fold(0, |all, one| all | 1 << one.priority),
            own,
            limits,
            ack_queue: compat.ack_queue(),
        }
    }

    /// Finds a drop-tail class that something else uses, too. `lossless`: the priorities that PFC
    /// protects, as a bit mask.
    pub(crate) fn class_in_use(&self, lossless: u8, flows: &[FlowInfo]) -> Option<u8> {
        (0..8).find(|&priority| {
            self.limits[priority as usize] != QueueLimit::Lossless
                && (lossless & 1 << priority != 0
                    || self.config.ack == Some(priority)
                    || priority == self.config.control
                    || flows.iter().any(|flow| flow.priority == priority))
        })
    }

    /// Finds a class that must go before all others and does not.
    pub(crate) fn class_not_first(&self) -> Option<u8> {
        let acks = self.config.ack.map_or(0, |priority| 1 << priority);
        let others = self.data | acks | 1 << self.config.control;
        let firsts = self.own.iter().filter(|class| class.first);
        firsts.map(|class| class.priority.get()).find(|&priority| {
            let is_strict = self.config.strict & 1 << priority != 0;
            !is_strict || others >> priority != 0
        })
    }

    /// Finds a class whose shaper could not send.
    pub(crate) fn class_not_sendable(&self) -> Option<u8> {
        let sends =
            |class: &&ClassSpec| ClassSpec::SHARES.contains(&class.share) && class.burst > 0;
        self.own.iter().find(|class| !sends(class)).map(|class| class.priority.get())
    }
}
