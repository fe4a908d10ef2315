//! REPS, recycled entropies for packet spraying (Bonato et al., arXiv 2407.21625): a sender uses
//! the entropy values of packets that were acknowledged without an ECN mark again, each once, and
//! draws one at random when it has none.
//!
//! After a timeout it *freezes*: for a while it goes round its ring of values, whatever their use,
//! because these paths were good before something failed. Then it forgets them, and draws for some
//! packets.

use model::Spray;
use units::{Time, splitmix};

#[derive(Debug)]
pub(super) struct Reps {
    seed: u64,
    entropies: u32,
    drawn: u64,
    /// The values of the last packets that were acknowledged without a mark.
    ring: Vec<u16>,
    /// The most values in the ring.
    size: usize,
    /// Where the next value is written.
    head: usize,
    /// How many of the last values have not been used again.
    fresh: usize,
    freeze: Time,
    /// The end of the frozen period; [`Time::ZERO`] if there is none.
    frozen_until: Time,
    /// Where the next value is read while frozen.
    reading: usize,
    explore: u32,
    /// For how many packets values are still drawn.
    exploring: u32,
}

impl Reps {
    /// # Panics
    /// If `config` is not that of REPS.
    pub(super) fn new(config: &Spray, entropies: u32, seed: u64) -> Reps {
        let Spray::Reps { cache, freeze, explore } = *config else {
            unreachable!("it is for REPS")
        };
        Reps {
            seed,
            entropies,
            drawn: 0,
            ring: Vec::new(),
            size: cache as usize,
            head: 0,
            fresh: 0,
            freeze,
            frozen_until: Time::ZERO,
            reading: 0,
            explore,
            exploring: 0,
        }
    }

    pub(super) fn next(&mut self, now: Time) -> u16 {
        if self.frozen_until != Time::ZERO && now >= self.frozen_until {
            self.frozen_until = Time::ZERO;
            self.ring.clear();
            (self.head, self.fresh, self.reading) = (0, 0, 0);
            self.exploring = self.explore;
        }
        if self.exploring > 0 {
            self.exploring -= 1;
            return self.draw();
        }
        if self.fresh > 0 {
            let length = self.ring.len();
            let oldest = (self.head + length - self.fresh) % length;
            self.fresh -= 1;
            return self.ring[oldest];
        }
        if self.frozen_until != Time::ZERO && !self.ring.is_empty() {
            self.reading = (self.reading + 1) % self.ring.len();
            return self.ring[self.reading];
        }
        self.draw()
    }

    pub(super) fn on_ack(&mut self, entropy: u16, is_marked: bool) {
        if is_marked {
            return;
        }
        if self.ring.len() < self.size {
            // The ring is full before it wraps around.
            self.head = self.ring.len();
            self.ring.push(entropy);
        } else {
            self.ring[self.head] = entropy;
        }
        self.head = (self.head + 1) % self.size;
        self.fresh = (self.fresh + 1).min(self.ring.len());
    }

    pub(super) fn on_timeout(&mut self, now: Time) {
        if self.exploring == 0 && self.frozen_until == Time::ZERO && self.freeze > Time::ZERO {
            self.frozen_until = now.saturating_add(self.freeze);
        }
    }

    fn draw(&mut self) -> u16 {
        self.drawn += 1;
        let word = splitmix::mix(self.seed.wrapping_add(self.drawn.wrapping_mul(splitmix::STEP)));
        (word % u64::from(self.entropies)) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Spray = Spray::Reps { cache: 3, freeze: Time::from_us(10), explore: 2 };

    fn reps() -> Reps {
        Reps::new(&CONFIG, 65_536, 1)
    }

    #[test]
    fn good_values_are_used_again_once_and_the_oldest_first() {
        let mut reps = reps();
        for value in [11, 12, 13, 14] {
            reps.on_ack(value, false);
        }
        reps.on_ack(99, true);
        let used: Vec<u16> = (0..3).map(|_| reps.next(Time::ZERO)).collect();
        assert_eq!(used, [12, 13, 14], "the ring holds three");
        let drawn = reps.next(Time::ZERO);
        assert_ne!(drawn, reps.next(Time::ZERO), "with none left, values are drawn");
    }

    #[test]
    fn a_value_that_comes_while_the_ring_fills_is_the_newest() {
        let mut reps = reps();
        reps.on_ack(11, false);
        assert_eq!(reps.next(Time::ZERO), 11);
        reps.on_ack(12, false);
        reps.on_ack(13, false);
        assert_eq!((reps.next(Time::ZERO), reps.next(Time::ZERO)), (12, 13));
    }

    #[test]
    fn after_a_timeout_known_values_go_round_and_are_then_forgotten() {
        let mut reps = reps();
        for value in [11, 12, 13] {
            reps.on_ack(value, false);
        }
        (0..3).for_each(|_| _ = reps.next(Time::ZERO));
        reps.on_timeout(Time::ZERO);
        let frozen: Vec<u16> = (0..6).map(|_| reps.next(Time::from_us(1))).collect();
        assert!(frozen.iter().all(|value| [11, 12, 13].contains(value)));
        assert_eq!(frozen[..3], frozen[3..]);
        let later: Vec<u16> = (0..3).map(|_| reps.next(Time::from_us(10))).collect();
        assert!(later.iter().all(|value| ![11, 12, 13].contains(value)));
    }
}
