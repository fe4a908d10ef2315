//! The failure of a link: one event.

use crate::simulation::Simulation;
use hpcc_files::packet_trace::Event;
use units::Time;

impl Simulation<'_> {
    /// Takes the link down that the configuration names.
    pub(crate) fn fail_link(&mut self) {
        let Some(down) = self.experiment().config.link_down else { return };
        // Of several links between the two the last one is used.
        let is_it = |a, b| (a, b) == (down.a, down.b) || (b, a) == (down.a, down.b);
        let links = &self.experiment().topology.links;
        let Some(number) = links.iter().rposition(|link| is_it(link.a, link.b)) else { return };
        let ends = [2 * number as u32, 2 * number as u32 + 1];
        // The node that is named first comes first.
        let ends = if links[number].a == down.a { ends } else { [ends[1], ends[0]] };
        for port in ends {
            self.ports[port as usize].up = false;
        }
        self.recompute_routes();
        for port in ends {
            self.empty(port);
        }
        self.redistribute();
    }

    /// Drops what waits at a port.
    fn empty(&mut self, index: u32) {
        let now = self.events.now();
        let port = &mut self.ports[index as usize];
        let traced = port.traced;
        if port.is_host {
            while let Some(slot) = self.ports[index as usize].acks.pop(&self.packets) {
                self.drop_queued(index, slot, 0, traced);
            }
            return;
        }
        if port.paused != 0 {
            port.counters.paused += Time::from_ns(now - port.paused_since);
        }
        port.paused = 0;
        while let Some((queue, slot)) = self.dequeue(index, 0) {
            self.drop_queued(index, slot, queue, traced);
        }
    }

    fn drop_queued(&mut self, index: u32, slot: u32, queue: u8, traced: bool) {
        if traced {
            let bytes = self.ports[index as usize].queues[usize::from(queue)].bytes;
            self.trace(index, slot, Event::Dropped, queue, bytes);
        }
        self.ports[index as usize].counters.lost_packets += 1;
        self.packets.remove(slot);
    }

    /// Gives every QP a NIC again.
    fn redistribute(&mut self) {
        for node in 0..self.nodes.len() {
            if self.nodes[node].is_switch {
                continue;
            }
            for &port in &self.nodes[node].ports {
                self.ports[port as usize].table.clear();
            }
            let flows: Vec<u32> = self.tables[node].values().collect();
            for index in flows {
                let flow = &self.flows[index as usize];
                let port = self.nic(flow.ends());
                self.qps[index as usize].port = port;
                self.ports[port as usize].table.push(index);
                self.kick(port);
            }
        }
    }
}
