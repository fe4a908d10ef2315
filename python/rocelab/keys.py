"""The keys of scenario files, so that editors complete them and type checkers know them.

Written by ``python docs/generate.py`` from the JSON Schema that ``rocelab schema`` prints.
Quantities are texts with their unit, such as ``"100Gbps"``, ``"1.5us"`` and ``"320KB"``.

>>> from rocelab.keys import StarTopology
>>> network: StarTopology = {
...     "kind": "star", "hosts": 4, "host_rate": "100Gbps", "host_delay": "1us"
... }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypeAlias, TypedDict

Architecture: TypeAlias = Literal["shared-memory", "cioq"]
"""Where packets wait in a switch."""

BalanceKind: TypeAlias = Literal[
    "ecmp",
    "random",
    "round-robin",
    "adaptive",
    "drill",
    "letflow",
    "conga",
    "conweave",
]
"""How switches choose among next hops."""

CollectiveOperation: TypeAlias = Literal["all-reduce", "reduce-scatter", "all-gather", "all-to-all"]
"""What is done together."""

CoreWiring: TypeAlias = Literal["planes", "full"]
"""Which cores an aggregation switch is linked to."""

DataPriority: TypeAlias = Literal["data"]
"""The word `data`."""

DestinationMix: TypeAlias = Literal["steady", "quota"]
"""How the share of responses that go to another data centre comes about."""

FlowSelector: TypeAlias = int | str
"""Flows of a probe: one by its number, or all with a tag."""

HashKind: TypeAlias = Literal["five-tuple", "symmetric"]
"""What the choice of a path depends on."""

HostSet: TypeAlias = int | Sequence[str]
"""Hosts: a number of them, chosen at random, or a list of names."""

MarkAt: TypeAlias = Literal["dequeue", "enqueue"]
"""When a switch looks at the queue to mark a packet."""

NodeKind: TypeAlias = Literal["host", "switch"]
"""What a node is."""

ParamValue: TypeAlias = bool | int | float | str
"""The value of a scheme's parameter as written; quantities are texts with their unit."""

PathsKind: TypeAlias = Literal["shortest", "spanning-trees"]
"""The paths between two hosts."""

PortUse: TypeAlias = Literal["hash", "spray"]
"""How the QPs of a host use its ports, if it has several."""

ProbeKind: TypeAlias = Literal[
    "queue",
    "throughput",
    "utilisation",
    "pause",
    "paused-share",
    "port-state",
    "rate",
    "window",
    "alpha",
    "latency",
    "flow-queue",
    "flow-credits",
    "flow-rate",
    "goodput",
    "input-queue",
    "reorder-queue",
    "reorder-buffer",
]
"""What a probe records."""

ProbePreset: TypeAlias = Literal["view"]
"""A set of probes."""

RecoveryMode: TypeAlias = Literal["go-back-n", "selective-repeat"]
"""What a sender sends again after a loss."""

SprayKind: TypeAlias = Literal["off", "random", "cycle", "reps", "bitmap", "flowcell"]
"""How senders spread the packets of a queue pair over paths."""

ThresholdKind: TypeAlias = Literal["static", "dynamic"]
"""How the threshold of an ingress queue is found."""

WatchdogAction: TypeAlias = Literal["drop", "forward"]
"""What a watchdog does with the packets of a priority that is paused without end."""

WireProfile: TypeAlias = Literal["rocev2", "hpcc-ns3"]
"""The sizes of headers and control frames."""


class Also(TypedDict):
    """A second scheme in the network."""

    hosts: NotRequired[Sequence[str]]
    """The hosts that send with this scheme: names, ranges `h0..h15` or patterns `h1*`. Either this
    or `traffic`.
    """

    name: str
    """Name of the scheme. `rocelab list SCHEME` says which go beside it."""

    params: NotRequired[Mapping[str, ParamValue]]
    """Parameters that differ from the preset."""

    preset: NotRequired[str]
    """Named set of parameters; default: the scheme's first."""

    priority: NotRequired[int]
    """Priority of all data that is sent with this scheme, 0 to 7; default: as `[[traffic]]` says.
    """

    traffic: NotRequired[Sequence[str]]
    """The tags of the traffic that is sent with this scheme."""


class ClassEcn(TypedDict):
    """ECN marking of a class. Thresholds are of the queue of the class at a port."""

    enabled: NotRequired[bool]
    """Whether switches mark packets of the class."""

    kmax: NotRequired[str]
    """Everything is marked above this queue length."""

    kmin: NotRequired[str]
    """Nothing is marked up to this queue length."""

    pmax: NotRequired[float]
    """Marking probability at `kmax`; default: 1."""

    reference_rate: NotRequired[str]
    """The port rate that `kmin` and `kmax` are given for: other ports scale them with their rate.
    Default: all ports have the same.
    """


class ClassPfc(TypedDict):
    """The PFC threshold of a class. The rest is as `[pfc]` says."""

    alpha: NotRequired[float]
    """Dynamic thresholds: pause at this share of the free shared buffer."""

    xoff: NotRequired[str]
    """Static thresholds: pause at this many bytes of an ingress port."""

    xon: NotRequired[str]
    """Static thresholds: resume at this many bytes; default: as far below `xoff` as in `[pfc]`."""


class Class(TypedDict):
    """What one traffic class has of its own at switches. `[classes]` says what is sent in which
    class, with which weight, and which classes PFC protects.
    """

    ecn: NotRequired[ClassEcn]
    """ECN marking of its queues; default: as `[ecn]` says."""

    lossy_alpha: NotRequired[float]
    """A queue of it takes at most this share of what is free, where PFC does not protect it;
    default: `switch.lossy_alpha`.
    """

    pfc: NotRequired[ClassPfc]
    """When PFC pauses it, where PFC protects it; default: as `[pfc]` says."""

    priority: int
    """Its priority, 0 to 7."""


