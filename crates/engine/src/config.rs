//! What a caller of the engine configures, and what it gets back.

use crate::arrival_key::TieBreak;
use units::Time;

/// Devices that one thread at a time advances.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its devices.
    pub devices: Vec<u32>,
    /// The thread that owns it. Near the end of a window other threads may steal the group.
    pub owner: u16,
    /// The shortest time that a packet takes between two of its devices. [`Time::NEVER`] if no link
    /// is inside the group.
    pub internal_lookahead: Time,
    /// Its hub, if it has one: the only device that the others have links to.
    pub hub: Option<u32>,
}

impl Group {
    /// Makes a group of one device.
    pub fn single(device: u32, owner: u16) -> Group {
        Group { devices: vec![device], owner, internal_lookahead: Time::NEVER, hub: None }
    }
}

/// How devices are grouped and distributed among threads. It never changes a result.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The groups. Every device is in exactly one of them.
    pub groups: Vec<Group>,
    /// Number of threads.
    pub threads: usize,
    /// The shortest delay of any link between two groups. No window is longer.
    pub lookahead: Time,
    /// Which port goes first among simultaneous arrivals of one rank.
    pub tie_break: TieBreak,
    /// Whether the first thread may do all work for a while when other processes take the cores.
    pub solo_periods: bool,
    /// Whether each packet has a tag ([`Packets::tag`](crate::Packets::tag)).
    pub tags: bool,
}

impl Layout {
    /// Makes each device a group of its own, and gives each of `threads` an equal block of them.
    pub fn one_group_per_device(devices: usize, threads: usize, lookahead: Time) -> Layout {
        let threads = threads.clamp(1, devices.max(1));
        Layout {
            groups: (0..devices)
                .map(|device| Group::single(device as u32, (device * threads / devices) as u16))
                .collect(),
            threads,
            lookahead,
            tie_break: TieBreak::RotatePorts,
            solo_periods: true,
            tags: false,
        }
    }
}

/// When a run ends, and how much it may record.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// Nothing happens at or after this time. It is rounded up to a whole microsecond.
    pub stop: Time,
    /// The run ends at the first whole microsecond at which this many units are finished
    /// ([`Window::count_finished`](crate::Window::count_finished)).
    pub goal: Option<u64>,
    /// Recording stops at the first whole microsecond at which this many entries are recorded
    /// ([`Window::may_record`](crate::Window::may_record)).
    pub max_records: u64,
}

/// How far a run has come, at the end of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub time: Time,
    /// Packets that arrived at a device, once for each link that they crossed.
    pub packets_delivered: u64,
    /// Units of the goal that are finished.
    pub finished: u64,
}

/// Receives the progress after each window. Returns whether the run continues.
pub type ProgressCallback<'a> = &'a (dyn Fn(Progress) -> bool + Sync);

/// Takes records out of the devices during a run, so that memory stays bounded.
pub struct Collector<'a, D> {
    /// Records are collected at the end of a window in which they take more bytes than this.
    pub max_held_bytes: u64,
    /// Takes the records of all devices, which are complete up to the given time. Returns `false`
    /// if no more can be taken. Recording stops then.
    pub collect: &'a (dyn Fn(&mut dyn Iterator<Item = &mut D>, Time) -> bool + Sync),
}

impl<D> Clone for Collector<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<D> Copy for Collector<'_, D> {}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Simulated time at the end.
    pub end: Time,
    /// Units of the goal that are finished.
    pub finished: u64,
    /// Whether the progress callback ended the run.
    pub cancelled: bool,
    /// When recording stopped, or [`Time::NEVER`] if it did not.
    pub recording_stopped_at: Time,
}
