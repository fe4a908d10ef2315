//! Storing packets and releasing them.

use super::{Mmu, Policy};

/// What became of a packet that asked for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is stored.
    Stored,
    /// It is stored, and its ingress must pause the peer.
    StoredPause,
    /// It is refused: its lossless class has no headroom left.
    HeadroomFull,
    /// It is refused as with `HeadroomFull`, and its ingress must pause the peer: the headroom
    /// holds less than a packet.
    HeadroomFullPause,
    /// It is refused: the buffer is full.
    BufferFull,
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
        self.used + size <= self.safe_fill
    }

    fn is_below_own_limits(&self, port: u16, priority: u8, size: u64) -> bool {
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
        self.shared_used += ingress.shared_from(ingress.bytes, size);
        ingress.bytes += size;
        self.used += size;
    }

    /// Returns why a packet of `size` bytes is refused; `None` if there is room. If it returns
    /// [`Admission::HeadroomFullPause`], the ingress counts as pausing from now on. Counters must
    /// be up to date.
    pub(crate) fn admission_error(
        &mut self,
        port: u16,
        priority: u8,
        size: u64,
        is_data: bool,
    ) -> Option<Admission> {
        let index = self.index(port, priority);
        let ingress = &self.ingress[index];
        let buffer = if ingress.lossless { self.protected_buffer } else { self.buffer };
        if self.used + size > buffer {
            return Some(Admission::BufferFull);
        }
        if !ingress.lossless {
            return (is_data && !self.has_lossy_room(size)).then_some(Admission::BufferFull);
        }
        let headroom = self.headroom[port as usize];
        let full = match &self.policy {
            Policy::Fixed(fixed) => fixed.is_full(priority, ingress.bytes + size, headroom),
            Policy::Dynamic(dynamic) => {
                dynamic.needs_headroom(index, ingress, size, self.shared_used)
                    && ingress.in_headroom + size > headroom
            }
        };
        if full && self.may_pause_on_drop(index, priority) {
            self.ingress[index].paused = true;
            self.pausing += 1;
            return Some(Admission::HeadroomFullPause);
        }
        full.then_some(Admission::HeadroomFull)
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

    /// Returns whether data of `size` bytes finds room. Called only while nothing is stored.
    pub(crate) fn takes_while_empty(&mut self, port: u16, priority: u8, size: u64) -> bool {
        debug_assert_eq!(self.used, 0, "the buffer is empty");
        self.admission_error(port, priority, size, true).is_none()
            && self.fits_lossy_share(port, priority, 0, size)
    }

    /// Stores a packet of `size` bytes if there is room for it. Counters must be up to date.
    pub(crate) fn admit(&mut self, port: u16, priority: u8, size: u64, is_data: bool) -> Admission {
        match self.admission_error(port, priority, size, is_data) {
            Some(error) => error,
            None => self.admit_unchecked(port, priority, size, true),
        }
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
            return self.admit_unchecked(port, priority, size, false);
        }
        self.admit(port, priority, size, true)
    }

    fn admit_unchecked(
        &mut self,
        port: u16,
        priority: u8,
        size: u64,
        may_use_headroom: bool,
    ) -> Admission {
        let index = self.index(port, priority);
        let before = self.ingress[index];
        if !before.lossless {
            self.store(port, priority, size);
            return Admission::Stored;
        }
        let ingress = &mut self.ingress[index];
        ingress.bytes += size;
        self.used += size;
        let above = match &self.policy {
            Policy::Fixed(fixed) => !fixed.is_below(priority, ingress.bytes),
            Policy::Dynamic(dynamic) => {
                if may_use_headroom
                    && dynamic.needs_headroom(index, &before, size, self.shared_used)
                {
                    ingress.in_headroom += size;
                } else {
                    let below = before.bytes - before.in_headroom;
                    self.shared_used += before.shared_from(below, size);
                }
                dynamic.is_above(index, ingress, self.shared_used)
            }
        };
        if above && !ingress.paused {
            ingress.paused = true;
            self.pausing += 1;
            return Admission::StoredPause;
        }
        Admission::Stored
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
