//! Models of how threads meet (`make loom`).
//!
//! Loom runs each model under every order of memory accesses that is allowed, up to a bound on
//! thread switches.

use crate::arena::Arena;
use crate::barrier::Barrier;
use crate::config::{Collector, RunLimits};
use crate::group_range::GroupRange;
use crate::mailbox::PhaseCell;
use crate::run_state::RunState;
use crate::sync::Instant;
use crate::worker::RunDevices;
use crate::{Device, Layout, Link, Rank, Window};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use units::Time;

/// Checks every order with up to `switches` thread switches beyond the necessary ones. There must
/// be at least `min_orders` orders: otherwise the threads hardly meet.
fn model(switches: usize, min_orders: usize, check: impl Fn() + Sync + Send + 'static) {
    let orders = Arc::new(AtomicUsize::new(0));
    let count = orders.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(switches);
    builder.max_branches = 100_000;
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        check();
    });
    let orders = orders.load(Ordering::Relaxed);
    assert!(orders >= min_orders, "{orders} orders");
}

/// Runs closures side by side, each on a thread of the model.
fn side_by_side<'a>(work: Vec<Box<dyn FnOnce() + Send + 'a>>) {
    let threads: Vec<_> = work
        .into_iter()
        .map(|work| {
            // SAFETY: only the lifetime changes, and the thread ends before this function does. If
            // it panics, the whole model stops.
            let work: Box<dyn FnOnce() + Send + 'static> = unsafe { std::mem::transmute(work) };
            loom::thread::spawn(work)
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// In each round, every thread writes its own cell, meets the others, reads the next thread's cell,
/// and meets the others.
fn meet(threads: usize, rounds: usize, oversubscribed: bool) {
    let barrier = Barrier::modelled(threads, oversubscribed);
    let cells: Vec<PhaseCell<usize>> = (0..threads).map(|_| PhaseCell::new(0)).collect();
    let work = |thread: usize| {
        let (barrier, cells) = (&barrier, &cells);
        move || {
            for round in 1..=rounds {
                // SAFETY: between these two barriers each thread touches only its own cell.
                *unsafe { cells[thread].get() } = round;
                barrier.wait(Instant::now()).unwrap();
                let from = &cells[(thread + 1) % threads];
                // SAFETY: between these two barriers each thread touches only the next one's cell.
                assert_eq!(*unsafe { from.get() }, round);
                barrier.wait(Instant::now()).unwrap();
            }
        }
    };
    side_by_side((0..threads).map(|thread| Box::new(work(thread)) as _).collect());
}

#[test]
fn barrier_of_two_orders_what_they_write() {
    for oversubscribed in [false, true] {
        model(3, 100, move || meet(2, 2, oversubscribed));
    }
}

#[test]
fn barrier_of_three_orders_what_they_write() {
    for oversubscribed in [false, true] {
        model(2, 100, move || meet(3, 1, oversubscribed));
    }
}

#[test]
fn barrier_wakes_parked_threads() {
    model(3, 100, || {
        let barrier = Barrier::modelled(2, false);
        let cell = PhaseCell::new(0);
        let (barrier, cell) = (&barrier, &cell);
        side_by_side(vec![
            Box::new(move || {
                for call in 1..=2 {
                    // SAFETY: the other thread is parked until it is woken.
                    *unsafe { cell.get() } = call;
                    barrier.unpark_all();
                    barrier.wait(Instant::now()).unwrap();
                }
            }),
            Box::new(move || {
                for call in 1..=2 {
                    barrier.park(call);
                    // SAFETY: the thread that woke this one waits at the barrier.
                    assert_eq!(*unsafe { cell.get() }, call);
                    barrier.wait(Instant::now()).unwrap();
                }
            }),
        ]);
    });
}

#[test]
fn barrier_releases_threads_when_poisoned() {
    model(4, 100, || {
        let barrier = Barrier::modelled(3, false);
        let barrier = &barrier;
        side_by_side(vec![
            Box::new(move || assert!(barrier.wait(Instant::now()).is_err())),
            Box::new(move || assert!(barrier.wait(Instant::now()).is_err())),
            Box::new(move || barrier.poison()),
        ]);
    });
}

/// Each group is taken once, by its owner or by another thread. A thread that takes it in a later
/// window sees what was done to it in an earlier one, if a barrier is between them.
#[test]
fn range_gives_each_group_to_one_thread() {
    const GROUPS: u32 = 3;
    model(3, 100, || {
        let range = GroupRange::new(GROUPS as usize);
        let groups: Vec<PhaseCell<u64>> = (0..GROUPS).map(|_| PhaseCell::new(0)).collect();
        let barrier = Barrier::modelled(2, false);
        let (range, groups, barrier) = (&range, &groups, &barrier);
        // SAFETY: this thread took the group, and nobody else takes it in this window.
        let work = move |group: u32, window| unsafe {
            let group = groups[group as usize].get();
            assert_eq!(*group, window - 1);
            *group = window;
        };
        side_by_side(vec![
            Box::new(move || {
                for window in 1..=2 {
                    range.publish(window, 0..GROUPS);
                    while let indices = range.take_front(2)
                        && !indices.is_empty()
                    {
                        indices.for_each(|index| work(range.group(index), window));
                    }
                    barrier.wait(Instant::now()).unwrap();
                }
            }),
            Box::new(move || {
                for window in 1..=2 {
                    while let Some(group) = range.steal_back(window) {
                        work(group, window);
                    }
                    barrier.wait(Instant::now()).unwrap();
                }
            }),
        ]);
        // SAFETY: the threads have ended.
        groups.iter().for_each(|group| assert_eq!(*unsafe { group.get() }, 2));
    });
}

/// Forwards each packet to the next device, with a delay of one to three windows.
struct Relay {
    next: Link,
    hash: u64,
    begins: bool,
}

impl Device for Relay {
    type Packet = u64;

    fn advance(&mut self, window: &mut Window<'_, '_, u64>) -> Time {
        if std::mem::take(&mut self.begins) {
            let packet = window.packets.insert(1);
            window.send(&mut self.next, window.until(), Rank::Third, packet);
        }
        while let Some((now, _, packet)) = window.next_arrival() {
            let value = window.packets.remove(packet);
            self.hash = (self.hash ^ now.ps() ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let later = Time::from_ns(500 * (2 + value % 5));
            let packet = window.packets.insert(value + 1);
            window.send(&mut self.next, now + later, Rank::Third, packet);
            window.count_finished(1);
        }
        Time::NEVER
    }
}

/// Runs the engine's own pool, workers, ranges and mailboxes for some windows of `devices` that
/// relay packets. Returns the final hash of each device.
fn relays(devices: usize, threads: usize, oversubscribed: bool, windows: u64) -> Vec<u64> {
    let next = |device: usize| Link::new(((device + 1) % devices) as u32, 0);
    let all: Vec<PhaseCell<Relay>> = (0..devices)
        .map(|device| PhaseCell::new(Relay { next: next(device), hash: 0, begins: device < 2 }))
        .collect();
    {
        let layout = Layout::one_group_per_device(devices, threads, Time::from_us(1));
        let arena = Arena::new();
        let barrier = Barrier::modelled(threads, oversubscribed);
        let state = RunState::new(&layout, devices, barrier);
        let collector = Collector { max_held_bytes: u64::MAX, collect: &|_, _| true };
        let on_devices = RunDevices { cells: &all, arena: &arena, collector };
        let stop = Time::from_us(windows);
        let limits = RunLimits { stop, goal: None, max_records: u64::MAX };
        let pool = state.pool(on_devices, limits, &|_| true);
        let pool = &pool;
        if threads == 1 {
            pool.run(0).unwrap();
        } else {
            let work = |thread| Box::new(move || pool.run(thread).unwrap()) as _;
            side_by_side((0..threads).map(work).collect());
        }
    }
    all.into_iter().map(|relay| relay.into_inner().hash).collect()
}

/// Mailboxes are written in one window and emptied in a later one by the thread that claims the
/// group. No order of the threads changes the result.
#[test]
fn mail_is_in_order_whichever_thread_runs_a_group() {
    for oversubscribed in [false, true] {
        let seen = Arc::new(Mutex::new(None));
        let first = seen.clone();
        model(if oversubscribed { 5 } else { 3 }, 1000, move || {
            let hashes = relays(3, 2, oversubscribed, 4);
            assert!(hashes.iter().all(|&hash| hash != 0));
            assert_eq!(*first.lock().unwrap().get_or_insert_with(|| hashes.clone()), hashes);
        });
        let alone = seen.lock().unwrap().clone();
        model(0, 1, move || assert_eq!(Some(relays(3, 1, false, 4)), alone));
    }
}
