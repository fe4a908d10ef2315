//! The state of a NIC that scans its QPs, as in the HPCC simulator.

use units::Time;

/// How the HPCC simulator's NIC finds what to send next ([`Quirks::scan_queue_pairs`]). It scans
/// when the wire becomes free. While the wire is free, it scans when something happens, or at a
/// time that an earlier scan has set.
///
/// [`Quirks::scan_queue_pairs`]: crate::Quirks::scan_queue_pairs
pub(crate) struct QpScan {
    /// QPs in the order in which they were opened, each by its slot and first message. A finished
    /// QP leaves the table when a scan comes across it.
    pub(crate) table: Vec<(u32, u32)>,
    /// Index in the table of the QP that sent last.
    pub(crate) last: usize,
    /// A packet is on the wire.
    pub(crate) busy: bool,
    /// When something happened that makes the NIC scan.
    pub(crate) trigger: Time,
    /// When the NIC scans next by itself; set by a scan at `decided`.
    pub(crate) wake: Time,
    pub(crate) decided: Time,
    /// When the event at hand was scheduled.
    pub(crate) cause: Time,
    /// How long before the present packet's sending that sending was scheduled, in ns.
    pub(crate) lead: u16,
}

impl QpScan {
    pub(crate) fn new() -> QpScan {
        QpScan {
            table: Vec::new(),
            last: 0,
            busy: false,
            trigger: Time::NEVER,
            wake: Time::NEVER,
            decided: Time::ZERO,
            cause: Time::ZERO,
            lead: 0,
        }
    }

    /// Notes that the pacing time of a QP has become `time`.
    pub(crate) fn pacing_changed(&mut self, time: Time, now: Time) {
        if self.wake != Time::NEVER && self.wake > now && time < self.wake {
            self.wake = time.max(now);
            self.decided = now;
        }
    }
}
