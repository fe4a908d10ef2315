//! What hosts and switches count, put together.

/// Adds what a host, a switch or another scheme counted under a name to what is known of that name.
/// Counts are added up, and of a name that begins with `max_` the largest value remains.
pub fn add_counter(known: &mut u64, name: &str, count: u64) {
    if name.starts_with("max_") {
        *known = (*known).max(count);
    } else {
        *known += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_added_and_maxima_kept() {
        let (mut sent, mut longest) = (3, 3);
        add_counter(&mut sent, "sent", 2);
        add_counter(&mut longest, "max_queue", 2);
        assert_eq!((sent, longest), (5, 3));
    }
}
