//! How the HPCC simulator's NIC chooses what to send. Its state is
//! [`QpScan`](crate::compat::qp_scan::QpScan).

use super::Host;
use crate::host::qp::{Sender, Slots};
use crate::packet::{PacketKind, Scheme, Win};
use engine::Handle;
use units::Time;

impl<S: Scheme> Host<S> {
    /// Has a port send before it sees a packet that arrives at `now`, if its sending was scheduled
    /// before the packet's. Called if events of one instant are handled in the order of scheduling.
    #[cold]
    pub(super) fn scan_before_arrival(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: u16,
        handle: &Handle,
    ) {
        let nic = &self.nics[port as usize];
        let header = &window.packets.get(handle).header;
        let wire = nic.port.propagation() + nic.port.serialisation(u64::from(header.size));
        let handling =
            if header.kind == PacketKind::Pfc { Time::ZERO } else { self.common.host.latency };
        let on_the_way = wire + handling;
        let sent = now.saturating_sub(on_the_way);
        if nic.ns3_scheduled_before(now, sent) {
            self.drain_what_is_due(window, now + Time::from_ps(1));
        }
        self.set_cause(sent);
    }

    /// Has ports that scan their QPs send what they send at `now`, before anything else happens.
    #[inline]
    pub(super) fn scan_now(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        for number in 0..self.nics.len() {
            while self.nics[number].scan.is_some() && self.nics[number].due <= now {
                self.depart(window, number);
            }
        }
    }

    /// Notes when the event that is handled next was scheduled.
    pub(super) fn set_cause(&mut self, cause: Time) {
        for nic in &mut self.nics {
            if let Some(scan) = &mut nic.scan {
                scan.cause = cause;
            }
        }
    }

    /// Sends the next packet of a port whose wire is free at `now`, or decides when to scan again.
    #[cold]
    pub(super) fn scan(&mut self, window: &mut Win<'_, '_, S>, now: Time, number: usize) {
        let nic = &mut self.nics[number];
        let scan = nic.scan.as_mut().expect("this port scans");
        let scheduled = if scan.busy {
            nic.port.last_departure
        } else if scan.trigger <= now {
            scan.cause
        } else {
            scan.decided
        };
        scan.lead = u16::try_from((now - scheduled).ns()).unwrap_or(u16::MAX);
        scan.busy = false;
        scan.trigger = Time::NEVER;
        if scan.wake <= now {
            scan.wake = Time::NEVER;
        }
        let control = nic.port.open();
        if control != 0 {
            let queue = nic.port.pick(window.packets, control, None);
            self.send_control(window, now, number, queue);
        } else if let Some(slot) = self.next_in_table(now, number) {
            self.send_data(window, now, number, slot);
        } else {
            let wake = self.next_look(now, number);
            let nic = &mut self.nics[number];
            let scan = nic.scan.as_mut().expect("this port scans");
            if scan.wake == Time::NEVER {
                scan.wake = wake;
                scan.decided = now;
            }
            return nic.schedule();
        }
        let nic = &mut self.nics[number];
        nic.scan.as_mut().expect("this port scans").busy = true;
        nic.schedule();
    }

    /// Finds the QP that sends next. If the scan comes across finished QPs, all finished ones from
    /// the first such place on leave the table.
    fn next_in_table(&mut self, now: Time, number: usize) -> Option<u32> {
        let nic = &mut self.nics[number];
        let scan = nic.scan.as_mut().expect("this port scans");
        let count = scan.table.len();
        let mut chosen = None;
        let mut finished: Option<usize> = None;
        let mut place = scan.last;
        for _ in 0..count {
            place += 1;
            if place >= count {
                place %= count;
            }
            match open_qp(&self.senders, scan.table[place]) {
                None => finished = Some(finished.map_or(place, |first| first.min(place))),
                Some(sender) => {
                    let paused = nic.port.paused & 1 << sender.priority != 0;
                    if !paused && sender.ready_at().is_some_and(|at| at <= now) {
                        chosen = Some(place);
                        break;
                    }
                }
            }
        }
        if let Some(first) = finished {
            let is_open = |qp| open_qp(&self.senders, qp).is_some();
            let removed = scan.remove_finished(first, chosen, is_open);
            chosen = removed.chosen;
            if self.common.compat.corrects_turn() {
                scan.last = scan.last.saturating_sub(removed.up_to_last);
            }
        }
        let place = chosen?;
        scan.last = place;
        Some(scan.table[place].0)
    }

    /// When to scan again, if nothing may be sent now.
    fn next_look(&self, now: Time, number: usize) -> Time {
        let nic = &self.nics[number];
        let scan = nic.scan.as_ref().expect("this port scans");
        let senders = scan.table.iter().filter_map(|&qp| open_qp(&self.senders, qp));
        let earliest = if self.common.compat.misses_wake_ups() {
            let with_bytes = senders.filter(|sender| sender.next_to_send < sender.posted);
            with_bytes.map(|sender| sender.next_at).min()
        } else {
            let free = senders.filter(|sender| nic.port.paused & 1 << sender.priority == 0);
            free.filter_map(|sender| sender.ready_at()).min()
        };
        earliest.filter(|&time| time > now).unwrap_or(Time::NEVER)
    }
}

/// Returns the sending end of an entry of the table, unless it is finished. Another QP may have its
/// slot then.
#[inline(always)]
fn open_qp<S: Scheme>(senders: &Slots<Sender<S>>, (slot, flow): (u32, u32)) -> Option<&Sender<S>> {
    senders.get(slot).filter(|sender| sender.open && sender.first == flow)
}
