//! A run: built from a setup for a scheme, then executed by the engine.

use crate::build::{self, NodeDevice};
use crate::context::{NetworkContext, RunContext};
use crate::error::SetupError;
use crate::network::setup::Setup;
use crate::observe::spill::{Batch, Store};
use crate::output::RunOutput;
use crate::packet::Scheme;
use crate::unfinished;
use engine::{Collector, ProgressCallback, RunLimits, TieBreak};
use schemes::contract::Needs;
use std::sync::{Arc, Mutex, PoisonError};
use units::{Rate, Time, cancel};

/// A network built for a scheme, ready to run.
pub struct Simulation<S: Scheme> {
    pub(crate) common: Arc<RunContext<S>>,
    pub(crate) devices: Vec<NodeDevice<S>>,
    limits: RunLimits,
    store: Store,
}

impl<S: Scheme> Simulation<S> {
    /// Builds the network of a setup.
    ///
    /// # Errors
    /// If the scheme does not fit the network, or the setup cannot be built.
    pub fn new(setup: &Setup, params: S::Params) -> Result<Simulation<S>, SetupError> {
        let common = Arc::new(RunContext::<S>::new(setup, params)?);
        check(setup, &common, &S::NEEDS, common.fits_cioq())?;
        let goal = setup.until_done.then_some(setup.messages.len() as u64);
        let devices = build::devices(setup, &common)?;
        let limits = RunLimits { stop: setup.stop, goal, max_records: setup.max_samples };
        Ok(Simulation { common, devices, limits, store: Store::new(setup) })
    }

    /// Runs the simulation on up to `threads` threads.
    ///
    /// `watch` is called with the progress and may stop the run; the results so far are returned.
    /// No cancelled scope unwinds a run.
    ///
    /// # Errors
    /// If the system does not start the threads.
    pub fn run(self, threads: usize, watch: ProgressCallback<'_>) -> Result<RunOutput, SetupError> {
        cancel::shielded(|| self.run_shielded(threads, watch))
    }

    fn run_shielded(
        self,
        threads: usize,
        watch: ProgressCallback<'_>,
    ) -> Result<RunOutput, SetupError> {
        let Simulation { common, devices, limits, store } = self;
        let (clock, min_packet) = (common.clock, common.wire.min_packet());
        let mut layout = common.groups.partition(&common.graph, clock, min_packet, threads);
        layout.tags = common.has_tags;
        if common.compat.orders_by_emission() {
            layout.tie_break = TieBreak::DeviceOrder;
        }
        let (probes, max_held_bytes) = (store.probes(), store.max_held_bytes());
        let store = Mutex::new(store);
        let lock = || store.lock().unwrap_or_else(PoisonError::into_inner);
        let put = |devices: &mut dyn Iterator<Item = &mut NodeDevice<S>>, end| {
            lock().put(take_records(devices, probes, end))
        };
        let collector = Collector { max_held_bytes, collect: &put };
        let (mut devices, outcome, left) = if common.fast_paths {
            engine::run_collecting(devices, &layout, limits, watch, collector)
                .map_err(|error| SetupError::ThreadStart { threads, reason: error.to_string() })?
        } else {
            engine::run_reference(devices, &layout, limits)
        };
        let unfinished = unfinished::causes(&common, &devices, &left, outcome.end);
        // The tables need the memory of these packets.
        drop(left);
        let pauses = unfinished::pauses(&common, &devices);
        let deadlock = unfinished::pauses::deadlock(&pauses, outcome.end);
        let last = take_records(&mut devices.iter_mut(), probes, outcome.end);
        let store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut output = RunOutput::new(&common, outcome, store.finish(last));
        (output.unfinished, output.deadlock) = (unfinished, deadlock);
        output.add_devices(&common, devices);
        Ok(output)
    }
}

/// Takes from all devices what they recorded before `end`.
fn take_records<S: Scheme>(
    devices: &mut dyn Iterator<Item = &mut NodeDevice<S>>,
    probes: usize,
    end: Time,
) -> Batch {
    Batch::new(probes, |batch| devices.for_each(|device| device.hand_over(batch, end)))
}

/// Refuses a network that does not fit the scheme's `needs`, and a setup that cannot be simulated.
/// `fits_cioq`: the scheme needs nothing that CIOQ switches lack.
fn check(
    setup: &Setup,
    common: &NetworkContext,
    needs: &Needs,
    fits_cioq: bool,
) -> Result<(), SetupError> {
    let (switches, rates) = (common.routes.max_switches, common.rates.count());
    if switches > needs.max_hops {
        return Err(SetupError::PathTooLong { switches, room: needs.max_hops });
    }
    if rates > needs.max_link_rates {
        return Err(SetupError::TooManyLinkRates { rates, room: needs.max_link_rates });
    }
    if let Some(priority) = common.classes.class_in_use(setup.pfc.lossless, &common.flows) {
        return Err(SetupError::ClassInUse { priority });
    }
    if let Some(priority) = common.classes.class_not_first() {
        return Err(SetupError::ClassNotFirst { priority });
    }
    if let Some(priority) = common.classes.class_not_sendable() {
        return Err(SetupError::ClassNotSendable { priority });
    }
    if needs.symmetric_paths
        && let Some((src, dst)) = common.asymmetric_pair()
    {
        return Err(SetupError::AsymmetricPath { src, dst });
    }
    if setup.switch.cioq.is_some() && !fits_cioq {
        return Err(SetupError::NotForCioq);
    }
    if let Some(refusal) = short_outage(setup, common) {
        return Err(refusal);
    }
    if let Some(flow) = common.endless_message() {
        let row = &common.flows[flow as usize];
        let facts = common.path_facts(row.src, row.dst, common.data_hash(row), 0);
        return Err(SetupError::EndlessMessage { flow, rate: facts.bottleneck_rate });
    }
    Ok(())
}

/// Finds an outage that ends before all packets on the link would have arrived. They would look
/// like packets that were sent after the repair.
fn short_outage(setup: &Setup, common: &NetworkContext) -> Option<SetupError> {
    let latency = setup.host.latency.max(setup.switch.latency);
    let response = setup.pfc.timing.response;
    setup.outages.iter().find_map(|outage| {
        let link = &setup.links[outage.link as usize];
        let longest = common.wire.max_packet;
        let impaired = setup.impairments.iter().filter(|one| one.link == outage.link);
        let rates = || impaired.clone().filter_map(|one| one.rate).chain([link.rate]);
        let slowest = rates().fold(link.rate, Rate::min);
        // PFC frames take their response time in place of the latency.
        let response = rates().map(|rate| response.at(rate)).max().unwrap_or_default();
        let handled = if link.pfc { latency.max(response) } else { latency };
        let arrives = slowest.time_for(longest) + link.delay + handled;
        // Rounded up to a nanosecond, for the message.
        let min = Time::from_ns(arrives.ns() + 1);
        let short = outage.until != Time::NEVER && outage.until - outage.from <= min;
        short.then_some(SetupError::OutageTooShort { link: outage.link, from: outage.from, min })
    })
}
