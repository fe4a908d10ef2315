//! What a CIOQ switch does when a pause expires or is sent again, and when its watchdog frees an
//! output that is paused without end.

use super::CioqSwitch;
use crate::network::setup::WatchdogAction;
use crate::observe::recorder::PacketEventKind;
use crate::packet::{NO_INGRESS, Scheme, Win};
use crate::port::pause_clock::{PauseEvent, WatchdogVerdict};
use crate::switch::actions::Actor;
use units::Time;

impl<S: Scheme> CioqSwitch<S> {
    /// Handles what is due for pauses at `now`. All ports must have been drained to `now`.
    #[cold]
    pub(super) fn on_pause_times(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        loop {
            let clock = self.chassis.pause_clock.as_mut().expect("it has set a timer");
            let Some((port, priority, event)) = clock.take(now) else { return };
            match event {
                PauseEvent::Expired => {
                    if clock.expire(port, priority) {
                        self.set_held(window, now, port, priority, false);
                    }
                }
                PauseEvent::Refresh => {
                    clock.counts(port).refreshed += 1;
                    self.send_pfc(window, now, port, priority, true);
                }
                PauseEvent::Watch => self.watch(window, now, port, priority),
            }
        }
    }

    /// The watchdog looks at a priority of a port.
    fn watch(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize, priority: u8) {
        let this = &self.chassis.ports[port];
        // What waits at the inputs for an output finds that output's queue full.
        let is_stuck = this.is_paused(Some(priority)) && this.class_packets(priority) > 0;
        let clock = self.chassis.pause_clock.as_mut().expect("it has a watchdog");
        match clock.watch(port, priority, is_stuck, now) {
            WatchdogVerdict::Nothing => {}
            WatchdogVerdict::Free(WatchdogAction::Drop) => {
                self.drop_waiting(window, now, port, priority);
            }
            WatchdogVerdict::Free(WatchdogAction::Forward) => {
                self.set_held(window, now, port, priority, false);
            }
            WatchdogVerdict::Heed { is_paused } => {
                self.set_held(window, now, port, priority, is_paused);
            }
        }
    }

    /// Pauses or resumes a priority of a port without a PFC frame.
    fn set_held(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: usize,
        priority: u8,
        pause: bool,
    ) {
        let changed = self.chassis.ports[port].hold(priority, pause, now);
        self.update_due(port, now);
        if changed {
            self.chassis.egress(port).notify_pfc(now, priority, pause);
            self.apply_effects(window, now);
        }
    }

    /// Drops all packets of a priority that wait in the queue of a port, or at the inputs for it.
    fn drop_waiting(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize, priority: u8) {
        while let Some(handle) = self.chassis.ports[port].remove_of(window.packets, priority) {
            let header = self.chassis.drop_queued(window, now, port, handle);
            if header.ingress != NO_INGRESS {
                self.crossed -= u64::from(header.size);
            }
        }
        for input in 0..self.chassis.ports.len() {
            let voq = (input, usize::from(priority), port);
            while let Some(handle) = self.inputs.remove::<S>(window.packets, voq) {
                let header = window.packets.remove(handle).header;
                if let Some(recorder) = &mut self.chassis.recorder {
                    recorder.packet(now, input as u16, PacketEventKind::Dropped, 0, &header);
                }
                self.chassis.count_watchdog_drop(port, &header);
                let size = u64::from(header.size);
                if self.chassis.mmu.release(input as u16, priority, size) {
                    self.send_pfc(window, now, input, priority, false);
                }
            }
        }
        self.update_due(port, now);
        self.after_drops(port, now);
        self.apply_effects(window, now);
    }
}
