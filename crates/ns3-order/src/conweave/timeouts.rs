//! Senders that go back after a time without an answer.

use crate::event_list::Kind;
use crate::simulation::Simulation;

/// With go-back-N a sender waits so long, in nanoseconds.
const TIMEOUT: u64 = 4_000_000;
/// With selective repeat it waits so long with few packets in flight, and with more.
const SHORT: u64 = 100_000;
const LONG: u64 = 320_000;
/// How many packets are few.
const FEW: u64 = 3;

/// The timer of a sender.
#[derive(Clone, Default)]
pub(super) struct Timeout {
    /// When it is due, with the number of its event; `None` while it does not run.
    due: Option<(u64, u32)>,
    /// An event looks whether it is due at this time.
    looks_at: Option<u64>,
}

impl Simulation<'_> {
    /// A sender waits for an answer from now on.
    pub(crate) fn restart_timeout(&mut self, flow: u32) {
        let number = self.events.take_number();
        let delay = match self.settings.selective {
            false => TIMEOUT,
            true if self.in_flight(flow) > FEW * self.settings.payload => LONG,
            true => SHORT,
        };
        let due = self.events.now() + delay;
        let timeout = &mut self.conweave.timeouts[flow as usize];
        timeout.due = Some((due, number));
        // An earlier event looks again when it comes.
        if timeout.looks_at.is_none_or(|time| time > due) {
            timeout.looks_at = Some(due);
            self.events.schedule_as(number, delay, Kind::Timeout, flow, 0);
        }
    }

    /// A sender has got an answer.
    pub(crate) fn note_answer(&mut self, flow: u32) {
        let qp = &mut self.qps[flow as usize];
        qp.snd_nxt = qp.snd_nxt.max(qp.snd_una);
        if qp.ended {
            self.conweave.timeouts[flow as usize].due = None;
        } else if qp.snd_nxt > qp.snd_una {
            self.restart_timeout(flow);
        }
    }

    /// Whether the timer of a sender runs.
    pub(crate) fn awaits_timeout(&self, flow: usize) -> bool {
        self.settings.conweave && self.conweave.timeouts[flow].due.is_some()
    }

    /// Looks whether a timer is due. If it is, the sender goes back.
    pub(crate) fn on_timeout(&mut self, flow: u32) {
        let now = self.events.now();
        let timeout = &mut self.conweave.timeouts[flow as usize];
        if timeout.looks_at != Some(now) {
            return;
        }
        timeout.looks_at = None;
        let Some((time, number)) = timeout.due else { return };
        if time > now {
            timeout.looks_at = Some(time);
            self.events.schedule_as(number, time - now, Kind::Timeout, flow, 0);
            return;
        }
        timeout.due = None;
        if self.settings.selective && self.settings.has_pfc {
            return;
        }
        self.begin_recovery(flow);
        let qp = &mut self.qps[flow as usize];
        qp.snd_nxt = qp.snd_una;
        let port = qp.port;
        self.kick(port);
    }
}
