//! When pauses of a node's ports expire and are sent again, and when a watchdog looks at them.
//!
//! A run in which pauses last until they are taken back, without a watchdog, has none of this.

use crate::packet::PfcFrame;
use model::{PauseExpiry, PauseRenewal, Watchdog, WatchdogAction};
use units::{Rate, Time};

/// The counter of priorities that a watchdog found paused without end.
pub const WATCHDOG_STORMS: &str = "watchdog_storms";

/// The counter of packets that a watchdog dropped.
pub const WATCHDOG_DROPS: &str = "watchdog_drops";

/// What is due for a priority of a port. Of one instant, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PauseEvent {
    /// The pause that the peer asked for ends: it was not refreshed.
    Expired,
    /// The pause that this node asked for is asked for again.
    Refresh,
    /// The priority has been paused for the watchdog's time, or did not heed pauses for that of its
    /// restoration.
    Watch,
}

/// The times of all ports of a node.
#[derive(Debug)]
pub(crate) struct PauseClock {
    watchdog: Option<Watchdog>,
    expiry: Option<PauseExpiry>,
    ports: Vec<PortTimes>,
    /// No event is due before this.
    next: Time,
}

/// The times of a port.
#[derive(Debug)]
struct PortTimes {
    /// How long a pause lasts; [`Time::NEVER`] for until it is taken back.
    lasts: Time,
    refreshed_after: Time,
    /// By priority, when each event is due.
    due: [[Time; 8]; 3],
    /// Priorities that this node pauses.
    asked: u8,
    /// Priorities that do not heed pauses.
    freed: u8,
    /// Priorities that the peer pauses and that do not heed it.
    unheeded: u8,
    counts: PauseCounts,
}

/// What happened to the pauses of a port beside their beginnings and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseCounts {
    /// Pauses that expired because they were not refreshed.
    pub expired: u64,
    /// Pause frames sent again.
    pub refreshed: u64,
    /// How often the watchdog found a priority paused without end.
    pub storms: u64,
    /// Packets dropped by the watchdog.
    pub dropped: u64,
}

/// How long a pause lasts at a port of this rate, and when it is sent again.
fn durations(expiry: Option<PauseExpiry>, rate: Rate) -> (Time, Time) {
    expiry.map_or((Time::NEVER, Time::NEVER), |one| (one.lasts(rate), one.refreshed_after(rate)))
}

impl PauseClock {
    /// Returns the clock of a node whose ports have these rates. `None`: pauses have no times
    /// there.
    pub(crate) fn new(
        expiry: Option<PauseExpiry>,
        watchdog: Option<Watchdog>,
        rates: impl Iterator<Item = Rate>,
    ) -> Option<Box<PauseClock>> {
        if expiry.is_none() && watchdog.is_none() {
            return None;
        }
        let port = |rate| {
            let (lasts, refreshed_after) = durations(expiry, rate);
            PortTimes {
                lasts,
                refreshed_after,
                due: [[Time::NEVER; 8]; 3],
                asked: 0,
                freed: 0,
                unheeded: 0,
                counts: PauseCounts::default(),
            }
        };
        let ports = rates.map(port).collect();
        Some(Box::new(PauseClock { watchdog, expiry, ports, next: Time::NEVER }))
    }

    /// Sets the rate of a port's link. Pauses that have begun keep their times.
    pub(crate) fn set_rate(&mut self, port: usize, rate: Rate) {
        let times = &mut self.ports[port];
        (times.lasts, times.refreshed_after) = durations(self.expiry, rate);
    }

    /// Whether each packet that arrives at a queue above its threshold has the pause sent again.
    pub(crate) fn renews_at_arrivals(&self) -> bool {
        self.expiry.is_some_and(|expiry| expiry.renewal == PauseRenewal::Arrivals)
    }

    /// Whether its switch may drop packets of priorities that are paused without end.
    pub(crate) fn has_watchdog(&self) -> bool {
        self.watchdog.is_some()
    }

    /// When the next event is due at the earliest.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Takes the next event that is due by `now`: its port, its priority, and what it is.
    pub(crate) fn take(&mut self, now: Time) -> Option<(usize, u8, PauseEvent)> {
        if self.next > now {
            return None;
        }
        let events = [PauseEvent::Expired, PauseEvent::Refresh, PauseEvent::Watch];
        let all = self.ports.iter().enumerate().flat_map(|(port, times)| {
            let of_event = events.iter().zip(&times.due);
            of_event.flat_map(move |(&event, due)| {
                let by_priority = due.iter().enumerate();
                by_priority.map(move |(priority, &time)| (time, event, port, priority as u8))
            })
        });
        let (time, event, port, priority) = all.min().expect("a node has ports");
        if time > now {
            self.next = time;
            return None;
        }
        self.ports[port].due[event as usize][usize::from(priority)] = Time::NEVER;
        Some((port, priority, event))
    }

    fn set(&mut self, port: usize, priority: u8, event: PauseEvent, time: Time) {
        self.ports[port].due[event as usize][usize::from(priority & 7)] = time;
        self.next = self.next.min(time);
    }