class Classes(TypedDict):
    """Which priority carries what, and how ports schedule priorities."""

    ack: NotRequired[AckPriority]
    """Priority of ACKs and NACKs, or "data" for that of the data they answer."""

    control: NotRequired[int]
    """Priority of a scheme's own packets, such as CNPs."""

    data: NotRequired[int]
    """Priority of messages that name none."""

    lossless: NotRequired[Sequence[int]]
    """The priorities that PFC protects."""

    quantum: NotRequired[str]
    """Bytes that a weight of 1 is worth in a round."""

    settings: NotRequired[Sequence[Class]]
    """Settings of single classes."""

    strict: NotRequired[Sequence[int]]
    """The priorities with strict precedence, higher numbers first; the others share by weight."""

    weights: NotRequired[Sequence[int]]
    """Weight of each priority, 0 to 7, in deficit round robin."""


class ConWeave(TypedDict):
    """Parameters of `balance = "conweave"`; defaults as in the paper's leaf-spines."""

    header: NotRequired[str]
    """What data packets carry for it on the wire, at most 64B."""

    inactive: NotRequired[str]
    """A flow that sends nothing for longer than this starts over, and may take another path at
    once.
    """

    own_memory: NotRequired[bool]
    """Whether packets that wait for a tail have memory of their own, as in the authors' simulator.
    Otherwise they take room in the switch's buffer, and PFC counts them.
    """

    path_busy: NotRequired[str]
    """For how long flows do not move to a path on which a packet was marked."""

    queues: NotRequired[int]
    """Queues for reordering at each port of a switch to a host."""

    reply_extra: NotRequired[str]
    """How long a reply may take beyond the round trip between the switches of two racks while
    nothing waits. A flow whose reply is later takes another path.
    """

    resume_default: NotRequired[str]
    """How long it may take if no packet of that path has come."""

    resume_extra: NotRequired[str]
    """How much later than expected the last packet of an old path may come before those of the new
    one are released; default 16us, but 64us with PFC in networks of three tiers.
    """

    samples: NotRequired[int]
    """Paths that are drawn, 1 to 64; the first one that is not busy is taken."""


class Conga(TypedDict):
    """Parameters of `balance = "conga"`; defaults as in the paper."""

    age: NotRequired[str]
    """A path of which nothing has been heard for this long counts as idle."""

    alpha: NotRequired[float]
    """The share of it that decays, above 0 and at most 1. The measure covers the last `dre_period
    / alpha`.
    """

    bits: NotRequired[int]
    """Bits of a measure that packets carry, 1 to 8."""

    dre_period: NotRequired[str]
    """How often a port's measure of the bytes that it sends decays."""


class EcnRate(TypedDict):
    """ECN thresholds of ports of one rate."""

    kmax: str
    """Everything is marked above this queue length."""

    kmin: str
    """Nothing is marked up to this queue length."""

    pmax: float
    """Marking probability at `kmax`."""

    rate: str
    """The rate of the ports."""


class Ecn(TypedDict):
    """ECN marking at switches (RED on the egress queue)."""

    by_rate: NotRequired[Sequence[EcnRate]]
    """Thresholds of ports of certain rates, instead of `kmin`, `kmax` and `pmax`."""

    enabled: NotRequired[bool]
    """Whether switches mark; default: whether the scheme's preset has a marking law."""

    kmax: NotRequired[str]
    """Everything is marked above this queue length; default: from the preset."""

    kmin: NotRequired[str]
    """Nothing is marked up to this queue length; default: from the preset."""

    mark_at: NotRequired[MarkAt]
    """Whether the queue is looked at when a packet leaves or when it arrives."""

    pmax: NotRequired[float]
    """Marking probability at `kmax`; default: from the preset."""

    reference_rate: NotRequired[str]
    """The port rate that `kmin` and `kmax` are given for: other ports scale them with their rate.
    Default: if both are given, they hold at all ports, whatever their rate; if one is, the
    preset's rate, such as 40 Gb/s.
    """


class Failure(TypedDict):
    """A link that fails, in both directions, for good or until it is repaired. For that time all
    routes avoid it; what waits for it or is on it is lost. Every two hosts must still reach
    each other. With `rate` or `error_rate` the link does not fail: it is slower or lossier, and
    routes stay as they are.
    """

    at: str
    """When, above zero."""

    error_rate: NotRequired[float]
    """Probability meanwhile that a packet, also a PFC frame, arrives damaged and is discarded."""

    link: str
    """The link, written "node:peer" after its two nodes; several between the same two fail
    together.
    """

    rate: NotRequired[str]
    """The link has this rate meanwhile, below its own. ECN and PFC thresholds stay those of its
    own rate. How long pauses last and take to hold follows the rate.
    """

    until: NotRequired[str]
    """When it carries packets again, later than what was on it would arrive; default: never."""


class Flow(TypedDict):
    """One message."""

    after: NotRequired[str]
    """It waits until its sender has received all messages with this tag. Those must be listed
    above it. Default: the `after` of the traffic.
    """

    after_delay: NotRequired[str]
    """From the arrival of the last of these to the posting; default: 0ns."""

    dst: str
    """The receiving host."""

    port: NotRequired[int]
    """UDP destination port, which counts where `quirks.ns3_ecmp_hash` is on; default: 4791. Source
    ports count up from 10000 for each pair of hosts.
    """

    priority: NotRequired[int]
    """Its priority; default: that of the traffic."""

    qp: NotRequired[str]
    """Messages with the same name here share a QP, in order; default: a QP of its own."""

    size: str
    """Size of the message."""

    src: str
    """The sending host."""

    start: NotRequired[str]
    """When it is posted."""

    tag: NotRequired[str]
    """Its name in results and probes; default: that of the traffic."""


