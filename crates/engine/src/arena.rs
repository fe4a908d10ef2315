//! Where packets live: slots in chunks that never move, reached by 4-byte handles.
//!
//! A packet is written once and travels as a handle; queues are linked through the slots, so a
//! queue is two numbers and an empty one costs nothing. A handle can't be copied: whoever holds it
//! owns the packet, on whatever thread, and that is why access to it needs no lock.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Mutex;

/// Handles fit the mailbox entry's 30 bits.
pub(crate) const HANDLE_BITS: u32 = 30;
const CHUNK_BITS: u32 = 15;
const CHUNK: usize = 1 << CHUNK_BITS;
const CHUNKS: usize = 1 << (HANDLE_BITS - CHUNK_BITS);
const NIL: u32 = u32::MAX;
const HUGE_PAGE: usize = 2 << 20;
/// How many free slots travel at once between threads.
const BATCH: usize = 4096;

/// Ownership of a packet in the arena.
#[derive(Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Handle(u32);

impl Handle {
    pub(crate) fn into_raw(self) -> u32 {
        self.0
    }
    /// The caller must own the packet: it got `raw` from [`Handle::into_raw`] and drops it here.
    pub(crate) fn from_raw(raw: u32) -> Handle {
        Handle(raw)
    }
}

/// A slot begins a cache line, so that a small packet takes one and no packet one too many.
#[repr(C, align(64))]
struct Slot<P> {
    next: u32,
    packet: P,
}

/// All packets of a run.
pub struct Arena<P: Copy + Send> {
    /// Each is written once, before the first handle to one of its slots is made.
    chunks: Box<[UnsafeCell<*mut Slot<P>>; CHUNKS]>,
    shared: Mutex<Pool>,
    owns: PhantomData<Slot<P>>,
}

struct Pool {
    chunks: usize,
    free: Vec<Vec<u32>>,
}

// SAFETY: a slot is reached only through its one handle, or through a queue that holds it, and
// those are owned values that move between threads; `P` is `Send`. The pool is behind a lock, and
// a chunk's place is written under it once, before anyone can have a reason to read it.
unsafe impl<P: Copy + Send> Sync for Arena<P> {}
// SAFETY: as above.
unsafe impl<P: Copy + Send> Send for Arena<P> {}

impl<P: Copy + Send> Arena<P> {
    /// An empty arena.
    #[expect(clippy::new_without_default, reason = "there is one arena per run, made on purpose")]
    pub fn new() -> Arena<P> {
        let chunks: Vec<_> = (0..CHUNKS).map(|_| UnsafeCell::new(std::ptr::null_mut())).collect();
        let chunks = chunks.try_into().unwrap_or_else(|_| unreachable!("it has that length"));
        let shared = Mutex::new(Pool { chunks: 0, free: Vec::new() });
        Arena { chunks, shared, owns: PhantomData }
    }

    /// A chunk begins at a huge page, and 32768 slots of whole cache lines fill some.
    fn chunk_layout() -> Layout {
        let slots = Layout::array::<Slot<P>>(CHUNK).expect("a chunk is a few megabytes");
        slots.align_to(HUGE_PAGE).expect("a power of two")
    }

    /// A thread's door to the packets.
    pub fn packets(&self) -> Packets<'_, P> {
        Packets { arena: self, free: Vec::new() }
    }

    #[inline]
    fn slot(&self, raw: u32) -> NonNull<Slot<P>> {
        // SAFETY: whoever has a handle got it, by a barrier or a lock, from the thread that wrote
        // its chunk's place before: nobody writes there any more.
        let chunk = unsafe { *self.chunks[(raw >> CHUNK_BITS) as usize & (CHUNKS - 1)].get() };
        debug_assert!(!chunk.is_null(), "a handle of another arena");
        // SAFETY: a handle is only made for a slot of a chunk that exists, and chunks stay.
        unsafe { NonNull::new_unchecked(chunk.add(raw as usize & (CHUNK - 1))) }
    }

    /// Free slots: a batch that another thread had too many of, or a new chunk.
    #[cold]
    fn more(&self) -> Vec<u32> {
        let mut pool = self.shared.lock().expect("no thread panics with the pool");
        if let Some(batch) = pool.free.pop() {
            return batch;
        }
        let index = pool.chunks;
        assert!(index < CHUNKS, "more than 2^{HANDLE_BITS} packets at once");
        pool.chunks += 1;
        let layout = Self::chunk_layout();
        // SAFETY: the layout is not empty: a slot holds at least `next`.
        let chunk = unsafe { alloc(layout) }.cast::<Slot<P>>();
        if chunk.is_null() {
            handle_alloc_error(layout);
        }
        ask_for_huge_pages(chunk.cast(), layout.size());
        // SAFETY: only here is this place written, under the lock; its slots have no handles yet.
        unsafe { *self.chunks[index].get() = chunk };
        let first = (index << CHUNK_BITS) as u32;
        (first..first + CHUNK as u32).rev().collect()
    }
}

/// Asks the system to back memory with huge pages: packets lie all over the arena, and a look-up of
/// its page costs as much as the packet.
fn ask_for_huge_pages(start: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    // SAFETY: the range was just allocated; the advice changes nothing that can be seen.
    unsafe {
        libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
}

impl<P: Copy + Send> Drop for Arena<P> {
    fn drop(&mut self) {
        let layout = Self::chunk_layout();
        for chunk in self.chunks.iter_mut() {
            let chunk = *chunk.get_mut();
            if !chunk.is_null() {
                // SAFETY: allocated in `more` with this layout; packets are `Copy` and need no drop.
                unsafe { dealloc(chunk.cast(), layout) };
            }
        }
    }
}

/// A thread's door to the packets of the run, with its own stock of free slots.
pub struct Packets<'a, P: Copy + Send> {
    arena: &'a Arena<P>,
    free: Vec<u32>,
}

