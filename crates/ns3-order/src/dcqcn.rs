//! DCQCN, whose timers are events.

use crate::event_list::{Handle, Kind};
use crate::laws::Law;
use crate::simulation::Simulation;
use hpcc_files::Config;

/// What all flows share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Params {
    gain: f64,
    /// Periods of the timers, in nanoseconds.
    alpha: u64,
    decrease: u64,
    increase: u64,
    recovery_steps: u32,
    ai: u64,
    hai: u64,
    min_rate: u64,
    clamp_target: bool,
    pub(crate) payload: u64,
}

impl Params {
    pub(crate) fn new(config: &Config) -> Params {
        Params {
            gain: config.ewma_gain.unwrap_or(0.0),
            alpha: config.alpha_resume_interval.ns(),
            decrease: config.rate_decrease_interval.ns(),
            increase: config.rp_timer.unwrap_or_default().ns(),
            recovery_steps: config.fast_recovery_times,
            ai: config.rate_ai.unwrap_or_default().bps(),
            hai: config.rate_hai.unwrap_or_default().bps(),
            min_rate: config.min_rate.bps(),
            clamp_target: config.clamp_target_rate,
            payload: config.packet_payload_size.get(),
        }
    }
}

/// The state of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Dcqcn {
    alpha: f64,
    target: u64,
    /// Increases since the last cut.
    stage: u32,
    /// No mark has come yet.
    is_first: bool,
    /// A mark has come since the last event of this timer.
    alpha_marked: bool,
    decrease_marked: bool,
    alpha_timer: Handle,
    decrease_timer: Handle,
    increase_timer: Handle,
}

impl Dcqcn {
    pub(crate) fn new(line: u64) -> Dcqcn {
        Dcqcn {
            alpha: 1.0,
            target: line,
            stage: 0,
            is_first: true,
            alpha_marked: false,
            decrease_marked: false,
            alpha_timer: Handle::NONE,
            decrease_timer: Handle::NONE,
            increase_timer: Handle::NONE,
        }
    }
}

impl Simulation<'_> {
    /// An ACK says that its packet was marked.
    pub(crate) fn on_mark(&mut self, flow: u32) {
        let params = self.laws.dcqcn;
        let qp = &mut self.qps[flow as usize];
        let Law::Dcqcn(law) = &mut qp.law else { return };
        law.alpha_marked = true;
        law.decrease_marked = true;
        if law.is_first {
            law.alpha = 1.0;
            law.alpha_marked = false;
            law.alpha_timer = self.events.schedule(params.alpha, Kind::Alpha, flow, 0);
            law.decrease_timer = self.events.schedule(params.decrease + 1, Kind::Decrease, flow, 0);
            law.target = qp.rate;
            law.is_first = false;
        }
    }

    pub(crate) fn on_alpha_timer(&mut self, flow: u32) {
        let params = self.laws.dcqcn;
        let Law::Dcqcn(law) = &mut self.qps[flow as usize].law else { return };
        let rest = (1.0 - params.gain) * law.alpha;
        law.alpha = if law.alpha_marked { rest + params.gain } else { rest };
        law.alpha_marked = false;
        law.alpha_timer = self.events.schedule(params.alpha, Kind::Alpha, flow, 0);
    }

    pub(crate) fn on_decrease_timer(&mut self, flow: u32) {
        let params = self.laws.dcqcn;
        let qp = &mut self.qps[flow as usize];
        let Law::Dcqcn(law) = &mut qp.law else { return };
        law.decrease_timer = self.events.schedule(params.decrease, Kind::Decrease, flow, 0);
        if !law.decrease_marked {
            return;
        }
        if params.clamp_target || law.stage != 0 {
            law.target = qp.rate;
        }
        let rate = ((qp.rate as f64 * (1.0 - law.alpha / 2.0)) as u64).max(params.min_rate);
        law.stage = 0;
        law.decrease_marked = false;
        self.events.cancel(&mut law.increase_timer);
        law.increase_timer = self.events.schedule(params.increase, Kind::Increase, flow, 0);
        self.set_rate(flow, rate);
    }

    pub(crate) fn on_increase_timer(&mut self, flow: u32) {
        let params = self.laws.dcqcn;
        let qp = &mut self.qps[flow as usize];
        let Law::Dcqcn(law) = &mut qp.law else { return };
        law.increase_timer = self.events.schedule(params.increase, Kind::Increase, flow, 0);
        let step = match law.stage.cmp(&params.recovery_steps) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => params.ai,
            std::cmp::Ordering::Greater => params.hai,
        };
        if step != 0 {
            law.target = (law.target + step).min(qp.line);
        }
        law.stage += 1;
        let rate = qp.rate / 2 + law.target / 2;
        self.set_rate(flow, rate);
    }

    /// The flow ends: its timers stop. Those that a later mark starts do not.
    pub(crate) fn stop_timers(&mut self, flow: u32) {
        let Law::Dcqcn(law) = &mut self.qps[flow as usize].law else { return };
        let law = &mut **law;
        for timer in [&mut law.alpha_timer, &mut law.decrease_timer, &mut law.increase_timer] {
            self.events.cancel(timer);
        }
    }
}