class Host(TypedDict):
    """Every host's RNIC."""

    ack_every: NotRequired[int]
    """Data packets for each ACK."""

    cell: NotRequired[str]
    """`spray = "flowcell"`: payload bytes with one entropy value; default: 64KB."""

    entropies: NotRequired[int]
    """Entropy values of a queue pair, 1 to 65536; a power of two for "cycle". Default: 256, for
    "reps" 65536.
    """

    in_flight: NotRequired[int | str]
    """The largest distance between the first byte that is not acknowledged and the next new one:
    packets, a size, "bdp" (IRN's BDP-FC) or "unlimited"; where receivers keep data that is out
    of order, 16384 packets at most. Default: "bdp" for selective repeat without a control law
    (`scheme.name = "none"`), else "unlimited".
    """

    latency: NotRequired[str]
    """Time from the arrival of a packet to its handling in the host: a receiver answers that much
    later, and a sender knows of an ACK that much later.
    """

    loss_after: NotRequired[int | str]
    """Selective repeat: when a packet is taken for lost. "gap": when a later one has arrived
    (IRN); a number of packets or "bdp": when one has arrived that is this far behind it in the
    stream; a time: when one has arrived that left this much later; "timeout": never. Default:
    "gap", or "timeout" where packets of a flow take several paths, because a gap is no sign of
    a loss there.
    """

    nack: NotRequired[bool]
    """Whether a gap in the sequence is answered with a NACK."""

    nack_interval: NotRequired[str]
    """While the gap lasts, answer again after this long, or "never"."""

    ports: NotRequired[PortUse]
    """How queue pairs use the links of a host that has several."""

    recovery: NotRequired[RecoveryMode]
    """What is sent again after a loss."""

    reorder: NotRequired[int | str]
    """How far ahead of the first missing packet a receiver keeps data: packets, a size, or "bdp";
    16384 packets at most. With selective repeat a sender goes no further. Default: 0 packets
    with go-back-N, as in most RoCE NICs; with selective repeat "bdp" where `in_flight` is
    "bdp", else 16384 packets.
    """

    reordering_makes_cnp: NotRequired[bool]
    """Whether receivers take a packet out of order for a marked one, as some RNICs do: DCQCN
    answers with a CNP, other schemes echo a mark in the ACK. Without `reorder` only packets
    that are answered with a NACK count.
    """

    reps: NotRequired[Reps]
    """`spray = "reps"`: its parameters."""

    retransmit_timeout: NotRequired[str]
    """Go-back-N: resend from the first unacknowledged packet after this long without an ACK, or
    "never"; default: 1ms, and not less than eight times the delay of the longest link; where no
    data is ever lost (PFC protects all flows on all links, none of which fails or damages
    packets), not less than the slowest link, at the lowest rate that it has in the run, takes
    for eight times a switch's buffer either (CIOQ switches: 32MB).
    """

    rto_high: NotRequired[str]
    """Selective repeat: the timeout of other QPs. Default: as `rto_low`, but 320us instead of
    100us (IRN).
    """

    rto_low: NotRequired[str]
    """Selective repeat: the timeout of a QP with at most `rto_low_packets` packets that are not
    known to have arrived, or "never". Default: where data may be lost 100us (IRN), but not less
    than eight times the delay of the longest link; else the default of `retransmit_timeout`.
    """

    rto_low_packets: NotRequired[int]
    """Selective repeat: see `rto_low`; default: 3 (IRN)."""

    spray: NotRequired[SprayKind]
    """How the packets of a queue pair are spread over paths by the sender: each data packet has an
    entropy value that switches hash. It goes with `routing.balance = "ecmp"` only.
    """


class Link(TypedDict):
    """A link of a custom topology; it carries both directions."""

    a: str
    """One end."""

    b: str
    """The other end."""

    delay: NotRequired[str]
    """Propagation delay."""

    error_rate: NotRequired[float]
    """Probability that a packet arrives damaged and is discarded; default: `wire.error_rate`."""

    length: NotRequired[str]
    """Instead of the delay: length of fibre such as "2km", at 5 ns per metre."""

    pfc: NotRequired[bool]
    """Whether PFC may pause it. Without it what comes over the link is dropped where the switch's
    buffer is full, and needs no headroom.
    """

    rate: str
    """Rate of each direction."""


class Node(TypedDict):
    """A node of a custom topology."""

    buffer: NotRequired[str]
    """A switch's packet buffer; default: `switch.buffer`."""

    kind: NodeKind
    """What it is."""

    name: str
    """Its name. No other node has it."""

    tier: NotRequired[int]
    """A switch's tier: 1 ToR, 2 aggregation, 3 core; default: its distance from the nearest host.
    """


class Pfc(TypedDict):
    """Priority flow control."""

    alpha: NotRequired[float]
    """Dynamic: pause at this share of the free shared buffer; default 0.125."""

    enabled: NotRequired[bool]
    """Whether switches pause; without it full buffers drop."""

    headroom: NotRequired[str]
    """Buffer for what still arrives after a pause: "auto" (from rate and delay of each link), a
    size, "3bdp" (three times what the cable holds), or "2bdp" (two times that and 2096B).
    """

    pause_time: NotRequired[int | str]
    """How long a pause lasts: quanta of 512 bits, 1 to 65535, or a time that is the same at links
    of all rates; default: until a resume frame arrives.
    """

    refresh: NotRequired[str]
    """With `pause_time`: a pause is sent again after this time, as long as the queue is above the
    length at which it ends; default: half of the pause. "arrivals": it is sent again with each
    packet that arrives while the queue is long enough to pause.
    """

    reserve: NotRequired[str]
    """Dynamic: buffer kept for each port alone; default 4KB."""

    response: NotRequired[str]
    """From the arrival of a PFC frame until it takes effect: a time, or "802.3" for the upper
    bounds of IEEE 802.3 at links of 10, 25, 40, 100 and 400 Gb/s (60, 80, 118, 394 and 905
    quanta).
    """

    resume_offset: NotRequired[str]
    """Dynamic: resume this much below the threshold; default 3KB."""

    threshold: NotRequired[ThresholdKind]
    """How the threshold of an ingress queue is found; default: "static" where `xoff` is given and
    in CIOQ switches, else "dynamic".
    """

    watchdog: NotRequired[Watchdog]
    """Lets switches free queues that stay paused for too long."""

    xoff: NotRequired[str]
    """Static: pause at this many bytes of an ingress port and priority; default 320KB, in CIOQ
    switches 70% of the input queue.
    """

    xon: NotRequired[str]
    """Static: resume at this many bytes; default: 2KB below `xoff`, in CIOQ switches 5/7 of it."""


