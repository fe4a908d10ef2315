//! The receive buffer of a NIC that passes data on more slowly than it arrives, and the pauses that
//! it asks for.

use super::Host;
use crate::observe::lossless_drops::{LosslessDrops, Memory};
use crate::observe::recorder::PacketEventKind;
use crate::packet::{Header, PfcFrame, Scheme, Win};
use model::SlowReceiver;
use std::cmp::Reverse;
use units::{Bytes, Rate, Time};

/// The receive buffer of a host.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    /// That of now, or the next one.
    config: SlowReceiver,
    /// Those that come after it, the last one first.
    later: Vec<SlowReceiver>,
    /// When the buffer would be empty, if the NIC passes data on at all.
    empty_at: Time,
    /// Bytes in the buffer, if it does not.
    stalled: u64,
    /// The NIC pauses its links.
    pub(crate) is_pausing: bool,
    pub(crate) lossless_drops: LosslessDrops,
}

impl ReceiveBuffer {
    /// The buffer of a host that is slow at each of these times, which do not overlap. `None`: it
    /// never is.
    pub(crate) fn new(mut times: Vec<SlowReceiver>) -> Option<ReceiveBuffer> {
        times.sort_unstable_by_key(|one| Reverse(one.from));
        let config = times.pop()?;
        Some(ReceiveBuffer {
            config,
            later: times,
            empty_at: Time::ZERO,
            stalled: 0,
            is_pausing: false,
            lossless_drops: LosslessDrops::default(),
        })
    }

    /// All times at which the receiver is slow, from `config` on.
    fn times(&self) -> impl Iterator<Item = &SlowReceiver> {
        self.later.iter().chain([&self.config])
    }

    /// Whether a packet of `size` bytes always fits into the empty buffer.
    pub(crate) fn can_hold(&self, size: u64) -> bool {
        self.times().all(|one| size <= one.buffer.get())
    }

    /// Whether the receiver is slow at `now`. Begins with the empty buffer of the last time that
    /// has come.
    fn is_slow(&mut self, now: Time) -> bool {
        while let Some(next) = self.later.pop_if(|next| next.from <= now) {
            (self.config, self.empty_at, self.stalled) = (next, Time::ZERO, 0);
        }
        self.config.from <= now && now < self.config.until
    }

    /// Bytes in the buffer at `now`.
    fn bytes(&self, now: Time) -> u64 {
        if self.config.rate == Rate::ZERO {
            return self.stalled;
        }
        self.config.rate.bytes_in(self.empty_at.saturating_sub(now)).get()
    }

    /// Takes a packet of `size` bytes, if there is room. Returns whether there is.
    fn take(&mut self, now: Time, size: u64) -> bool {
        if self.bytes(now) + size > self.config.buffer.get() {
            return false;
        }
        if self.config.rate == Rate::ZERO {
            self.stalled += size;
        } else {
            let begin = self.empty_at.max(now);
            self.empty_at = begin.saturating_add(self.config.rate.time_for(Bytes::new(size)));
        }
        true
    }

    /// When the links may be resumed, as far as is known now.
    fn resumes_at(&self, now: Time) -> Time {
        let drained = if self.config.rate == Rate::ZERO {
            // What arrives while a pause ends may be the first of another time.
            if self.stalled <= self.config.xon.get() { now } else { Time::NEVER }
        } else {
            let left = self.config.rate.time_for(self.config.xon);
            self.empty_at.saturating_sub(left).max(now)
        };
        drained.min(self.config.until)
    }
}

impl<S: Scheme> Host<S> {
    /// A data packet arrives at a slow receiver. Returns whether its buffer has room for it. Pauses
    /// the links if it fills.
    pub(super) fn has_receive_room(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: u16,
        header: &Header,
    ) -> bool {
        let Some(buffer) = self.receive_buffer.as_mut() else { return true };
        if !buffer.is_slow(now) {
            return true;
        }
        let has_room = buffer.take(now, u64::from(header.size));
        if buffer.bytes(now) >= buffer.config.xoff.get() {
            if !buffer.is_pausing {
                buffer.is_pausing = true;
                self.timers.wake_buffer(buffer.resumes_at(now));
                self.send_pfc(window, now, PfcFrame::Pause);
            } else if self.pause_clock.as_ref().is_some_and(|clock| clock.renews_at_arrivals()) {
                self.send_pfc_through(window, now, usize::from(port), PfcFrame::Pause);
            }
        }
        if !has_room && self.is_lossless(port, header.priority) {
            let buffer = self.receive_buffer.as_mut().expect("it has no room");
            buffer.lossless_drops.add(now, self.node, port, header, Memory::ReceiveBuffer);
        }
        has_room
    }

    /// Whether its NIC passes nothing on at `now` and never will.
    pub(crate) fn stalls_for_good(&self, now: Time) -> bool {
        self.receive_buffer.as_ref().is_some_and(|buffer| {
            buffer.times().any(|&SlowReceiver { from, until, rate, .. }| {
                rate == Rate::ZERO && from <= now && until == Time::NEVER
            })
        })
    }

    /// Whether PFC protects packets of a priority that come in through a port.
    fn is_lossless(&self, port: u16, priority: u8) -> bool {
        let link = &self.common.graph.ports(self.node)[usize::from(port)];
        link.pfc && self.common.lossless & 1 << priority != 0
    }

    /// The receive buffer may have drained so far that the links can be resumed.
    pub(super) fn on_buffer_timer(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        let buffer = self.receive_buffer.as_mut().expect("it has set a timer");
        let resumes_at = buffer.resumes_at(now);
        if resumes_at > now {
            return self.timers.wake_buffer(resumes_at);
        }
        buffer.is_pausing = false;
        self.send_pfc(window, now, PfcFrame::Resume);
    }

    /// Has all ports send PFC frames that pause the lossless priorities, or resume them.
    fn send_pfc(&mut self, window: &mut Win<'_, '_, S>, now: Time, frame: PfcFrame) {
        for number in 0..self.nics.len() {
            self.send_pfc_through(window, now, number, frame);
        }
    }

    /// Has a port send PFC frames that pause the lossless priorities, or resume them.
    fn send_pfc_through(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        number: usize,
        frame: PfcFrame,
    ) {
        if self.nics[number].port.is_down() {
            return;
        }
        for priority in 0..8 {
            if self.is_lossless(number as u16, priority) {
                self.send_frame(window, now, number, (priority, frame));
            }
        }
        self.nics[number].wake(now);
    }

    /// Puts a PFC frame into the queue of a port.
    pub(super) fn send_frame(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        number: usize,
        (priority, frame): (u8, PfcFrame),
    ) {
        let handle = window.packets.insert(frame.packet(now, priority, self.common.wire.pfc_size));
        if let Some(recorder) = &mut self.recorder {
            let header = &window.packets.get(&handle).header;
            recorder.packet(now, number as u16, PacketEventKind::Enqueued, 0, header);
        }
        self.nics[number].port.enqueue_pfc(window.packets, handle, frame);
        if let Some(clock) = &mut self.pause_clock {
            clock.sent(number, priority, frame, now);
            self.timers.wake_pauses(clock.next());
        }
    }

    /// Pauses the link of a port that was repaired, if the others are paused: its peer has
    /// forgotten all pauses.
    pub(super) fn pause_again(&mut self, window: &mut Win<'_, '_, S>, now: Time, number: usize) {
        if self.receive_buffer.as_ref().is_some_and(|buffer| buffer.is_pausing) {
            self.send_pfc_through(window, now, number, PfcFrame::Pause);
        }
    }
}
