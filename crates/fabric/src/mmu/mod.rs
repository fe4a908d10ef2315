//! The memory management unit (MMU) of a switch: whether a packet may be stored, and when an
//! ingress must pause its peer.
//!
//! The MMU counts the bytes of each ingress, that is, of each ingress port and priority. [`Policy`]
//! is the PFC threshold. With fixed thresholds (`fixed.rs`) an ingress pauses its peer at Xoff
//! bytes and may fill Xoff plus its headroom. With a dynamic threshold (`dynamic.rs`) an ingress
//! first fills a reserve of its own. It then takes from the shared part of the buffer, up to alpha
//! times what is free of it, and then from its headroom. It pauses its peer when it reaches
//! that threshold or uses the headroom.
//!
//! Data that PFC does not protect (`lossy.rs`) may fill what is left of the buffer. It takes
//! nothing that a protected ingress counts on.
//!
//! `admission.rs` stores and releases packets, and decides on pauses, resumes and drops. A packet
//! needs no exact check while the buffer holds little: [`Mmu::below_all_limits`] compares one sum
//! with one constant.

mod admission;
mod dynamic;
mod fixed;
mod lossy;
#[cfg(test)]
mod testing;

pub(crate) use admission::{Admission, Full, Refused};

use crate::compat::Compat;
use crate::network::setup::{PfcConfig, Threshold};
use dynamic::Dynamic;
use engine::prefetch;
use fixed::Fixed;
use lossy::LossyShare;
use model::PauseRenewal;
use units::Rate;

/// The bytes of an ingress port in one priority.
#[derive(Clone, Copy, Debug, Default)]
struct Ingress {
    bytes: u64,
    /// The part of `bytes` in the headroom. Only a dynamic threshold uses it.
    in_headroom: u64,
    /// Bytes that do not count as shared: the first ones, up to this many.
    reserve: u32,
    /// Its peer is paused.
    paused: bool,
    /// PFC protects it.
    lossless: bool,
}

/// A reserve without limit: nothing counts as shared.
const UNBOUNDED: u32 = u32::MAX;

impl Ingress {
    #[inline(always)]
    fn reserve(&self) -> u64 {
        if self.reserve == UNBOUNDED { u64::MAX } else { u64::from(self.reserve) }
    }

    /// Returns how many of the `size` bytes above the first `below` count as shared: those above
    /// the reserve.
    #[inline(always)]
    fn shared_from(&self, below: u64, size: u64) -> u64 {
        (below + size).max(self.reserve()) - below.max(self.reserve())
    }
}

/// When an ingress that PFC protects pauses its peer and when it resumes it.
#[derive(Clone, Debug)]
enum Policy {
    Fixed(Fixed),
    Dynamic(Dynamic),
}

/// What the MMU of a switch is made from.
pub(crate) struct MmuConfig<'a> {
    /// Size of the buffer in bytes.
    pub(crate) buffer: u64,
    /// Share of the free buffer that an egress queue without PFC may use, by priority, in 65536ths.
    pub(crate) lossy_alpha: [Option<u32>; 8],
    pub(crate) pfc: &'a PfcConfig,
    /// Priorities that carry data, as a bit mask.
    pub(crate) data_priorities: u8,
    /// By port: bytes of headroom for each lossless priority. `None`: the port has no PFC, and
    /// never pauses its peer.
    pub(crate) headroom: Vec<Option<u64>>,
    /// By port.
    pub(crate) rates: Vec<Rate>,
    pub(crate) compat: Compat,
}

/// The MMU of a switch.
#[derive(Clone, Debug)]
pub(crate) struct Mmu {
    buffer: u64,
    /// How many bytes may be in use when an ingress that PFC protects stores a packet.
    protected_buffer: u64,
    used: u64,
    /// What is left for ingresses that PFC does not protect.
    lossy: LossyShare,
    /// While no more bytes are in use, no ingress and no queue can be near a limit.
    safe_fill: u64,
    /// `safe_fill` now: 0 while an ingress uses its headroom, since that one is at a limit.
    safe_now: u64,
    /// How many ingresses use their headroom.
    using_headroom: u32,
    lossless: u8,
    policy: Policy,
    /// By port: bytes above the threshold.
    headroom: Vec<u64>,
    /// Bytes of the buffer that are not shared.
    reserved: u64,
    /// By priority, then port.
    ingress: Vec<Ingress>,
    /// How many ingresses pause their peers.
    pausing: u32,
    /// Bytes of the shared part that are in use. 0 with fixed thresholds.
    shared_used: u64,
    /// An ingress that pauses its peer does so again with each packet.
    pauses_again: bool,
}

