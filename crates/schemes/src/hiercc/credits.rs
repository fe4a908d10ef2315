//! The credit scheduler of a downlink, at the receiving ToR.

use crate::contract::Address;
use units::{Bytes, Rate, Time};

/// What the last packet of a VOQ told the receiving ToR.
#[derive(Clone, Copy, Debug)]
pub struct CreditRequest {
    /// The rack that the VOQ is of.
    pub rack: u32,
    /// F.
    pub flows: u32,
    /// S.
    pub sent: u64,
    /// The packet's addresses: a credit goes back to its sender's rack.
    pub address: Address,
}

/// A credit, at the receiving ToR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The rack whose VOQ gets it.
    pub rack: u32,
    /// The addresses of the packet that the VOQ was last heard of by.
    pub address: Address,
    /// C_sent with this credit, bytes.
    pub granted: u64,
}

/// A VOQ in the table of a downlink.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    address: Address,
    /// F.
    flows: u32,
    /// Credits that it may still get in the round that it was last looked at in.
    turns: u32,
    round: u64,
    /// S.
    sent: u64,
    /// C_sent, bytes of credits granted.
    granted: u64,
}

impl Entry {
    fn wants(&self) -> bool {
        self.granted < self.sent && self.flows > 0
    }

    /// Another round has begun since it was last looked at, perhaps.
    fn enter(&mut self, round: u64) {
        if self.round != round {
            (self.round, self.turns) = (round, self.flows);
        }
    }
}

/// The WRR credit scheduler of a downlink (section 3.2), a VOQ for each rack.
///
/// The weight of a VOQ is F. A round gives each VOQ as many credits as it has flows, one at a time in
/// turn, and ends when those that want credits have had theirs. Credits are spaced to the downlink's
/// rate, and what the link carries without credits (ACKs, rate messages) takes its time from them:
/// the paper does not say so, but the queue would grow without bound.
#[derive(Clone, Debug)]
pub struct Downlink {
    rate: Rate,
    credit: u64,
    /// By rack.
    entries: Vec<Entry>,
    /// A bit for each entry with C_sent < S, and for each of them that may still get credits in this
    /// round.
    wants: Vec<u64>,
    in_turn: Vec<u64>,
    round: u64,
    cursor: usize,
    /// Credits granted so far, and bytes without any, fill the link until then.
    filled: Time,
    due: Time,
}

impl Downlink {
    /// The scheduler of a link of this rate, which grants credits of `credit` bytes (Delta).
    pub fn new(rate: Rate, credit: Bytes, racks: usize) -> Downlink {
        Downlink {
            rate,
            credit: credit.get(),
            entries: vec![Entry::default(); racks],
            wants: vec![0; racks.div_ceil(64)],
            in_turn: vec![0; racks.div_ceil(64)],
            round: 0,
            cursor: 0,
            filled: Time::ZERO,
            due: Time::NEVER,
        }
    }

    /// A packet of a VOQ arrived. One that others have overtaken on another path has an old S.
    pub fn on_request(&mut self, now: Time, request: &CreditRequest) {
        let entry = &mut self.entries[request.rack as usize];
        entry.enter(self.round);
        entry.address = request.address;
        entry.flows = request.flows;
        entry.sent = entry.sent.max(request.sent);
        self.note(request.rack as usize);
        self.arm(now);
    }

    /// The link carries so many bytes without credits.
    pub fn carry(&mut self, now: Time, bytes: u64) {
        self.filled = self.filled.max(now) + self.rate.time_for(Bytes::new(bytes));
        self.arm(now);
    }

    /// When the next credit goes.
    #[inline]
    pub fn due(&self) -> Time {
        self.due
    }

    /// The credit that is due at `now`.
    pub fn grant(&mut self, now: Time) -> Grant {
        let rack = self.next();
        let entry = &mut self.entries[rack];
        entry.enter(self.round);
        entry.turns -= 1;
        entry.granted += self.credit;
        let grant = Grant { rack: rack as u32, address: entry.address, granted: entry.granted };
        self.note(rack);
        self.cursor = rack + 1;
        self.filled = self.filled.max(now) + self.rate.time_for(Bytes::new(self.credit));
        self.arm(now);
        grant
    }

    fn arm(&mut self, now: Time) {
        let nobody = self.wants.iter().all(|bits| *bits == 0);
        self.due = if nobody { Time::NEVER } else { self.filled.max(now) };
    }

    /// The VOQ whose turn it is.
    fn next(&mut self) -> usize {
        if let Some(rack) = self.search() {
            return rack;
        }
        self.round += 1;
        self.in_turn.copy_from_slice(&self.wants);
        self.search().expect("a VOQ wants a credit, and has a flow at least")
    }

    /// Whether the VOQ of a rack wants credits, or may still get some in this round, changed, perhaps.
    fn note(&mut self, rack: usize) {
        let entry = &self.entries[rack];
        let (word, bit) = (rack / 64, rack % 64);
        let put =
            |bits: &mut u64, is_so: bool| *bits = *bits & !(1 << bit) | u64::from(is_so) << bit;
        put(&mut self.wants[word], entry.wants());
        put(&mut self.in_turn[word], entry.wants() && entry.turns > 0);
    }

    /// The first one in turn from the cursor on.
    fn search(&self) -> Option<usize> {
        let (word, bit) = (self.cursor / 64, self.cursor % 64);
        let words = self.in_turn.len();
        let first = self.in_turn.get(word).map_or(0, |bits| bits & u64::MAX << bit);
        let rest = (word + 1..words).chain(0..words.min(word + 1));
        std::iter::once((word, first))
            .chain(rest.map(|word| (word, self.in_turn[word])))
            .find(|(_, bits)| *bits != 0)
            .map(|(word, bits)| word * 64 + bits.trailing_zeros() as usize)
    }
}
