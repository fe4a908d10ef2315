//! What a switch does when a link fails, is repaired or changes, its own or another.

use super::Switch;
use super::actions::SwitchCore;
use crate::observe::recorder::PacketEventKind;
use crate::packet::{PacketKind, PfcFrame, Scheme, Win};
use crate::switch::chassis::Chassis;
use engine::Handle;
use units::Time;

impl<S: Scheme> Switch<S> {
    /// Ends the epoch: from now on packets follow the routes of the next one.
    #[cold]
    pub(super) fn begin_epoch(&mut self, window: &mut Win<'_, '_, S>) {
        let now = self.epoch_end;
        self.epoch += 1;
        let Chassis { common, node, switch_row, router, .. } = &mut self.chassis;
        self.epoch_end = common.graph.end_of(self.epoch);
        *switch_row = common.routes.switch_row(*node, self.epoch);
        router.begin_epoch();
        if common.graph.reroutes_at(now) {
            router.on_reroute();
        }
        let (cut, repaired) = common.graph.changes_at(*node, now);
        for port in cut {
            self.cut(window, now, port);
        }
        for port in repaired {
            self.repair(window, now, port);
        }
        for (port, quality) in self.chassis.common.graph.qualities_at(self.chassis.node, now) {
            if let Some(losses) = &mut self.losses {
                losses.set_error_rate(port, quality.error_rate);
            }
            self.chassis.set_rate(port, quality.rate, now);
        }
    }

    /// Repairs the link of `port`. Its peer has forgotten all pauses.
    fn repair(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize) {
        self.losses.as_mut().expect("its links may fail").set_failed(port, false);
        self.chassis.ports[port].set_link_up();
        self.chassis.refresh_view(port);
        for priority in 0..8 {
            if self.chassis.mmu.pauses_peer(port as u16, priority) {
                self.send_pfc(window, now, port, priority, PfcFrame::Pause);
            }
        }
    }

    /// Fails the link of `port` and drops what waits for it.
    fn cut(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize) {
        let paused = self.chassis.ports[port].set_link_down(now);
        if let Some(clock) = &mut self.chassis.pause_clock {
            clock.link_down(port);
        }
        self.chassis.due.set(port, Time::NEVER);
        self.losses.as_mut().expect("its links may fail").set_failed(port, true);
        while let Some(handle) = self.remove_any(window, port) {
            let packet = window.packets.remove(handle);
            let header = packet.header;
            let is_pfc = header.kind == PacketKind::Pfc;
            let this = &mut self.chassis.ports[port];
            this.counters.lost_packets += 1;
            let before = this.queue_bytes;
            if !is_pfc {
                this.count_out(header.priority, header.size);
            }
            if let Some(recorder) = &mut self.chassis.recorder {
                let bytes = if is_pfc { 0 } else { this.class_bytes(header.priority) };
                recorder.packet(now, port as u16, PacketEventKind::Dropped, bytes, &header);
                recorder.queue_changes(now, port, before, false);
            }
            if is_pfc {
                continue;
            }
            self.chassis.egress(port).notify_drop(now, &packet);
            if let Some(in_port) = header.in_port() {
                self.chassis.audit.removed += u64::from(header.size);
                self.release_ingress(window, now, in_port.get(), header.priority, header.size);
            }
        }
        self.chassis.refresh_view(port);
        for priority in (0..8).filter(|priority| paused & 1 << priority != 0) {
            self.chassis.egress(port).notify_pfc(now, priority, false);
        }
        self.apply_effects(window, now);
    }

    fn remove_any(&mut self, window: &Win<'_, '_, S>, port: usize) -> Option<Handle> {
        let own = self.chassis.ports[port].remove_any(window.packets).map(|(_, handle)| handle);
        own.or_else(|| self.sub_queues.get_mut(port)?.remove_any(window.packets))
    }

    /// Drops a packet that was lost on the link to `in_port`.
    #[cold]
    pub(super) fn drop_lost(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        handle: Handle,
    ) {
        if let Some(recorder) = &mut self.chassis.recorder {
            let header = &window.packets.get(&handle).header;
            recorder.packet(now, in_port, PacketEventKind::Lost, 0, header);
        }
        self.chassis.ports[in_port as usize].counters.lost_packets += 1;
        window.packets.discard(handle);
    }
}
