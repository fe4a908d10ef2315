//! The memory management unit of a shared-buffer switch: who may still store a packet, and when an
//! ingress must pause its peer.
//!
//! Bytes are counted for each (ingress port, priority). With static thresholds an ingress pauses
//! at Xoff bytes and may fill Xoff plus its headroom. With a dynamic threshold each ingress port
//! first uses a reserve of its own, then the shared part as far as alpha times what is free of it,
//! and then its headroom; it pauses when it uses the headroom. Data that PFC does not protect may fill
//! what is then left of the buffer, and takes nothing that a protected ingress counts on; where it has an
//! alpha of its own, each of its egress queues takes no more than that of what is free (the dynamic threshold
//! of Choudhury and Hahne, 1998).

use crate::compat::Compat;
use crate::compat::threshold::ThresholdRules;
use crate::network::setup::{PfcConfig, Threshold};
use engine::prefetch;
use units::Rate;

/// The bytes of an ingress port in one priority.
#[derive(Clone, Copy, Debug, Default)]
struct Ingress {
    bytes: u64,
    /// The part of them in the headroom (dynamic threshold only).
    in_headroom: u64,
    /// What it may use before it counts as shared.
    reserve: u32,
    paused: bool,
    /// PFC protects it.
    lossless: bool,
}

/// All of it: nothing counts as shared.
const UNBOUNDED: u32 = u32::MAX;

impl Ingress {
    #[inline(always)]
    fn reserve(&self) -> u64 {
        if self.reserve == UNBOUNDED { u64::MAX } else { u64::from(self.reserve) }
    }

    /// How many of the `size` bytes above the first `below` count as shared: those above the reserve.
    #[inline(always)]
    fn shared_from(&self, below: u64, size: u64) -> u64 {
        (below + size).max(self.reserve()) - below.max(self.reserve())
    }
}

/// What became of a packet that asked for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It has room.
    Stored,
    /// It has room, and its ingress must pause the peer.
    StoredPause,
    /// A lossless class has no room left.
    HeadroomFull,
    /// The same, and its ingress must pause the peer: the headroom does not even hold a packet.
    HeadroomFullPause,
    /// The buffer is full.
    BufferFull,
}

#[derive(Debug)]
pub(crate) struct Mmu {
    buffer: u64,
    /// The same for ingresses that PFC protects; without bound where only their own limits count.
    protected_buffer: u64,
    used: u64,
    /// What ingresses that PFC does not protect may use together for data.
    lossy_room: u64,
    /// An egress queue of theirs may use so many 65536ths of what is free.
    lossy_alpha: Option<u32>,
    /// While the whole buffer holds no more than this, no ingress can be near a limit.
    safe_fill: u64,
    lossless: u8,
    threshold: Threshold,
    /// Room per port above the threshold.
    headroom: Vec<u64>,
    /// By port, then priority.
    ingress: Vec<Ingress>,
    /// How many of them are paused.
    pausing: u32,
    /// Dynamic threshold: each port's alpha in 65536ths, the size of the shared part, and what of
    /// it is used. Where thresholds wrap, the shared part may be less than nothing.
    alphas: Vec<u32>,
    shared: i64,
    shared_used: u64,
    rules: ThresholdRules,
}

