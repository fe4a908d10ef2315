//! Stores values that many QPs have in common only once.

use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// The values that are in use somewhere in the process. Most QPs of a network use the same
/// constants. If all read the same copy, it stays in the L1 cache.
pub(crate) struct Shared<T>(Mutex<Vec<Weak<T>>>);

impl<T: PartialEq> Shared<T> {
    /// Maximum number of values that are stored and searched. If each path has its own value, there
    /// may be as many as QPs.
    const MAX_SEARCHED: usize = 16;

    pub(crate) const fn new() -> Shared<T> {
        Shared(Mutex::new(Vec::new()))
    }

    /// Returns an equal value that is in use, or else this one.
    pub(crate) fn share(&self, value: T) -> Arc<T> {
        let mut known = self.known();
        find(&known, |same| *same == value).unwrap_or_else(|| Self::keep(&mut known, value))
    }

    /// Returns a value in use for which `is_wanted` is true, or else what `make` returns. For
    /// values that take long to make.
    pub(crate) fn share_or_make(
        &self,
        is_wanted: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        let mut known = self.known();
        find(&known, is_wanted).unwrap_or_else(|| Self::keep(&mut known, make()))
    }

    fn known(&self) -> MutexGuard<'_, Vec<Weak<T>>> {
        self.0.lock().expect("nobody panics with the values")
    }

    fn keep(known: &mut Vec<Weak<T>>, value: T) -> Arc<T> {
        let value = Arc::new(value);
        known.retain(|other| other.strong_count() > 0);
        if known.len() < Self::MAX_SEARCHED {
            known.push(Arc::downgrade(&value));
        }
        value
    }
}

fn find<T>(known: &[Weak<T>], is_wanted: impl Fn(&T) -> bool) -> Option<Arc<T>> {
    known.iter().filter_map(Weak::upgrade).find(|value| is_wanted(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_kept_once_as_long_as_they_are_used() {
        static NUMBERS: Shared<f64> = Shared::new();
        let [one, two, again] = [1.0, 2.0, 1.0].map(|number| NUMBERS.share(number));
        assert!(Arc::ptr_eq(&one, &again) && !Arc::ptr_eq(&one, &two));
        let made = NUMBERS.share_or_make(|number| *number > 1.5, || unreachable!("there is one"));
        assert!(Arc::ptr_eq(&two, &made));
        drop((one, again));
        let many: Vec<_> = (0..40).map(|number| NUMBERS.share(f64::from(number))).collect();
        assert!(many.iter().enumerate().all(|(number, kept)| **kept == number as f64));
        assert!(Arc::ptr_eq(&two, &many[2]));
        assert!(NUMBERS.0.lock().unwrap().len() <= Shared::<f64>::MAX_SEARCHED);
    }
}