impl Mmu {
    pub(crate) fn new(config: MmuConfig<'_>) -> Mmu {
        let MmuConfig { buffer, lossy_alpha, pfc, data_priorities, headroom, rates, compat } =
            config;
        let ports = headroom.len();
        let (reserve, shifted_above) = match pfc.threshold {
            Threshold::Static { .. } => (0, None),
            Threshold::Dynamic { reserve, shifted_above, .. } => (reserve.get(), shifted_above),
        };
        let rules = compat.threshold_rules(shifted_above.filter(|_| pfc.lossless != 0));
        let kept = headroom.iter().flatten().map(|headroom| headroom + rules.set_aside(reserve));
        let reserved = kept.sum::<u64>() * rules.reserves_per_port(pfc.lossless);
        let policy = match pfc.threshold {
            Threshold::Static { xoff, xon } => {
                let limits =
                    |priority| pfc.threshold_of(priority as u8).fixed().unwrap_or((xoff, xon));
                Policy::Fixed(Fixed::new(std::array::from_fn(limits)))
            }
            Threshold::Dynamic { resume_offset, reserve, .. } => {
                let alphas = (0..8).flat_map(|priority| {
                    let Threshold::Dynamic { alpha, .. } = pfc.threshold_of(priority) else {
                        unreachable!("thresholds of classes are of the same kind")
                    };
                    rates.iter().map(move |&rate| rules.alpha_of_port(alpha, rate))
                });
                let shared = buffer as i64 - reserved as i64;
                Policy::Dynamic(Dynamic::new(alphas, shared, resume_offset, reserve, rules))
            }
        };
        let mut mmu = Mmu {
            buffer,
            protected_buffer: rules.protected_buffer(buffer),
            used: 0,
            lossy: LossyShare::new(lossy_alpha),
            safe_fill: match &policy {
                Policy::Fixed(fixed) => fixed.safe_fill(),
                Policy::Dynamic(dynamic) => dynamic.safe_fill(),
            },
            safe_now: 0,
            using_headroom: 0,
            lossless: pfc.lossless,
            policy,
            headroom: headroom.iter().map(|headroom| headroom.unwrap_or(0)).collect(),
            reserved,
            ingress: vec![Ingress::default(); ports * 8],
            pausing: 0,
            shared_used: 0,
            pauses_again: pfc
                .timing
                .expiry
                .is_some_and(|expiry| expiry.renewal == PauseRenewal::Arrivals),
        };
        for (index, ingress) in mmu.ingress.iter_mut().enumerate() {
            let is_in = |mask: u8| mask & 1 << (index / ports) != 0;
            ingress.lossless = is_in(pfc.lossless) && headroom[index % ports].is_some();
            ingress.reserve = match pfc.threshold {
                Threshold::Dynamic { .. } if ingress.lossless && rules.shares_first => 0,
                Threshold::Dynamic { reserve, .. } if ingress.lossless => {
                    u32::try_from(reserve.get()).unwrap_or(UNBOUNDED)
                }
                Threshold::Dynamic { .. } if is_in(data_priorities) => 0,
                _ => UNBOUNDED,
            };
        }
        mmu.compute_lossy_share();
        mmu.safe_now = mmu.safe_fill;
        mmu
    }

    /// Returns how many bytes of the buffer are not shared: the headroom and the reserve of each
    /// port and lossless priority.
    pub(crate) fn reserved_bytes(&self) -> u64 {
        self.reserved
    }

    /// Returns the size of the buffer.
    pub(crate) fn buffer_bytes(&self) -> u64 {
        self.buffer
    }

    /// Returns the headroom of each port, for each lossless priority.
    pub(crate) fn headroom_bytes(&self) -> &[u64] {
        &self.headroom
    }

    /// Returns how many bytes an ingress may store, above its reserve, before it pauses its peer,
    /// if nothing else is stored. `None` if it never does.
    pub(crate) fn pause_threshold(&self, port: u16, priority: u8) -> Option<u64> {
        match &self.policy {
            _ if !self.is_lossless(port, priority) => None,
            Policy::Fixed(fixed) => Some(fixed.xoff(priority)),
            Policy::Dynamic(dynamic) if dynamic.never_fires() => None,
            Policy::Dynamic(dynamic) => Some(dynamic.threshold(self.index(port, priority), 0)),
        }
    }

    /// Returns the ingresses of a priority, by port.
    fn of_priority(&self, priority: u8) -> &[Ingress] {
        &self.ingress[self.index(0, priority)..][..self.headroom.len()]
    }

    /// Returns whether the threshold is fixed. Otherwise it falls as the buffer fills.
    pub(crate) fn has_fixed_threshold(&self) -> bool {
        matches!(self.policy, Policy::Fixed(_))
    }

    /// Returns how many ingresses PFC protects.
    pub(crate) fn lossless_ingresses(&self) -> usize {
        self.ingress.iter().filter(|ingress| ingress.lossless).count()
    }

    /// Returns the index of an ingress: those of one priority are neighbours.
    #[inline(always)]
    fn index(&self, port: u16, priority: u8) -> usize {
        priority as usize * self.headroom.len() + port as usize
    }