impl Mmu {
    /// `data`: the priorities that have data, as a bit mask.
    pub(crate) fn new(
        buffer: u64,
        lossy_alpha: Option<u32>,
        pfc: &PfcConfig,
        data: u8,
        headroom: Vec<u64>,
        rates: Vec<Rate>,
        compat: &Compat,
    ) -> Mmu {
        let ports = headroom.len();
        let is_dynamic = matches!(pfc.threshold, Threshold::Dynamic { .. });
        let rules = compat.threshold_rules(is_dynamic && pfc.lossless != 0);
        let alphas: Vec<u32> = match pfc.threshold {
            Threshold::Static { .. } => vec![0; ports],
            Threshold::Dynamic { alpha, at, .. } => {
                rates.into_iter().map(|rate| rules.alpha_of_port(alpha, at, rate)).collect()
            }
        };
        let mut mmu = Mmu {
            buffer,
            protected_buffer: rules.protected_buffer(buffer),
            used: 0,
            lossy_room: 0,
            lossy_alpha,
            safe_fill: 0,
            lossless: pfc.lossless,
            threshold: pfc.threshold,
            ingress: vec![Ingress::default(); ports * 8],
            pausing: 0,
            alphas,
            shared: 0,
            shared_used: 0,
            headroom,
            rules,
        };
        for (place, ingress) in mmu.ingress.iter_mut().enumerate() {
            let is_in = |mask: u8| mask & 1 << (place / ports) != 0;
            ingress.lossless = is_in(pfc.lossless);
            ingress.reserve = match pfc.threshold {
                Threshold::Dynamic { reserve, .. } if ingress.lossless => {
                    u32::try_from(reserve.get()).unwrap_or(UNBOUNDED)
                }
                Threshold::Dynamic { .. } if is_in(data) => 0,
                _ => UNBOUNDED,
            };
        }
        mmu.shared = buffer as i64 - mmu.reserved_bytes() as i64;
        mmu.safe_fill = match pfc.threshold {
            Threshold::Static { xoff, .. } => xoff.get().saturating_sub(1),
            Threshold::Dynamic { .. } => {
                let alpha = mmu.alphas.iter().copied().min().unwrap_or(0);
                below_threshold(mmu.free(0), alpha)
            }
        };
        mmu.compute_lossy_share();
        mmu
    }

    /// Finds what is left for ingresses that PFC does not protect: with static thresholds the buffer
    /// without Xoff and headroom of all others (without headroom alone where both do not fit, as nothing
    /// is safe then), else the shared part.
    fn compute_lossy_share(&mut self) {
        let kept = match self.threshold {
            Threshold::Static { xoff, .. } => {
                let lossless = self.ingress.iter().filter(|ingress| ingress.lossless).count();
                let kept = self.reserved_bytes() + xoff.get() * lossless as u64;
                if kept <= self.buffer { kept } else { self.reserved_bytes() }
            }
            // Then PFC never fires, and the whole buffer is for all.
            Threshold::Dynamic { .. } if self.shared < 0 && self.rules.wraps => 0,
            Threshold::Dynamic { .. } => self.reserved_bytes(),
        };
        self.lossy_room = self.buffer.saturating_sub(kept);
        let most = match self.lossy_alpha {
            Some(alpha) => below_threshold(self.lossy_room, alpha),
            None => self.lossy_room,
        };
        self.safe_fill = self.safe_fill.min(most);
    }

    /// Bytes of the buffer that are not for all: headroom of each port and lossless priority, and what
    /// each of them has for itself.
    pub(crate) fn reserved_bytes(&self) -> u64 {
        let reserved = match self.threshold {
            Threshold::Static { .. } => 0,
            Threshold::Dynamic { reserve, .. } => reserve.get() * self.headroom.len() as u64,
        };
        let shares = self.rules.reserves_per_port(self.lossless);
        (self.headroom.iter().sum::<u64>() + reserved) * shares
    }

    /// Where an ingress is kept: those of a priority lie together.
    #[inline(always)]
    fn place(&self, port: u16, priority: u8) -> usize {
        priority as usize * self.headroom.len() + port as usize
    }

    /// Has the processor fetch the ingresses of the lossless priorities.
    pub(crate) fn prefetch(&self) {
        let (ports, mut lossless) = (self.headroom.len(), self.lossless);
        while lossless != 0 {
            let ingresses = &self.ingress[lossless.trailing_zeros() as usize * ports..][..ports];
            prefetch(ingresses, size_of_val(ingresses).div_ceil(64).min(16));
            lossless &= lossless - 1;
        }
    }

    /// Whether some ingress has its peer paused: then departures must be worked in time order, as
    /// each may end a pause.
    #[inline]
    pub(crate) fn pauses_any_peer(&self) -> bool {
        self.pausing != 0
    }

    /// Whether this ingress has its peer paused.
    #[inline]
    pub(crate) fn pauses_peer(&self, port: u16, priority: u8) -> bool {
        self.ingress[self.place(port, priority)].paused
    }

