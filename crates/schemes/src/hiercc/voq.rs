//! A VOQ of a sending ToR: its credits, and the rate of its senders.

use super::HierccParams;
use units::{Rate, Time};

/// The rate of the first hop, one for all flows of a VOQ (section 3.3).
#[derive(Clone, Debug)]
pub struct FirstHop {
    /// R(t-1), bits per second.
    rate: f64,
    line: f64,
    min_rate: f64,
    /// The present interval's beginning, and the bytes of data and of credits that came in it.
    begin: Time,
    arrived: u64,
    credited: u64,
    interval: Time,
    target: f64,
    /// R is the line rate below the target.
    full_below_target: bool,
    /// Rate that drains a byte above q0: beta / RTT_hop, in bits per second.
    drain: f64,
}

impl FirstHop {
    /// Begins at the senders' line rate.
    pub fn new(params: &HierccParams, line: Rate, now: Time) -> FirstHop {
        FirstHop {
            rate: line.bps() as f64,
            line: line.bps() as f64,
            min_rate: params.min_rate.min(line).bps() as f64,
            begin: now,
            arrived: 0,
            credited: 0,
            interval: Time::from_ps((params.hop_rtt.ps() as f64 / params.beta) as u64),
            target: params.target_queue.get() as f64,
            full_below_target: params.full_rate == "below-target",
            drain: params.beta * 8.0 / params.hop_rtt.as_secs_f64(),
        }
    }

    /// So many bytes of data joined the VOQ.
    pub fn arrive(&mut self, bytes: u64) {
        self.arrived += bytes;
    }

    /// A credit of so many bytes came.
    pub fn credit(&mut self, bytes: u64) {
        self.credited += bytes;
    }

    /// R(t), with `queue` bytes in the VOQ, `own` of them of the packet that asks. It is computed anew
    /// (equation 1) where RTT_hop / beta has passed since it last was: whoever asks first after that ends
    /// the interval.
    ///
    /// The paper prints the first condition as Q < 0, which can't be; read as Q < q0, or, as the parameter
    /// `full_rate` has it, as nothing else waiting. An interval without arrivals leaves R as it is.
    pub fn update(&mut self, now: Time, queue: u64, own: u64) {
        let span = now.saturating_sub(self.begin);
        if span < self.interval {
            return;
        }
        let beyond = queue as f64 - self.target;
        let is_below_target = if self.full_below_target { beyond < 0.0 } else { queue <= own };
        if is_below_target {
            self.rate = self.line;
        } else if self.arrived > 0 {
            let per_second = 8.0 / span.as_secs_f64();
            let (r_credit, r_arrive) =
                (self.credited as f64 * per_second, self.arrived as f64 * per_second);
            let rate = self.rate * (r_credit - self.drain * beyond) / r_arrive;
            self.rate = rate.clamp(self.min_rate, self.line);
        }
        (self.begin, self.arrived, self.credited) = (now, 0, 0);
    }

    /// R(t).
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.rate as u64)
    }
}

/// What a VOQ and a downlink owe each other.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// Bytes that have left the VOQ for the downlink.
    left: u64,
    /// C_sent of the downlink as far as it was heard of, or written off.
    granted: u64,
}

/// A VOQ. Where its packets wait is the fabric's matter: it may have some at several ports.
#[derive(Clone, Debug)]
pub struct Voq {
    /// C0.
    initial: i64,
    credits: i64,
    queue: u64,
    joined: u64,
    /// One for each receiver. Credits are C0, and what all downlinks granted, less what has left.
    accounts: Vec<Account>,
    /// Its packets at each port.
    waiting: Vec<u32>,
    /// When a credit last came, or a packet last left.
    moved: Time,
    /// Its senders have been stopped.
    pub(super) stopped: bool,
    pub(super) first_hop: FirstHop,
}

impl Voq {
    /// An empty VOQ with `initial` credits (C0) for so many receivers (one, or all of a rack), at a
    /// switch with so many ports.
    pub fn new(initial: u64, receivers: usize, ports: usize, first_hop: FirstHop) -> Voq {
        Voq {
            initial: initial as i64,
            credits: initial as i64,
            queue: 0,
            joined: 0,
            accounts: vec![Account::default(); receivers],
            waiting: vec![0; ports],
            moved: Time::ZERO,
            stopped: false,
            first_hop,
        }
    }

    /// A packet joins it, to leave through `port`.
    pub fn join(&mut self, port: usize, size: u64) {
        self.queue += size;
        self.joined += size;
        self.waiting[port] += 1;
        self.first_hop.arrive(size);
    }

    /// A packet for a receiver leaves it through `port`, and its credits go.
    pub fn leave(&mut self, now: Time, receiver: usize, port: usize, size: u64) {
        self.moved = now;
        self.queue -= size;
        self.accounts[receiver].left += size;
        self.waiting[port] -= 1;
        self.credits -= size as i64;
    }

    /// A packet of it is dropped that waited at `port`.
    pub fn drop_one(&mut self, port: usize, size: u64) {
        self.queue -= size;
        self.joined -= size;
        self.waiting[port] -= 1;
    }

    /// A credit of a receiver's downlink came, with its C_sent. It is worth what it says more than was
    /// known: also what was lost before it, and nothing where a later one has overtaken it.
    pub fn credit(&mut self, now: Time, receiver: usize, granted: u64) {
        self.moved = now;
        let known = &mut self.accounts[receiver].granted;
        let more = granted.saturating_sub(*known);
        *known += more;
        self.credits += more as i64;
        self.first_hop.credit(more);
    }

    /// Whether a packet of `size` bytes may leave. With no credit under way it always may, also
    /// where C0 is less than a packet: nothing else would bring one.
    #[inline]
    pub fn may_send(&self, size: u64) -> bool {
        self.credits >= self.initial.min(size as i64)
    }

    /// Has C0 again where it has too few credits for a packet of `size` bytes and nothing has moved for so
    /// long that credits must have been lost; whether it was so.
    ///
    /// What the downlinks have not granted of what has left is written off: it counts as granted. The
    /// downlinks will grant it as soon as they hear of S again, or have done so and will tell with the
    /// next credit; up to there a credit gives nothing, also one of old that comes after all. Else the
    /// VOQ would have those bytes on top of C0 for good.
    pub fn reset(&mut self, now: Time, size: u64, loss_timeout: Time) -> bool {
        let lost = !self.may_send(size) && now >= self.moved + loss_timeout;
        if lost {
            for account in &mut self.accounts {
                let missing = account.left.saturating_sub(account.granted);
                account.granted += missing;
                self.credits += missing as i64;
            }
        }
        lost
    }

    /// Bytes that wait in it.
    #[inline]
    pub fn queue(&self) -> u64 {
        self.queue
    }

    /// Bytes that it may send.
    pub fn credits(&self) -> i64 {
        self.credits
    }

    /// S: what has left it for a receiver, or what has joined it.
    pub fn sent(&self, receiver: usize, counts_joined: bool) -> u64 {
        if counts_joined { self.joined } else { self.accounts[receiver].left }
    }

    /// The ports at which packets of it wait.
    pub fn ports(&self) -> impl Iterator<Item = usize> {
        let waiting = self.waiting.iter().enumerate();
        waiting.filter(|(_, packets)| **packets > 0).map(|(port, _)| port)
    }
}
