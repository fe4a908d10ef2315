//! A PFC threshold at a share of the shared buffer that is still free.

use super::Ingress;
use crate::compat::threshold::ThresholdRules;
use units::Bytes;

/// An ingress fills its reserve, then the shared part of the buffer up to alpha times what is free
/// of it, then its headroom. It pauses its peer when it uses the headroom or reaches the threshold.
#[derive(Clone, Debug)]
pub(super) struct Dynamic {
    /// By ingress, in 65536ths.
    alphas: Vec<u32>,
    /// Size of the shared part. If headroom exceeds the buffer, it is negative.
    shared: i64,
    resume_offset: u64,
    /// Bytes that each ingress has for itself.
    reserve: u64,
    rules: ThresholdRules,
}

impl Dynamic {
    pub(super) fn new(
        alphas: impl Iterator<Item = u32>,
        shared: i64,
        resume_offset: Bytes,
        reserve: Bytes,
        rules: ThresholdRules,
    ) -> Dynamic {
        Dynamic {
            alphas: alphas.collect(),
            shared,
            resume_offset: resume_offset.get(),
            reserve: reserve.get(),
            rules,
        }
    }

    /// Returns how many bytes all ingresses together may store without one reaching its threshold.
    pub(super) fn safe_fill(&self) -> u64 {
        max_below_threshold(self.free(0), self.alphas.iter().copied().min().unwrap_or(0))
    }

    /// Returns whether the whole buffer is for all: PFC never fires, because the free buffer has
    /// wrapped around.
    pub(super) fn never_fires(&self) -> bool {
        self.shared < 0 && self.rules.wraps
    }

    /// Returns whether an ingress that drops a packet may pause its peer.
    pub(super) fn may_pause_on_drop(&self) -> bool {
        self.rules.may_pause_on_drop()
    }

    /// Returns whether an ingress that drops a packet may send its pause again.
    pub(super) fn renews_on_drop(&self) -> bool {
        self.rules.renews_on_drop()
    }

    /// Returns how many bytes of the shared part are free if `used` are in use.
    #[inline]
    pub(super) fn free(&self, used: u64) -> u64 {
        self.rules.free_bytes(self.shared - used as i64)
    }

    /// Returns how many shared bytes an ingress may use if `used` are in use.
    pub(super) fn threshold(&self, index: usize, used: u64) -> u64 {
        share(self.free(used), self.alphas[index])
    }

    /// Returns how many bytes of `ingress` count against its threshold. [`ThresholdRules`] with
    /// `shares_first` count the reserve as shared, too, but not here.
    fn counted(&self, ingress: &Ingress) -> u64 {
        (ingress.bytes - ingress.in_headroom).saturating_sub(self.reserve)
    }

    /// Returns whether `ingress` stays below its threshold if it stores `size` more bytes, even if
    /// less of the shared part is in use than `used` says. `index` is that of the ingress, here and
    /// below.
    pub(super) fn is_below(&self, index: usize, ingress: &Ingress, size: u64, used: u64) -> bool {
        let before = ingress.bytes.saturating_sub(self.reserve);
        let after = (ingress.bytes + size).saturating_sub(self.reserve);
        if self.rules.shares_first {
            return ingress.in_headroom == 0
                && self.fits(used, size)
                && (after == 0 || after < self.threshold(index, used + size));
        }
        ingress.in_headroom == 0
            && (after == 0 || after < self.threshold(index, used + after - before))
    }

    /// Returns whether a packet of `size` bytes goes into the headroom of `ingress`.
    pub(super) fn needs_headroom(
        &self,
        index: usize,
        ingress: &Ingress,
        size: u64,
        used: u64,
    ) -> bool {
        if self.rules.shares_first {
            return !self.fits(used, size);
        }
        let below = ingress.bytes - ingress.in_headroom;
        (below + size).saturating_sub(ingress.reserve()) > self.threshold(index, used)
    }

    /// Returns whether `ingress`, which has just stored a packet, must pause its peer.
    pub(super) fn is_above(&self, index: usize, ingress: &Ingress, used: u64) -> bool {
        let (counted, threshold) = (self.counted(ingress), self.threshold(index, used));
        let is_above =
            if self.rules.shares_first { counted > threshold } else { counted >= threshold };
        ingress.in_headroom > 0 || is_above
    }

    /// Returns whether the shared part, of which `used` bytes are in use, has room for `size` more.
    fn fits(&self, used: u64, size: u64) -> bool {
        self.shared - used as i64 >= size as i64
    }

    /// Returns whether `ingress`, which has just released a packet, resumes its peer.
    pub(super) fn resumes(&self, index: usize, ingress: &Ingress, used: u64) -> bool {
        let shared = ingress.bytes.saturating_sub(self.reserve);
        ingress.in_headroom == 0
            && (shared == 0 || shared + self.resume_offset <= self.threshold(index, used))
    }
}

