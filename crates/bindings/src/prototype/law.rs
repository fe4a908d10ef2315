//! The classes of a law, and what a hook that raises does.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::{Cell, RefCell};
use std::panic::{resume_unwind, set_hook, take_hook};
use std::sync::{Arc, Once};

/// Methods of a sender that are called, the first of them required.
const SENDER: &[&str] = &[
    "limits",
    "next_timer_ps",
    "on_timer",
    "on_send",
    "on_ack",
    "on_ctl",
    "on_backlog",
    "on_retransmission_timeout",
    "observe",
];
/// Methods of a receiver that are called.
const RECEIVER: &[&str] =
    &["next_timer_ps", "on_timer", "on_packet", "on_kept_data", "on_ctl", "on_message_end"];
/// Methods of a switch that are called.
const SWITCH: &[&str] = &["port", "on_depart"];

/// A class of a law, and which hooks it has.
pub(crate) struct Class {
    pub(crate) class: Py<PyAny>,
    /// Which of `names` there are.
    present: Vec<bool>,
    names: &'static [&'static str],
}

impl Class {
    fn new(class: Bound<'_, PyAny>, names: &'static [&'static str]) -> PyResult<Class> {
        if !class.is_callable() {
            return Err(PyTypeError::new_err(format!("{} is no class", class.repr()?)));
        }
        for attribute in class.dir()? {
            let name: String = attribute.extract()?;
            let looks_like_a_hook = name.starts_with("on_") || name == "next_timer_ps";
            if looks_like_a_hook && !names.contains(&name.as_str()) {
                return Err(PyValueError::new_err(format!(
                    "{} has a method {name}, which is never called; hooks are {}",
                    class.repr()?,
                    names.join(", ")
                )));
            }
        }
        let has = |name: &&str| class.hasattr(*name);
        let present = names.iter().map(has).collect::<PyResult<Vec<bool>>>()?;
        let class = Class { class: class.unbind(), present, names };
        if class.has("next_timer_ps") != class.has("on_timer") {
            return Err(PyValueError::new_err(
                "a timer needs both: next_timer_ps, which says when it is due, and on_timer",
            ));
        }
        Ok(class)
    }

    /// Whether the class has the hook `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().zip(&self.present).any(|(known, present)| *known == name && *present)
    }

    /// Makes an object of the class.
    pub(crate) fn make(&self, py: Python<'_>, arguments: &Bound<'_, PyTuple>) -> Py<PyAny> {
        self.class.call1(py, arguments).unwrap_or_else(|error| raise(error))
    }
}

/// The classes of a law.
pub(crate) struct Classes {
    pub(crate) sender: Class,
    pub(crate) receiver: Option<Class>,
    pub(crate) switch: Option<Class>,
    /// Bytes that its numbers take on the wire, in data packets and in ACKs.
    pub(crate) meta_bytes: (u32, u32),
}

/// A law in Python: the class of its senders and, if it has them, of its receivers and switches.
#[pyclass(frozen, module = "rocelab._rocelab")]
pub(crate) struct Law(Arc<Classes>);

#[pymethods]
impl Law {
    #[new]
    fn new(
        sender: Bound<'_, PyAny>,
        receiver: Option<Bound<'_, PyAny>>,
        switch: Option<Bound<'_, PyAny>>,
        meta_bytes: (u32, u32),
    ) -> PyResult<Law> {
        install_quiet_hook();
        let sender = Class::new(sender, SENDER)?;
        if !sender.has("limits") {
            return Err(PyTypeError::new_err(
                "a law needs a method limits, which returns what the sender may do now",
            ));
        }
        if meta_bytes.0.max(meta_bytes.1) > 256 {
            return Err(PyValueError::new_err("meta_bytes: at most 256"));
        }
        Ok(Law(Arc::new(Classes {
            sender,
            receiver: receiver.map(|class| Class::new(class, RECEIVER)).transpose()?,
            switch: switch.map(|class| Class::new(class, SWITCH)).transpose()?,
            meta_bytes,
        })))
    }
}

impl Law {
    pub(crate) fn classes(&self) -> Arc<Classes> {
        Arc::clone(&self.0)
    }
}

/// What a method of the law raised. A run unwinds with it.
pub(crate) struct LawFailed(pub(crate) PyErr);

/// Ends the run with what a method of the law raised.
pub(crate) fn raise(error: PyErr) -> ! {
    resume_unwind(Box::new(LawFailed(error)))
}

thread_local! {
    static LAW: RefCell<Option<Arc<Classes>>> = const { RefCell::new(None) };
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Works with `law` as the law of this thread.
pub(crate) fn with_law<T>(law: &Arc<Classes>, work: impl FnOnce() -> T) -> T {
    struct Unset;
    impl Drop for Unset {
        fn drop(&mut self) {
            LAW.set(None);
        }
    }
    LAW.set(Some(Arc::clone(law)));
    let _unset = Unset;
    work()
}

/// The law of this thread.
pub(crate) fn current() -> Option<Arc<Classes>> {
    LAW.with_borrow(Clone::clone)
}

/// Works without a word on the standard error stream if the work panics: the caller has its text.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    QUIET.set(true);
    let outcome = work();
    QUIET.set(false);
    outcome
}

fn install_quiet_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
}
