//! Which priority of a port sends next: strict ones first, the others by deficit round robin.

use std::hint::select_unpredictable;
use std::sync::Arc;

/// Index of the queue of PFC frames, which is ahead of all priorities and never paused.
pub(crate) const PFC: usize = 8;
pub(crate) const PFC_BIT: u16 = 1 << PFC;

/// Strict priority, then deficit round robin (Shreedhar and Varghese, 1995).
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Scheduler {
    strict: u16,
    current: u8,
    /// Shared by all ports.
    quanta: Arc<[u32; 8]>,
    deficits: [u32; 8],
}

impl Scheduler {
    pub(crate) fn new(strict: u8, quanta: Arc<[u32; 8]>) -> Scheduler {
        Scheduler { strict: u16::from(strict) | PFC_BIT, current: 0, quanta, deficits: [0; 8] }
    }

    /// Returns the priority of `ready` that sends next if no turn decides: the highest strict one,
    /// or the only one. `ready` is not empty.
    #[inline]
    pub(crate) fn only_choice(&self, ready: u16) -> Option<usize> {
        debug_assert!(ready != 0);
        let strict = ready & self.strict;
        // Without a branch, because whether a strict priority is ready would be mispredicted.
        let first = select_unpredictable(strict != 0, strict, ready);
        let rivals = first & (first - 1) & !self.strict;
        (rivals == 0).then(|| first.ilog2() as usize)
    }

    /// Returns two priorities that contain `priorities` and of which the first always goes before
    /// the second. Returns `None` if there are more than two, or if they take turns.
    pub(crate) fn strict_pair(&self, priorities: u16) -> Option<[u8; 2]> {
        let first = if priorities == 0 { 0 } else { self.only_choice(priorities)? };
        let others = priorities & !(1 << first);
        let second = if others == 0 { (first + 1) % 8 } else { others.ilog2() as usize };
        (others.count_ones() <= 1).then_some([first as u8, second as u8])
    }

    /// Gives a priority back what [`round_robin`](Self::round_robin) took for its last packet
    /// beyond the size of that.
    pub(crate) fn refund(&mut self, priority: usize, bytes: u32) {
        self.deficits[priority] = self.deficits[priority].saturating_add(bytes);
    }

    /// Returns the priority whose turn it is. `head` returns the size of a priority's next packet.
    /// A priority that has nothing to send while others compete loses its turn and its deficit.
    pub(crate) fn round_robin(&mut self, ready: u8, head: impl Fn(usize) -> u32) -> usize {
        for (priority, deficit) in self.deficits.iter_mut().enumerate() {
            if ready & 1 << priority == 0 {
                *deficit = 0;
            }
        }
        loop {
            let priority = self.current as usize;
            if ready & 1 << priority != 0 {
                let size = head(priority);
                if self.deficits[priority] >= size {
                    self.deficits[priority] -= size;
                    return priority;
                }
            }
            self.current = (self.current + 1) % 8;
            let next = self.current as usize;
            if ready & 1 << next != 0 {
                self.deficits[next] = self.deficits[next].saturating_add(self.quanta[next]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick(scheduler: &mut Scheduler, ready: u16, head: impl Fn(usize) -> u32) -> usize {
        match scheduler.only_choice(ready) {
            Some(priority) => priority,
            None => scheduler.round_robin(ready as u8, head),
        }
    }

    #[test]
    fn flow_control_then_strict_then_the_rest() {
        let mut scheduler = Scheduler::new(0b1100_0000, Arc::new([1500; 8]));
        assert_eq!(pick(&mut scheduler, 0b1_1100_1000, |_| 100), PFC);
        assert_eq!(pick(&mut scheduler, 0b0_1100_1000, |_| 100), 7);
        assert_eq!(pick(&mut scheduler, 0b0_0100_1000, |_| 100), 6);
        assert_eq!(pick(&mut scheduler, 0b0_0000_1000, |_| 100), 3);
    }

    #[test]
    fn weights_share_bytes_not_packets() {
        // Priority 1 has twice the weight of priority 2 and packets a third of the size.
        let mut quanta = [0; 8];
        quanta[1] = 3000;
        quanta[2] = 1500;
        let mut scheduler = Scheduler::new(0, Arc::new(quanta));
        let size = |priority: usize| if priority == 1 { 500 } else { 1500 };
        let mut sent = [0u32; 3];
        for _ in 0..7_000 {
            let priority = pick(&mut scheduler, 0b110, size);
            sent[priority] += size(priority);
        }
        let ratio = f64::from(sent[1]) / f64::from(sent[2]);
        assert!((1.99..2.01).contains(&ratio), "{ratio}");
    }
}
