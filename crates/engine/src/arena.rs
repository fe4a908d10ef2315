//! The arena: where packets live, in slots of whole cache lines, named by 4-byte handles.
//!
//! A packet is written once and travels as a handle. Queues are linked through the slots, so a
//! queue is two numbers and an empty one needs no memory. A handle cannot be copied: the holder
//! owns the packet, on any thread, and so needs no lock to access it.
//!
//! All slots lie in one region of address space. The operating system adds memory page by page as
//! slots are used, so slots never move. A handle is the index of the slot's first cache line in the
//! region, and one addition turns it into an address.

use crate::prefetch::{LINE, prefetch_for_write};
use memmap2::{MmapMut, MmapOptions, MmapRaw};
use std::fmt;
use std::hint::select_unpredictable;
use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::ptr;
use std::sync::Mutex;

/// Bits of a handle in the entry of a mailbox.
pub(crate) const HANDLE_BITS: u32 = 30;
/// No slot: the end of a queue.
const NIL: u32 = u32::MAX;
/// How many free slots move between threads at once.
const BATCH: usize = if cfg!(any(miri, loom)) { 64 } else { 4096 };
/// The smallest region that is requested.
const MIN_BYTES: usize = 64 << 20;

/// Ownership of a packet in the arena.
#[derive(Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Handle(u32);

impl Handle {
    pub(crate) fn into_raw(self) -> u32 {
        self.0
    }
    /// Makes a handle from the number that [`Handle::into_raw`] returned.
    ///
    /// # Safety
    /// The caller owns the packet, and passes the ownership on: it makes one handle only.
    pub(crate) unsafe fn from_raw(raw: u32) -> Handle {
        Handle(raw)
    }
}

/// A slot. It begins at a cache line, so that a packet never touches more lines than needed.
#[repr(C, align(64))]
struct Slot<P> {
    /// The next slot in the queue that the packet is in.
    next: u32,
    packet: P,
}

/// All packets of a run.
pub struct Arena<P: Copy + Send> {
    region: MmapRaw,
    /// A tag for each cache line of the region, where a run has tags.
    tags: Option<MmapRaw>,
    shared: Mutex<Pool>,
    owns: PhantomData<Slot<P>>,
}

/// The slots that belong to no thread.
struct Pool {
    /// Slots before this one were handed out at some time.
    fresh: usize,
    /// Free slots, in batches.
    free: Vec<Vec<u32>>,
}

// SAFETY: a slot is accessed only through its one handle or through the queue that holds it. Those
// are owned values that move between threads, and `P` is `Send`. The pool is behind a lock.
unsafe impl<P: Copy + Send> Sync for Arena<P> {}
// SAFETY: the mapping and the pool belong to no thread, and packets are `Send`.
unsafe impl<P: Copy + Send> Send for Arena<P> {}

impl<P: Copy + Send> Arena<P> {
    /// Makes an empty arena.
    ///
    /// # Panics
    /// With [`OutOfAddressSpace`] if the operating system grants not even a small region.
    #[expect(clippy::new_without_default, reason = "there is one arena per run, made on purpose")]
    pub fn new() -> Arena<P> {
        const { assert!(align_of::<Slot<P>>() == LINE) };
        // Miri keeps records of each byte, so it gets a small region.
        let region = reserve(if cfg!(any(miri, loom)) { MIN_BYTES } else { LINE << HANDLE_BITS });
        let shared = Mutex::new(Pool { fresh: 0, free: Vec::new() });
        Arena { region, tags: None, shared, owns: PhantomData }
    }

    /// Has a [tag](Packets::tag) beside each packet if `tagged`.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[must_use]
    pub fn with_tags(self, tagged: bool) -> Arena<P> {
        let bytes = self.region.len() / LINE * size_of::<u64>();
        let tags = tagged.then(|| match map(bytes) {
            Ok(tags) => tags.into(),
            Err(_) => resume_unwind(Box::new(OutOfAddressSpace { packets: 0 })),
        });
        Arena { tags, ..self }
    }