    /// Whether a port has its peer paused in any priority.
    #[inline]
    pub(crate) fn pauses_peer_of(&self, port: u16) -> bool {
        self.pauses_any_peer() && (0..8).any(|priority| self.pauses_peer(port, priority))
    }

    pub(crate) fn is_lossless(&self, port: u16, priority: u8) -> bool {
        self.ingress[self.place(port, priority)].lossless
    }

    /// Has a port never pause its peer. Its headroom should be none.
    pub(crate) fn disable_pfc(&mut self, port: usize) {
        for priority in 0..8 {
            let place = self.place(port as u16, priority);
            let ingress = &mut self.ingress[place];
            if ingress.lossless && ingress.reserve != UNBOUNDED {
                ingress.reserve = 0;
            }
            ingress.lossless = false;
        }
        self.compute_lossy_share();
    }

    /// Whether storing a packet of `size` bytes surely neither pauses nor drops, even if nothing has
    /// left since the counters were last brought up to date.
    #[inline]
    pub(crate) fn cannot_hit_limit(&self, port: u16, priority: u8, size: u64) -> bool {
        self.below_all_limits(size) || self.is_below_own_limits(port, priority, size)
    }

    /// Whether the same holds wherever the packet comes from.
    #[inline(always)]
    pub(crate) fn below_all_limits(&self, size: u64) -> bool {
        self.used + size <= self.safe_fill
    }

    fn is_below_own_limits(&self, port: u16, priority: u8, size: u64) -> bool {
        let ingress = &self.ingress[self.place(port, priority)];
        if !ingress.lossless {
            return self.lossy_alpha.is_none() && self.used + size <= self.lossy_room;
        }
        if self.used + size > self.protected_buffer {
            return false;
        }
        match self.threshold {
            Threshold::Static { xoff, .. } => ingress.bytes + size < xoff.get(),
            Threshold::Dynamic { reserve, .. } => {
                let before = ingress.bytes.saturating_sub(reserve.get());
                let after = (ingress.bytes + size).saturating_sub(reserve.get());
                ingress.in_headroom == 0
                    && (after == 0 || after < self.dynamic_threshold(port, after - before))
            }
        }
    }

    /// Stores a packet that is far from all limits.
    #[inline]
    pub(crate) fn store(&mut self, port: u16, priority: u8, size: u64) {
        let place = self.place(port, priority);
        let ingress = &mut self.ingress[place];
        self.shared_used += ingress.shared_from(ingress.bytes, size);
        ingress.bytes += size;
        self.used += size;
    }

    /// What an ingress of `port` may use of the shared part when `more` bytes of it are taken.
    fn dynamic_threshold(&self, port: u16, more: u64) -> u64 {
        share(self.free(self.shared_used + more), self.alphas[port as usize])
    }

    /// What is free of the shared part when `used` bytes are not.
    #[inline]
    fn free(&self, used: u64) -> u64 {
        self.rules.free_bytes(self.shared - used as i64)
    }

    /// Why there is no room for a packet of `size` bytes, of data or not, if so; its ingress may have to pause
    /// its peer then. Counters must be up to date.
    pub(crate) fn admission_error(
        &mut self,
        port: u16,
        priority: u8,
        size: u64,
        is_data: bool,
    ) -> Option<Admission> {
        let place = self.place(port, priority);
        let ingress = &self.ingress[place];
        let buffer = if ingress.lossless { self.protected_buffer } else { self.buffer };
        if self.used + size > buffer {
            return Some(Admission::BufferFull);
        }
        if !ingress.lossless {
            let is_full = || match self.threshold {
                Threshold::Static { .. } => self.lossy() + size > self.lossy_room,
                Threshold::Dynamic { .. } => size > self.free(self.shared_used),
            };
            let is_refused = is_data && self.used + size > self.lossy_room && is_full();
            return is_refused.then_some(Admission::BufferFull);
        }
        let headroom = self.headroom[port as usize];
        let full = match self.threshold {
            Threshold::Static { xoff, .. } => ingress.bytes + size > xoff.get() + headroom,
            Threshold::Dynamic { .. } => {
                self.needs_headroom(port, ingress, size) && ingress.in_headroom + size > headroom
            }
        };
        if full && self.may_pause(place) {
            self.ingress[place].paused = true;
            self.pausing += 1;
            return Some(Admission::HeadroomFullPause);
        }
        full.then_some(Admission::HeadroomFull)
    }

