//! Storing packets and releasing them.

use super::{Mmu, Policy};
use crate::packet::PacketKind;

/// What became of a packet that asked for room.
pub(crate) type Admission = Result<Stored, Refused>;

/// A packet is stored.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Whether its ingress must pause the peer.
    pub(crate) pauses: bool,
}

/// A packet is refused.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// What has no room for it.
    pub(crate) full: Full,
    /// Whether its ingress must pause the peer: the headroom holds less than a packet.
    pub(crate) pauses: bool,
}

impl Refused {
    /// The packet is refused because the buffer, or its share of the buffer, is full.
    pub(crate) const BUFFER: Refused = Refused { full: Full::Buffer, pauses: false };
}

/// What has no room for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// The buffer.
    Buffer,
    /// The headroom of the packet's lossless class.
    Headroom,
}

/// Where data comes from that asks for room.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It arrives, and may use the headroom.
    Wire,
    /// It was in the switch already, outside the buffer.
    OwnMemory,
}

impl Mmu {
    /// Returns whether storing a packet of `size` bytes can neither pause nor drop. This holds even
    /// if packets have left since the counters were last brought up to date.
    #[inline]
    pub(crate) fn cannot_hit_limit(&self, port: u16, priority: u8, size: u64) -> bool {
        self.below_all_limits(size) || self.is_below_own_limits(port, priority, size)
    }

    /// Returns whether storing `size` bytes can neither pause nor drop at any ingress.
    #[inline(always)]
    pub(crate) fn below_all_limits(&self, size: u64) -> bool {
        self.used + size <= self.safe_now
    }

    /// Returns whether the limits of this ingress alone say that storing `size` bytes can neither
    /// pause nor drop.
    #[inline]
    pub(crate) fn is_below_own_limits(&self, port: u16, priority: u8, size: u64) -> bool {
        let index = self.index(port, priority);
        let ingress = &self.ingress[index];
        if !ingress.lossless {
            return self.lossy.alphas[usize::from(priority & 7)].is_none()
                && self.used + size <= self.lossy.room;
        }
        if self.used + size > self.protected_buffer {
            return false;
        }
        match &self.policy {
            Policy::Fixed(fixed) => fixed.is_below(priority, ingress.bytes + size),
            Policy::Dynamic(dynamic) => dynamic.is_below(index, ingress, size, self.shared_used),
        }
    }

    /// Stores a packet for which [`cannot_hit_limit`](Mmu::cannot_hit_limit) returned true.
    #[inline]
    pub(crate) fn store(&mut self, port: u16, priority: u8, size: u64) {
        let index = self.index(port, priority);
        let ingress = &mut self.ingress[index];
        debug_assert_eq!(ingress.in_headroom, 0, "an ingress that uses its headroom is at a limit");
        self.shared_used += ingress.shared_from(ingress.bytes, size);
        ingress.bytes += size;
        self.used += size;
    }

    /// Refuses a packet of `size` bytes if there is no room for it. The caller must send the pause
    /// that a refusal asks for: the ingress counts as pausing from then on. Counters must be up to
    /// date.
    pub(crate) fn refuse(
        &mut self,
        port: u16,
        priority: u8,
        size: u64,
        kind: PacketKind,
    ) -> Result<(), Refused> {
        let index = self.index(port, priority);
        let ingress = &self.ingress[index];
        let buffer = if ingress.lossless { self.protected_buffer } else { self.buffer };
        if self.used + size > buffer {
            return Err(Refused {
                full: Full::Buffer,
                pauses: self.renews_on_drop(index, priority),
            });
        }
        if !ingress.lossless {
            let fits = kind != PacketKind::Data || self.has_lossy_room(size);
            return if fits { Ok(()) } else { Err(Refused::BUFFER) };
        }
        let headroom = self.headroom[port as usize];
        let full = match &self.policy {
            Policy::Fixed(fixed) => fixed.is_full(priority, ingress.bytes + size, headroom),
            Policy::Dynamic(dynamic) => {
                dynamic.needs_headroom(index, ingress, size, self.shared_used)
                    && ingress.in_headroom + size > headroom
            }
        };
        if !full {
            return Ok(());
        }
        let begins = self.may_pause_on_drop(index, priority);
        let pauses = begins || self.renews_on_drop(index, priority);
        if begins {
            self.ingress[index].paused = true;
            self.pausing += 1;
        }
        Err(Refused { full: Full::Headroom, pauses })
    }