class Probe(TypedDict):
    """A time series to record: one kind of value at regular times for chosen ports or flows. Or
    with `preset` several of them, which are written out in the complete scenario.
    """

    end: NotRequired[str]
    """No sample after this time; default: to the end of the run. There is no sample at the end of
    the run itself: for one at 5ms let the run go on a microsecond longer.
    """

    flows: NotRequired[Sequence[FlowSelector]]
    """Flows, by number or by tag."""

    interval: NotRequired[str]
    """From one sample to the next. Required without a preset; with one the default is 10us."""

    kind: NotRequired[ProbeKind]
    """What it records. Required without a preset."""

    name: NotRequired[str]
    """Its name: the series is written to `series/NAME.parquet`. Required without a preset."""

    nodes: NotRequired[Sequence[str]]
    """All ports of these nodes; for a kind of flows: the flows that these hosts send. `tor0..tor3`
    and `tor*` stand for several.
    """

    ports: NotRequired[Sequence[str]]
    """Ports, each written "node:peer" after the two nodes of its link. Ranges and patterns stand
    for several: `leaf*:spine0..spine1` are the ports of all leaves to two spines.
    """

    preset: NotRequired[ProbePreset]
    """Several probes at once. Only `interval`, `start` and `end` go with it."""

    priority: NotRequired[int]
    """For `queue`, `input-queue` and `pause`: only this priority, 0 to 7; default: all together."""

    start: NotRequired[str]
    """The first sample."""


class Quirks(TypedDict):
    """What is done as the HPCC authors' ns-3 simulator does it, each by its own switch; all off
    unless asked for. `rocelab hpcc` turns them on.
    """

    acks_ignore_pause: NotRequired[bool]
    """Have hosts send ACKs while the priority that carries them is paused."""

    conweave_buffer: NotRequired[bool]
    """Needs `pfc.threshold = "dynamic"`: as in ConWeave's simulator, count all that is stored as
    shared, pause only above the threshold, and use headroom only where the shared part is full.
    Each port sets four times `pfc.reserve` aside.
    """

    conweave_conga: NotRequired[bool]
    """Needs `routing.balance = "conga"`: as in ConWeave's simulator, a flow chooses among four
    neighbouring uplinks, the first of which is drawn, and ports count data alone, when it
    arrives. Levels may exceed that of the full rate. Leaves return what they know in random
    order.
    """

    conweave_drill: NotRequired[bool]
    """Needs `routing.balance = "drill"`: as in ConWeave's simulator, compare ports by the bytes
    that wait, whether they are paused or not, and remember the best ones for each destination
    host.
    """

    conweave_ecmp_hash: NotRequired[bool]
    """As `ns3_ecmp_hash`, but as ConWeave's simulator does it: next hops in trees by ascending
    node number, and UDP ports that each host counts, from 10000 for the QPs to others and from
    100 for those from others. It goes with `routing.balance` and with `host.recovery`.
    """

    conweave_ecn_draws: NotRequired[bool]
    """Draw marks from ns-3's generator as in ConWeave's simulator: each switch draws the same
    numbers of one stream. `run.seed` is ns-3's seed.
    """

    conweave_recovery: NotRequired[bool]
    """Needs `host.loss_after = "gap"`: as in ConWeave's simulator, an ACK that shows a gap has the
    sender send everything again that is not known to have arrived. While it recovers, further
    gaps do nothing. It recovers until an ACK shows no gap, or until all has arrived that it had
    sent when that began. In `host.in_flight`, "bdp" is as much payload, without headers.
    """

    missed_wakeup: NotRequired[bool]
    """Needs `scan_queue_pairs`: let a QP whose window is closed keep the NIC from waking for the
    others, and do not wake it where a timer changes a rate.
    """

    ns3_ecmp_hash: NotRequired[bool]
    """Choose among equal paths by each switch's own MurmurHash3 over addresses and ports, with
    next hops as its search finds them: in trees by descending node number. `routing.hash` stays
    "five-tuple".
    """

    ns3_ecn_draws: NotRequired[bool]
    """Draw marks from ns-3's generator, a stream for each draw and each PFC frame, with `run.seed`
    as its run number. Each switch begins with the same stream, so that the draws are those of
    the simulator where a single switch draws.
    """

    ns3_tie_order: NotRequired[bool]
    """Handle arrivals at the same nanosecond in the order in which their sending was scheduled, as
    far as packets tell, and send what joins a free port before the next one.
    """

    one_way_rtt: NotRequired[bool]
    """Count the base round trip as propagation both ways and the payload's serialisation one way;
    take it for the ideal FCT too, and for the network's BDP the largest round trip times lowest
    rate of any pair of hosts.
    """

    packet_round_robin: NotRequired[bool]
    """Have priorities that are not strict take turns at a port packet by packet, not byte by byte;
    `classes.weights` stay equal.
    """

    rate_scaled_alpha: NotRequired[str]
    """Needs `pfc.threshold = "dynamic"`: double its alpha with each doubling of a port's rate over
    this one, up to 1; give headroom to ports and not to priorities; check nothing but the
    ingress limits of the classes that PFC protects. 0bps: off.
    """

    scan_queue_pairs: NotRequired[bool]
    """Have each NIC look through all its QPs in the order of their opening, whatever their
    priority.
    """

    silent_duplicates: NotRequired[bool]
    """Do not acknowledge data again that arrived before; go back for any NACK, before the scheme
    handles it.
    """

    stale_scan_index: NotRequired[bool]
    """Needs `scan_queue_pairs`: do not correct the NIC's place when finished QPs leave its table.
    """

    threshold_wraparound: NotRequired[bool]
    """Needs `pfc.threshold = "dynamic"`: let a headroom beyond the buffer wrap the free buffer to
    a huge number, so that PFC never fires.
    """

    whole_nanoseconds: NotRequired[bool]
    """Cut times on the wire and between packets to whole nanoseconds; links are then a little
    faster than their rate.
    """


