//! A VOQ of a sending ToR: its credits, and the rate of its senders.

use super::HierccParams;
use crate::hiercc::FullRate;
use units::{Rate, Time};

/// The rate of the first hop, which all flows of a VOQ share (section 3.3).
#[derive(Clone, Debug)]
pub struct FirstHop {
    /// R(t-1), bits per second.
    rate: f64,
    line: f64,
    min_rate: f64,
    /// Start of the present interval.
    begin: Time,
    /// Bytes of data and of credits that came in the interval.
    arrived: u64,
    credited: u64,
    interval: Time,
    target: f64,
    /// R is the line rate if the queue is below q0.
    full_below_target: bool,
    /// Rate that drains one byte above q0: beta / RTT_hop, in bits per second.
    drain: f64,
}

impl FirstHop {
    /// Starts at the senders' line rate.
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
            full_below_target: params.full_rate == FullRate::BelowTarget,
            drain: params.beta * 8.0 / params.hop_rtt.as_secs_f64(),
        }
    }

    /// R_line is this from now on, and R(t) no more.
    pub fn set_line(&mut self, params: &HierccParams, line: Rate) {
        self.line = line.bps() as f64;
        self.min_rate = params.min_rate.min(line).bps() as f64;
        self.rate = self.rate.min(self.line);
    }

    /// Counts `bytes` of data that joined the VOQ.
    pub fn arrive(&mut self, bytes: u64) {
        self.arrived += bytes;
    }

    /// Counts a credit of `bytes`.
    pub fn credit(&mut self, bytes: u64) {
        self.credited += bytes;
    }

    /// Updates R(t) (equation 1) if RTT_hop / beta has passed since the last update. The first
    /// request after that ends the interval. `queue` bytes wait in the VOQ, `own` of them in the
    /// packet that requests the rate.
    ///
    /// The paper prints the first condition as Q < 0, which is impossible. The parameter
    /// `full_rate` reads it as Q < q0, or as nothing else waiting. An interval without arrivals
    /// leaves R as it is.
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

    /// Returns R(t).
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.rate as u64)
    }
}

/// The balance between a VOQ and a downlink.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// Bytes that have left the VOQ for the downlink.
    left: u64,
    /// C_sent of the downlink according to the last credit, plus what was written off.
    granted: u64,
}

/// A VOQ: counters only. The fabric stores its packets, which may wait at several ports.
#[derive(Clone, Debug)]
pub struct Voq {
    /// C0.
    initial: i64,
    credits: i64,
    queue: u64,
    joined: u64,
    /// One account for each receiver. The credits are C0, plus the grants of all downlinks, minus
    /// what has left.
    accounts: Vec<Account>,
    /// Number of its packets at each port.
    waiting: Vec<u32>,
    /// When a credit last came or a packet last left.
    moved: Time,
    /// Its senders are stopped.
    pub(super) stopped: bool,
    pub(super) first_hop: FirstHop,
}

impl Voq {
    /// Returns an empty VOQ with `initial` credits (C0) for this number of receivers: one, or all
    /// of a rack. `ports` is the number of ports of the switch.
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

    /// Adds a packet that will leave through `port`.
    pub fn join(&mut self, port: usize, size: u64) {
        self.queue += size;
        self.joined += size;
        self.waiting[port] += 1;
        self.first_hop.arrive(size);
    }

    /// Removes a packet for a receiver that leaves through `port`, with its credits.
    pub fn leave(&mut self, now: Time, receiver: usize, port: usize, size: u64) {
        self.moved = now;
        self.queue -= size;
        self.accounts[receiver].left += size;
        self.waiting[port] -= 1;
        self.credits -= size as i64;
    }

    /// Removes a dropped packet that waited at `port`.
    pub fn drop_one(&mut self, port: usize, size: u64) {
        self.queue -= size;
        self.joined -= size;
        self.waiting[port] -= 1;
    }

    /// Handles a credit of a receiver's downlink with its C_sent. Its worth is the difference from
    /// the known C_sent. So it also makes up for lost credits, and is worth nothing if a later one
    /// has overtaken it.
    pub fn credit(&mut self, now: Time, receiver: usize, granted: u64) {
        self.moved = now;
        let known = &mut self.accounts[receiver].granted;
        let more = granted.saturating_sub(*known);
        *known += more;
        self.credits += more as i64;
        self.first_hop.credit(more);
    }

    /// Returns whether a packet of `size` bytes may leave. With no credit in flight it always may,
    /// even if C0 is less than a packet: nothing else would bring a credit.
    #[inline]
    pub fn may_send(&self, size: u64) -> bool {
        self.credits >= self.initial.min(size as i64)
    }

    /// Restores C0 if credits must have been lost: there are too few for a packet of `size` bytes,
    /// and nothing has moved for `loss_timeout`. Returns whether it did.
    ///
    /// Bytes that have left and were not granted are written off: they count as granted. The
    /// downlinks will grant them when they see S again, or have granted them and will say so in the
    /// next credit. Up to that amount a credit is worth nothing, even an old one that still
    /// arrives. Otherwise the VOQ would keep these bytes on top of C0 for ever.
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

    /// Returns the bytes that wait in the VOQ.
    #[inline]
    pub fn queue(&self) -> u64 {
        self.queue
    }

    /// Returns the bytes that the VOQ may send.
    pub fn credits(&self) -> i64 {
        self.credits
    }

    /// Returns S: the bytes that have left for a receiver, or that have joined the VOQ.
    pub fn sent(&self, receiver: usize, counts_joined: bool) -> u64 {
        if counts_joined { self.joined } else { self.accounts[receiver].left }
    }

    /// Returns the ports at which its packets wait.
    pub fn ports(&self) -> impl Iterator<Item = usize> {
        let waiting = self.waiting.iter().enumerate();
        waiting.filter(|(_, packets)| **packets > 0).map(|(port, _)| port)
    }
}