    /// Notes that the peer of a port pauses or resumes a priority. Returns whether the port heeds
    /// it. Where packets of a freed priority are dropped, it does: none is sent either way.
    pub(crate) fn received(
        &mut self,
        port: usize,
        priority: u8,
        frame: PfcFrame,
        now: Time,
    ) -> bool {
        let times = &mut self.ports[port];
        let bit = 1 << priority;
        let is_freed = times.freed & bit != 0;
        let watched_at = times.due[PauseEvent::Watch as usize][usize::from(priority & 7)];
        let (expires, unheeded) = match frame {
            PfcFrame::Pause => (now.saturating_add(times.lasts), bit),
            PfcFrame::Resume => (Time::NEVER, 0),
        };
        if is_freed {
            times.unheeded = times.unheeded & !bit | unheeded;
        }
        self.set(port, priority, PauseEvent::Expired, expires);
        if let Some(watchdog) = self.watchdog.filter(|_| !is_freed) {
            match frame {
                PfcFrame::Resume => self.set(port, priority, PauseEvent::Watch, Time::NEVER),
                PfcFrame::Pause if watched_at == Time::NEVER => {
                    let at = now.saturating_add(watchdog.detect);
                    self.set(port, priority, PauseEvent::Watch, at);
                }
                PfcFrame::Pause => {}
            }
        }
        !(is_freed && self.forwards())
    }

    /// Whether packets of freed priorities are sent in spite of the pause, not dropped.
    fn forwards(&self) -> bool {
        self.watchdog.is_some_and(|watchdog| watchdog.action == WatchdogAction::Forward)
    }

    /// Notes that a port has the peer pause or resume a priority.
    pub(crate) fn sent(&mut self, port: usize, priority: u8, frame: PfcFrame, now: Time) {
        let times = &mut self.ports[port];
        let bit = 1 << priority;
        let again = match frame {
            PfcFrame::Pause => {
                times.counts.refreshed += u64::from(times.asked & bit != 0);
                times.asked |= bit;
                now.saturating_add(times.refreshed_after)
            }
            PfcFrame::Resume => {
                times.asked &= !bit;
                Time::NEVER
            }
        };
        self.set(port, priority, PauseEvent::Refresh, again);
    }

    /// Notes that the link of a port has failed: nobody pauses anybody.
    pub(crate) fn link_down(&mut self, port: usize) {
        let times = &mut self.ports[port];
        times.due = [[Time::NEVER; 8]; 3];
        (times.asked, times.freed, times.unheeded) = (0, 0, 0);
    }

    /// The watchdog looks at a priority whose time has come; `is_stuck`: it is paused, and packets
    /// wait. Returns what happens.
    pub(crate) fn watch(
        &mut self,
        port: usize,
        priority: u8,
        is_stuck: bool,
        now: Time,
    ) -> WatchdogVerdict {
        let watchdog = self.watchdog.expect("only a watchdog watches");
        let times = &mut self.ports[port];
        let bit = 1 << priority;
        if times.freed & bit != 0 {
            times.freed &= !bit;
            if times.unheeded & bit == 0 {
                return WatchdogVerdict::Heed(PfcFrame::Resume);
            }
            times.unheeded &= !bit;
            self.set(port, priority, PauseEvent::Watch, now.saturating_add(watchdog.detect));
            return WatchdogVerdict::Heed(PfcFrame::Pause);
        }
        if !is_stuck {
            self.set(port, priority, PauseEvent::Watch, now.saturating_add(watchdog.detect));
            return WatchdogVerdict::Nothing;
        }
        times.freed |= bit;
        times.unheeded |= bit;
        times.counts.storms += 1;
        self.set(port, priority, PauseEvent::Watch, now.saturating_add(watchdog.restore));
        WatchdogVerdict::Free(watchdog.action)
    }

    /// Whether packets of a priority that go to a port are dropped.
    pub(crate) fn drops(&self, port: usize, priority: u8) -> bool {
        self.watchdog.is_some_and(|watchdog| watchdog.action == WatchdogAction::Drop)
            && self.ports[port].freed & 1 << priority != 0
    }

    /// Ends a pause that was not refreshed. Returns whether the port heeded it, so that it may send
    /// again.
    #[must_use]
    pub(crate) fn expire(&mut self, port: usize, priority: u8) -> bool {
        let forwards = self.forwards();
        let times = &mut self.ports[port];
        times.counts.expired += 1;
        let bit = 1 << priority;
        times.unheeded &= !bit;
        if times.freed & bit != 0 {
            return !forwards;
        }
        self.set(port, priority, PauseEvent::Watch, Time::NEVER);
        true
    }

    /// What all ports counted, by name.
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        let sum = |of: fn(&PauseCounts) -> u64| self.ports.iter().map(|one| of(&one.counts)).sum();
        vec![
            ("pauses_expired", sum(|counts| counts.expired)),
            ("pauses_refreshed", sum(|counts| counts.refreshed)),
            (WATCHDOG_STORMS, sum(|counts| counts.storms)),
            (WATCHDOG_DROPS, sum(|counts| counts.dropped)),
        ]
    }

    /// What a port counted, to be added to.
    pub(crate) fn counts(&mut self, port: usize) -> &mut PauseCounts {
        &mut self.ports[port].counts
    }
}

/// What a watchdog decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchdogVerdict {
    /// All is well.
    Nothing,
    /// The priority does not heed pauses for a time.
    Free(WatchdogAction),
    /// It heeds pauses again, and this frame of the peer, the last one.
    Heed(PfcFrame),
}
