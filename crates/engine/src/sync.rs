//! What threads share: the standard library's types, or where the engine is modelled, loom's.
//!
//! Loom runs a piece of code under every order of its memory accesses (`make loom`). The models are
//! in `models`. They have the engine's own code and these types in place of the real ones.

#[cfg(not(loom))]
pub(crate) use std::{
    cell::UnsafeCell,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    thread::yield_now,
    time::Instant,
};

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    thread::yield_now,
};
#[cfg(loom)]
pub(crate) use modelled::Instant;

/// The pointer to what the cell holds.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) fn pointer<T>(cell: &UnsafeCell<T>) -> *mut T {
    cell.get()
}

/// The pointer to what the cell holds. The model fails unless all accesses happened before this one.
#[cfg(loom)]
pub(crate) fn pointer<T>(cell: &UnsafeCell<T>) -> *mut T {
    cell.with_mut(|value| value)
}

/// Does nothing. The accesses around it are in one order that all threads agree on (`SeqCst`), which
/// loom knows of fences alone.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) fn seq_cst_fence() {}

/// Loom takes a sequentially consistent access for acquire and release: a fence stands for the rest.
#[cfg(loom)]
pub(crate) fn seq_cst_fence() {
    loom::sync::atomic::fence(Ordering::SeqCst);
}

#[cfg(loom)]
mod modelled {
    use std::ops::Sub;
    use std::time::Duration;

    /// A clock on which every wait takes a second: what happens must not depend on the real one.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Instant;

    impl Instant {
        pub(crate) fn now() -> Instant {
            Instant
        }

        pub(crate) fn elapsed(&self) -> Duration {
            Duration::from_secs(1)
        }
    }

    impl Sub for Instant {
        type Output = Duration;

        fn sub(self, _: Instant) -> Duration {
            Duration::ZERO
        }
    }
}
