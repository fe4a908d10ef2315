//! When each port of a switch sends next, and which ports send at all.

use engine::prefetch;
use std::hint::select_unpredictable;
use units::Time;

/// Times by port, with a bit for each port that has one. Most ports of a switch are idle.
#[derive(Debug)]
pub(crate) struct DepartureTimes {
    times: Vec<Time>,
    busy: Vec<u64>,
    /// No port sends before. Most questions for the earliest are answered by it.
    lower_bound: Time,
    /// No port sends before, except the one that was earliest when it was last asked for.
    others: Time,
}

impl DepartureTimes {
    /// Makes the times of ports that are all idle.
    pub(crate) fn new(ports: usize) -> DepartureTimes {
        DepartureTimes {
            times: vec![Time::NEVER; ports],
            busy: vec![0; ports.div_ceil(64)],
            lower_bound: Time::NEVER,
            others: Time::NEVER,
        }
    }

    /// Prefetches the times.
    pub(crate) fn prefetch(&self) {
        prefetch(self.times.as_slice(), size_of_val(self.times.as_slice()).div_ceil(64).min(16));
    }

    /// Returns when `port` sends next; [`Time::NEVER`] if nothing may leave.
    #[inline]
    pub(crate) fn at(&self, port: usize) -> Time {
        self.times[port]
    }

    #[inline]
    pub(crate) fn set(&mut self, port: usize, time: Time) {
        if time == Time::NEVER {
            self.set_idle(port);
        } else {
            self.schedule(port, time);
        }
    }

    /// Sets when `port`, which has just sent, sends next.
    #[inline]
    pub(crate) fn reschedule(&mut self, port: usize, time: Time) {
        debug_assert!(self.times[port] <= time && time != Time::NEVER);
        self.times[port] = time;
    }

    /// Notes that `port` has nothing more to send.
    #[inline]
    pub(crate) fn set_idle(&mut self, port: usize) {
        self.times[port] = Time::NEVER;
        self.busy[port / 64] &= !(1 << (port % 64));
    }

    /// Sets when `port` sends next, whether it was busy or idle.
    #[inline]
    pub(crate) fn schedule(&mut self, port: usize, time: Time) {
        debug_assert!(time != Time::NEVER);
        self.times[port] = time;
        self.busy[port / 64] |= 1 << (port % 64);
        self.lower_bound = self.lower_bound.min(time);
        self.others = self.others.min(time);
    }

    /// Returns a time before which no port sends.
    #[inline]
    pub(crate) fn lower_bound(&self) -> Time {
        self.lower_bound
    }

    /// Raises the lower bound after `port` has sent, which was the earliest when it was last asked
    /// for.
    #[inline]
    pub(crate) fn raise_lower_bound(&mut self, port: usize) {
        self.lower_bound = self.times[port].min(self.others);
        debug_assert!(self.times.iter().all(|&time| self.lower_bound <= time));
    }

    /// Returns the first busy port at or after `from`.
    #[inline]
    pub(crate) fn next_busy(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = self.busy.get(word)? & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            bits = *self.busy.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    /// Returns the first port at or after `from` that sends at `time`.
    #[inline]
    fn next_at(&self, time: Time, from: usize) -> Option<usize> {
        let mut next = self.next_busy(from);
        while let Some(port) = next
            && self.times[port] != time
        {
            next = self.next_busy(port + 1);
        }
        next
    }

    /// Returns when the next packet leaves, and through which port. Among equals the port that goes
    /// first rotates.
    #[inline]
    pub(crate) fn earliest(&mut self) -> (Time, usize) {
        let (mut earliest, mut others, mut first) = (Time::NEVER, Time::NEVER, 0);
        for (word, &bits) in self.busy.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let port = word * 64 + bits.trailing_zeros() as usize;
                let time = self.times[port];
                // Without a branch, because which port comes first would be mispredicted.
                let sooner = time < earliest;
                others = others.min(time.max(earliest));
                first = select_unpredictable(sooner, port, first);
                earliest = earliest.min(time);
                bits &= bits - 1;
            }
        }
        self.others = others;
        if earliest == others && earliest != Time::NEVER {
            let count = self.times.len();
            let turn = (earliest.ps().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
            let turn = turn % count;
            let after = self.next_at(earliest, turn).or_else(|| self.next_at(earliest, 0));
            first = after.expect("two of them are");
        }
        self.lower_bound = earliest;
        (earliest, first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_is_the_minimum(
            changes in prop::collection::vec((0usize..130, prop::option::of(0u64..20)), 1..300),
        ) {
            let mut due = DepartureTimes::new(130);
            for (port, time) in changes {
                due.set(port, time.map_or(Time::NEVER, Time::from_ns));
                let min = (0..130).map(|port| due.at(port)).min().unwrap();
                prop_assert!(due.lower_bound() <= min);
                let (time, first) = due.earliest();
                prop_assert_eq!(time, min);
                prop_assert_eq!(due.lower_bound(), min);
                prop_assert!(min == Time::NEVER || due.at(first) == min);
                let after = |&port: &usize| due.next_busy(port + 1);
                let busy: Vec<usize> =
                    std::iter::successors(due.next_busy(0), after).collect();
                let expected: Vec<usize> =
                    (0..130).filter(|&port| due.at(port) != Time::NEVER).collect();
                prop_assert_eq!(busy, expected);
            }
        }
    }

    #[test]
    fn the_bound_is_exact_after_the_earliest_port_has_sent() {
        let mut due = DepartureTimes::new(8);
        due.set(2, Time::from_ns(10));
        due.set(5, Time::from_ns(30));
        assert_eq!(due.earliest(), (Time::from_ns(10), 2));
        due.reschedule(2, Time::from_ns(20));
        due.raise_lower_bound(2);
        assert_eq!(due.lower_bound(), Time::from_ns(20));
        assert_eq!(due.earliest(), (Time::from_ns(20), 2));
        due.set_idle(2);
        due.raise_lower_bound(2);
        assert_eq!(due.lower_bound(), Time::from_ns(30));
        due.schedule(7, Time::from_ns(5));
        assert_eq!(due.lower_bound(), Time::from_ns(5));
    }

    #[test]
    fn no_port_is_always_first_among_equals() {
        let mut due = DepartureTimes::new(8);
        let first = (1..1_000)
            .filter(|&round| {
                due.set(2, Time::from_ns(round * 80));
                due.set(5, Time::from_ns(round * 80));
                due.earliest().1 == 2
            })
            .count();
        assert!((300..900).contains(&first), "{first} of 999");
    }
}
