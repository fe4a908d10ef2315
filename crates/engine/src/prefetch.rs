//! Hints that memory will be needed soon. They change nothing but the time a run takes.

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Has the processor fetch the first `lines` cache lines from where `value` begins.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T, lines: usize) {
    prefetch_at(std::ptr::from_ref(value).cast(), lines);
}

/// Has the processor fetch all of `value`, wherever in a cache line it begins.
#[inline(always)]
pub fn prefetch_object<T>(value: &T) {
    let start: *const u8 = std::ptr::from_ref(value).cast();
    prefetch_at(start, size_of::<T>().div_ceil(LINE));
    prefetch_at(start.wrapping_add(size_of::<T>().saturating_sub(1)), 1);
}

/// As [`prefetch`], for an address that may be any, and that will be written: what another thread wrote last is
/// asked for once, and not to be read first and then again to be written.
#[inline(always)]
pub(crate) fn prefetch_for_write(start: *const u8, lines: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[expect(clippy::pointers_in_nomem_asm_block, reason = "a prefetch reads and writes nothing")]
    for line in 0..lines {
        // Compilers turn their own hint for this into one to read, as the oldest processors have no other; these
        // do nothing here.
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

/// As [`prefetch`], for an address that may be any.
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