class Receiver(TypedDict):
    """Hosts whose NIC passes data on more slowly than the link for a while: to a slow bus, or not
    at all because something stalls. Data waits in a buffer of the NIC. Before that is full, the
    NIC pauses its link by PFC, and so spreads congestion that no switch has caused. Without PFC
    (`pfc.enabled = false`) what finds no room is dropped. ACKs leave when data arrives. A host
    may have several entries, at times that do not overlap.
    """

    at: NotRequired[str]
    """When that begins."""

    buffer: NotRequired[str]
    """The size of the NIC's buffer."""

    hosts: Sequence[str]
    """The hosts; `h0..h15` and `h*` stand for several."""

    rate: str
    """How fast each passes data on, in bytes on the wire; 0bps: not at all."""

    until: NotRequired[str]
    """When the host is as fast as its link again, and its buffer empty; default: never."""

    xoff: NotRequired[str]
    """The NIC pauses its link at this many bytes; default: half of `buffer`."""

    xon: NotRequired[str]
    """It resumes the link at this many bytes; default: three quarters of `xoff`."""


class Reps(TypedDict):
    """Parameters of `spray = "reps"`; defaults as in the REPS authors' experiments."""

    cache: NotRequired[int]
    """Values that are kept for reuse, 1 to 1024."""

    explore: NotRequired[int]
    """After that, values are drawn for this many packets."""

    freeze: NotRequired[str]
    """After a timeout, only kept values are used for this long; 0ns: at no time."""


class Routing(TypedDict):
    """How switches choose among paths."""

    balance: NotRequired[BalanceKind]
    """How a switch chooses among next hops for data; everything else takes the hash."""

    conga: NotRequired[Conga]
    """"conga": its parameters."""

    conweave: NotRequired[ConWeave]
    """"conweave": its parameters."""

    flowlet_gap: NotRequired[str]
    """"letflow" and "conga": a flow that sends nothing for longer than this chooses again;
    default: 100us, as in ConWeave's experiments. "adaptive": the same, but by default each
    packet chooses (0ns).
    """

    hash: NotRequired[HashKind]
    """The hash; default: "symmetric" for a scheme whose ACKs must return on the data's path, else
    "five-tuple".
    """

    memory: NotRequired[int]
    """"drill": next hops that are remembered, 0 to 64; default 1."""

    paths: NotRequired[PathsKind]
    """The paths between two hosts."""

    quantise: NotRequired[Sequence[str]]
    """"adaptive": backlogs between two neighbours of these sizes count as equal; default: none do,
    and backlogs are compared by the time that ports take for them.
    """

    samples: NotRequired[int]
    """"drill": next hops that are drawn, 1 to 64; default 2."""

    trees: NotRequired[int]
    """Number of spanning trees, with `paths = "spanning-trees"` only; default: one for each switch
    of the highest tier, but at most 64.
    """

    update: NotRequired[str]
    """"adaptive": how old the backlogs may be that a switch compares; default 0ns."""


class Run(TypedDict):
    """Seed and end of the run."""

    max_samples: NotRequired[int]
    """Maximum number of samples of all probes together; an event of a trace counts as five.
    Sampling stops at the first whole microsecond after the limit, and the run goes on. Samples
    beyond 32 MiB go to a temporary file, up to 16 bytes each.
    """

    seed: NotRequired[int]
    """Seed of every random choice."""

    stop: NotRequired[str]
    """When to stop: "flows-done", or a simulated time such as "2ms"."""

    time_limit: NotRequired[str]
    """With "flows-done": give up at this simulated time."""


class Scheme(TypedDict):
    """The congestion-control scheme."""

    also: NotRequired[Sequence[Also]]
    """A second scheme, which some of the senders or some of the traffic have."""

    name: str
    """Name of the scheme, as `rocelab list schemes` prints it."""

    params: NotRequired[Mapping[str, ParamValue]]
    """Parameters that differ from the preset."""

    preset: NotRequired[str]
    """Named set of parameters; default: the scheme's first."""


class Switch(TypedDict):
    """Every switch."""

    architecture: NotRequired[Architecture]
    """Where packets wait; default: "shared-memory", or what the scheme works on."""

    buffer: NotRequired[str]
    """Packet buffer that all ports share ("shared-memory")."""

    input_queue: NotRequired[str]
    """"cioq": bytes of a priority that the input queue of a port holds, all virtual output queues
    together; default 100KB.
    """

    latency: NotRequired[str]
    """Time from the arrival of a packet to its place in a queue."""

    lossy_alpha: NotRequired[float]
    """"shared-memory": limit of a queue of a class that PFC does not protect, as a multiple of the
    free shared buffer, 2^-16 to 64. Default: no limit but what is free. What such a queue takes
    lowers dynamic thresholds of lossless classes.
    """

    output_queue: NotRequired[str]
    """"cioq": bytes of a priority that the output queue of a port holds; default 100KB."""

    speedup: NotRequired[float]
    """"cioq": how many times faster than the fastest port the crossbar is, 1 to 16; default 2."""


