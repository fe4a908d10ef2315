//! The allocator, and what happens where it has no memory.
//!
//! Rust's standard library aborts the process when an allocation fails, and an allocator must not
//! unwind. So the process is ended here, with a line and an exit code: what is on disk stays whole.
//! Lists that grow with the input are allocated so that they may fail
//! ([`units::memory`]): these become a `MemoryError`.

use mimalloc::MiMalloc;
use pyo3::prelude::*;
use std::alloc::{GlobalAlloc, Layout};
use std::ffi::{c_int, c_void};
use units::memory::is_fallible;

/// Mimalloc, which asks the system for huge pages: in a network of 8192 hosts, whose packets call
/// at ports all over memory, every eighth nanosecond went into looking pages up.
pub(crate) struct Allocator;

// SAFETY: all is mimalloc's, which keeps the contract; where it has no memory, null is returned, or
// the process ends.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are mimalloc's conditions.
        check(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        check(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }
    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { MiMalloc.dealloc(pointer, layout) }
    }
    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        check(unsafe { MiMalloc.realloc(pointer, layout, size) }, size)
    }
}

#[inline(always)]
fn check(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        no_memory(size);
    }
    pointer
}

/// Ends the process, unless the allocation may fail.
#[cold]
#[inline(never)]
fn no_memory(size: usize) {
    if is_fallible() {
        return;
    }
    let mut line = Line { text: [0; 160], end: 0 };
    line.put(b"\nerror: out of memory: the system refused ");
    line.put_number(size);
    line.put(b" bytes; runs that are complete stay where they are\n");
    line.write();
    // SAFETY: it may be called at any time, and runs nothing of ours.
    unsafe { _exit(FAILED) }
}

/// The exit code of a command that failed through no fault of its input.
const FAILED: c_int = 1;
const SIGABRT: c_int = 6;
const STANDARD_ERROR: c_int = 2;

unsafe extern "C" {
    fn _exit(code: c_int) -> !;
    fn write(file: c_int, bytes: *const c_void, count: usize) -> isize;
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
}

/// A line that is made without memory.
struct Line {
    text: [u8; 160],
    end: usize,
}

impl Line {
    fn put(&mut self, bytes: &[u8]) {
        self.text[self.end..self.end + bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    fn put_number(&mut self, number: usize) {
        let mut digits = [0; 20];
        let (mut first, mut rest) = (digits.len(), number);
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.put(&digits[first..]);
    }

    fn write(&self) {
        // SAFETY: `text` holds `end` bytes. A failed write is ignored.
        let _ = unsafe { write(STANDARD_ERROR, self.text.as_ptr().cast(), self.end) };
    }
}

extern "C" fn end(_signal: c_int) {
    // SAFETY: it may be called in the handler of a signal.
    unsafe { _exit(FAILED) }
}

/// From now on a library of the process that aborts ends it with the exit code of a failure: Polars
/// aborts, after a line that says so, where it has no memory. For the command line.
#[pyfunction]
pub(crate) fn exit_on_abort() {
    // SAFETY: the handler calls nothing but `_exit`, which may be called there.
    unsafe { signal(SIGABRT, end) };
}