    /// Returns whether an ingress that drops a packet may pause its peer. It may only if something
    /// is stored that will end the pause when it leaves.
    fn may_pause_on_drop(&self, index: usize, priority: u8) -> bool {
        let ingress = &self.ingress[index];
        let ends = match &self.policy {
            Policy::Fixed(fixed) => !fixed.resumes(priority, ingress.bytes),
            Policy::Dynamic(dynamic) => ingress.bytes > 0 && dynamic.may_pause_on_drop(),
        };
        ends && !ingress.paused
    }

    /// Returns whether an ingress that drops a packet must send its pause again.
    fn renews_on_drop(&self, index: usize, priority: u8) -> bool {
        let ingress = &self.ingress[index];
        self.pauses_again
            && ingress.paused
            && match &self.policy {
                Policy::Fixed(fixed) => !fixed.is_below(priority, ingress.bytes),
                Policy::Dynamic(dynamic) => {
                    dynamic.renews_on_drop() && dynamic.is_above(index, ingress, self.shared_used)
                }
            }
    }

    /// Returns whether data of `size` bytes finds room. Called only while nothing is stored.
    pub(crate) fn takes_while_empty(&mut self, port: u16, priority: u8, size: u64) -> bool {
        debug_assert_eq!(self.used, 0, "the buffer is empty");
        self.refuse(port, priority, size, PacketKind::Data).is_ok()
            && self.fits_lossy_share(port, priority, 0, size)
    }

    /// Stores a packet of `size` bytes if there is room for it. Counters must be up to date.
    pub(crate) fn admit(
        &mut self,
        port: u16,
        priority: u8,
        size: u64,
        kind: PacketKind,
    ) -> Admission {
        self.refuse(port, priority, size, kind)?;
        Ok(self.admit_unchecked(port, priority, size, Origin::Wire))
    }

    /// Stores data that was in the switch already, as long as the buffer is not full. It leaves the
    /// headroom of its ingress to what still arrives, and takes shared buffer even above the
    /// threshold.
    pub(crate) fn admit_from_own_memory(
        &mut self,
        port: u16,
        priority: u8,
        size: u64,
    ) -> Admission {
        if self.is_lossless(port, priority) && self.used + size <= self.protected_buffer {
            return Ok(self.admit_unchecked(port, priority, size, Origin::OwnMemory));
        }
        self.admit(port, priority, size, PacketKind::Data)
    }

    fn admit_unchecked(&mut self, port: u16, priority: u8, size: u64, origin: Origin) -> Stored {
        let index = self.index(port, priority);
        let before = self.ingress[index];
        if !before.lossless {
            self.store(port, priority, size);
            return Stored { pauses: false };
        }
        let ingress = &mut self.ingress[index];
        ingress.bytes += size;
        self.used += size;
        let above = match &self.policy {
            Policy::Fixed(fixed) => !fixed.is_below(priority, ingress.bytes),
            Policy::Dynamic(dynamic) => {
                if origin == Origin::Wire
                    && dynamic.needs_headroom(index, &before, size, self.shared_used)
                {
                    if ingress.in_headroom == 0 {
                        self.using_headroom += 1;
                        self.safe_now = 0;
                    }
                    ingress.in_headroom += size;
                } else {
                    let below = before.bytes - before.in_headroom;
                    self.shared_used += before.shared_from(below, size);
                }
                dynamic.is_above(index, ingress, self.shared_used)
            }
        };
        let pauses = above && (self.pauses_again || !ingress.paused);
        if above && !ingress.paused {
            ingress.paused = true;
            self.pausing += 1;
        }
        Stored { pauses }
    }

    /// Releases a packet that has left. Returns whether its ingress must resume the peer.
    #[must_use]
    #[inline(always)]
    pub(crate) fn release(&mut self, port: u16, priority: u8, size: u64) -> bool {
        let index = self.index(port, priority);
        self.used -= size;
        let ingress = &mut self.ingress[index];
        // With fixed thresholds nothing counts as in the headroom, or as shared.
        let mut from_shared = size;
        if ingress.in_headroom != 0 {
            let from_headroom = size.min(ingress.in_headroom);
            ingress.in_headroom -= from_headroom;
            from_shared -= from_headroom;
            if ingress.in_headroom == 0 {
                self.using_headroom -= 1;
                if self.using_headroom == 0 {
                    self.safe_now = self.safe_fill;
                }
            }
        }
        let left = ingress.bytes - size - ingress.in_headroom;
        self.shared_used -= ingress.shared_from(left, from_shared);
        ingress.bytes -= size;
        if !ingress.paused {
            return false;
        }
        let resumes = match &self.policy {
            Policy::Fixed(fixed) => fixed.resumes(priority, ingress.bytes),
            Policy::Dynamic(dynamic) => dynamic.resumes(index, ingress, self.shared_used),
        };
        if resumes {
            ingress.paused = false;
            self.pausing -= 1;
        }
        resumes
    }
}