    /// Prefetches the ingresses of the lossless priorities.
    pub(crate) fn prefetch(&self) {
        let (ports, mut lossless) = (self.headroom.len(), self.lossless);
        while lossless != 0 {
            let ingresses = &self.ingress[lossless.trailing_zeros() as usize * ports..][..ports];
            prefetch(ingresses, size_of_val(ingresses).div_ceil(64).min(16));
            lossless &= lossless - 1;
        }
    }

    /// Returns whether some ingress pauses its peer. Departures must then be handled in time order,
    /// because each of them may end a pause.
    #[inline]
    pub(crate) fn pauses_any_peer(&self) -> bool {
        self.pausing != 0
    }

    /// Returns whether an ingress pauses its peer.
    #[inline]
    pub(crate) fn pauses_peer(&self, port: u16, priority: u8) -> bool {
        self.ingress[self.index(port, priority)].paused
    }

    /// Returns whether a port pauses its peer in any priority.
    #[inline]
    pub(crate) fn pauses_peer_of(&self, port: u16) -> bool {
        self.pauses_any_peer() && (0..8).any(|priority| self.pauses_peer(port, priority))
    }

    /// Returns whether PFC protects an ingress.
    pub(crate) fn is_lossless(&self, port: u16, priority: u8) -> bool {
        self.ingress[self.index(port, priority)].lossless
    }

    /// Returns the stored bytes of an ingress.
    #[inline]
    pub(crate) fn of_ingress(&self, port: u16, priority: u8) -> u64 {
        self.ingress[self.index(port, priority)].bytes
    }

    /// Returns the stored bytes that came through a port, of one priority or of all.
    pub(crate) fn of_port(&self, port: usize, priority: Option<u8>) -> u64 {
        let bytes = |priority| self.of_ingress(port as u16, priority);
        priority.map_or_else(|| (0..8).map(bytes).sum(), bytes)
    }

    /// Returns the stored bytes of all ports and priorities.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{BUFFER_FULL, STORED, dynamic, fixed, mmu, mmu_of_ports};
    use crate::packet::PacketKind;
    use proptest::prelude::*;

    #[test]
    fn a_port_without_pfc_fills_the_buffer_and_pauses_nobody() {
        let mut mmu = mmu_of_ports(10_000, &fixed(3_000, 1_000), vec![Some(2_000), None], None);
        for _ in 0..5 {
            assert_eq!(mmu.admit(1, 3, 1_000, PacketKind::Data), STORED);
        }
        assert_eq!(mmu.admit(1, 3, 1, PacketKind::Data), BUFFER_FULL, "3000 + 2000 are port 0's");
        assert!(!mmu.is_lossless(1, 3) && mmu.is_lossless(0, 3) && !mmu.is_lossless(0, 2));
        assert!(!mmu.release(1, 3, 1_000), "it has paused nobody");
        assert_eq!(mmu.reserved_bytes(), 2_000);
    }

    #[test]
    fn a_port_without_pfc_has_no_reserve() {
        let mmu = mmu_of_ports(11_000, &dynamic(1 << 15, 0, 500), vec![Some(2_000), None], None);
        assert_eq!(mmu.reserved_bytes(), 2_500);
        assert_eq!(mmu.pause_threshold(0, 3), Some((11_000 - 2_500) / 2));
        assert_eq!(mmu.pause_threshold(1, 3), None);
    }

    proptest! {
        #[test]
        fn what_comes_in_goes_out_and_limits_hold(
            packets in prop::collection::vec((0u16..3, 2u8..4, 64u64..1_600), 1..200),
            is_dynamic: bool,
            without_check: bool,
        ) {
            let config =
                if is_dynamic { dynamic(1 << 13, 3_000, 2_000) } else { fixed(8_000, 6_000) };
            let mut mmu = mmu(60_000, &config, vec![5_000; 3]);
            let mut stored = Vec::new();
            for (port, priority, size) in packets {
                if mmu.cannot_hit_limit(port, priority, size) {
                    let mut checked = mmu.clone();
                    prop_assert_eq!(checked.admit(port, priority, size, PacketKind::Data), STORED);
                    mmu.store(port, priority, size);
                    stored.push((port, priority, size));
                    if without_check {
                        continue;
                    }
                    mmu = checked;
                } else {
                    match mmu.admit(port, priority, size, PacketKind::Data) {
                        Ok(_) => stored.push((port, priority, size)),
                        // Full: the oldest packet leaves.
                        _ if !stored.is_empty() => {
                            let (port, priority, size) = stored.remove(0);
                            let _ = mmu.release(port, priority, size);
                        }
                        _ => {}
                    }
                }
                prop_assert!(mmu.used() <= 60_000);
                prop_assert_eq!(mmu.used(), stored.iter().map(|packet| packet.2).sum::<u64>());
            }
            for (port, priority, size) in stored {
                let _ = mmu.release(port, priority, size);
            }
            prop_assert_eq!((mmu.used(), mmu.shared_used, mmu.pausing), (0, 0, 0));
        }
    }
}
