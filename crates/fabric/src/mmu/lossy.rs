//! Room for data that PFC does not protect.
//!
//! Such data may fill what protected ingresses do not count on. If it has an alpha of its own, each
//! egress queue takes at most that share of what is free: the dynamic threshold of Choudhury and
//! Hahne (1998).

use super::dynamic::{max_below_threshold, share};
use super::{Mmu, Policy};

/// What ingresses that PFC does not protect may use together for data.
#[derive(Clone, Debug)]
pub(super) struct LossyShare {
    /// Bytes for all of them.
    pub(super) room: u64,
    /// The share of what is free that one egress queue may use, by priority, in 65536ths.
    pub(super) alphas: [Option<u32>; 8],
}

impl LossyShare {
    pub(super) fn new(alphas: [Option<u32>; 8]) -> LossyShare {
        LossyShare { room: 0, alphas }
    }

    /// Returns how many bytes the buffer may hold without a packet being refused.
    fn safe_fill(&self) -> u64 {
        match self.alphas.iter().flatten().min() {
            Some(&alpha) => max_below_threshold(self.room, alpha),
            None => self.room,
        }
    }
}

impl Mmu {
    /// Computes what is left for ingresses that PFC does not protect, and lowers the safe fill to
    /// it. Called when the MMU is made.
    ///
    /// With fixed thresholds it is the buffer without Xoff and headroom of all protected ingresses.
    /// If the buffer does not hold both, nothing is safe, and only headroom is kept. With a dynamic
    /// threshold it is the shared part.
    pub(super) fn compute_lossy_share(&mut self) {
        let kept = match &self.policy {
            Policy::Fixed(fixed) => {
                let lossless = |priority| {
                    self.of_priority(priority).iter().filter(|ingress| ingress.lossless).count()
                };
                let xoffs = (0..8).map(|priority| fixed.xoff(priority) * lossless(priority) as u64);
                let kept = self.reserved + xoffs.sum::<u64>();
                if kept <= self.buffer { kept } else { self.reserved }
            }
            Policy::Dynamic(dynamic) if dynamic.never_fires() => 0,
            Policy::Dynamic(_) => self.reserved,
        };
        self.lossy.room = self.buffer.saturating_sub(kept);
        self.safe_fill = self.safe_fill.min(self.lossy.safe_fill());
    }

    /// Returns whether data of `size` bytes that PFC does not protect has room.
    pub(super) fn has_lossy_room(&self, size: u64) -> bool {
        self.used + size <= self.lossy.room
            || match &self.policy {
                Policy::Fixed(_) => self.lossy_bytes() + size <= self.lossy.room,
                Policy::Dynamic(dynamic) => size <= dynamic.free(self.shared_used),
            }
    }

    /// Returns whether an egress queue of `queued` bytes may take `size` more that came through
    /// this ingress. It always may if PFC protects the ingress. Counters must be up to date.
    pub(crate) fn fits_lossy_share(&self, port: u16, priority: u8, queued: u64, size: u64) -> bool {
        let Some(alpha) = self.lossy.alphas[usize::from(priority & 7)]
            .filter(|_| !self.is_lossless(port, priority))
        else {
            return true;
        };
        let free = match &self.policy {
            Policy::Fixed(_) => self.lossy.room.saturating_sub(self.lossy_bytes()),
            Policy::Dynamic(dynamic) => dynamic.free(self.shared_used),
        };
        queued + size <= share(free, alpha)
    }

    /// Returns the stored bytes that PFC does not protect.
    fn lossy_bytes(&self) -> u64 {
        self.ingress.iter().filter(|ingress| !ingress.lossless).map(|ingress| ingress.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mmu;
    use super::super::testing::{BUFFER_FULL, STORED, dynamic, fixed, mmu, mmu_with_alpha};
    use crate::network::setup::PfcConfig;
    use crate::packet::PacketKind;
    use proptest::prelude::*;

    #[test]
    fn a_queue_takes_a_share_of_what_is_free() {
        // 100,000 bytes less twice Xoff and headroom: 65,000 are left. A queue may have half of
        // what is free of them.
        let pfc = fixed(7_500, 6_000);
        let new = |alpha| mmu_with_alpha(100_000, &pfc, vec![10_000; 2], alpha);
        let mut mmu = new(Some(1 << 15));
        assert!(mmu.fits_lossy_share(0, 0, 0, 32_500) && !mmu.fits_lossy_share(0, 0, 0, 32_501));
        assert_eq!(mmu.admit(0, 0, 20_000, PacketKind::Data), STORED);
        assert!(mmu.fits_lossy_share(1, 0, 20_000, 2_500));
        assert!(!mmu.fits_lossy_share(1, 0, 20_000, 2_501));
        assert!(mmu.fits_lossy_share(1, 3, 90_000, 10_000), "PFC protects it");
        assert!(!mmu.cannot_hit_limit(1, 0, 2_000) && new(None).cannot_hit_limit(1, 0, 2_000));
        assert!(new(None).fits_lossy_share(0, 0, 90_000, 10_000));
    }

    #[test]
    fn lossy_data_takes_nothing_that_pfc_protects() {
        // Reserved by port and lossless priority: Xoff and headroom, or reserve and headroom.
        let two_lossless = |config| PfcConfig { lossless: 1 << 3 | 1 << 4, ..config };
        let configs = [fixed(3_000, 1_000), dynamic(1 << 16, 100, 500)].map(two_lossless);
        for (config, room) in configs.into_iter().zip([10_000, 20_000]) {
            let mut mmu = mmu(30_000, &config, vec![2_000; 2]);
            for port in [0, 1].into_iter().cycle().take(room / 1_000) {
                assert_eq!(mmu.admit(port, 0, 1_000, PacketKind::Data), STORED);
            }
            assert_eq!(mmu.admit(0, 0, 1, PacketKind::Data), BUFFER_FULL);
            assert_eq!(mmu.refuse(0, 0, 1, PacketKind::Ack), Ok(()), "an ACK");
            assert!(!mmu.cannot_hit_limit(0, 0, 1));
            for (port, priority) in [(0, 3), (0, 4), (1, 3), (1, 4)] {
                fill(&mut mmu, port, priority, 2_000);
            }
        }
    }

    /// Stores `bytes` in packets of 500; all of them must find room.
    fn fill(mmu: &mut Mmu, port: u16, priority: u8, bytes: u64) {
        for _ in 0..bytes / 500 {
            assert!(mmu.admit(port, priority, 500, PacketKind::Data).is_ok());
        }
    }

    proptest! {
        /// Whatever lossy data is stored, every protected ingress still has Xoff and headroom.
        #[test]
        fn protected_ingresses_keep_xoff_and_headroom(
            sizes in prop::collection::vec((0u16..3, 64u64..1_600), 0..100),
            xoff in 5u64..20,
            headroom in 0u64..10,
        ) {
            let (xoff, headroom) = (xoff * 500, headroom * 500);
            let mut mmu = mmu(100_000, &fixed(xoff, xoff / 2), vec![headroom; 3]);
            for (port, size) in sizes {
                let _ = mmu.admit(port, 0, size, PacketKind::Data);
            }
            for port in 0..3 {
                fill(&mut mmu, port, 3, xoff + headroom);
            }
        }
    }
}
