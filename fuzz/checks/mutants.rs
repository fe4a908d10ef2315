//! Seeds of the fuzzers, and random changes to them.

use std::path::Path;

/// The files in `fuzz/corpus/TARGET`, by name.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut paths: Vec<_> =
        std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// A small generator of random numbers (xorshift).
pub struct Dice(pub u64);

impl Dice {
    /// A number from 0 to `bound` without it; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// A seed with some changes, `odd` words among them.
pub fn mutant(seeds: &[Vec<u8>], odd: &[&[u8]], dice: &mut Dice) -> Vec<u8> {
    let mut text = seeds[dice.below(seeds.len())].clone();
    for _ in 0..=dice.below(6) {
        let at = dice.below(text.len() + 1);
        let end = at + dice.below((text.len() - at).min(30) + 1);
        match dice.below(6) {
            0 => drop(text.drain(at..end)),
            1 => drop(text.splice(at..end, odd[dice.below(odd.len())].iter().copied())),
            2 => text.insert(at, b" \n\t0.9-eG"[dice.below(9)]),
            3 => text.truncate(at),
            4 => {
                let other = &seeds[dice.below(seeds.len())];
                let from = dice.below(other.len() + 1);
                text.splice(at..end, other[from..].iter().copied());
            }
            _ => {
                if let Some(byte) = text.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
        }
    }
    text
}
