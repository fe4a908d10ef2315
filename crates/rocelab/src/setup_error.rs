//! Texts for networks that the fabric cannot simulate with a scheme.

use fabric::SetupError;
use scenario::{Paths, Scenario, ScenarioError};
use units::{Bytes, NodeId, Rate, Time};

/// Returns the error of a scenario that the fabric refused: what is wrong, at which key, and what
/// to do about it.
pub(crate) fn describe_setup_error(scenario: &Scenario, refusal: SetupError) -> ScenarioError {
    let scheme = scenario.needs().name;
    let name = |node| scenario.network.name(node);
    let error = match refusal {
        SetupError::PathTooLong { switches, room } => ScenarioError::new(
            "topology",
            format!(
                "paths have up to {switches} switches, {scheme} has room for {room} in its \
                 packets"
            ),
        )
        .hint("use a topology with shorter paths"),
        SetupError::TooManyLinkRates { rates, room } => ScenarioError::new(
            "topology",
            format!(
                "packets of {scheme} have codes for {room} rates, and {rates} would be needed, \
                 those of the 64-bit format of INT among them"
            ),
        )
        .hint("give some links the same rate"),
        SetupError::ClassInUse { priority } => class_in_use(scheme, priority),
        SetupError::ClassNotFirst { priority } => class_not_first(scheme, priority),
        SetupError::ClassNotSendable { priority } => ScenarioError::new(
            "scheme",
            format!(
                "{scheme} gives its class of priority {priority} a share of the link that is not \
                 within 1/65536 and 1, or a burst of no packet"
            ),
        )
        .hint("take other parameters; if it is a scheme of your own, mend its classes"),
        SetupError::AsymmetricPath { src, dst } => asymmetric_path(scenario, [src, dst]),
        SetupError::NoSpanningTree => ScenarioError::new(
            "routing.paths",
            "\"spanning-trees\" needs a tree of switches with all hosts on it, and no host wired \
             to a host",
        ),
        SetupError::ThreadStart { threads, reason } => {
            let why = format!("the system does not start {threads} threads: {reason}");
            ScenarioError::new("", why).hint("take fewer")
        }
        SetupError::OutageTooShort { link, from, min } => {
            outage_too_short(scenario, link, from, min)
        }
        SetupError::EndlessMessage { flow, rate } => endless_message(scenario, flow, rate),
        SetupError::RoutingTableFull => routing_table_full(scenario),
        SetupError::TooManyPaths { from, to, paths } => ScenarioError::new(
            "routing.balance",
            format!(
                "\"conweave\" tells up to 255 paths apart, and {paths} lead from {} to {}",
                name(from),
                name(to)
            ),
        )
        .hint("take a network with fewer paths, or another routing.balance"),
        SetupError::BufferTooSmall { node, needed } => buffer_too_small(scenario, node, needed),
        SetupError::NoRoom { node, flow, packet } => no_room(scenario, node, flow, packet),
        SetupError::InputQueueTooSmall { node, needed } => {
            input_queue_too_small(scenario, node, needed)
        }
        SetupError::NotForCioq => ScenarioError::new(
            "switch.architecture",
            format!(
                "{scheme} keeps queues of its own, or holds packets, in shared-memory switches; \
                 CIOQ switches have no place for them"
            ),
        )
        .hint("set switch.architecture = \"shared-memory\", or take another scheme"),
        SetupError::HoldsBeforeOrder { node } => {
            let why = format!(
                "\"conweave\" puts packets in order at switches with hosts, and {scheme} blocks \
                 packets at {}, which has hosts and a long link",
                name(node)
            );
            ScenarioError::new("routing.balance", why).hint(format!(
                "put a switch without hosts between {} and the long link, take another \
                 routing.balance, or set scheme.params.react = false",
                name(node)
            ))
        }
        SetupError::SwitchParams { node, error } => {
            let error = ScenarioError::from(&error);
            ScenarioError { message: format!("{} (switch {})", error.message, name(node)), ..error }
        }
    };
    scenario.with_location(error)
}

fn class_in_use(scheme: &str, priority: u8) -> ScenarioError {
    let why = format!(
        "{scheme} keeps priority {priority} for packets of its own that may be dropped, and \
         something else uses it"
    );
    ScenarioError::new("classes", why)
        .hint("give data, ACKs, control packets and lossless classes other priorities")
}

fn class_not_first(scheme: &str, priority: u8) -> ScenarioError {
    let why = format!(
        "{scheme} keeps priority {priority} for packets of its own that must go first, and others \
         may go before them"
    );
    ScenarioError::new("classes", why).hint(format!(
        "have {priority} in classes.strict, and give data, ACKs and control packets lower \
         priorities"
    ))
}

/// Data and ACKs between `ends` take two paths, though the scheme needs one.
fn asymmetric_path(scenario: &Scenario, ends: [NodeId; 2]) -> ScenarioError {
    let scheme = scenario.needs().name;
    let [src, dst] = ends.map(|node| scenario.network.name(node));
    if let Some(quirk) = scenario.quirks.ecmp_hash() {
        let why = format!(
            "scheme {scheme} needs data and ACKs on the same path, and the hash of {quirk} sends \
             those between {src} and {dst} over two; routing.hash has no effect with it"
        );
        return ScenarioError::new(quirk, why)
            .hint(format!("set {quirk} = false: routing.hash is then \"symmetric\""));
    }
    let why = format!(
        "scheme {scheme} needs data and ACKs on the same path, and with \"symmetric\" those \
         between {src} and {dst} take two, as the topology is not regular enough"
    );
    ScenarioError::new("routing.hash", why).hint("set routing.paths = \"spanning-trees\"")
}

