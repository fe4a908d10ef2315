//! The types that threads share: the standard library's, or those of loom if the engine is
//! modelled.
//!
//! Loom runs a piece of code under every order of its memory accesses (`make loom`). The models in
//! `models.rs` run the engine's own code on loom's types.

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

/// Returns a pointer to the content of the cell.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) fn pointer<T>(cell: &UnsafeCell<T>) -> *mut T {
    cell.get()
}

/// Returns a pointer to the content of the cell. The model fails unless all earlier accesses
/// happened before this one.
#[cfg(loom)]
pub(crate) fn pointer<T>(cell: &UnsafeCell<T>) -> *mut T {
    cell.with_mut(|value| value)
}

/// Does nothing. The accesses around it are sequentially consistent (`SeqCst`), which loom models
/// for fences only.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) fn seq_cst_fence() {}

/// A fence. Loom treats a sequentially consistent access as acquire and release; the fence adds the
/// rest.
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
