//! Puts packets on the wire: how long they take and when they arrive.

use super::Port;
use crate::hooks::has_own_classes;
use crate::packet::{PacketKind, Scheme, Win};
use engine::{Handle, LinkLane, Rank};
use units::Time;

impl Port {
    /// Returns how long `size` bytes take on the wire.
    #[inline]
    pub(crate) fn serialisation(&self, size: u64) -> Time {
        if self.byte_time != 0 {
            return Time::from_ps(size * self.byte_time);
        }
        self.inexact_serialisation(size)
    }

    /// Returns how long `size` bytes take on the wire, if a byte takes no whole number of
    /// picoseconds or times are rounded.
    #[inline(always)]
    fn inexact_serialisation(&self, size: u64) -> Time {
        match self.common_sizes.iter().find(|(common, _)| *common == size) {
            Some(&(_, time)) => time,
            None => self.clock.time_for(self.rate, size),
        }
    }

    /// Puts a packet of `size` bytes on the wire at `start`. It is not a PFC frame.
    #[inline(always)]
    pub(crate) fn transmit<S: Scheme>(
        &mut self,
        window: &mut Win<'_, '_, S>,
        start: Time,
        (kind, priority, size): (PacketKind, u8, u16),
        handle: Handle,
    ) {
        self.last_priority = priority;
        if self.byte_time == 0 {
            self.transmit_inexactly(window, start, (kind, size), handle);
        } else {
            let end = start + Time::from_ps(u64::from(size) * self.byte_time);
            let (arrival, rank) = self.put_on_wire(start, end, (kind, size));
            window.send_unique(&self.link, arrival, rank, handle);
        }
        if has_own_classes::<S>()
            && let Some(shaper) = &mut self.shaper
        {
            shaper.sent(priority as usize & 7, start, self.free_at);
        }
    }

    /// Notes the priority of a packet that leaves by [`transmit_by`](Port::transmit_by), where
    /// priorities alternate.
    #[inline(always)]
    pub(crate) fn set_last_priority(&mut self, priority: u8) {
        self.last_priority = priority;
    }

    /// Puts a packet on the wire like [`transmit`](Port::transmit), on a lane that the caller keeps
    /// for several packets in a row. No class may be shaped.
    #[inline(always)]
    pub(crate) fn transmit_by<'run, S: Scheme>(
        &mut self,
        window: &mut Win<'_, 'run, S>,
        lane: &LinkLane<'run>,
        start: Time,
        (kind, size): (PacketKind, u16),
        handle: Handle,
    ) {
        let bytes = u64::from(size);
        let time = if self.byte_time != 0 {
            Time::from_ps(bytes * self.byte_time)
        } else {
            match self.inexact_serialisation(bytes) {
                Time::ZERO => return self.transmit_inexactly(window, start, (kind, size), handle),
                time => time,
            }
        };
        let (arrival, rank) = self.put_on_wire(start, start + time, (kind, size));
        window.send_on(lane, arrival, rank, handle);
    }

    /// Puts a packet on the wire if its time has to be computed or is rounded, so that a packet may
    /// take no time.
    #[inline(never)]
    fn transmit_inexactly<S: Scheme>(
        &mut self,
        window: &mut Win<'_, '_, S>,
        start: Time,
        (kind, size): (PacketKind, u16),
        handle: Handle,
    ) {
        let end = start + self.inexact_serialisation(u64::from(size));
        let (arrival, rank) = self.put_on_wire(start, end, (kind, size));
        if start < end {
            window.send_unique(&self.link, arrival, rank, handle);
        } else {
            window.send_in_no_time(&mut self.link, arrival, rank, handle);
        }
    }

    /// Puts a PFC frame on the wire at `start`.
    #[cold]
    pub(crate) fn transmit_pfc<S: Scheme>(
        &mut self,
        window: &mut Win<'_, '_, S>,
        start: Time,
        handle: Handle,
    ) {
        let size = window.packets.get(&handle).header.size;
        let end = start + self.serialisation(u64::from(size));
        self.occupy(start, end, size);
        self.last_pfc = self.last_pfc.max(end + self.pfc_delay);
        window.send(&mut self.link, self.last_pfc, self.pfc_rank, handle);
    }

    /// Notes that `size` bytes use the wire from `start` to `end`.
    #[inline(always)]
    fn occupy(&mut self, start: Time, end: Time, size: u16) {
        debug_assert!(self.free_at <= start, "two packets use the wire at once");
        self.free_at = end;
        self.last_departure = start;
        self.counters.tx_bytes += u64::from(size);
        self.counters.tx_packets += 1;
    }

    /// Notes that a packet uses the wire. Returns when it arrives and the rank that orders it
    /// among arrivals of that instant at the peer. It is not a PFC frame.
    #[inline(always)]
    fn put_on_wire(
        &mut self,
        start: Time,
        end: Time,
        (kind, size): (PacketKind, u16),
    ) -> (Time, Rank) {
        debug_assert!(kind != PacketKind::Pfc);
        self.occupy(start, end, size);
        let is_data = kind == PacketKind::Data;
        self.counters.tx_data_packets += u64::from(is_data);
        (end + self.delay, if is_data { self.data_rank } else { self.other_rank })
    }
}