    /// Returns a thread's access to the packets.
    pub fn packets(&self) -> Packets<'_, P> {
        let tags = self.tags.as_ref().map_or(ptr::null_mut(), |tags| tags.as_mut_ptr().cast());
        Packets { start: self.region.as_mut_ptr(), tags, arena: self, free: Vec::new() }
    }

    /// Returns free slots: a batch that another thread gave back, or new ones.
    #[cold]
    fn more_slots(&self) -> Vec<u32> {
        let mut pool = self.shared.lock().expect("no thread panics with the pool");
        if let Some(batch) = pool.free.pop() {
            return batch;
        }
        let (size, first) = (size_of::<Slot<P>>(), pool.fresh);
        let last = (first + BATCH).min(self.region.len() / size);
        if first == last {
            drop(pool);
            resume_unwind(Box::new(OutOfAddressSpace { packets: last }));
        }
        pool.fresh = last;
        (first..last).rev().map(|slot| (slot * size / LINE) as u32).collect()
    }
}

/// The payload of the panic of a run that needs more packets at once than fit into the granted
/// address space. It is a limit of the machine, and the run cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfAddressSpace {
    /// Number of packets that fit.
    pub packets: usize,
}

impl fmt::Display for OutOfAddressSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the system grants address space for {} packets at once, and more are needed",
            self.packets
        )
    }
}

/// Reserves `bytes` of address space. If the operating system limits address space, reserves a
/// quarter of what it grants, because all other memory of a run needs some, too.
fn reserve(bytes: usize) -> MmapRaw {
    let mut granted = bytes;
    while granted > MIN_BYTES && map(granted).is_err() {
        granted /= 2;
    }
    let bytes = if granted < bytes { (granted / 4).max(MIN_BYTES) } else { bytes };
    match map(bytes) {
        Ok(region) => {
            // Packets are spread over the region, and a TLB miss costs as much as handling a
            // packet. A system without huge pages is no error.
            #[cfg(all(target_os = "linux", not(miri)))]
            let _ = region.advise(memmap2::Advice::HugePage);
            region.into()
        }
        Err(_) => resume_unwind(Box::new(OutOfAddressSpace { packets: 0 })),
    }
}

/// Maps address space without memory behind it.
fn map(bytes: usize) -> std::io::Result<MmapMut> {
    let mut options = MmapOptions::new();
    options.len(bytes);
    #[cfg(not(miri))]
    options.no_reserve_swap();
    options.map_anon()
}

/// A thread's access to the packets of the run, with free slots of its own.
pub struct Packets<'a, P: Copy + Send> {
    /// Where the arena's region begins.
    start: *mut u8,
    /// Where its tags begin; null in a run without tags.
    tags: *mut u64,
    arena: &'a Arena<P>,
    free: Vec<u32>,
}

// SAFETY: `start` and `tags` point into the arena, which may be accessed from any thread.
unsafe impl<P: Copy + Send> Send for Packets<'_, P> {}

impl<'a, P: Copy + Send> Packets<'a, P> {
    #[inline(always)]
    fn slot(&self, raw: u32) -> *mut Slot<P> {
        // SAFETY: handles are made only for slots within the region.
        unsafe { self.start.add(raw as usize * LINE).cast() }
    }

    /// Puts a packet into the arena.
    #[inline]
    pub fn insert(&mut self, packet: P) -> Handle {
        let raw = self.take_slot();
        // SAFETY: a free slot has no handle, so nobody else accesses it. The slot may hold no valid
        // value yet, so it is written without a read.
        unsafe { self.slot(raw).write(Slot { next: NIL, packet }) };
        self.new_handle(raw)
    }

    /// Puts a copy of a packet into the arena. The copy goes from memory to memory, which takes
    /// less time than passing a large packet by value.
    #[inline]
    pub fn insert_copy(&mut self, packet: &P) -> Handle {
        let raw = self.take_slot();
        let slot = self.slot(raw);
        // SAFETY: as in `insert`. `packet` is borrowed, so it is in no free slot.
        unsafe {
            (&raw mut (*slot).next).write(NIL);
            (&raw mut (*slot).packet).copy_from_nonoverlapping(packet, 1);
        }
        self.new_handle(raw)
    }

