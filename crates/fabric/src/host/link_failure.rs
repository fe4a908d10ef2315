//! What a host does when a link fails, is repaired or changes, its own or another one.

use super::Host;
use crate::observe::recorder::PacketEventKind;
use crate::packet::{Scheme, Win};
use crate::port::scheduler::PFC;
use units::{Rate, Time};

impl<S: Scheme> Host<S> {
    /// Begins the next epoch: drops control packets that wait for a failing link, and distributes
    /// the QPs among the links that work. Every host has at least one.
    #[cold]
    pub(super) fn begin_epoch(&mut self, window: &mut Win<'_, '_, S>) {
        let now = self.epoch_end;
        self.epoch += 1;
        self.epoch_end = self.common.graph.end_of(self.epoch);
        let (cut, repaired) = self.common.graph.changes_at(self.node, now);
        for port in cut {
            self.cut(window, now, port);
        }
        for port in repaired {
            self.losses.as_mut().expect("its links may fail").set_failed(port, false);
            self.nics[port].port.set_link_up();
            self.pause_again(window, now, port);
        }
        for (port, quality) in self.common.graph.qualities_at(self.node, now) {
            if let Some(losses) = &mut self.losses {
                losses.set_error_rate(port, quality.error_rate);
            }
            self.set_rate(port, quality.rate, now);
        }
        let reroutes = self.common.graph.reroutes_at(now);
        if reroutes && (self.nics.len() > 1 || self.common.compat.scans_queue_pairs()) {
            self.redistribute(now);
        }
    }

    fn set_rate(&mut self, port: usize, rate: Rate, now: Time) {
        self.nics[port].port.set_rate(rate, now);
        if let Some(clock) = &mut self.pause_clock {
            clock.set_rate(port, rate);
        }
    }

    /// Drops what waits for a link that fails.
    fn cut(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize) {
        let this = &mut self.nics[port].port;
        this.set_link_down(now);
        if let Some(clock) = &mut self.pause_clock {
            clock.link_down(port);
        }
        self.losses.as_mut().expect("its links may fail").set_failed(port, true);
        while let Some((queue, handle)) = this.remove_any(window.packets) {
            let header = window.packets.remove(handle).header;
            this.counters.lost_packets += 1;
            // PFC frames do not count as waiting.
            let bytes = if queue == PFC {
                0
            } else {
                this.count_out(queue as u8, header.size);
                this.class_bytes(queue as u8)
            };
            if let Some(recorder) = &mut self.recorder {
                recorder.packet(now, port as u16, PacketEventKind::Dropped, bytes, &header);
            }
        }
    }

    /// Assigns every QP to a port and schedules it there.
    fn redistribute(&mut self, now: Time) {
        self.nics.iter_mut().for_each(|nic| nic.clear());
        let mut finished = Vec::new();
        let mut opened: Vec<(u32, u32)> = Vec::new();
        for (slot, sender) in self.senders.iter_mut() {
            if !sender.open {
                finished.push(slot);
                continue;
            }
            let ends = (self.index, sender.dst);
            sender.nic = self.common.select_port(self.node, ends, sender.hash, self.epoch).get();
            sender.is_ready = false;
            opened.push((sender.first, slot));
        }
        for slot in finished {
            self.forget(slot);
        }
        // In the order in which they were opened, which is that of their first messages.
        opened.sort_unstable();
        for (flow, slot) in opened {
            let sender = self.senders.get_mut(slot).expect("it is open");
            let nic = &mut self.nics[usize::from(sender.nic)];
            if let Some(scan) = &mut nic.scan {
                scan.table.push((slot, flow));
            }
            self.schedule_qp(now, slot);
        }
        self.nics.iter_mut().for_each(|nic| nic.schedule());
    }
}