class StarTopology(TypedDict):
    """Hosts around one switch."""

    host_delay: str
    """Propagation delay of the hosts' links."""

    host_rate: str
    """Rate of the hosts' links."""

    hosts: int
    """Number of hosts."""

    kind: Literal["star"]


class DumbbellTopology(TypedDict):
    """A chain of switches with senders on the first and receivers on the last."""

    delay: str
    """Propagation delay of the links between switches."""

    host_delay: str
    """Propagation delay of the hosts' links."""

    host_rate: str
    """Rate of the hosts' links."""

    kind: Literal["dumbbell"]

    rate: str
    """Rate of the links between switches."""

    receivers: NotRequired[int]
    """Number of hosts on the last switch."""

    sender_rate: NotRequired[str]
    """Rate of the senders' links; default: `host_rate`."""

    senders: int
    """Number of hosts on the first switch."""

    side_hosts: NotRequired[Sequence[int]]
    """Further hosts on each switch, in order of the chain."""

    switches: int
    """Number of switches in the chain, 1 or more."""


class LeafSpineTopology(TypedDict):
    """Two tiers: every leaf switch is linked to every spine switch."""

    delay: str
    """Propagation delay of the links between leaf and spine."""

    host_delay: str
    """Propagation delay of the hosts' links."""

    host_rate: str
    """Rate of the hosts' links."""

    hosts_per_leaf: int
    """Number of hosts on each leaf switch."""

    kind: Literal["leaf-spine"]

    leaves: int
    """Number of leaf switches."""

    links_per_pair: NotRequired[int]
    """Number of links between each leaf and each spine."""

    planes: NotRequired[int]
    """Copies of the switches and their links, 1 to 64. Each host has a link to each copy. With
    more than one, switches are called `plane0/leaf0`, ...; `host.ports` says how hosts use
    their links.
    """

    rate: str
    """Rate of the links between leaf and spine."""

    spines: int
    """Number of spine switches."""


class FatTreeTopology(TypedDict):
    """A three-tier fat tree of k-port switches with k^3/4 hosts."""

    delay: str
    """Propagation delay of the links between switches."""

    host_delay: str
    """Propagation delay of the hosts' links."""

    host_rate: str
    """Rate of the hosts' links."""

    k: int
    """Ports of each switch, an even number."""

    kind: Literal["fat-tree"]

    planes: NotRequired[int]
    """Copies of the switches and their links, 1 to 64. Each host has a link to each copy. With
    more than one, switches are called `plane0/tor0`, ...; `host.ports` says how hosts use their
    links.
    """

    rate: str
    """Rate of the links between switches."""


class ThreeTierTopology(TypedDict):
    """Pods of ToR and aggregation switches under a core, with free counts."""

    agg_delay: str
    """Propagation delay of the links between ToR and aggregation switches."""

    agg_rate: str
    """Rate of the links between ToR and aggregation switches."""

    aggs_per_pod: int
    """Number of aggregation switches in each pod."""

    core_delay: str
    """Propagation delay of the links between aggregation and core switches."""

    core_rate: str
    """Rate of the links between aggregation and core switches."""

    core_wiring: NotRequired[CoreWiring]
    """Which cores an aggregation switch is linked to."""

    cores: int
    """Number of core switches."""

    host_delay: str
    """Propagation delay of the hosts' links."""

    host_rate: str
    """Rate of the hosts' links."""

    hosts_per_tor: int
    """Number of hosts on each ToR switch."""

    kind: Literal["three-tier"]

    pods: int
    """Number of pods."""

    tors_per_pod: int
    """Number of ToR switches in each pod."""


class CrossDcTopology(TypedDict):
    """Data centres, alike inside, joined by external switches over long links."""

    data_centre: Topology
    """The network inside each: any other kind of topology."""

    data_centres: NotRequired[int]
    """Number of data centres, 2 or more."""

    delay: str
    """Propagation delay of the links between the highest tier and the external switch."""

    external_buffer: NotRequired[str]
    """The external switches' packet buffer; default: `switch.buffer`."""

    kind: Literal["cross-dc"]

    rate: str
    """Rate of the links between the highest tier and the external switch."""

    wan_delay: NotRequired[str]
    """Propagation delay of the links between data centres, 10us or more."""

    wan_length: NotRequired[str]
    """Instead of `wan_delay`: length of fibre such as "100km", at 5 ns per metre."""

    wan_pfc: NotRequired[bool]
    """Whether PFC may pause the links between data centres. Without it what comes over them is
    dropped where the external switch's buffer is full, and needs no headroom.
    """

    wan_rate: str
    """Rate of the links between data centres."""


class CustomTopology(TypedDict):
    """Nodes and links as listed."""

    in_parts: NotRequired[bool]
    """Whether the network may have several parts that no link joins, and nodes without a link.
    Messages stay within a part.
    """

    kind: Literal["custom"]

    links: Sequence[Link]
    """The links between them."""

    nodes: Sequence[Node]
    """The hosts and switches."""


class FileTopology(TypedDict):
    """Nodes and links from a file."""

    kind: Literal["file"]

    path: str
    """A TOML or JSON file (by its ending) with `nodes` and `links`, relative to the scenario."""


