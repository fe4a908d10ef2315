//! Memory that the system may refuse, for the lists that grow with the input.
//!
//! A list that cannot be allocated unwinds with [`NoMemory`], so that a caller can report it and
//! go on. Everything else that cannot be allocated ends the process.

use std::cell::Cell;
use std::fmt;
use std::panic::resume_unwind;

thread_local! {
    static FALLIBLE: Cell<bool> = const { Cell::new(false) };
}

/// The payload of an unwinding: the system refused the memory for a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory {
    /// What the list holds, in the plural.
    pub what: &'static str,
    /// How many entries there would be.
    pub entries: usize,
    /// Bytes that were asked for.
    pub bytes: usize,
}

impl fmt::Display for NoMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoMemory { what, entries, bytes } = self;
        write!(f, "out of memory: the system refused {bytes} bytes for {entries} {what}")
    }
}

/// Whether this thread is in an allocation that may fail. An allocator that ends the process when
/// it has no memory must return null then.
pub fn is_fallible() -> bool {
    FALLIBLE.get()
}

/// Makes room for exactly `more` entries in `list`; `what` they are, in the plural.
///
/// # Panics
/// With [`NoMemory`] where the system refuses.
pub fn reserve<T>(list: &mut Vec<T>, more: usize, what: &'static str) {
    let outer = FALLIBLE.replace(true);
    let done = list.try_reserve_exact(more);
    FALLIBLE.set(outer);
    if done.is_err() {
        let entries = list.len().saturating_add(more);
        let bytes = entries.saturating_mul(size_of::<T>());
        resume_unwind(Box::new(NoMemory { what, entries, bytes }));
    }
}

/// All that `entries` gives, in a list that is allocated at once.
///
/// # Panics
/// As [`reserve`].
pub fn collect<T>(entries: impl ExactSizeIterator<Item = T>, what: &'static str) -> Vec<T> {
    let mut list = Vec::new();
    reserve(&mut list, entries.len(), what);
    list.extend(entries);
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn a_list_that_does_not_fit_unwinds_and_says_what_it_was() {
        let entries = usize::MAX / 4;
        let payload = catch_unwind(|| reserve(&mut vec![1u64], entries, "messages")).unwrap_err();
        let told = payload.downcast_ref::<NoMemory>().unwrap();
        assert_eq!((told.what, told.entries), ("messages", entries + 1));
        assert!(told.to_string().ends_with(&format!("for {} messages", entries + 1)));
        assert!(!is_fallible(), "the next allocation is as any other");
    }

    #[test]
    fn a_list_is_allocated_at_once() {
        let list = collect((0..1000u32).map(|n| n * 2), "numbers");
        assert_eq!((list.len(), list.capacity(), list[999]), (1000, 1000, 1998));
    }
}