/// The link number `link` fails at `from` and is repaired within `min`.
fn outage_too_short(scenario: &Scenario, link: u32, from: Time, min: Time) -> ScenarioError {
    let outage = scenario.outages.iter().find(|one| (one.link, one.from) == (link, from));
    let ends = scenario.network.links[link as usize];
    let why = format!(
        "what was on the link between {} and {} may arrive up to {min} after it fails",
        scenario.network.name(ends.a),
        scenario.network.name(ends.b)
    );
    ScenarioError::new(format!("failure.{}.until", outage.map_or(0, |one| one.entry)), why)
        .hint("repair it later than that")
}

/// The message number `flow` needs longer than times reach, at `rate`.
fn endless_message(scenario: &Scenario, flow: u32, rate: Rate) -> ScenarioError {
    let message = &scenario.messages[flow as usize];
    let seconds = message.size.get() as f64 * 8.0 / rate.bps().max(1) as f64;
    let why = format!(
        "the message of {} from {} to {} (tag {:?}) needs {seconds:.2e} s at {rate}, the lowest \
         rate on its path; times go up to {:.2e} s",
        message.size,
        scenario.network.name(message.src),
        scenario.network.name(message.dst),
        scenario.tags[usize::from(message.tag)],
        Time::NEVER.as_secs_f64(),
    );
    ScenarioError::new("traffic", why).hint("send less, or raise the rate of that link")
}

fn routing_table_full(scenario: &Scenario) -> ScenarioError {
    if matches!(scenario.routing, Paths::SpanningTrees(_)) {
        let why = "the routes of so many spanning trees do not fit";
        return ScenarioError::new("routing.trees", why).hint("take fewer");
    }
    let why = "its routes do not fit: nodes have too many different sets of ports to others";
    ScenarioError::new("topology", why).hint(
        "take a smaller or more regular network, or fewer failures and repairs, each of which has \
         routes of its own",
    )
}

/// PFC takes `needed` bytes of the buffer of `node`, which has fewer.
fn buffer_too_small(scenario: &Scenario, node: NodeId, needed: u64) -> ScenarioError {
    let (buffer, key) = scenario.switch.buffer_of(scenario.network.node(node));
    let why = format!(
        "{buffer} is too small for PFC: headroom and reserve of {}'s ports take {needed} bytes",
        scenario.network.name(node)
    );
    ScenarioError::new(key, why)
        .hint("enlarge that buffer, set pfc.headroom, or have fewer lossless priorities")
}

/// `node` never takes a packet of `packet` bytes, which the message number `flow` has.
fn no_room(scenario: &Scenario, node: NodeId, flow: u32, packet: Bytes) -> ScenarioError {
    let message = &scenario.messages[flow as usize];
    let (name, priority) = (scenario.network.name(node), message.priority);
    let why = format!(
        "{name} has no room for a packet of {packet}, even while it is empty, and the message of \
         {} from {} to {} (priority {priority}) has such packets: it never completes",
        message.size,
        scenario.network.name(message.src),
        scenario.network.name(message.dst)
    );
    let slow = scenario.slow_receivers.iter().filter(|one| one.host == node);
    if let Some(slow) = slow.min_by_key(|one| one.buffer) {
        let why = format!("{} is too small: {why}", slow.buffer);
        return ScenarioError::new("receiver", why).hint("enlarge its `buffer`");
    }
    if scenario.switch.cioq.is_some() {
        return ScenarioError::new("switch", why)
            .hint("enlarge switch.input_queue and switch.output_queue");
    }
    let (_, buffer) = scenario.switch.buffer_of(scenario.network.node(node));
    let is_lossless = scenario.pfc.protects(&scenario.classes, priority);
    let mut classes = scenario.class_settings.iter();
    let has_own = classes.any(|one| one.priority == priority && one.lossy_alpha.is_some());
    let (key, mend) = if is_lossless {
        (buffer, "enlarge the buffer, or raise pfc.xoff or pfc.headroom")
    } else if has_own {
        ("classes.settings", "raise the `lossy_alpha` of its class, or enlarge the buffer")
    } else if scenario.switch.lossy_alpha.is_some() {
        ("switch.lossy_alpha", "raise it, or enlarge the buffer")
    } else if scenario.pfc.enabled {
        (
            buffer,
            "data that PFC does not protect has what lossless priorities leave: enlarge the \
             buffer, lower pfc.xoff or pfc.headroom, or have fewer lossless priorities",
        )
    } else {
        (buffer, "enlarge the buffer")
    };
    ScenarioError::new(key, why).hint(mend)
}

/// PFC takes `needed` bytes of an input queue of `node`, which has fewer.
fn input_queue_too_small(scenario: &Scenario, node: NodeId, needed: u64) -> ScenarioError {
    let why = format!(
        "{} is too small for PFC: Xoff and the headroom of a port of {} take {needed} bytes",
        scenario.switch.cioq.map_or(Bytes::ZERO, |cioq| cioq.input_queue),
        scenario.network.name(node)
    );
    ScenarioError::new("switch.input_queue", why)
        .hint("enlarge it, or lower pfc.headroom, or pfc.xoff and those of [[classes.settings]]")
}