    /// Whether an egress queue of `queued` bytes takes `size` more through a port and priority that PFC does not
    /// protect; any does through others. Counters must be up to date.
    pub(crate) fn fits_lossy_share(&self, port: u16, priority: u8, queued: u64, size: u64) -> bool {
        let Some(alpha) = self.lossy_alpha.filter(|_| !self.is_lossless(port, priority)) else {
            return true;
        };
        let free = match self.threshold {
            Threshold::Static { .. } => self.lossy_room.saturating_sub(self.lossy()),
            Threshold::Dynamic { .. } => self.free(self.shared_used),
        };
        queued + size <= share(free, alpha)
    }

    /// Bytes stored that PFC does not protect.
    fn lossy(&self) -> u64 {
        self.ingress.iter().filter(|ingress| !ingress.lossless).map(|ingress| ingress.bytes).sum()
    }

    /// Dynamic threshold: whether a packet goes into the headroom.
    fn needs_headroom(&self, port: u16, ingress: &Ingress, size: u64) -> bool {
        let below = ingress.bytes - ingress.in_headroom;
        (below + size).saturating_sub(ingress.reserve()) > self.dynamic_threshold(port, 0)
    }

    /// Asks for room for a packet of `size` bytes, of data or not. Counters must be up to date.
    pub(crate) fn admit(&mut self, port: u16, priority: u8, size: u64, is_data: bool) -> Admission {
        if let Some(refused) = self.admission_error(port, priority, size, is_data) {
            return refused;
        }
        let place = self.place(port, priority);
        let before = self.ingress[place];
        if !before.lossless {
            self.store(port, priority, size);
            return Admission::Stored;
        }
        let above = match self.threshold {
            Threshold::Static { xoff, .. } => before.bytes + size >= xoff.get(),
            Threshold::Dynamic { .. } => {
                if self.needs_headroom(port, &before, size) {
                    self.ingress[place].in_headroom += size;
                } else {
                    let below = before.bytes - before.in_headroom;
                    self.shared_used += before.shared_from(below, size);
                }
                let in_headroom = self.ingress[place].in_headroom;
                let shared = before.bytes + size - in_headroom;
                in_headroom > 0
                    || shared.saturating_sub(before.reserve()) >= self.dynamic_threshold(port, 0)
            }
        };
        self.used += size;
        let ingress = &mut self.ingress[place];
        ingress.bytes += size;
        if above && !ingress.paused {
            ingress.paused = true;
            self.pausing += 1;
            return Admission::StoredPause;
        }
        Admission::Stored
    }

    /// Whether an ingress that finds no room may pause its peer: something that leaves will end the pause. The
    /// HPCC simulator pauses only where a packet is stored.
    fn may_pause(&self, place: usize) -> bool {
        let ingress = &self.ingress[place];
        let stays = match self.threshold {
            Threshold::Static { xon, .. } => ingress.bytes > xon.get(),
            Threshold::Dynamic { .. } => ingress.bytes > 0,
        };
        stays && !ingress.paused && self.rules.may_pause_on_drop()
    }

