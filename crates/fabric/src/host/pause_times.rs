//! What a host does when a pause expires or is sent again.

use super::Host;
use crate::packet::{PfcFrame, Scheme, Win};
use crate::port::pause_clock::PauseEvent;
use units::Time;

impl<S: Scheme> Host<S> {
    /// Handles what is due for pauses at `now`: some expire, some are sent again.
    #[cold]
    pub(super) fn on_pause_timer(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        loop {
            let clock = self.pause_clock.as_mut().expect("it has set a timer");
            let Some((number, priority, event)) = clock.take(now) else {
                return self.timers.wake_pauses(clock.next());
            };
            match event {
                PauseEvent::Expired => {
                    let was_heeded = clock.expire(number, priority);
                    debug_assert!(was_heeded, "hosts have no watchdog");
                    let nic = &mut self.nics[number];
                    nic.port.heed(priority, PfcFrame::Resume, now);
                    nic.wake(now);
                    self.leave_paused_ports(now, priority);
                }
                PauseEvent::Refresh => {
                    self.send_frame(window, now, number, (priority, PfcFrame::Pause));
                    self.nics[number].wake(now);
                }
                PauseEvent::Watch => unreachable!("hosts have no watchdog"),
            }
        }
    }
}
