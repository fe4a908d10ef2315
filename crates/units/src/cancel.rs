//! Long computations that their caller may cancel.
//!
//! The caller runs the work in a [`scope`] with a flag that another thread may set. Loops that may
//! take long call [`check`] once per step. Once the flag is set, the next check unwinds the stack
//! with [`Cancelled`], which the caller takes from `catch_unwind`. So no function on the way needs
//! a parameter or an error for it, and no half-made value is left.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a cancelled computation unwinds with. No panic message is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

thread_local! {
    /// The flag of the innermost scope of this thread.
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Puts the flag of the outer scope back, also while the stack unwinds.
struct Restore(Option<Arc<AtomicBool>>);

impl Drop for Restore {
    fn drop(&mut self) {
        FLAG.set(self.0.take());
    }
}

/// Calls `work`, in which [`check`] obeys `flag`, and no flag of an outer scope.
///
/// ```
/// use std::panic::{AssertUnwindSafe, catch_unwind};
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
/// use units::cancel::{Cancelled, check, scope};
///
/// let flag = Arc::new(AtomicBool::new(true));
/// let outcome = catch_unwind(AssertUnwindSafe(|| scope(&flag, check)));
/// assert!(outcome.unwrap_err().is::<Cancelled>());
/// ```
pub fn scope<T>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let _restore = Restore(FLAG.replace(Some(Arc::clone(flag))));
    work()
}

/// Calls `work`, in which [`check`] obeys no flag: what it makes is kept.
pub fn shielded<T>(work: impl FnOnce() -> T) -> T {
    let _restore = Restore(FLAG.replace(None));
    work()
}

/// Unwinds with [`Cancelled`] where the flag of this thread's innermost [`scope`] is set.
#[inline]
pub fn check() {
    let cancelled =
        FLAG.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)));
    if cancelled {
        resume_unwind(Box::new(Cancelled));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn outcome(work: impl FnOnce()) -> Result<(), bool> {
        catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic.is::<Cancelled>())
    }

    #[test]
    fn a_check_obeys_the_innermost_scope() {
        let (set, clear) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        check();
        assert_eq!(outcome(|| scope(&set, check)), Err(true));
        assert_eq!(outcome(|| scope(&set, || scope(&clear, check))), Ok(()));
        assert_eq!(outcome(|| scope(&set, || shielded(check))), Ok(()));
        assert_eq!(outcome(|| scope(&clear, || scope(&set, check))), Err(true));
        // Scopes that ended, also by unwinding, have no effect.
        check();
        scope(&clear, || {
            assert_eq!(outcome(|| scope(&set, check)), Err(true));
            check();
        });
    }

    #[test]
    fn a_flag_that_another_thread_sets_ends_a_loop() {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&flag);
        let worker = std::thread::spawn(move || {
            outcome(|| {
                scope(&theirs, || {
                    loop {
                        check();
                    }
                });
            })
        });
        flag.store(true, Ordering::Relaxed);
        assert_eq!(worker.join().unwrap(), Err(true));
    }
}
