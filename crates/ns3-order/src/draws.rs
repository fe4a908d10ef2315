//! Random numbers, in the order in which that simulator takes them.

use fabric::ns3::{Draws, Numbers};

/// The stream of a link's losses.
const LOSS_STREAM: u64 = (1 << 63) + 50;

/// What ns-3's generators start from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeds {
    pub(crate) seed: u64,
    pub(crate) run: u64,
}

/// The losses of links. Links without an error rate of their own share one.
#[derive(Clone, Debug)]
pub(crate) struct ErrorModel {
    rate: f64,
    numbers: Numbers,
}

impl ErrorModel {
    /// Makes a model that loses packets with probability `rate`. Every model begins at the same
    /// number.
    pub(crate) fn new(rate: f64, seeds: Seeds) -> ErrorModel {
        let Seeds { seed, run } = seeds;
        ErrorModel { rate, numbers: Draws::seeded(seed, LOSS_STREAM, run).numbers() }
    }

    /// Returns whether the packet that arrives is lost.
    pub(crate) fn loses(&mut self) -> bool {
        self.numbers.draw() < self.rate
    }
}

/// The C library's generator `rand()`: an additive one of 31 words (glibc, type 3).
#[derive(Clone, Debug)]
pub(crate) struct CRand {
    words: [u32; 31],
    next: usize,
}

impl CRand {
    /// `seed`: that of `srand()`. A program that does not call it has 1, and 0 means 1, too.
    pub(crate) fn new(seed: u32) -> CRand {
        let mut words = [seed.max(1); 31];
        for index in 1..words.len() {
            let before = i64::from(words[index - 1] as i32);
            words[index] = (before * 16_807).rem_euclid(2_147_483_647) as u32;
        }
        let mut rand = CRand { words, next: 3 };
        for _ in 0..310 {
            rand.draw();
        }
        rand
    }

    /// Returns the next number, below 2^31.
    pub(crate) fn draw(&mut self) -> u32 {
        let back = (self.next + 28) % 31;
        self.words[self.next] = self.words[self.next].wrapping_add(self.words[back]);
        let number = self.words[self.next] >> 1;
        self.next = (self.next + 1) % 31;
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::ns3::first_stream;

    /// Numbers that ns-3 and the C library gave.
    #[test]
    fn numbers_are_those_of_the_libraries() {
        let mut marks = Draws::from_stream(first_stream(12), 1);
        let known = [0.28006884903980434, 0.38991897881569987, 0.729100200499604];
        assert_eq!([(); 3].map(|()| marks.draw()), known);
        assert_eq!(Draws::from_stream(62, 1).draw(), 0.912957794241426);
        let mut losses = ErrorModel::new(0.0, Seeds { seed: 1, run: 1 }).numbers;
        let known = [0.46039245737754536, 0.05666046538049747, 0.09433582718992888];
        assert_eq!([(); 3].map(|()| losses.draw()), known);
        let mut rand = CRand::new(1);
        let known = [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915];
        assert_eq!([(); 4].map(|()| rand.draw()), known);
    }
}