impl<'a, P: Copy + Send> Packets<'a, P> {
    /// Puts a packet into the arena.
    #[inline]
    pub fn insert(&mut self, packet: P) -> Handle {
        let raw = match self.free.pop() {
            Some(raw) => raw,
            None => {
                self.free = self.arena.more();
                self.free.pop().expect("batches are not empty")
            }
        };
        // SAFETY: a free slot has no handle, so nobody else reaches it; the slot may hold no valid
        // value yet, hence a write without a read.
        unsafe { self.arena.slot(raw).write(Slot { next: NIL, packet }) };
        Handle(raw)
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
            self.give_back();
        }
    }

    /// What one thread frees and does not use, others may need.
    #[cold]
    fn give_back(&mut self) {
        let batch = self.free.split_off(self.free.len() - BATCH);
        self.arena.shared.lock().expect("no thread panics with the pool").free.push(batch);
    }

    /// The packet of a handle.
    #[inline]
    pub fn get<'h>(&self, handle: &'h Handle) -> &'h P
    where
        'a: 'h,
    {
        // SAFETY: the handle owns the slot, and is borrowed as long as the reference lives.
        unsafe { &(*self.arena.slot(handle.0).as_ptr()).packet }
    }

    /// The packet of a handle, to change it.
    #[inline]
    pub fn get_mut<'h>(&self, handle: &'h mut Handle) -> &'h mut P
    where
        'a: 'h,
    {
        // SAFETY: the handle owns the slot, and is borrowed alone as long as the reference lives.
        unsafe { &mut (*self.arena.slot(handle.0).as_ptr()).packet }
    }

    /// A packet that waits in a mailbox, for the device that it is for.
    #[inline]
    pub(crate) fn peek(&self, raw: u32) -> &P {
        // SAFETY: the box owns the packet, and the device that looks will take it from there: nobody
        // changes it meanwhile.
        unsafe { &(*self.arena.slot(raw).as_ptr()).packet }
    }

    /// Has the processor fetch a packet that will be needed soon.
    #[inline]
    pub(crate) fn prefetch(&self, raw: u32) {
        let slot = self.arena.slot(raw).as_ptr();
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch of any address is harmless.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            for line in 0..(size_of::<Slot<P>>() / 64).min(4) {
                _mm_prefetch::<_MM_HINT_T0>(slot.cast::<i8>().add(64 * line));
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = slot;
    }
}

/// A first-in first-out queue of packets, linked through their slots.
#[derive(Debug)]
pub struct Fifo {
    head: u32,
    tail: u32,
}

impl Default for Fifo {
    fn default() -> Fifo {
        Fifo { head: NIL, tail: NIL }
    }
}

impl Fifo {
    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == NIL
    }

    /// Adds a packet at the end.
    #[inline]
    pub fn push<P: Copy + Send>(&mut self, packets: &Packets<'_, P>, handle: Handle) {
        let raw = handle.into_raw();
        // SAFETY: the queue now owns the packet (its handle is spent), as it owns its tail.
        unsafe {
            (*packets.arena.slot(raw).as_ptr()).next = NIL;
            if self.head == NIL {
                self.head = raw;
            } else {
                (*packets.arena.slot(self.tail).as_ptr()).next = raw;
            }
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
        self.head = unsafe { (*packets.arena.slot(raw).as_ptr()).next };
        if self.head != NIL {
            // Its packet may have been waiting for long; it goes next.
            packets.prefetch(self.head);
        }
        Some(Handle(raw))
    }

    /// The first packet.
    #[inline]
    pub fn peek<'q, P: Copy + Send>(&'q self, packets: &Packets<'q, P>) -> Option<&'q P> {
        if self.head == NIL {
            return None;
        }
        // SAFETY: the queue owns its packets, and is borrowed as long as the reference lives.
        Some(unsafe { &(*packets.arena.slot(self.head).as_ptr()).packet })
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
            for value in 0..CHUNK as u64 + 9 {
                let handle = packets.insert(round * 1_000_000 + value);
                queue.push(&packets, handle);
            }
            assert_eq!(queue.peek(&packets), Some(&(round * 1_000_000)));
            for value in 0..CHUNK as u64 + 9 {
                let mut handle = queue.pop(&packets).unwrap();
                *packets.get_mut(&mut handle) += 1;
                assert_eq!(packets.remove(handle), round * 1_000_000 + value + 1);
            }
            assert!(queue.is_empty() && queue.pop(&packets).is_none());
        }
        assert!(arena.shared.lock().unwrap().chunks <= 2, "freed slots are used again");
    }

    #[test]
    fn slots_freed_by_one_thread_serve_another() {
        let arena = Arena::<u64>::new();
        let (mut giver, mut taker) = (arena.packets(), arena.packets());
        for _ in 0..20 * BATCH {
            let handle = giver.insert(7);
            taker.remove(handle);
        }
        let chunks = arena.shared.lock().unwrap().chunks;
        assert!(chunks * CHUNK <= 6 * BATCH + 2 * CHUNK, "{chunks} chunks for one live packet");
    }
}
