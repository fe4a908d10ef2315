//! PFC thresholds at fixed queue lengths.

use units::Bytes;

/// An ingress pauses its peer at Xoff bytes and resumes it at Xon.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    /// By priority.
    limits: [Limits; 8],
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    xoff: u64,
    xon: u64,
}

impl Fixed {
    /// `limits`: Xoff and Xon by priority.
    pub(super) fn new(limits: [(Bytes, Bytes); 8]) -> Fixed {
        Fixed { limits: limits.map(|(xoff, xon)| Limits { xoff: xoff.get(), xon: xon.get() }) }
    }

    #[inline]
    fn of(&self, priority: u8) -> Limits {
        self.limits[usize::from(priority & 7)]
    }

    pub(super) fn xoff(&self, priority: u8) -> u64 {
        self.of(priority).xoff
    }

    /// Returns how many bytes all ingresses together may store without one reaching Xoff.
    pub(super) fn safe_fill(&self) -> u64 {
        self.limits.iter().map(|limits| limits.xoff).min().unwrap_or(0).saturating_sub(1)
    }

    /// Returns whether an ingress of `bytes` is below Xoff.
    #[inline]
    pub(super) fn is_below(&self, priority: u8, bytes: u64) -> bool {
        bytes < self.of(priority).xoff
    }

    /// Returns whether `bytes` exceed Xoff and the headroom.
    pub(super) fn is_full(&self, priority: u8, bytes: u64, headroom: u64) -> bool {
        bytes > self.of(priority).xoff + headroom
    }

    /// Returns whether an ingress of `bytes` resumes its peer.
    #[inline]
    pub(super) fn resumes(&self, priority: u8, bytes: u64) -> bool {
        bytes <= self.of(priority).xon
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        HEADROOM_FULL, HEADROOM_FULL_PAUSE, STORED, STORED_PAUSE, fixed, mmu,
    };
    use crate::packet::PacketKind;
    use proptest::prelude::*;

    #[test]
    fn pauses_at_xoff_resumes_at_xon_and_drops_beyond_the_headroom() {
        let mut mmu = mmu(1 << 20, &fixed(3_000, 1_000), vec![2_000; 2]);
        assert_eq!(mmu.admit(0, 3, 1_000, PacketKind::Data), STORED);
        assert_eq!(mmu.admit(0, 3, 1_000, PacketKind::Data), STORED);
        assert!(!mmu.cannot_hit_limit(0, 3, 1_000));
        assert_eq!(mmu.admit(0, 3, 1_000, PacketKind::Data), STORED_PAUSE);
        assert_eq!(mmu.admit(0, 3, 2_000, PacketKind::Data), STORED);
        assert_eq!(mmu.admit(0, 3, 1, PacketKind::Data), HEADROOM_FULL);
        assert_eq!(mmu.admit(1, 3, 1_000, PacketKind::Data), STORED, "the other port is its own");
        assert!(!mmu.release(0, 3, 3_000));
        assert!(mmu.release(0, 3, 1_000), "down to Xon");
        assert!(!mmu.pauses_any_peer());
    }

    #[test]
    fn a_headroom_that_holds_no_packet_pauses_as_it_drops() {
        let mut mmu = mmu(1 << 20, &fixed(7_500, 6_000), vec![0; 2]);
        for _ in 0..7 {
            assert_eq!(mmu.admit(0, 3, 1_000, PacketKind::Data), STORED);
        }
        assert_eq!(mmu.admit(0, 3, 1_000, PacketKind::Data), HEADROOM_FULL_PAUSE);
        assert_eq!(mmu.admit(0, 3, 1_000, PacketKind::Data), HEADROOM_FULL, "it is paused");
        assert!(mmu.pauses_any_peer() && mmu.release(0, 3, 1_000) && !mmu.pauses_any_peer());
        // Nothing that leaves would end a pause that begins at Xon or below.
        assert_eq!(mmu.admit(0, 3, 1_600, PacketKind::Data), HEADROOM_FULL);
    }

    proptest! {
        /// Below Xoff no ingress pauses. At Xoff it pauses once, and it stores as much as headroom
        /// and Xoff hold.
        #[test]
        fn an_ingress_stores_xoff_and_headroom_and_pauses_at_xoff(
            xoff in 2_000u64..50_000,
            headroom in 0u64..50_000,
            sizes in prop::collection::vec(64u64..1_600, 1..200),
        ) {
            let mut mmu = mmu(1 << 20, &fixed(xoff, xoff / 2), vec![headroom; 2]);
            let (mut stored, mut paused) = (0, false);
            for size in sizes {
                let fits = stored + size <= xoff + headroom;
                let crosses = stored + size >= xoff && !paused;
                prop_assert!(stored + size >= xoff || mmu.below_all_limits(size));
                let admission = mmu.admit(0, 3, size, PacketKind::Data);
                let expected = match (fits, crosses) {
                    (true, false) => STORED,
                    (true, true) => STORED_PAUSE,
                    (false, _) if !paused && stored > xoff / 2 => HEADROOM_FULL_PAUSE,
                    (false, _) => HEADROOM_FULL,
                };
                prop_assert_eq!(admission, expected);
                stored += if fits { size } else { 0 };
                paused = mmu.pauses_peer(0, 3);
            }
        }
    }
}
