//! Work on a thread of its own, while Python's main thread listens for signals.

use crate::errors::{internal_error, simulation_error};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use units::cancel;

/// How often Python's signals are looked at.
const TICK: Duration = Duration::from_millis(100);

/// As much as the main thread of a process usually has.
const STACK_BYTES: usize = 8 << 20;

/// A thread that works.
pub(crate) struct Worker<T> {
    thread: JoinHandle<T>,
    /// Closed when the thread is done. Nothing is sent.
    done: Mutex<Receiver<()>>,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts `work` on a thread of its own, which the system lists under `name`.
    pub(crate) fn start(
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> std::io::Result<Worker<T>> {
        let (working, done) = channel();
        let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
        let thread = builder.spawn(move || {
            // Closes when this thread ends, also by a panic.
            let _working = working;
            work()
        })?;
        Ok(Worker { thread, done: Mutex::new(done) })
    }

    /// Waits for a tick, or less if the work is done before. Returns whether it is done.
    pub(crate) fn wait(&self, py: Python<'_>) -> bool {
        py.detach(|| {
            let done = self.done.lock().expect("nothing panics while it holds this lock");
            done.recv_timeout(TICK) == Err(RecvTimeoutError::Disconnected)
        })
    }

    /// What came of the work; a panic is the error.
    pub(crate) fn outcome(self) -> thread::Result<T> {
        self.thread.join()
    }
}

/// Works as [`outcome_of`] does. A panic becomes what [`internal_error`] makes of it.
pub(crate) fn stoppable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    outcome_of(py, work)?.map_err(|panic| internal_error(py, &*panic))
}

/// Works without the interpreter until it is done or a signal raises an exception, such as
/// `KeyboardInterrupt`. The exception is raised at once; the work ends at its next
/// [`cancel::check`].
pub(crate) fn outcome_of<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<thread::Result<T>> {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&flag);
    let worker = Worker::start("rocelab check", move || cancel::scope(&theirs, work))
        .map_err(|error| no_thread(py, &error))?;
    loop {
        if worker.wait(py) {
            return Ok(worker.outcome());
        }
        if let Err(raised) = py.check_signals() {
            flag.store(true, Ordering::Relaxed);
            return Err(raised);
        }
    }
}

/// What it means that the system starts no thread.
pub(crate) fn no_thread(py: Python<'_>, error: &std::io::Error) -> PyErr {
    simulation_error(py, format!("cannot start a thread: {error}"))
}