    /// Returns the number of a slot that nothing else uses.
    #[inline(always)]
    fn take_slot(&mut self) -> u32 {
        match self.free.pop() {
            Some(raw) => raw,
            None => {
                self.free = self.arena.more_slots();
                self.free.pop().expect("batches are not empty")
            }
        }
    }

    /// Returns the handle of a slot that was just filled.
    #[inline(always)]
    fn new_handle(&mut self, raw: u32) -> Handle {
        let mut handle = Handle(raw);
        if !self.tags.is_null() {
            self.set_tag(&mut handle, 0);
        }
        handle
    }

    /// Takes a packet out of the arena.
    #[inline]
    pub fn remove(&mut self, handle: Handle) -> P {
        let packet = *self.get(&handle);
        self.discard(handle);
        packet
    }

    /// Drops a packet.
    #[inline]
    pub fn discard(&mut self, handle: Handle) {
        self.free.push(handle.0);
        if self.free.len() >= 4 * BATCH {
            self.return_batch();
        }
    }

    /// Gives a batch of free slots back to the arena, for other threads.
    #[cold]
    fn return_batch(&mut self) {
        let batch = self.free.split_off(self.free.len() - BATCH);
        self.arena.shared.lock().expect("no thread panics with the pool").free.push(batch);
    }

    /// Returns this thread's free slots, when it needs no more packets.
    pub(crate) fn into_free_slots(self) -> Vec<u32> {
        self.free
    }

    /// Returns the packet of a handle.
    #[inline]
    pub fn get<'h>(&self, handle: &'h Handle) -> &'h P
    where
        'a: 'h,
    {
        // SAFETY: the handle owns the slot, and is borrowed while the reference is alive.
        unsafe { &(*self.slot(handle.0)).packet }
    }

    /// Returns the packet of a handle, to be changed.
    #[inline]
    pub fn get_mut<'h>(&self, handle: &'h mut Handle) -> &'h mut P
    where
        'a: 'h,
    {
        // SAFETY: the handle owns the slot, and is borrowed exclusively while the reference is
        // alive.
        unsafe { &mut (*self.slot(handle.0)).packet }
    }

    /// Returns the tag of a packet: a word that travels beside it. A new packet has the tag 0.
    ///
    /// # Panics
    /// If the run has no tags ([`Layout::tags`](crate::Layout::tags)).
    #[inline]
    pub fn tag(&self, handle: &Handle) -> u64 {
        // SAFETY: the handle owns the slot, and its tag with it.
        unsafe { *self.tag_at(handle.0) }
    }

    /// Sets the tag of a packet.
    ///
    /// # Panics
    /// As [`tag`](Self::tag).
    #[inline]
    pub fn set_tag(&self, handle: &mut Handle, tag: u64) {
        // SAFETY: as in `tag`, and the handle is borrowed exclusively.
        unsafe { *self.tag_at(handle.0) = tag }
    }

    #[inline]
    fn tag_at(&self, raw: u32) -> *mut u64 {
        assert!(!self.tags.is_null(), "a run has tags if its layout says so");
        // SAFETY: there is a tag for each cache line of the region, and a handle is the index of a
        // line.
        unsafe { self.tags.add(raw as usize) }
    }

    /// Returns a packet that waits in a mailbox, for the device that will receive it.
    ///
    /// # Safety
    /// `raw` is in a mailbox of a device whose group the caller has claimed, and is not taken from
    /// there while the reference is alive.
    #[inline]
    pub(crate) unsafe fn peek(&self, raw: u32) -> &P {
        // SAFETY: the mailbox owns the packet, and only its device takes it from there. So nobody
        // changes it meanwhile.
        unsafe { &(*self.slot(raw)).packet }
    }

    /// Prefetches a packet for writing, because a device that receives a packet changes it.
    #[inline]
    pub(crate) fn prefetch(&self, raw: u32) {
        prefetch_for_write(self.slot(raw).cast(), (size_of::<Slot<P>>() / LINE).min(4));
    }
}

