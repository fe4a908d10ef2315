//! Prefetches: hints to the processor that memory will be needed soon. They change only run time.

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Prefetches the first `lines` cache lines of `value`.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T, lines: usize) {
    prefetch_at(std::ptr::from_ref(value).cast(), lines);
}

/// Prefetches all of `value`, also if it does not begin at a cache line.
#[inline(always)]
pub fn prefetch_object<T>(value: &T) {
    let start: *const u8 = std::ptr::from_ref(value).cast();
    prefetch_at(start, size_of::<T>().div_ceil(LINE));
    prefetch_at(start.wrapping_add(size_of::<T>().saturating_sub(1)), 1);
}

/// Prefetches `lines` cache lines that will be written. Any address is allowed.
///
/// A line that another thread wrote last is then requested once, for writing, and not first for
/// reading and again for writing.
#[inline(always)]
pub(crate) fn prefetch_for_write(start: *const u8, lines: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[expect(clippy::pointers_in_nomem_asm_block, reason = "a prefetch reads and writes nothing")]
    for line in 0..lines {
        // Compilers emit a prefetch for reading in place of their own hint for writing, because the
        // oldest processors have no other. On those, this instruction does nothing.
        // SAFETY: a prefetch of any address is harmless.
        unsafe {
            std::arch::asm!(
                "prefetchw [{}]",
                in(reg) start.wrapping_add(LINE * line),
                options(nomem, nostack, preserves_flags)
            );
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    prefetch_at(start, lines);
}

/// Prefetches `lines` cache lines for reading. Any address is allowed.
#[inline(always)]
pub(crate) fn prefetch_at(start: *const u8, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..lines {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of any address is harmless.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(LINE * line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, lines);
}
