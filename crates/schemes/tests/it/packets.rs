//! The size of packets, and which are CNPs.

use schemes::annulus::{Annulus, Notice};
use schemes::contract::{Ctl, Either, Mix, Packet, Scheme};
use schemes::dcqcn::{Cnp, Dcqcn};
use schemes::rcm::{Control, FlowId, MAX_FLOWS, Rcm};
use schemes::rocc::{FairRate, Rocc};
use units::{NodeId, PortId};

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

fn is_cnp<S: Scheme>(ctl: S::Ctl) -> bool {
    ctl.is_cnp()
}

/// A control packet of the size of a CNP may be none, and so may one of a scheme that has CNPs.
#[test]
fn control_packets_say_whether_they_are_cnps() {
    assert!(is_cnp::<Annulus>(Notice::Congestion));
    assert!(!is_cnp::<Annulus>(Notice::NearSource(1)));
    let region = schemes::rcm::Notice { degree: 1, count: 0, flows: [FlowId(0); MAX_FLOWS] };
    assert!(is_cnp::<Rcm>(Control::Congestion) && !is_cnp::<Rcm>(Control::Region(region)));
    let rate = FairRate { steps: 1, origin: (NodeId::new(0), PortId::new(0)) };
    assert!(is_cnp::<Mix<Dcqcn, Rocc>>(Either::First(Cnp)));
    assert!(!is_cnp::<Mix<Dcqcn, Rocc>>(Either::Second(rate)));
}
