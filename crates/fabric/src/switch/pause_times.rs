//! What a switch does when a pause expires or is sent again, and when its watchdog frees a queue
//! that is paused without end.

use super::Switch;
use super::actions::SwitchCore;
use crate::packet::{PfcFrame, Scheme, Win};
use crate::port::pause_clock::{PauseEvent, WatchdogVerdict};
use model::WatchdogAction;
use units::Time;

/// A switch whose pauses have times, whatever its queues are.
pub(crate) trait PauseTimes<S: Scheme>: SwitchCore<S> {
    /// Pauses or resumes a priority of a port as if its peer had sent a PFC frame. Returns whether
    /// that changed anything.
    fn heed(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: usize,
        priority: u8,
        frame: PfcFrame,
    ) -> bool;

    /// Drops all packets of a priority that wait for a port.
    fn drop_waiting(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize, priority: u8);

    /// Handles what is due for pauses at `now`.
    #[cold]
    fn on_pause_times(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        loop {
            let clock = self.chassis().pause_clock.as_mut().expect("it has set a timer");
            let Some((port, priority, event)) = clock.take(now) else { return };
            match event {
                PauseEvent::Expired => {
                    if clock.expire(port, priority) {
                        self.heed_without_frame(window, now, port, priority, PfcFrame::Resume);
                    }
                }
                PauseEvent::Refresh => {
                    self.send_pfc(window, now, port, priority, PfcFrame::Pause);
                }
                PauseEvent::Watch => self.watch(window, now, port, priority),
            }
        }
    }

    /// Pauses or resumes a priority of a port without a PFC frame, and tells the congestion point.
    fn heed_without_frame(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: usize,
        priority: u8,
        frame: PfcFrame,
    ) {
        if self.heed(window, now, port, priority, frame) {
            let pause = frame == PfcFrame::Pause;
            self.chassis().egress(port).notify_pfc(now, priority, pause);
            self.apply_effects(window, now);
        }
    }

    /// The watchdog looks at a priority of a port.
    fn watch(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize, priority: u8) {
        let chassis = self.chassis();
        let this = &chassis.ports[port];
        let is_stuck = this.is_paused(Some(priority)) && this.class_packets(priority) > 0;
        let clock = chassis.pause_clock.as_mut().expect("it has a watchdog");
        match clock.watch(port, priority, is_stuck, now) {
            WatchdogVerdict::Nothing => {}
            WatchdogVerdict::Free(WatchdogAction::Drop) => {
                self.drop_waiting(window, now, port, priority);
            }
            WatchdogVerdict::Free(WatchdogAction::Forward) => {
                self.heed_without_frame(window, now, port, priority, PfcFrame::Resume);
            }
            WatchdogVerdict::Heed(frame) => {
                self.heed_without_frame(window, now, port, priority, frame);
            }
        }
    }
}

impl<S: Scheme> PauseTimes<S> for Switch<S> {
    fn heed(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: usize,
        priority: u8,
        frame: PfcFrame,
    ) -> bool {
        self.drain(window, port, now);
        let immediate = self.sends_immediately(window, port, now);
        let changed = self.chassis.ports[port].heed(priority, frame, now);
        self.update_due(window, port, now);
        if immediate {
            self.send_immediately(window, now, port);
        }
        changed
    }

    fn drop_waiting(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize, priority: u8) {
        // Each of them may end a pause of its ingress.
        self.drain_all(window, now);
        while let Some(handle) = self.remove_of(window, port, priority) {
            let header = self.chassis.drop_queued(window, now, port, handle);
            if let Some(in_port) = header.in_port() {
                self.release_ingress(window, now, in_port.get(), priority, header.size);
            }
        }
        self.chassis.refresh_view(port);
        self.update_due(window, port, now);
        self.apply_effects(window, now);
    }
}

impl<S: Scheme> Switch<S> {
    /// Removes a waiting packet of a priority, out of turn.
    fn remove_of(
        &mut self,
        window: &Win<'_, '_, S>,
        port: usize,
        priority: u8,
    ) -> Option<engine::Handle> {
        let own = self.chassis.ports[port].remove_of(window.packets, priority);
        own.or_else(|| self.sub_queues.get_mut(port)?.remove_of(window.packets, priority))
    }
}
