//! A combined input- and output-queued (CIOQ) switch. It has virtual output queues (VOQs) at the
//! inputs, an output queue at each port, and a crossbar between them that is faster than the links.
//!
//! A packet waits in the VOQ of its input, priority and output until the crossbar transfers it to
//! its output queue. An output queue holds a limited number of bytes of each priority. While it is
//! full, nothing more crosses to it. PFC protects the input queues: an ingress pauses its peer
//! because of what waits in its VOQs.
//!
//! The crossbar transfers a packet at its speed-up times the rate of the fastest port. Our choice:
//! the packet may begin to leave at once, because the crossbar is not slower than any link. An
//! empty switch thus adds no time, like the shared-memory switch, and ideal completion times hold
//! for both.
//!
//! # Order of events
//! Everything is handled in time order. At one instant, arrivals come before
//! timers, timers before departures, departures before crossings, crossings before probes. What
//! crosses to an idle port leaves at that instant.
//!
//! Departures are events only if the scheme's congestion point is
//! [`Strict`](schemes::contract::Strict). Otherwise ports are drained when they are touched, like
//! those of the [shared-memory switch](crate::switch). A departure matters only to packets that
//! wait for room in its output queue. The crossbar is checked when there is room.

mod arriving;
mod crossbar;
mod departing;
mod inputs;
mod matching;
mod pause_times;
mod pending;
mod port_set;

use crate::hooks::InputQueuesOf;
use crate::observe::recorder::Recorder;
use crate::packet::{Scheme, Win};
use crate::port::Port;
use crate::switch::actions::SwitchCore;
use crate::switch::chassis::{Chassis, SwitchAudit};
use crate::switch::egress::LevelOf;
use crate::switch::pause_times::PauseTimes;
use crossbar::Crossbar;
use inputs::Inputs;
use model::Cioq;
use pending::Pending;
use schemes::contract::{InputQueueSlot, Level, Order};
use units::Time;

/// A CIOQ switch.
pub(crate) struct CioqSwitch<S: Scheme> {
    /// Its MMU counts the bytes of each ingress.
    pub(crate) chassis: Chassis<S>,
    inputs: Inputs,
    crossbar: Crossbar,
    /// When a packet may cross next.
    cross_at: Time,
    pending: Pending,
    /// Bytes of one priority that an input queue and an output queue hold.
    input_room: u64,
    output_room: u64,
    /// If an output queue holds no more than this in all priorities, any packet fits.
    always_fits: u64,
    /// Bytes that have crossed and have not left.
    crossed: u64,
}

impl<S: Scheme> CioqSwitch<S> {
    /// Departures are events.
    const STRICT: bool = matches!(LevelOf::<S>::ORDER, Order::Strict);

    pub(crate) fn new(chassis: Chassis<S>, config: &Cioq) -> CioqSwitch<S> {
        let Chassis { common, ports, .. } = &chassis;
        let count = ports.len();
        let fastest = ports.iter().map(Port::rate).max().unwrap_or(units::Rate::ZERO);
        let rate = units::Rate::from_bps((fastest.bps() as f64 * config.speedup) as u64);
        CioqSwitch {
            inputs: Inputs::new(count),
            crossbar: Crossbar::new(count, rate, common.classes.config.strict),
            cross_at: Time::NEVER,
            pending: Pending::new(count, !common.fast_paths),
            input_room: config.input_queue.get(),
            output_room: config.output_queue.get(),
            always_fits: config.output_queue.get().saturating_sub(common.wire.max_packet.get()),
            crossed: 0,
            chassis,
        }
    }

    /// Returns whether data of `size` bytes finds room at its input and its output. Called only
    /// while nothing is stored.
    pub(crate) fn takes_while_empty(&mut self, port: u16, priority: u8, size: u64) -> bool {
        let mmu = &mut self.chassis.mmu;
        let fits_input = size <= self.input_room || mmu.is_lossless(port, priority);
        size <= self.output_room && fits_input && mmu.takes_while_empty(port, priority, size)
    }

    /// Prefetches what most packets touch.
    pub(crate) fn prefetch(&self) {
        self.chassis.prefetch();
        self.crossbar.prefetch();
        self.inputs.prefetch();
    }

    pub(crate) fn advance(&mut self, window: &mut Win<'_, '_, S>) -> Time {
        Recorder::begin(&mut self.chassis.recorder, window);
        let next = self.advance_until(window, window.until());
        Recorder::end(&mut self.chassis.recorder, window);
        next
    }

    /// Handles all that is due before `until`. Returns when something is due next.
    fn advance_until(&mut self, window: &mut Win<'_, '_, S>, until: Time) -> Time {
        loop {
            let arrival = window.next_arrival_time();
            let timer = self.next_timer();
            let (due, port) =
                if Self::STRICT { self.chassis.due.earliest() } else { (Time::NEVER, 0) };
            let probe = self.chassis.probes.next();
            let own = timer.min(due).min(self.cross_at).min(probe);
            let next = arrival.min(own);
            if next >= until {
                let due = if Self::STRICT { due } else { self.drain_all(window, until) };
                return own.min(due);
            }
            if next == arrival {
                let (time, port, handle) = window.next_arrival().expect("there is one");
                self.on_arrival(window, time, port, handle);
            } else if next == timer {
                self.on_timer(window, timer);
            } else if next == due {
                self.depart(window, port);
                self.apply_effects(window, due);
            } else if next == self.cross_at {
                self.transfer_all(window, next);
            } else {
                self.drain_all(window, probe + Time::from_ps(1));
                self.chassis.sample(window, probe);
            }
        }
    }

    /// Returns when the congestion point or a time of a pause makes the switch act next.
    #[inline]
    fn next_timer(&self) -> Time {
        let Chassis { pause_clock, .. } = &self.chassis;
        let of_pauses = pause_clock.as_ref().map_or(Time::NEVER, |clock| clock.next());
        self.chassis.next_timer().min(of_pauses)
    }

    fn on_timer(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        self.drain_all(window, now);
        if self.chassis.next_timer() <= now {
            self.chassis.on_timer(now);
            if InputQueuesOf::<S>::ENABLED {
                self.recheck_outputs(now);
            }
            self.apply_effects(window, now);
        }
        if self.chassis.pause_clock.is_some() {
            self.on_pause_times(window, now);
        }
    }

    /// Returns the audit at the end of a run.
    pub(crate) fn final_audit(&self) -> SwitchAudit {
        debug_assert_eq!(self.inputs.used(), self.chassis.mmu.used());
        self.chassis.final_audit(self.inputs.used() + self.crossed)
    }
}