/// Returns how many bytes one ingress alone can store below the threshold that it leaves itself: a
/// u with u < alpha (free - u), the largest or the one before it. Returns 0 if there is none.
pub(super) fn max_below_threshold(free: u64, alpha: u32) -> u64 {
    let (free, alpha) = (u128::from(free), u128::from(alpha));
    ((free * alpha / ((1 << 16) + alpha)) as u64).saturating_sub(1)
}

/// Returns `alpha` 65536ths of the bytes that are free.
#[inline]
pub(super) fn share(free: u64, alpha: u32) -> u64 {
    ((u128::from(free) * u128::from(alpha)) >> 16) as u64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        BUFFER_FULL, HEADROOM_FULL, HEADROOM_FULL_PAUSE, STORED, STORED_PAUSE, dynamic, mmu,
    };
    use super::super::{Mmu, MmuConfig, Policy};
    use super::*;
    use crate::Quirks;
    use crate::compat::Compat;
    use crate::network::setup::Threshold;
    use crate::packet::PacketKind;
    use model::{PauseExpiry, PauseLength, PauseRenewal};
    use proptest::prelude::*;
    use units::{Rate, Time};

    #[test]
    fn the_threshold_shrinks_as_the_buffer_fills() {
        // Shared part: 11000 - 2 x 500 - 2 x 2000 = 6000.
        let mut mmu = mmu(11_000, &dynamic(1 << 15, 100, 500), vec![2_000; 2]);
        assert_eq!(mmu.admit(0, 3, 500, PacketKind::Data), STORED, "the reserve");
        assert_eq!(mmu.admit(0, 3, 1_900, PacketKind::Data), STORED, "1900 < (6000 - 1900) / 2");
        // 2000 of the shared part used leaves a threshold of 2000.
        assert_eq!(
            mmu.admit(0, 3, 100, PacketKind::Data),
            STORED_PAUSE,
            "2000 = (6000 - 2000) / 2"
        );
        assert_eq!(mmu.admit(0, 3, 100, PacketKind::Data), STORED, "into the headroom");
        assert_eq!(
            mmu.admit(1, 3, 2_400, PacketKind::Data),
            STORED_PAUSE,
            "1900 > (6000 - 3900) / 2"
        );
        assert!(!mmu.release(0, 3, 100), "headroom empty, 2000 shared > (6000 - 3900) / 2");
        assert!(!mmu.release(0, 3, 600));
        assert!(mmu.release(0, 3, 600), "800 + 100 <= (6000 - 2700) / 2");
    }

    #[test]
    fn headroom_may_wait_until_the_shared_part_is_full() {
        let quirks = Quirks { conweave_buffer: true, ..Quirks::default() };
        let mut mmu = Mmu::new(MmuConfig {
            buffer: 12_000,
            lossy_alpha: [None; 8],
            pfc: &dynamic(1 << 15, 1, 200),
            data_priorities: 1 << 3,
            headroom: vec![Some(1_000); 2],
            rates: vec![Rate::from_gbps(100); 2],
            compat: Compat::new(quirks),
        });
        // Shared part: 12000 - 2 x 4 x 200 - 2 x 1000 = 8400.
        assert_eq!(mmu.reserved_bytes(), 3_600);
        assert_eq!(mmu.admit(0, 3, 2_900, PacketKind::Data), STORED, "2700 < (8400 - 2900) / 2");
        assert_eq!(mmu.admit(0, 3, 34, PacketKind::Data), STORED_PAUSE, "2734 > (8400 - 2934) / 2");
        assert_eq!(mmu.admit(0, 3, 5_466, PacketKind::Data), STORED, "no limit but the buffer's");
        assert_eq!(mmu.admit(0, 3, 1_000, PacketKind::Data), STORED, "into the headroom");
        assert_eq!(mmu.admit(0, 3, 1, PacketKind::Data), HEADROOM_FULL);
        let left = [1_000, 5_466, 34].map(|size| mmu.release(0, 3, size));
        assert_eq!(left, [false, false, true], "2700 + 1 <= (8400 - 2900) / 2");
        assert!(!mmu.release(0, 3, 2_900));
        assert_eq!((mmu.used(), mmu.shared_used), (0, 0));
    }

    #[test]
    fn a_pause_may_be_sent_again_with_each_packet() {
        let mut pfc = dynamic(1 << 15, 100, 500);
        pfc.timing.expiry = Some(PauseExpiry {
            length: PauseLength::Time(Time::from_us(5)),
            renewal: PauseRenewal::Arrivals,
        });
        let mut mmu = mmu(11_000, &pfc, vec![2_000; 2]);
        assert_eq!(mmu.admit(0, 3, 2_400, PacketKind::Data), STORED);
        for _ in 0..3 {
            assert_eq!(mmu.admit(0, 3, 200, PacketKind::Data), STORED_PAUSE);
        }
        let left = [400, 200].map(|size| mmu.release(0, 3, size));
        assert_eq!(left, [false, true], "2100 > (6000 - 2100) / 2, and 1900 + 100 is not");
        assert!(!mmu.pauses_any_peer());
        // Also with each packet that is dropped.
        assert_eq!(mmu.admit(0, 3, 200, PacketKind::Data), STORED_PAUSE);
        assert_eq!(mmu.admit(0, 3, 1_800, PacketKind::Data), STORED_PAUSE, "all of the headroom");
        for _ in 0..2 {
            assert_eq!(mmu.admit(0, 3, 200, PacketKind::Data), HEADROOM_FULL_PAUSE);
        }
    }

    #[test]
    fn what_is_stored_beside_a_full_headroom_counts_as_what_it_is() {
        // Shared part: 11000 - 2 x 500 - 2 x 2000 = 6000.
        let mut mmu = mmu(11_000, &dynamic(1 << 15, 100, 500), vec![2_000; 2]);
        assert_eq!(mmu.admit(0, 3, 400, PacketKind::Data), STORED, "the reserve");
        assert_eq!(mmu.admit_from_own_memory(1, 3, 4_200), STORED_PAUSE);
        assert_eq!(mmu.admit(0, 3, 1_300, PacketKind::Data), STORED_PAUSE, "1200 > 1150: headroom");
        assert!(mmu.release(1, 3, 4_200));
        // The buffer is nearly empty. The next packet still belongs into the reserve.
        assert!(!mmu.cannot_hit_limit(0, 3, 100), "its peer would not be paused again");
        assert_eq!(mmu.admit(0, 3, 100, PacketKind::Data), STORED);
        let left = [1_300, 400, 100].map(|size| mmu.release(0, 3, size));
        assert_eq!((left, mmu.shared_used), ([true, false, false], 0));
        assert!(mmu.cannot_hit_limit(0, 3, 100));
    }

    #[test]
    fn what_comes_from_own_memory_leaves_the_headroom_to_what_still_arrives() {
        // Shared part: 11000 - 2 x 500 - 2 x 2000 = 6000.
        let mut mmu = mmu(11_000, &dynamic(1 << 15, 100, 500), vec![2_000; 2]);
        assert_eq!(mmu.admit_from_own_memory(0, 3, 2_400), STORED);
        assert_eq!(mmu.admit_from_own_memory(0, 3, 1_000), STORED_PAUSE, "above 1550");
        assert_eq!(mmu.admit_from_own_memory(0, 3, 5_000), STORED);
        assert_eq!(mmu.admit(0, 3, 2_000, PacketKind::Data), STORED, "all of the headroom");
        assert_eq!(mmu.admit(0, 3, 1, PacketKind::Data), HEADROOM_FULL);
        assert_eq!(mmu.admit_from_own_memory(0, 3, 601), BUFFER_FULL);
        let left = [2_400, 1_000, 5_000, 2_000].map(|size| mmu.release(0, 3, size));
        assert_eq!((left, mmu.used()), ([false, false, true, false], 0));
    }

    #[test]
    fn a_free_buffer_that_wraps_never_pauses() {
        let quirks = Quirks { threshold_wraparound: true, ..Quirks::default() };
        let mut pfc = dynamic(1 << 13, 3_072, 4_096);
        let Threshold::Dynamic { shifted_above, .. } = &mut pfc.threshold else {
            unreachable!("it is dynamic")
        };
        *shifted_above = Some(Rate::from_gbps(100));
        let mut mmu = Mmu::new(MmuConfig {
            buffer: 1 << 20,
            lossy_alpha: [None; 8],
            pfc: &pfc,
            data_priorities: 1 << 3,
            headroom: vec![Some(1 << 20); 2],
            rates: vec![Rate::from_gbps(100); 2],
            compat: Compat::new(quirks),
        });
        let Policy::Dynamic(policy) = &mmu.policy else { unreachable!("it is dynamic") };
        assert_eq!(policy.free(0), (1 << 32) - (1 << 20) - 8_192);
        for _ in 0..10_000 {
            assert_eq!(mmu.admit(0, 3, 1_048, PacketKind::Data), STORED);
        }
    }

    proptest! {
        #[test]
        fn the_largest_fill_below_the_threshold(free in 0u64..1 << 40, alpha in 0u32..1 << 20) {
            let fill = max_below_threshold(free, alpha);
            prop_assert!(fill == 0 || fill < share(free - fill, alpha));
            // Two more are not: the division rounds down, and one is taken off.
            let more = fill + 2;
            prop_assert!(more > free || more >= share(free - more, alpha));
        }
    }
}
