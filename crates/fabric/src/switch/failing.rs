//! What a switch does when a link fails, its own or another.

use super::Switch;
use crate::chassis::Chassis;
use crate::packet::{Kind, NO_INGRESS, Packet, Scheme};
use crate::record::Happening;
use engine::{Handle, Window};
use units::Time;

impl<S: Scheme> Switch<S> {
    /// The epoch ends: from now on packets go by the routes of the next.
    #[cold]
    pub(super) fn begin_epoch(&mut self, window: &mut Window<'_, '_, Packet<S>>) {
        let now = self.epoch_end;
        self.epoch += 1;
        let Chassis { common, node, here, .. } = &mut self.chassis;
        self.epoch_end = common.graph.end_of(self.epoch);
        *here = common.routes.here(*node, self.epoch);
        for port in 0..self.chassis.ports.len() {
            let end = self.chassis.common.graph.ports(self.chassis.node)[port];
            if end.fails_at == now {
                self.cut(window, now, port);
            }
        }
    }

    /// The link of `port` fails: what waits for it is dropped.
    fn cut(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time, port: usize) {
        self.chassis.ports[port].take_down(now);
        self.chassis.due.set(port, Time::NEVER);
        self.losses.as_mut().expect("its links may fail").fail(port);
        while let Some(handle) = self.take_any(window, port) {
            let packet = window.packets.remove(handle);
            let header = packet.header;
            if let Some(recorder) = &mut self.chassis.recorder {
                recorder.packet(now, port as u16, Happening::Dropped, 0, &header);
                recorder.shrinks(now, port, self.chassis.ports[port].queue_bytes);
            }
            let this = &mut self.chassis.ports[port];
            this.counters.lost_packets += 1;
            if header.kind == Kind::Pfc {
                continue;
            }
            this.count_out(header.priority, header.size);
            self.chassis.egress(port).tells_drop(now, &packet);
            if header.ingress != NO_INGRESS {
                let size = u64::from(header.size);
                self.chassis.audit.removed += size;
                if self.chassis.mmu.release(header.ingress, header.priority, size) {
                    self.send_pfc(window, now, header.ingress as usize, header.priority, false);
                }
            }
        }
        self.chassis.look_at(port);
        self.apply_effects(window, now);
    }

    fn take_any(&mut self, window: &Window<'_, '_, Packet<S>>, port: usize) -> Option<Handle> {
        let own = self.chassis.ports[port].take_any(window.packets).map(|(_, handle)| handle);
        own.or_else(|| self.sub_queues.get_mut(port)?.take_any(window.packets))
    }

    /// A packet was lost on the link to `in_port`.
    #[cold]
    pub(super) fn lose(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        in_port: u16,
        handle: Handle,
    ) {
        if let Some(recorder) = &mut self.chassis.recorder {
            let header = &window.packets.get(&handle).header;
            recorder.packet(now, in_port, Happening::Lost, 0, header);
        }
        self.chassis.ports[in_port as usize].counters.lost_packets += 1;
        window.packets.discard(handle);
    }
}
