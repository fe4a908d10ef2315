//! Packets that a switch drops or consumes.

use super::chassis::Chassis;
use crate::observe::lossless_drops::Memory;
use crate::observe::recorder::PacketEventKind;
use crate::packet::{Header, MAX_OWN_CONTROL, NO_INGRESS, Scheme, Win};
use engine::Handle;
use units::Time;

impl<S: Scheme> Chassis<S> {
    /// Consumes a packet, which goes no further.
    pub(crate) fn consume(&mut self, window: &mut Win<'_, '_, S>, handle: Handle) {
        self.audit.removed += u64::from(window.packets.get(&handle).header.size);
        window.packets.discard(handle);
    }

    /// Returns a control packet that the switch has made, if `out` has room for another one.
    /// Else drops it.
    pub(crate) fn limit_own_control(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        out: usize,
        handle: Handle,
    ) -> Option<Handle> {
        let port = &mut self.ports[out];
        if port.class_packets(window.packets.get(&handle).header.priority) < MAX_OWN_CONTROL {
            return Some(handle);
        }
        port.counters.dropped_packets += 1;
        self.discard(window, now, NO_INGRESS, handle);
        None
    }

    /// Drops a packet that came through `in_port` or was made here.
    #[cold]
    pub(crate) fn discard(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        handle: Handle,
    ) {
        let header = window.packets.remove(handle).header;
        if in_port != NO_INGRESS {
            if let Some(recorder) = &mut self.recorder {
                recorder.packet(now, in_port, PacketEventKind::Dropped, 0, &header);
            }
            self.ports[in_port as usize].counters.dropped_packets += 1;
            self.audit.removed += u64::from(header.size);
        } else {
            self.audit.own_drops += 1;
        }
    }

    /// Drops a packet that found no room in a memory. Lists it if PFC should have prevented that.
    #[cold]
    pub(crate) fn drop_no_buffer(
        &mut self,
        window: &mut Win<'_, '_, S>,
        time: Time,
        port: u16,
        handle: Handle,
        full: Memory,
    ) {
        let header = window.packets.get(&handle).header;
        self.discard(window, time, port, handle);
        if self.mmu.is_lossless(port, header.priority) {
            self.lossless_drops.add(time, self.node, port, &header, full);
        }
    }

    /// Whether the watchdog drops a packet of `priority` that goes to `out`; it is counted.
    #[inline]
    pub(crate) fn watchdog_drops(&mut self, out: usize, priority: u8) -> bool {
        let clock = self.pause_clock.as_mut().filter(|clock| clock.drops(out, priority));
        clock.map(|clock| clock.counts(out).dropped += 1).is_some()
    }

    /// The watchdog drops a packet that was just taken from a queue of `port`. Returns its header.
    pub(crate) fn drop_queued(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: usize,
        handle: Handle,
    ) -> Header {
        let packet = window.packets.remove(handle);
        let header = packet.header;
        let this = &mut self.ports[port];
        let before = this.queue_bytes;
        this.count_out(header.priority, header.size);
        let bytes = this.class_bytes(header.priority);
        if let Some(recorder) = &mut self.recorder {
            recorder.packet(now, port as u16, PacketEventKind::Dropped, bytes, &header);
            recorder.queue_changes(now, port, before, false);
        }
        self.egress(port).notify_drop(now, &packet);
        self.count_watchdog_drop(port, &header);
        header
    }

    /// Counts a packet that waited for `port` and was dropped by the watchdog.
    pub(crate) fn count_watchdog_drop(&mut self, port: usize, header: &Header) {
        let clock = self.pause_clock.as_mut().expect("it has a watchdog");
        clock.counts(port).dropped += 1;
        if let Some(in_port) = header.in_port() {
            self.ports[in_port.index()].counters.dropped_packets += 1;
            self.audit.removed += u64::from(header.size);
        }
    }
}