/// The packets that were still in the network when a run ended: in queues, on links, or held by
/// devices.
pub struct Undelivered<P: Copy + Send> {
    arena: Arena<P>,
    /// Free slots of the run's threads.
    free: Vec<Vec<u32>>,
}

impl<P: Copy + Send> Undelivered<P> {
    /// Makes the list for a run that has ended. `free` are the free slots of its threads.
    pub(crate) fn new(arena: Arena<P>, free: Vec<Vec<u32>>) -> Undelivered<P> {
        Undelivered { arena, free }
    }

    /// Calls `look` for each packet, in no particular order. It visits all slots that the run ever
    /// used.
    pub fn each(&self, mut look: impl FnMut(&P)) {
        let pool = self.arena.shared.lock().expect("no thread panics with the pool");
        let lines = size_of::<Slot<P>>() / LINE;
        let mut free = vec![0_u64; pool.fresh.div_ceil(64)];
        for &raw in self.free.iter().chain(&pool.free).flatten() {
            let slot = raw as usize / lines;
            free[slot / 64] |= 1 << (slot % 64);
        }
        let start = self.arena.region.as_ptr();
        for slot in (0..pool.fresh).filter(|slot| free[slot / 64] & 1 << (slot % 64) == 0) {
            // SAFETY: a slot that was handed out and is not free holds a packet. The run is over,
            // so nobody changes it.
            look(unsafe { &(*start.add(slot * size_of::<Slot<P>>()).cast::<Slot<P>>()).packet });
        }
    }
}

/// A first-in, first-out queue of packets, linked through their slots.
#[derive(Debug)]
pub struct Fifo {
    head: u32,
    tail: u32,
}

impl Default for Fifo {
    fn default() -> Fifo {
        Fifo { head: NIL, tail: 0 }
    }
}

