//! The size of packets.

use schemes::contract::{Packet, Scheme};

/// Checks the size of packets: with the arena's link of 4 bytes they fill whole cache lines.
#[test]
fn packets_take_one_cache_line_and_two_where_they_carry_much() {
    let mut lines = Vec::new();
    macro_rules! lines {
        ($($module:ident: $first:ty $(, $deeper:ty)*;)*) => {
            $({
                let count = (4 + size_of::<Packet<$first>>()).div_ceil(64);
                lines.push((<$first as Scheme>::NAME, count));
            })*
        };
    }
    schemes::for_each_scheme!(lines);
    let of = |wanted| -> Vec<&str> {
        lines.iter().filter(|(_, lines)| *lines == wanted).map(|(name, _)| *name).collect()
    };
    const HINT: &str = "packets of other schemes than listed here take more lines: make `Meta` \
                        and `Ctl` smaller, or add the scheme's name to the list, in the order \
                        of the registry";
    let two = [
        "hpcc",
        "hpcc+tcd",
        "expresspass",
        "rocc",
        "mercury+hpcc",
        "fncc",
        "themis",
        "hiercc",
        "rcm",
    ];
    assert_eq!(of(2), two, "two cache lines: {HINT}");
    assert_eq!(of(3), ["themis+hpcc"], "three cache lines: {HINT}");
    assert_eq!(of(1).len(), lines.len() - two.len() - 1, "more than three cache lines");
}
