//! What a CIOQ switch does when a pause expires or is sent again, and when its watchdog frees an
//! output that is paused without end. All ports have been drained to that time. What waits at the
//! inputs for a paused output finds that output's queue full, so the queue tells whether anything
//! waits.

use super::CioqSwitch;
use super::inputs::VoqId;
use crate::observe::recorder::PacketEventKind;
use crate::packet::{PfcFrame, Scheme, Win};
use crate::switch::actions::SwitchCore;
use crate::switch::pause_times::PauseTimes;
use units::Time;

impl<S: Scheme> PauseTimes<S> for CioqSwitch<S> {
    fn heed(
        &mut self,
        _window: &mut Win<'_, '_, S>,
        now: Time,
        port: usize,
        priority: u8,
        frame: PfcFrame,
    ) -> bool {
        let changed = self.chassis.ports[port].heed(priority, frame, now);
        self.update_due(port, now);
        changed
    }

    /// Packets wait in the queue of the port, or at the inputs for it.
    fn drop_waiting(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize, priority: u8) {
        while let Some(handle) = self.chassis.ports[port].remove_of(window.packets, priority) {
            let header = self.chassis.drop_queued(window, now, port, handle);
            if header.in_port().is_some() {
                self.crossed -= u64::from(header.size);
            }
        }
        for input in 0..self.chassis.ports.len() {
            let voq = VoqId { input, priority: usize::from(priority), output: port };
            while let Some(handle) = self.inputs.remove::<S>(window.packets, voq) {
                let header = window.packets.remove(handle).header;
                if let Some(recorder) = &mut self.chassis.recorder {
                    recorder.packet(now, input as u16, PacketEventKind::Dropped, 0, &header);
                }
                self.chassis.count_watchdog_drop(port, &header);
                self.release_ingress(window, now, input as u16, priority, header.size);
            }
        }
        self.update_due(port, now);
        self.after_drops(port, now);
        self.apply_effects(window, now);
    }
}