class Trace(TypedDict):
    """What is recorded event by event. An event counts as five samples of probes for
    `run.max_samples`.
    """

    capture: NotRequired[bool]
    """Also write the packets that these nodes send and receive to `traces/packets.pcapng`, which
    Wireshark reads: frames of RoCEv2, cut where their headers end.
    """

    end: NotRequired[str]
    """No event after this time; default: to the end of the run."""

    packets: NotRequired[Sequence[str]]
    """Record what happens to each packet at these nodes, in `traces/packets.parquet`. `tor0..tor3`
    and `tor*` stand for several.
    """

    pfc: NotRequired[bool]
    """Record each PFC frame where it arrives, in `traces/pfc.parquet`."""

    start: NotRequired[str]
    """Events from this time on."""


class FlowsTraffic(TypedDict):
    """Messages as listed."""

    after: NotRequired[str]
    """Its messages wait until their sender has received all messages with this tag. Those must be
    listed above.
    """

    after_delay: NotRequired[str]
    """From the arrival of the last of these to the posting; default: 0ns."""

    flows: NotRequired[Sequence[Flow]]
    """The messages."""

    flows_file: NotRequired[str]
    """Instead of those: a CSV file with a line for each message, relative to the scenario. Its
    head names columns: the keys of a message, or `size_bytes` and `start_ps` in plain numbers.
    """

    kind: Literal["flows"]

    priority: NotRequired[int]
    """Priority of the messages; default: `classes.data`."""

    tag: NotRequired[str]
    """Name of this traffic in results and probes."""


class PoissonTraffic(TypedDict):
    """Poisson arrivals at every host, with sizes from a distribution, to random hosts."""

    cdf: NotRequired[Sequence[Sequence[int | float]]]
    """Flow-size distribution as points [bytes, cumulative probability], interpolated linearly; two
    points of equal size form a step.
    """

    duration: NotRequired[str]
    """How long messages arrive; default: until `run.stop`, where that is a time."""

    groups: NotRequired[int]
    """Number of groups of equal size into which the hosts are split, in their order; each host
    sends within its group.
    """

    hosts: NotRequired[Sequence[str]]
    """The hosts that send, and that receive unless `receivers` is given; `h0..h15` and `h*` stand
    for several; default: all.
    """

    kind: Literal["poisson"]

    load: float
    """Offered load as a fraction of each host's link rate, in (0, 1]; payload alone: headers and
    ACKs come on top.
    """

    messages: NotRequired[int]
    """Instead of the duration: how many messages arrive in all."""

    priority: NotRequired[int]
    """Priority of the messages; default: `classes.data`."""

    receivers: NotRequired[Sequence[str]]
    """The hosts that receive, such as the hot spots of a network; a host does not send to itself.
    """

    start: NotRequired[str]
    """When arrivals begin."""

    tag: NotRequired[str]
    """Name of this traffic in results and probes."""

    workload: NotRequired[str]
    """Flow-size distribution by name, as `rocelab list workloads` prints it."""

    workload_file: NotRequired[str]
    """Flow-size distribution from a file of lines `bytes,probability`, relative to the scenario; a
    line of column names may come first. The HPCC simulator's `bytes percent` is read, too.
    """


class RequestResponseTraffic(TypedDict):
    """Small requests and the responses that they ask for, within and between data centres."""

    cdf: NotRequired[Sequence[Sequence[int | float]]]
    """Flow-size distribution as points [bytes, cumulative probability], interpolated linearly; two
    points of equal size form a step.
    """

    destination_mix: NotRequired[DestinationMix]
    """How destinations are drawn so that they have the share `inter_share`."""

    duration: NotRequired[str]
    """How long requests are made; default: until `run.stop`, where that is a time."""

    hosts: NotRequired[Sequence[str]]
    """The hosts that take part; `h0..h15` and `h*` stand for several; default: all."""

    inter_share: NotRequired[float]
    """Share of the responses that go to another data centre, 0 to 1; default: one of six."""

    kind: Literal["request-response"]

    load: float
    """Load that the responses offer as a fraction of each host's link rate, in (0, 1]; payload
    alone: headers and ACKs come on top.
    """

    messages: NotRequired[int]
    """Instead of the duration: how many responses there are in all."""

    priority: NotRequired[int]
    """Priority of the messages; default: `classes.data`."""

    request_size: NotRequired[str]
    """Size of a request; 0B for responses that nobody asks for."""

    service_time: NotRequired[str]
    """From the arrival of a request to its response."""

    start: NotRequired[str]
    """When requests begin."""

    tag: NotRequired[str]
    """Name of the requests in results and probes; default: "request"."""

    workload: NotRequired[str]
    """Flow-size distribution by name, as `rocelab list workloads` prints it."""

    workload_file: NotRequired[str]
    """Flow-size distribution from a file of lines `bytes,probability`, relative to the scenario; a
    line of column names may come first. The HPCC simulator's `bytes percent` is read, too.
    """


class IncastTraffic(TypedDict):
    """Many hosts send to one at the same time."""

    after: NotRequired[str]
    """Its messages wait until their sender has received all messages with this tag. Those must be
    listed above.
    """

    after_delay: NotRequired[str]
    """From the arrival of the last of these to the posting; default: 0ns."""

    kind: Literal["incast"]

    period: NotRequired[str]
    """From the start of one incast to that of the next, which needs `repeat`."""

    priority: NotRequired[int]
    """Priority of the messages; default: `classes.data`."""

    receiver: NotRequired[str]
    """The receiver; default: a host drawn at random for each repetition."""

    repeat: NotRequired[int]
    """How many incasts there are; default: 1."""

    senders: HostSet
    """The senders: a number of hosts, drawn again for each repetition, or a list of names."""

    size: str
    """Size of each sender's message."""

    start: NotRequired[str]
    """When the first incast begins."""

    tag: NotRequired[str]
    """Name of this traffic in results and probes."""


