//! A deterministic parallel engine for simulations whose parts share nothing.
//!
//! # The idea: windows and mailboxes
//!
//! A [`Device`] owns all its state. Devices act on each other only by sending packets over
//! [`Link`]s, and a link takes time. The shortest delay between two groups of devices (see below;
//! without groups, of any link) is the *lookahead*. Whatever a device does in a span no longer than
//! the lookahead cannot reach another device within that span.
//!
//! So the engine divides time into *windows* no longer than the lookahead. In a window all devices
//! are independent: threads advance them in any order, without locks. A packet goes into the
//! *mailbox* of the window in which it arrives. A barrier ends the window, and the next one begins
//! by emptying its mailboxes:
//!
//! ```text
//!              window w              │           window w+1
//!                                    │
//!  host A   ──●── sends ─┐           │
//!                        ├─> mailbox of (w+1, switch)
//!  host B   ────●─ sends ┘           │      │
//!                                    │      └─> sorted: A's packet, B's packet
//!  switch   ────────────●── ...      │   ──●──●── ...
//!                                    │
//!                                 barrier
//! ```
//!
//! Windows in which nothing happens are skipped, and so are devices that are not due.
//!
//! # Why threads change nothing
//!
//! No order of events depends on threads. A device handles its arrivals in the order of
//! time, rank, port and position on the link. Among ports the order changes with time, so no port
//! is always first. The handle of a packet, or the moment at which it was sent in real time, never
//! decides.
//!
//! # Groups
//!
//! A short link would make all windows short. Devices joined by short links, such as the hosts of a
//! rack and their switch, therefore form a *group*: one thread advances it, in steps as short as
//! its own links, while windows stay as long as the links between groups allow. A group whose
//! devices all have links to one *hub* only, the switch, mostly needs no such steps. Grouping
//! changes no result.
//!
//! # Where to start
//!
//! - [`device`] shows which functions of a device are called when.
//! - [`window`] has the timeline of a window, and what a device can do in it.
//! - [`run()`] and [`run_collecting`] run devices; [`Layout`] and [`RunLimits`] configure a run.
//! - [`run_reference`] is the slow reference engine that tests compare with.
//! - [`arena`] holds the packets.
//!
//! The engine knows no networks: packets, and what devices do with them, are up to the devices.
//!
//! # Unsafe code
//!
//! - [`arena`]: packets are owned by the holder of a handle.
//! - `mailbox`: one thread writes a mailbox in one window, another empties it in a later one; and
//!   threads claim devices in turn. `worker` and `worker_pool` use these.
//! - `sort` uses AVX2 if the processor has it. `prefetch` gives harmless hints to the processor.
//! - [`Window::take_bucketed`], [`Window::keep_for_uplinks`] and [`Window::keep_for_coupled`]: a
//!   device that works with buckets must take or keep each arrival once.
//!
//! No type checks one condition: a handle or a queue belongs to the arena of its run. Devices must
//! not pass handles to another run.

pub mod arena;
mod arrival_key;
mod barrier;
mod buckets;
mod config;
pub mod device;
mod group_range;
mod link;
mod mailbox;
#[cfg(all(test, loom))]
mod models;
mod prefetch;
mod reference;
mod run;
mod run_state;
mod solo_policy;
mod sort;
mod sync;
pub mod window;
mod window_grid;
mod worker;
mod worker_pool;

pub use arena::{Fifo, Handle, Packets, Undelivered};
pub use arrival_key::{Entry, TieBreak};
pub use buckets::{Bucketing, Buckets};
pub use config::{Collector, Group, Layout, Outcome, Progress, ProgressCallback, RunLimits};
pub use device::Device;
pub use link::{Link, Rank};
pub use mailbox::LinkLane;
pub use prefetch::{prefetch, prefetch_object};
pub use reference::run_reference;
pub use run::{run, run_collecting};
pub use window::{ArrivalTag, Arrivals, Window};
