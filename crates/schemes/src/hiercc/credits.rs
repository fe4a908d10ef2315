//! The credit scheduler of a downlink, at the receiving ToR.

use crate::contract::Address;
use units::{Bytes, Rate, Time};

/// What the last packet of a VOQ reported to the receiving ToR.
#[derive(Clone, Copy, Debug)]
pub struct CreditRequest {
    /// The rack of the VOQ.
    pub rack: u32,
    /// F.
    pub flows: u32,
    /// S.
    pub sent: u64,
    /// The packet's addresses. A credit goes back to its sender's rack.
    pub address: Address,
}

/// A credit, as the receiving ToR grants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The rack whose VOQ gets it.
    pub rack: u32,
    /// The addresses of the last packet of the VOQ.
    pub address: Address,
    /// C_sent including this credit, bytes.
    pub granted: u64,
}

/// The entry of a VOQ in a downlink's table.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    address: Address,
    /// F.
    flows: u32,
    /// Credits that it may still get in round `round`.
    turns: u32,
    round: u64,
    /// S.
    sent: u64,
    /// C_sent, total bytes of granted credits.
    granted: u64,
}

impl Entry {
    fn wants(&self) -> bool {
        self.granted < self.sent && self.flows > 0
    }

    /// Refills the credits of this round if the entry was last used in an earlier round.
    fn enter(&mut self, round: u64) {
        if self.round != round {
            (self.round, self.turns) = (round, self.flows);
        }
    }
}

/// The WRR credit scheduler of a downlink (section 3.2). It has one entry per rack.
///
/// The weight of a VOQ is F. A round gives each VOQ as many credits as it has flows, one at a time
/// in turn. A VOQ that comes during a round takes part in it. The round ends when all VOQs that
/// want credits have had theirs. Credits are spaced at the downlink's rate. Traffic that needs no
/// credits (ACKs, rate messages) delays the next credit by its own transmission time. The paper
/// does not say so, but without it the queue would grow without bound.
#[derive(Clone, Debug)]
pub struct Downlink {
    rate: Rate,
    credit: u64,
    /// One entry per rack.
    entries: Vec<Entry>,
    /// A bit for each entry with C_sent < S.
    wants: Vec<u64>,
    /// A bit for each of these that may still get credits in this round.
    in_turn: Vec<u64>,
    round: u64,
    cursor: usize,
    /// The link is busy until this time with granted credits and other bytes.
    filled: Time,
    due: Time,
}

impl Downlink {
    /// Returns the rate of the link.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The link has this rate from now on. What was granted stays granted.
    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// Returns the scheduler of a link of this rate, with credits of `credit` bytes (Delta).
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

    /// Notes the request of a VOQ's packet. If the packet was overtaken on another path, its S is
    /// old and has no effect.
    pub fn on_request(&mut self, now: Time, request: &CreditRequest) {
        let entry = &mut self.entries[request.rack as usize];
        entry.address = request.address;
        entry.flows = request.flows;
        entry.enter(self.round);
        entry.sent = entry.sent.max(request.sent);
        self.note(request.rack as usize);
        self.arm(now);
    }

    /// Accounts for bytes on the link that need no credits.
    pub fn carry(&mut self, now: Time, bytes: u64) {
        self.filled = self.filled.max(now) + self.rate.time_for(Bytes::new(bytes));
        self.arm(now);
    }

    /// Time of the next credit.
    #[inline]
    pub fn due(&self) -> Time {
        self.due
    }

    /// Grants the credit that is due at `now`.
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

    /// Returns the VOQ that gets the next credit, and starts a new round if needed.
    fn next(&mut self) -> usize {
        if let Some(rack) = self.search() {
            return rack;
        }
        self.round += 1;
        self.in_turn.copy_from_slice(&self.wants);
        self.search().expect("a VOQ wants a credit, and has a flow at least")
    }

    /// Updates the bits of a rack's VOQ after a change of its entry.
    fn note(&mut self, rack: usize) {
        let entry = &self.entries[rack];
        let (word, bit) = (rack / 64, rack % 64);
        let put =
            |bits: &mut u64, is_so: bool| *bits = *bits & !(1 << bit) | u64::from(is_so) << bit;
        put(&mut self.wants[word], entry.wants());
        put(&mut self.in_turn[word], entry.wants() && entry.turns > 0);
    }

    /// Returns the first VOQ with credits left in this round, from the cursor on.
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
