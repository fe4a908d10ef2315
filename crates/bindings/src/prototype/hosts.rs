//! The sender and the receiver of a law in Python.

use super::law::{Class, Classes, raise};
use super::values::{Ack, Context, Header, Limits, PathFacts};
use super::{Fields, Prototype, PrototypeParams};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use schemes::contract::{
    self, HostCx, Np, NpTimer, Present, Rp, RpTimer, SendLimits, SenderMetric,
};
use std::sync::Arc;
use units::{Bytes, Time, cancel};

/// The object of a QP's end.
struct End {
    object: Py<PyAny>,
    next_timer: Time,
}

impl End {
    /// Calls a hook with the context of its host and `more`, then asks when the timer is due.
    fn call(
        &mut self,
        class: &Class,
        py: Python<'_>,
        cx: &mut HostCx<'_, Prototype>,
        hook: &str,
        more: &[Bound<'_, PyAny>],
    ) -> PyResult<()> {
        let (now_ps, host) = (cx.now.ps(), cx.host.clone_ref(py));
        let context = Bound::new(py, Context { now_ps, host, sent: Vec::new() })?;
        let arguments = std::iter::once(context.as_any()).chain(more);
        let arguments = PyTuple::new(py, arguments.collect::<Vec<_>>())?;
        self.object.bind(py).call_method1(hook, arguments)?;
        for ctl in context.borrow_mut().sent.drain(..) {
            cx.outbox.push(ctl);
        }
        self.read_timer(class, py, cx.now)
    }

    /// Asks when the timer is due, which is not before `now`.
    fn read_timer(&mut self, class: &Class, py: Python<'_>, now: Time) -> PyResult<()> {
        if class.has("next_timer_ps") {
            let due: Option<u64> = self.object.call_method0(py, "next_timer_ps")?.extract(py)?;
            self.next_timer = due.map_or(Time::NEVER, Time::from_ps);
        }
        if self.next_timer < now {
            let (due, now) = (self.next_timer.ps(), now.ps());
            let why = format!("next_timer_ps is {due}, and it is {now} already");
            return Err(PyValueError::new_err(why));
        }
        Ok(())
    }

    /// Refuses a timer that is due again at `now`, when it has just fired: time would stand still.
    fn check_timer(&self, now: Time) {
        if self.next_timer <= now {
            let now = now.ps();
            raise(PyValueError::new_err(format!(
                "next_timer_ps is {now}, and on_timer was called at {now} already: after on_timer \
                 the timer must be due later, or None"
            )));
        }
    }
}

/// The reaction point.
pub(crate) struct Sender {
    law: Arc<Classes>,
    end: End,
    limits: SendLimits,
}

impl Sender {
    /// Calls a hook if the class has it, with what `more` makes. Then asks for limits and timer.
    fn call<F>(&mut self, cx: &mut HostCx<'_, Prototype>, hook: &str, more: F)
    where
        F: for<'py> FnOnce(Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>>,
    {
        // A check of a law that Ctrl-C has stopped calls no more hooks.
        cancel::check();
        if !self.law.sender.has(hook) {
            return;
        }
        Python::attach(|py| {
            let done = more(py).and_then(|more| self.call_with(py, cx, hook, &more));
            done.unwrap_or_else(|error| raise(error));
        });
    }

    fn call_with(
        &mut self,
        py: Python<'_>,
        cx: &mut HostCx<'_, Prototype>,
        hook: &str,
        more: &[Bound<'_, PyAny>],
    ) -> PyResult<()> {
        let law = Arc::clone(&self.law);
        self.end.call(&law.sender, py, cx, hook, more)?;
        self.read_limits(py)
    }

    fn read_limits(&mut self, py: Python<'_>) -> PyResult<()> {
        let limits = self.end.object.call_method0(py, "limits")?;
        let limits = limits.bind(py).cast::<Limits>().map_err(|_| {
            PyTypeError::new_err("the method limits of a law returns a rocelab.Limits")
        })?;
        self.limits = limits.get().0;
        Ok(())
    }
}

impl Rp<Prototype> for Sender {
    type Timer = Present;

    fn open(
        params: &PrototypeParams,
        _host: &mut Py<PyDict>,
        path: &contract::PathFacts,
        now: Time,
    ) -> Sender {
        let law = params.0.clone().expect("a run without a law is refused");
        Python::attach(|py| {
            let made = || -> PyResult<Sender> {
                let path = Bound::new(py, PathFacts::from(path))?.into_any();
                let now_ps = now.ps().into_pyobject(py)?.into_any();
                let object = law.sender.make(py, &PyTuple::new(py, [path, now_ps])?);
                let mut end = End { object, next_timer: Time::NEVER };
                end.read_timer(&law.sender, py, now)?;
                let limits = SendLimits::UNLIMITED;
                let mut sender = Sender { law: Arc::clone(&law), end, limits };
                sender.read_limits(py)?;
                Ok(sender)
            };
            made().unwrap_or_else(|error| raise(error))
        })
    }
    fn limits(&self) -> SendLimits {
        self.limits
    }
    fn on_send(
        &mut self,
        cx: &mut HostCx<'_, Prototype>,
        data: &mut contract::Header,
        meta: &mut Fields,
    ) {
        if !self.law.sender.has("on_send") {
            return;
        }
        Python::attach(|py| {
            let mut called = || -> PyResult<Fields> {
                let header = Bound::new(py, Header::from(&*data))?.into_any();
                let list = meta.to_list(py)?;
                self.call_with(py, cx, "on_send", &[header, list.clone().into_any()])?;
                Fields::of_list(&list)
            };
            *meta = called().unwrap_or_else(|error| raise(error));
        });
    }
    fn on_ack(&mut self, cx: &mut HostCx<'_, Prototype>, ack: &contract::Ack<'_, Prototype>) {
        self.call(cx, "on_ack", |py| Ok(vec![Bound::new(py, Ack::new(py, ack)?)?.into_any()]));
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Prototype>, ctl: &Fields) {
        self.call(cx, "on_ctl", |py| Ok(vec![ctl.to_list(py)?.into_any()]));
    }
    fn on_backlog(&mut self, cx: &mut HostCx<'_, Prototype>, left: Bytes) {
        self.call(cx, "on_backlog", |py| Ok(vec![left.get().into_pyobject(py)?.into_any()]));
    }
    fn on_retransmission_timeout(&mut self, cx: &mut HostCx<'_, Prototype>) {
        self.call(cx, "on_retransmission_timeout", |_| Ok(Vec::new()));
    }
    fn observe(&self, now: Time, what: SenderMetric) -> Option<f64> {
        if !self.law.sender.has("observe") {
            return match what {
                SenderMetric::Rate if self.limits.rate != SendLimits::UNLIMITED.rate => {
                    Some(self.limits.rate.bps() as f64)
                }
                SenderMetric::Window if self.limits.window != Bytes::UNLIMITED => {
                    Some(self.limits.window.get() as f64)
                }
                _ => None,
            };
        }
        let name = match what {
            SenderMetric::Rate => "rate",
            SenderMetric::Window => "window",
            SenderMetric::Alpha => "alpha",
        };
        Python::attach(|py| {
            let observed = || -> PyResult<Option<f64>> {
                let value = self.end.object.call_method1(py, "observe", (now.ps(), name))?;
                match value.extract(py)? {
                    Some(value) if !f64::is_finite(value) => Err(PyValueError::new_err(format!(
                        "observe gives {value} for {name}: a finite number or None is needed"
                    ))),
                    value => Ok(value),
                }
            };
            observed().unwrap_or_else(|error| raise(error))
        })
    }
}

impl RpTimer<Prototype> for Sender {
    fn next_timer(&self) -> Time {
        self.end.next_timer
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, Prototype>) {
        self.call(cx, "on_timer", |_| Ok(Vec::new()));
        self.end.check_timer(cx.now);
    }
}

/// The notification point. `None`: the law has no class for it.
pub(crate) struct Receiver(Option<(Arc<Classes>, End)>);

impl Receiver {
    /// Calls a hook if the class has it. Returns what it has made of `meta`.
    fn call<F>(
        &mut self,
        cx: &mut HostCx<'_, Prototype>,
        hook: &str,
        meta: Fields,
        more: F,
    ) -> Fields
    where
        F: for<'py> FnOnce(Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>>,
    {
        let Some((law, end)) = &mut self.0 else { return meta };
        let class = law.receiver.as_ref().expect("an object has a class");
        if !class.has(hook) {
            return meta;
        }
        let takes_meta = matches!(hook, "on_packet" | "on_kept_data");
        Python::attach(|py| {
            let called = || -> PyResult<Fields> {
                let mut arguments = more(py)?;
                let list = meta.to_list(py)?;
                if takes_meta {
                    arguments.push(list.clone().into_any());
                }
                end.call(class, py, cx, hook, &arguments)?;
                Fields::of_list(&list)
            };
            called().unwrap_or_else(|error| raise(error))
        })
    }
}

impl Np<Prototype> for Receiver {
    type Timer = Present;

    fn open(params: &PrototypeParams, _host: &mut Py<PyDict>, now: Time) -> Receiver {
        let law = params.0.clone().filter(|law| law.receiver.is_some());
        Receiver(law.map(|law| {
            let class = law.receiver.as_ref().expect("it has one");
            let end = Python::attach(|py| {
                let made = || -> PyResult<End> {
                    let object = class.make(py, &PyTuple::new(py, [now.ps()])?);
                    let mut end = End { object, next_timer: Time::NEVER };
                    end.read_timer(class, py, now)?;
                    Ok(end)
                };
                made().unwrap_or_else(|error| raise(error))
            });
            (Arc::clone(&law), end)
        }))
    }
    fn on_packet(
        &mut self,
        cx: &mut HostCx<'_, Prototype>,
        data: &contract::Header,
        meta: &Fields,
    ) {
        // What it makes of the list is not kept: the payload may be discarded.
        self.call(cx, "on_packet", *meta, |py| header(py, data));
    }
    fn on_kept_data(
        &mut self,
        cx: &mut HostCx<'_, Prototype>,
        data: &contract::Header,
        meta: &mut Fields,
    ) {
        *meta = self.call(cx, "on_kept_data", *meta, |py| header(py, data));
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Prototype>, ctl: &Fields) {
        let ctl = *ctl;
        self.call(cx, "on_ctl", ctl, |py| Ok(vec![ctl.to_list(py)?.into_any()]));
    }
    fn on_message_end(&mut self, cx: &mut HostCx<'_, Prototype>, is_last: bool) {
        self.call(cx, "on_message_end", Fields::default(), |py| {
            Ok(vec![is_last.into_pyobject(py)?.to_owned().into_any()])
        });
    }
}

fn header<'py>(py: Python<'py>, data: &contract::Header) -> PyResult<Vec<Bound<'py, PyAny>>> {
    Ok(vec![Bound::new(py, Header::from(data))?.into_any()])
}

impl NpTimer<Prototype> for Receiver {
    fn next_timer(&self) -> Time {
        self.0.as_ref().map_or(Time::NEVER, |(_, end)| end.next_timer)
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, Prototype>) {
        self.call(cx, "on_timer", Fields::default(), |_| Ok(Vec::new()));
        if let Some((_, end)) = &self.0 {
            end.check_timer(cx.now);
        }
    }
}
