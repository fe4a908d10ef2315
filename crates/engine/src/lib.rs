//! A deterministic engine for simulations whose parts share nothing.
//!
//! A [`Device`] owns all its state. Devices act on one another only by putting packets on
//! [`Link`]s, and a link takes time. So whatever a device does within a span no longer than the
//! shortest link can't reach another device within that span: the devices of a *window* are
//! independent, threads take them in any order, and a barrier ends the window. Each thread works its own
//! devices, which stay in its caches, and in the end what others have not come to.
//!
//! The result is the same on any number of threads because nothing that depends on threads is ever
//! compared: a device handles its arrivals in the order of (time, class, port, position on the
//! link), where ports take turns at going first, and the handle of a packet or the moment it was
//! pushed never decides. A device whose parts have nothing to do with each other for a window may have its
//! arrivals dealt out among them, each in order.
//!
//! Devices joined by short links (the hosts of a rack and their switch) may form a *group*: one
//! thread works it, one device after the other in steps as short as its own links need, while windows
//! stay as long as the links between groups allow. Grouping never changes a result.
//!
//! The engine knows nothing of networks: what a packet is, and what devices do with it, is theirs.
//!
//! `unsafe` lives in [`arena`] (packets, owned by whoever holds the handle), in `mailbox` (boxes that
//! one thread writes in one window and another empties in a later one, and devices that threads take in
//! turns) and where `worker` and `crew` use these; `sort` uses AVX2 where the processor has it; `fetch` has
//! hints to the processor, which can do no harm. A device that deals its arrivals out says itself that it takes
//! each once ([`Window::take_bucketed`]). One thing no type checks: a handle, and a queue, is of the arena that it
//! comes from, so that devices must not pass handles to another run.

pub mod arena;
mod arrival_key;
mod barrier;
mod buckets;
mod group_range;
mod link;
mod mailbox;
#[cfg(all(test, loom))]
mod models;
mod prefetch;
mod reference;
mod run;
mod solo_policy;
mod sort;
mod sync;
mod window;
mod window_grid;
mod worker;
mod worker_pool;

pub use arena::{Fifo, Handle, Packets, Undelivered};
pub use arrival_key::{TieBreak, offset_ps};
pub use buckets::Buckets;
pub use link::{Class, Link};
pub use mailbox::LinkLane;
pub use prefetch::{prefetch, prefetch_object};
pub use reference::run_reference;
pub use run::{
    Collector, Layout, Outcome, Progress, ProgressCallback, RunLimits, run, run_collecting,
};
pub use window::{ArrivalTag, Arrivals, Device, Window};