impl Fifo {
    /// Whether the queue is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == NIL
    }

    /// Adds a packet at the end.
    #[inline]
    pub fn push<P: Copy + Send>(&mut self, packets: &Packets<'_, P>, handle: Handle) {
        let raw = handle.into_raw();
        let (head, tail) = (&raw mut self.head, packets.slot(self.tail));
        // SAFETY: the queue owns the packet now, because its handle is consumed, and it owns its
        // tail. The tail is not touched if the queue is empty.
        unsafe {
            (*packets.slot(raw)).next = NIL;
            // Selected without a branch: whether the queue is empty would be mispredicted.
            *select_unpredictable(*head == NIL, head, &raw mut (*tail).next) = raw;
        }
        self.tail = raw;
    }

    /// Takes the first packet.
    #[inline]
    pub fn pop<P: Copy + Send>(&mut self, packets: &Packets<'_, P>) -> Option<Handle> {
        if self.head == NIL {
            return None;
        }
        let raw = self.head;
        // SAFETY: the queue owns its packets.
        self.head = unsafe { (*packets.slot(raw)).next };
        // The next packet may have left the cache. Selected without a branch: whether there is one
        // would be mispredicted.
        packets.prefetch(select_unpredictable(self.head == NIL, raw, self.head));
        Some(Handle(raw))
    }

    /// Takes the first packet if the queue has one (`waits`), else the packet of the handle
    /// `other`.
    #[inline(always)]
    pub(crate) fn pop_or<P: Copy + Send>(
        &mut self,
        packets: &Packets<'_, P>,
        waits: bool,
        other: u32,
    ) -> Handle {
        debug_assert_eq!(waits, !self.is_empty());
        let raw = select_unpredictable(waits, self.head, other);
        // SAFETY: the queue owns its packets, and the caller owns the other one.
        let next = unsafe { (*packets.slot(raw)).next };
        self.head = select_unpredictable(waits, next, NIL);
        packets.prefetch(select_unpredictable(self.head == NIL, raw, self.head));
        Handle(raw)
    }

    /// Returns the first packet.
    #[inline]
    pub fn peek<'q, P: Copy + Send>(&'q self, packets: &Packets<'q, P>) -> Option<&'q P> {
        if self.head == NIL {
            return None;
        }
        // SAFETY: the queue owns its packets, and is borrowed while the reference is alive.
        Some(unsafe { &(*packets.slot(self.head)).packet })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_keep_order_and_slots_are_reused() {
        let arena = Arena::<u64>::new();
        let mut packets = arena.packets();
        let mut queue = Fifo::default();
        for round in 0..3u64 {
            for value in 0..2 * BATCH as u64 + 9 {
                let packet = round * 1_000_000 + value;
                let handle = match value % 2 {
                    0 => packets.insert(packet),
                    _ => packets.insert_copy(&packet),
                };
                queue.push(&packets, handle);
            }
            assert_eq!(queue.peek(&packets), Some(&(round * 1_000_000)));
            for value in 0..2 * BATCH as u64 + 9 {
                let mut handle = queue.pop(&packets).unwrap();
                *packets.get_mut(&mut handle) += 1;
                assert_eq!(packets.remove(handle), round * 1_000_000 + value + 1);
            }
            assert!(queue.is_empty() && queue.pop(&packets).is_none());
        }
        assert!(arena.shared.lock().unwrap().fresh <= 3 * BATCH, "freed slots are used again");
    }

    #[test]
    fn tags_travel_beside_packets_of_several_lines() {
        let arena = Arena::<[u64; 12]>::new().with_tags(true);
        let mut packets = arena.packets();
        let mut handles: Vec<Handle> = (0..9).map(|value| packets.insert([value; 12])).collect();
        for (value, handle) in (0..).zip(&mut handles) {
            packets.set_tag(handle, value << 40 | 7);
        }
        let other = arena.packets();
        for (value, handle) in (0..).zip(handles) {
            assert_eq!(other.tag(&handle), value << 40 | 7);
            assert_eq!(packets.remove(handle), [value; 12]);
        }
    }

    #[test]
    fn a_new_packet_has_the_tag_0_whatever_its_slot_had() {
        let arena = Arena::<u64>::new().with_tags(true);
        let mut packets = arena.packets();
        let mut first = packets.insert(1);
        packets.set_tag(&mut first, 7);
        let slot = first.0;
        packets.discard(first);
        let second = packets.insert(2);
        assert_eq!((second.0, packets.tag(&second)), (slot, 0));
    }

    #[test]
    fn what_is_neither_removed_nor_discarded_is_undelivered() {
        let arena = Arena::<u64>::new();
        let (mut one, mut other) = (arena.packets(), arena.packets());
        let kept: Vec<Handle> = (0..3 * BATCH as u64).map(|value| one.insert(value)).collect();
        let mut queue = Fifo::default();
        for (value, handle) in (0..).zip(kept) {
            match value % 3 {
                0 => queue.push(&other, handle),
                1 => drop(other.remove(handle)),
                _ => one.discard(handle),
            }
        }
        let free = vec![one.into_free_slots(), other.into_free_slots()];
        let mut left = Vec::new();
        Undelivered::new(arena, free).each(|&value| left.push(value));
        left.sort_unstable();
        assert_eq!(left, (0..BATCH as u64).map(|value| value * 3).collect::<Vec<_>>());
    }

    #[test]
    fn slots_freed_by_one_thread_serve_another() {
        let arena = Arena::<u64>::new();
        let (mut giver, mut taker) = (arena.packets(), arena.packets());
        for _ in 0..20 * BATCH {
            let handle = giver.insert(7);
            taker.remove(handle);
        }
        let fresh = arena.shared.lock().unwrap().fresh;
        assert!(fresh <= 8 * BATCH, "{fresh} slots for one live packet");
    }
}