    /// A packet has left; returns whether its ingress must let the peer go on.
    #[inline(always)]
    pub(crate) fn release(&mut self, port: u16, priority: u8, size: u64) -> bool {
        let place = self.place(port, priority);
        self.used -= size;
        let ingress = &mut self.ingress[place];
        // With static thresholds nothing counts as in the headroom, or as shared.
        let mut from_shared = size;
        if ingress.in_headroom != 0 {
            let from_headroom = size.min(ingress.in_headroom);
            ingress.in_headroom -= from_headroom;
            from_shared -= from_headroom;
        }
        let left = ingress.bytes - size - ingress.in_headroom;
        self.shared_used -= ingress.shared_from(left, from_shared);
        ingress.bytes -= size;
        if !ingress.paused {
            return false;
        }
        let go_on = match self.threshold {
            Threshold::Static { xon, .. } => ingress.bytes <= xon.get(),
            Threshold::Dynamic { resume_offset, reserve, .. } => {
                let (bytes, in_headroom) = (ingress.bytes, ingress.in_headroom);
                let shared = bytes.saturating_sub(reserve.get());
                in_headroom == 0
                    && (shared == 0
                        || shared + resume_offset.get() <= self.dynamic_threshold(port, 0))
            }
        };
        if go_on {
            self.ingress[place].paused = false;
            self.pausing -= 1;
        }
        go_on
    }

    /// Bytes stored that came through a port, of a priority.
    #[inline]
    pub(crate) fn of_ingress(&self, port: u16, priority: u8) -> u64 {
        self.ingress[self.place(port, priority)].bytes
    }

    /// The same of a priority or of all.
    pub(crate) fn of_port(&self, port: usize, priority: Option<u8>) -> u64 {
        let bytes = |priority| self.of_ingress(port as u16, priority);
        priority.map_or_else(|| (0..8).map(bytes).sum(), bytes)
    }

    /// Bytes stored, all ports and priorities.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }
}

/// Bytes with which one alone stays below the threshold that it leaves of `free` ones: u < a (s - u).
fn below_threshold(free: u64, alpha: u32) -> u64 {
    let (free, alpha) = (u128::from(free), u128::from(alpha));
    ((free * alpha / ((1 << 16) + alpha)) as u64).saturating_sub(1)
}

