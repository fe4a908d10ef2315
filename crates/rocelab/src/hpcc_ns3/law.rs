//! The control law that a configuration of the HPCC simulator asks for.

use hpcc_files::{CcMode, Config};
use scenario::spec::{ParamValue, SchemeSpec};
use std::collections::BTreeMap;
use units::{Rate, Time};

/// INT records that packets have room for.
pub(super) const HOPS: u64 = 5;
/// INT records that packets of the THEMIS prototype have room for.
pub(super) const THEMIS_HOPS: u64 = 10;

/// The window that `HAS_WIN`, `VAR_WIN` and `GLOBAL_T` ask for, as schemes call it.
pub(super) fn window(config: &Config) -> &'static str {
    match (config.has_win, config.var_win, config.global_t) {
        (false, ..) => "none",
        (true, true, true) => "bdp",
        (true, true, false) => "path-bdp",
        (true, false, true) => "fixed-bdp",
        (true, false, false) => "fixed-path-bdp",
    }
}

/// The scheme that `CC_MODE` asks for, with its preset and the parameters that the other keys give.
pub(super) fn scheme(config: &Config) -> SchemeSpec {
    let mut params: BTreeMap<String, ParamValue> = BTreeMap::new();
    let mut set = |name: &str, value: ParamValue| {
        params.insert(name.to_owned(), value);
    };
    let rate = |rate: Rate| ParamValue::Text(rate.to_string());
    let time = |time: Time| ParamValue::Text(time.to_string());
    let window = ParamValue::Text(window(config).to_owned());
    // Checked by the reader where the law needs them.
    let rate_ai = config.rate_ai.unwrap_or(Rate::ZERO);
    let rate_hai = config.rate_hai.unwrap_or(Rate::ZERO);
    let (name, preset) = match config.cc_mode {
        CcMode::Dcqcn => {
            set("alpha_timer", time(config.alpha_resume_interval));
            set("decrease_interval", time(config.rate_decrease_interval));
            set("increase_timer", time(config.rp_timer.unwrap_or(Time::ZERO)));
            set("gain", ParamValue::Number(config.ewma_gain.unwrap_or(0.0)));
            set("recovery_steps", ParamValue::Count(config.fast_recovery_times.into()));
            set("clamp_target", ParamValue::Flag(config.clamp_target_rate));
            set("rate_ai", rate(rate_ai));
            set("rate_hai", rate(rate_hai));
            set("min_rate", rate(config.min_rate));
            set("window", window);
            if config.enable_themis == Some(true) {
                ("themis", "themis-prototype")
            } else {
                ("dcqcn", "dcqcn-hpcc")
            }
        }
        CcMode::Timely => {
            set("rate_ai", rate(rate_ai));
            set("rate_hai", rate(rate_hai));
            set("min_rate", rate(config.min_rate));
            set("window", window);
            ("timely", "timely-hpcc")
        }
        CcMode::Dctcp => {
            set("gain", ParamValue::Number(config.ewma_gain.unwrap_or(0.0)));
            set("rate_ai", rate(config.dctcp_rate_ai));
            set("min_rate", rate(config.min_rate));
            set("window", window);
            ("dctcp", "dctcp-hpcc")
        }
        CcMode::Hpcc | CcMode::HpccPint => {
            set("eta", ParamValue::Number(config.u_target));
            set("max_stage", ParamValue::Count(config.mi_thresh.into()));
            // 0 would ask for the one that follows from eta: a bit per second is as good as none.
            set("rate_ai", rate(rate_ai.max(Rate::from_bps(1))));
            set("min_rate", rate(config.min_rate));
            set("window", window);
            if config.cc_mode == CcMode::Hpcc {
                let base_rtt = if config.global_t { "network" } else { "path" };
                set("base_rtt", ParamValue::Text(base_rtt.to_owned()));
                set("fast_reaction", ParamValue::Flag(config.fast_react));
                set("sample_feedback", ParamValue::Flag(config.sample_feedback));
                set("rate_per_hop", ParamValue::Flag(config.multi_rate));
                set("int_multi", ParamValue::Count(config.int_multi.into()));
                if config.enable_themis.is_some() {
                    set("max_hops", ParamValue::Count(THEMIS_HOPS));
                }
                ("hpcc", "hpcc-ns3")
            } else {
                set("log_base", ParamValue::Number(config.pint_log_base));
                set("probability", ParamValue::Number(config.pint_prob));
                ("hpcc-pint", "hpcc-pint-ns3")
            }
        }
        CcMode::None(_) => {
            set("window", window);
            ("none", "none")
        }
    };
    SchemeSpec { name: name.to_owned(), preset: Some(preset.to_owned()), params, also: Vec::new() }
}
