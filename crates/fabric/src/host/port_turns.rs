//! The packets of a QP take turns over the ports of its host, if `host.ports = "spray"`.
//!
//! A QP waits at one port at a time. After each packet it moves on to the next port that leads to
//! the receiver. Ports that are paused are passed over: as long as one is not, no QP waits at a
//! paused one.

use super::Host;
use super::sending::schedule_at_port;
use crate::host::nic::Nic;
use crate::packet::Scheme;
use model::PortUse;
use units::{Rate, Time};

impl<S: Scheme> Host<S> {
    /// Whether the QPs of this host change ports.
    #[inline]
    pub(super) fn takes_turns(&self) -> bool {
        self.nics.len() > 1 && self.common.host.ports == PortUse::Spray
    }

    /// Schedules a QP at its port, or if that is paused at the next one in turn.
    #[inline(never)]
    pub(super) fn schedule_in_turn(&mut self, now: Time, slot: u32) {
        let Some(sender) = self.senders.get_mut(slot) else { return };
        let nic = &mut self.nics[usize::from(sender.nic)];
        if nic.port.paused & 1 << sender.priority != 0 && !sender.is_ready {
            return self.take_turn(now, slot);
        }
        schedule_at_port(sender, nic, now, slot);
    }

    /// Moves a QP that no port lists as ready to the next port in turn, and schedules it there.
    #[inline(never)]
    pub(super) fn take_turn(&mut self, now: Time, slot: u32) {
        let Some(sender) = self.senders.get_mut(slot) else { return };
        debug_assert!(!sender.is_ready, "a port lists it");
        let ports = self.common.routes.next_hops(self.node, sender.dst, self.epoch);
        let after = ports.iter().position(|port| port.get() == sender.nic).map_or(0, |at| at + 1);
        let mut in_turn = (after..after + ports.len()).map(|at| ports[at % ports.len()]);
        let is_open = |nic: usize| self.nics[nic].port.paused & 1 << sender.priority == 0;
        let open = in_turn.clone().find(|port| is_open(port.index()));
        // While none leads to the receiver, the QP stays where it is.
        if let Some(next) = open.or_else(|| in_turn.next()) {
            self.nics[usize::from(sender.nic)].forget(slot);
            sender.nic = next.get();
        }
        schedule_at_port(sender, &mut self.nics[usize::from(sender.nic)], now, slot);
    }

    /// Moves the QPs of a priority that are ready at paused ports, after a port was paused or
    /// resumed.
    pub(super) fn leave_paused_ports(&mut self, now: Time, priority: u8) {
        if !self.takes_turns() {
            return;
        }
        let mut waiting = Vec::new();
        for nic in self.nics.iter_mut().filter(|nic| nic.port.paused & 1 << priority != 0) {
            while nic.ready_mask & 1 << priority != 0 {
                waiting.push(nic.take(usize::from(priority)));
            }
            nic.schedule();
        }
        for slot in waiting {
            let sender = self.senders.get_mut(slot).expect("a listed QP is there");
            sender.is_ready = false;
            if sender.open {
                self.take_turn(now, slot);
            } else {
                self.forget(slot);
            }
        }
    }

    /// The port through which packets from a QP's receiver leave for its sender; `ends`: from and
    /// to. It is that of the hash; with turns that of the packet which caused them (`ingress`), if
    /// it leads back.
    #[inline(always)]
    pub(super) fn port_back(&self, ends: (u32, u32), hash: u32, ingress: u16) -> u16 {
        if self.nics.len() == 1 { 0 } else { self.port_back_of_several(ends, hash, ingress) }
    }

    #[inline(never)]
    fn port_back_of_several(&self, ends: (u32, u32), hash: u32, ingress: u16) -> u16 {
        if self.takes_turns() {
            let back = self.common.routes.next_hops(self.node, ends.1, self.epoch);
            if back.iter().any(|port| port.get() == ingress) {
                return ingress;
            }
        }
        self.common.select_port(self.node, ends, hash, self.epoch).get()
    }
}

/// The rate of the wires that a QP at port `number` sends through: with turns, of all of them.
#[inline]
pub(super) fn wire_rate(nics: &[Nic], number: usize, takes_turns: bool) -> Rate {
    if takes_turns {
        let rates = nics.iter().map(|nic| nic.port.rate().bps());
        return Rate::from_bps(rates.fold(0, u64::saturating_add));
    }
    nics[number].port.rate()
}