class PermutationTraffic(TypedDict):
    """Every host sends to another and receives from another, at random."""

    after: NotRequired[str]
    """Its messages wait until their sender has received all messages with this tag. Those must be
    listed above.
    """

    after_delay: NotRequired[str]
    """From the arrival of the last of these to the posting; default: 0ns."""

    hosts: NotRequired[Sequence[str]]
    """The hosts that take part; `h0..h15` and `h*` stand for several; default: all."""

    kind: Literal["permutation"]

    priority: NotRequired[int]
    """Priority of the messages; default: `classes.data`."""

    size: str
    """Size of each message."""

    start: NotRequired[str]
    """When the messages are posted."""

    tag: NotRequired[str]
    """Name of this traffic in results and probes."""


class BurstsTraffic(TypedDict):
    """Every source sends to every destination, again and again."""

    count: int
    """How many bursts there are."""

    dst: Sequence[str]
    """The receiving hosts; `h0..h15` and `h*` stand for several."""

    kind: Literal["bursts"]

    period: str
    """From one burst to the next."""

    priority: NotRequired[int]
    """Priority of the messages; default: `classes.data`."""

    size: str
    """Size of each message."""

    src: Sequence[str]
    """The sending hosts; `h0..h15` and `h*` stand for several."""

    start: NotRequired[str]
    """When the first burst begins."""

    tag: NotRequired[str]
    """Name of this traffic in results and probes."""


class CollectiveTraffic(TypedDict):
    """Collective operations, such as a ring all-reduce: hosts go on when they have what they wait
    for.
    """

    after: NotRequired[str]
    """Its messages wait until their sender has received all messages with this tag. Those must be
    listed above.
    """

    after_delay: NotRequired[str]
    """From the arrival of the last of these to the posting; default: 0ns."""

    barrier: NotRequired[bool]
    """In a repeated all-to-all: whether a host goes on only when it has the parts of all others.
    Else it sends to another again when it has that one's part. Default: false.
    """

    compute_time: NotRequired[str]
    """How long a host computes between one time and the next, from the arrival of what it waits
    for.
    """

    hosts: NotRequired[Sequence[str]]
    """The hosts, in the order of the ring; `h0..h15` and `h*` stand for several; default: all."""

    kind: Literal["collective"]

    operation: CollectiveOperation
    """What the hosts do."""

    priority: NotRequired[int]
    """Priority of the messages; default: `classes.data`."""

    repeat: NotRequired[int]
    """How many times it is done, one after the other."""

    size: str
    """Bytes that each host has in the end (all-reduce, all-gather), has at the beginning
    (reduce-scatter), or sends to all and itself (all-to-all); rounded up to N parts.
    """

    start: NotRequired[str]
    """When it begins."""

    tag: NotRequired[str]
    """Name of this traffic in results and probes."""


class Watchdog(TypedDict):
    """A watchdog of switches against pauses without end."""

    action: NotRequired[WatchdogAction]
    """What the switch does with its packets in that time."""

    detect: NotRequired[str]
    """A priority of a port counts as stuck when it has been paused for this long without a break
    and packets wait. The switch looks again after the same time.
    """

    restore: NotRequired[str]
    """For this long the priority then ignores pauses."""


class Wire(TypedDict):
    """What is on the wire."""

    error_rate: NotRequired[float]
    """Probability that a packet of any kind, PFC frames too, arrives damaged over a link and is
    discarded; links of a custom topology may have their own.
    """

    payload: NotRequired[str]
    """Data bytes of a full packet, 64B to 9000B; with profile `hpcc-ns3` 1B to 65000B."""

    profile: NotRequired[WireProfile]
    """The sizes of headers and control frames."""


class ScenarioKeys(TypedDict):
    """A rocelab scenario: what network, what traffic, what scheme, what to measure."""

    classes: NotRequired[Classes]
    """Which priority carries what, and how ports schedule priorities."""

    description: NotRequired[str]
    """What the scenario shows, in a sentence or two."""

    ecn: NotRequired[Ecn]
    """ECN marking at switches."""

    failure: NotRequired[Sequence[Failure]]
    """The links that fail."""

    host: NotRequired[Host]
    """Every host's RNIC."""

    name: NotRequired[str]
    """Name of the scenario; default: the file's name."""

    pfc: NotRequired[Pfc]
    """Priority flow control."""

    probe: NotRequired[Sequence[Probe]]
    """The time series to record."""

    quirks: NotRequired[Quirks]
    """What is done as the HPCC authors' ns-3 simulator does it."""

    receiver: NotRequired[Sequence[Receiver]]
    """The hosts that take data slowly."""

    routing: NotRequired[Routing]
    """How switches choose among equal paths."""

    run: NotRequired[Run]
    """Seed and end of the run."""

    schema: NotRequired[int]
    """Version of the scenario format: 2."""

    scheme: NotRequired[SchemeOrName]
    """The congestion-control scheme: a table, or its name alone."""

    switch: NotRequired[Switch]
    """Every switch."""

    topology: Topology
    """The network."""

    trace: NotRequired[Trace]
    """The single events to record."""

    traffic: NotRequired[Sequence[Traffic]]
    """The messages to send: any number of generators at once."""

    wire: NotRequired[Wire]
    """What is on the wire."""


AckPriority: TypeAlias = int | DataPriority
"""The priority of ACKs and NACKs."""

SchemeOrName: TypeAlias = str | Scheme
"""For the JSON Schema: [`parse`](crate::parse) has turned a name into a table before a [`Spec`] is
read.
"""

Topology: TypeAlias = (
    StarTopology
    | DumbbellTopology
    | LeafSpineTopology
    | FatTreeTopology
    | ThreeTierTopology
    | CrossDcTopology
    | CustomTopology
    | FileTopology
)
"""The network."""

Traffic: TypeAlias = (
    FlowsTraffic
    | PoissonTraffic
    | RequestResponseTraffic
    | IncastTraffic
    | PermutationTraffic
    | BurstsTraffic
    | CollectiveTraffic
)
"""A traffic generator."""
