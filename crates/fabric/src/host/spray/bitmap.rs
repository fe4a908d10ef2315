//! Entropy values in turn, without those that were lately bad. Each value has a penalty of 0 to 15:
//! an ECN mark adds 1, a loss 4, and a timeout makes it 15. A value with a penalty is skipped, and
//! each skip lowers its penalty by 1 (as in the simulator of the Ultra Ethernet Consortium,
//! uet-htsim, where a trimmed packet counts as lost).

const MARK: u8 = 1;
const LOSS: u8 = 4;
const MAX: u8 = 15;

#[derive(Debug)]
pub(super) struct Bitmap {
    penalties: Vec<u8>,
    turn: usize,
}

impl Bitmap {
    /// Values begin at one that `seed` decides.
    pub(super) fn new(entropies: u32, seed: u64) -> Bitmap {
        let turn = (seed % u64::from(entropies)) as usize;
        Bitmap { penalties: vec![0; entropies as usize], turn }
    }

    pub(super) fn next(&mut self) -> u16 {
        let count = self.penalties.len();
        // If all have a penalty, the value whose turn it is goes.
        for _ in 0..count {
            let penalty = &mut self.penalties[self.turn];
            if *penalty == 0 {
                break;
            }
            *penalty -= 1;
            self.turn = (self.turn + 1) % count;
        }
        let value = self.turn;
        self.turn = (self.turn + 1) % count;
        value as u16
    }

    pub(super) fn on_ack(&mut self, entropy: u16, is_marked: bool) {
        self.punish(entropy, if is_marked { MARK } else { 0 });
    }

    pub(super) fn on_loss(&mut self, entropy: u16) {
        self.punish(entropy, LOSS);
    }

    pub(super) fn on_timeout(&mut self, entropy: u16) {
        self.punish(entropy, MAX);
    }

    fn punish(&mut self, entropy: u16, by: u8) {
        let penalty = &mut self.penalties[usize::from(entropy)];
        *penalty = penalty.saturating_add(by).min(MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_value_is_skipped_as_often_as_its_penalty_says() {
        let mut bitmap = Bitmap::new(4, 0);
        bitmap.on_ack(1, true);
        bitmap.on_ack(1, true);
        bitmap.on_loss(2);
        let rounds: Vec<u16> = (0..9).map(|_| bitmap.next()).collect();
        assert_eq!(rounds, [0, 3, 0, 3, 0, 1, 3, 0, 1]);
    }

    #[test]
    fn all_values_bad_are_no_dead_end() {
        let mut bitmap = Bitmap::new(2, 0);
        bitmap.on_timeout(0);
        bitmap.on_timeout(1);
        assert!([bitmap.next(), bitmap.next()].iter().all(|&value| value < 2));
    }
}
