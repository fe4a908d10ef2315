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

/// What the removal of finished QPs has changed.
pub(crate) struct Removed {
    /// The new place of the QP that was chosen.
    pub(crate) chosen: Option<usize>,
    /// How many have gone up to the place of the QP that sent last.
    pub(crate) up_to_last: usize,
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

    /// Removes all finished QPs from place `first` of the table on. `chosen`: the place of one that
    /// stays.
    #[inline(never)]
    pub(crate) fn remove_finished(
        &mut self,
        first: usize,
        chosen: Option<usize>,
        is_open: impl Fn((u32, u32)) -> bool,
    ) -> Removed {
        let (mut kept, mut removed) = (first, Removed { chosen, up_to_last: 0 });
        for place in first..self.table.len() {
            let qp = self.table[place];
            if !is_open(qp) {
                removed.up_to_last += usize::from(place <= self.last);
                continue;
            }
            if chosen == Some(place) {
                removed.chosen = Some(kept);
            }
            self.table[kept] = qp;
            kept += 1;
        }
        self.table.truncate(kept);
        removed
    }

    /// Notes that the pacing time of a QP has become `time`.
    pub(crate) fn pacing_changed(&mut self, time: Time, now: Time) {
        if self.wake != Time::NEVER && self.wake > now && time < self.wake {
            self.wake = time.max(now);
            self.decided = now;
        }
    }
}