/// `alpha` 65536ths of the bytes that are free.
#[inline]
fn share(free: u64, alpha: u32) -> u64 {
    ((u128::from(free) * u128::from(alpha)) >> 16) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::Quirks;
    use crate::network::setup::Headroom;
    use proptest::prelude::*;
    use units::Bytes;

    fn mmu(buffer: u64, config: &PfcConfig, headroom: Vec<u64>) -> Mmu {
        let rates = vec![Rate::from_gbps(100); headroom.len()];
        Mmu::new(
            buffer,
            None,
            config,
            1 << 0 | 1 << 2 | 1 << 3,
            headroom,
            rates,
            &Compat::default(),
        )
    }

    fn fixed(xoff: u64, xon: u64) -> PfcConfig {
        PfcConfig {
            lossless: 1 << 3,
            threshold: Threshold::Static { xoff: Bytes::new(xoff), xon: Bytes::new(xon) },
            headroom: Headroom::Auto,
        }
    }

    #[test]
    fn fixed_thresholds_pause_at_xoff_resume_at_xon_and_drop_beyond_the_headroom() {
        let mut mmu = mmu(1 << 20, &fixed(3_000, 1_000), vec![2_000; 2]);
        assert_eq!(mmu.admit(0, 3, 1_000, true), Admission::Stored);
        assert_eq!(mmu.admit(0, 3, 1_000, true), Admission::Stored);
        assert!(!mmu.cannot_hit_limit(0, 3, 1_000));
        assert_eq!(mmu.admit(0, 3, 1_000, true), Admission::StoredPause);
        assert_eq!(mmu.admit(0, 3, 2_000, true), Admission::Stored);
        assert_eq!(mmu.admit(0, 3, 1, true), Admission::HeadroomFull);
        assert_eq!(mmu.admit(1, 3, 1_000, true), Admission::Stored, "the other port is its own");
        assert!(!mmu.release(0, 3, 3_000));
        assert!(mmu.release(0, 3, 1_000), "down to Xon");
        assert!(!mmu.pauses_any_peer());
    }

    #[test]
    fn a_lossy_queue_takes_a_share_of_what_is_free() {
        let rates = vec![Rate::from_gbps(100); 2];
        let headroom = vec![10_000; 2];
        // 100,000 bytes less twice Xoff and headroom: 65,000 are left, of which a half of what is free.
        let pfc = fixed(7_500, 6_000);
        let half = Some(1 << 15);
        let new = |alpha| {
            Mmu::new(100_000, alpha, &pfc, 9, headroom.clone(), rates.clone(), &Compat::default())
        };
        let mut mmu = new(half);
        assert!(mmu.fits_lossy_share(0, 0, 0, 32_500) && !mmu.fits_lossy_share(0, 0, 0, 32_501));
        mmu.admit(0, 0, 20_000, true);
        assert!(mmu.fits_lossy_share(1, 0, 20_000, 2_500));
        assert!(!mmu.fits_lossy_share(1, 0, 20_000, 2_501));
        assert!(mmu.fits_lossy_share(1, 3, 90_000, 10_000), "PFC protects it");
        assert!(!mmu.cannot_hit_limit(1, 0, 2_000) && new(None).cannot_hit_limit(1, 0, 2_000));
        assert!(new(None).fits_lossy_share(0, 0, 90_000, 10_000));
    }

    #[test]
    fn a_headroom_that_holds_no_packet_pauses_as_it_drops() {
        let mut mmu = mmu(1 << 20, &fixed(7_500, 6_000), vec![0; 2]);
        for _ in 0..7 {
            assert_eq!(mmu.admit(0, 3, 1_000, true), Admission::Stored);
        }
        assert_eq!(mmu.admit(0, 3, 1_000, true), Admission::HeadroomFullPause);
        assert_eq!(mmu.admit(0, 3, 1_000, true), Admission::HeadroomFull, "it is paused");
        assert!(mmu.pauses_any_peer() && mmu.release(0, 3, 1_000) && !mmu.pauses_any_peer());
        // Nothing that leaves would end a pause that begins at Xon or below.
        assert_eq!(mmu.admit(0, 3, 1_600, true), Admission::HeadroomFull);
    }

    #[test]
    fn a_port_left_unprotected_fills_the_buffer_and_pauses_nobody() {
        let mut mmu = mmu(10_000, &fixed(3_000, 1_000), vec![2_000, 0]);
        mmu.disable_pfc(1);
        for _ in 0..5 {
            assert_eq!(mmu.admit(1, 3, 1_000, true), Admission::Stored);
        }
        assert_eq!(mmu.admit(1, 3, 1, true), Admission::BufferFull, "3000 + 2000 are port 0's");
        assert!(!mmu.is_lossless(1, 3) && mmu.is_lossless(0, 3) && !mmu.is_lossless(0, 2));
        mmu.release(1, 3, 1_000);
        assert_eq!(mmu.reserved_bytes(), 2_000);
    }

    #[test]
    fn what_pfc_does_not_protect_takes_nothing_from_what_it_does() {
        let dynamic = PfcConfig {
            lossless: 1 << 3 | 1 << 4,
            threshold: Threshold::Dynamic {
                alpha: 1 << 16,
                at: Rate::from_gbps(100),
                resume_offset: Bytes::new(100),
                reserve: Bytes::new(500),
            },
            headroom: Headroom::Auto,
        };
        // Kept apart, by port and lossless priority: Xoff and headroom, or reserve and headroom.
        let two_lossless = PfcConfig { lossless: 1 << 3 | 1 << 4, ..fixed(3_000, 1_000) };
        for (config, room) in [(two_lossless, 10_000), (dynamic, 20_000)] {
            let mut mmu = mmu(30_000, &config, vec![2_000; 2]);
            for port in [0, 1].into_iter().cycle().take(room / 1_000) {
                assert_eq!(mmu.admit(port, 0, 1_000, true), Admission::Stored);
            }
            assert_eq!(mmu.admit(0, 0, 1, true), Admission::BufferFull);
            assert_eq!(mmu.admission_error(0, 0, 1, false), None, "an ACK");
            assert!(!mmu.cannot_hit_limit(0, 0, 1));
            for (port, priority) in [(0, 3), (0, 4), (1, 3), (1, 4)] {
                let stored = [Admission::Stored, Admission::StoredPause];
                for _ in 0..4 {
                    assert!(stored.contains(&mmu.admit(port, priority, 500, true)));
                }
            }
        }
    }

    #[test]
    fn a_dynamic_threshold_shrinks_as_the_buffer_fills() {
        let dynamic = PfcConfig {
            lossless: 1 << 3,
            threshold: Threshold::Dynamic {
                alpha: 1 << 15,
                at: Rate::from_gbps(100),
                resume_offset: Bytes::new(100),
                reserve: Bytes::new(500),
            },
            headroom: Headroom::Auto,
        };
        // Shared part: 11000 - 2 x 500 - 2 x 2000 = 6000.
        let mut mmu = mmu(11_000, &dynamic, vec![2_000; 2]);
        assert_eq!(mmu.admit(0, 3, 500, true), Admission::Stored, "the reserve");
        assert_eq!(mmu.admit(0, 3, 1_900, true), Admission::Stored, "1900 < (6000 - 1900) / 2");
        // 2000 of the shared part used leaves a threshold of 2000.
        assert_eq!(mmu.admit(0, 3, 100, true), Admission::StoredPause, "2000 = (6000 - 2000) / 2");
        assert_eq!(mmu.admit(0, 3, 100, true), Admission::Stored, "into the headroom");
        assert_eq!(
            mmu.admit(1, 3, 2_400, true),
            Admission::StoredPause,
            "1900 > (6000 - 3900) / 2"
        );
        assert!(!mmu.release(0, 3, 100), "headroom empty, 2000 shared > (6000 - 3900) / 2");
        assert!(!mmu.release(0, 3, 600));
        assert!(mmu.release(0, 3, 600), "800 + 100 <= (6000 - 2700) / 2");
    }

    #[test]
    fn a_free_buffer_below_nothing_wraps() {
        let at = Rate::from_gbps(100);
        let config = PfcConfig {
            lossless: 1 << 3,
            threshold: Threshold::Dynamic {
                alpha: 1 << 13,
                at,
                resume_offset: Bytes::new(3072),
                reserve: Bytes::new(4096),
            },
            headroom: Headroom::Auto,
        };
        let quirks = Quirks { shifted_threshold: true, threshold_wraps: true, ..Quirks::default() };
        let mut mmu = Mmu::new(
            1 << 20,
            None,
            &config,
            1 << 3,
            vec![1 << 20; 2],
            vec![at; 2],
            &Compat::new(quirks),
        );
        assert_eq!(mmu.free(0), (1 << 32) - (1 << 20) - 8192);
        for _ in 0..10_000 {
            assert_eq!(mmu.admit(0, 3, 1_048, true), Admission::Stored);
        }
    }

    proptest! {
        #[test]
        fn what_comes_in_goes_out_and_limits_hold(
            packets in prop::collection::vec((0u16..3, 2u8..4, 64u64..1_600), 1..200),
            dynamic: bool,
            far_first: bool,
        ) {
            let mut config = fixed(8_000, 6_000);
            if dynamic {
                config.threshold = Threshold::Dynamic {
                    alpha: 1 << 13,
                    at: Rate::from_gbps(100),
                    resume_offset: Bytes::new(3_000),
                    reserve: Bytes::new(2_000),
                };
            }
            let mut mmu = mmu(60_000, &config, vec![5_000; 3]);
            let mut stored = Vec::new();
            for (port, priority, size) in packets {
                if far_first && mmu.cannot_hit_limit(port, priority, size) {
                    mmu.store(port, priority, size);
                    stored.push((port, priority, size));
                    continue;
                }
                match mmu.admit(port, priority, size, true) {
                    Admission::Stored | Admission::StoredPause => {
                        stored.push((port, priority, size));
                    }
                    _ => {
                        // Full: let the oldest go.
                        if let Some((port, priority, size)) = stored.first().copied() {
                            stored.remove(0);
                            mmu.release(port, priority, size);
                        }
                    }
                }
                prop_assert!(mmu.used() <= 60_000);
                prop_assert_eq!(mmu.used(), stored.iter().map(|packet| packet.2).sum::<u64>());
            }
            for (port, priority, size) in stored {
                mmu.release(port, priority, size);
            }
            prop_assert_eq!((mmu.used(), mmu.shared_used, mmu.pausing), (0, 0, 0));
        }
    }
}
