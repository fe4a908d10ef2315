"""Laws in Python, for first experiments."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

from rocelab import _memory, _rocelab
from rocelab._rocelab import Limits
from rocelab.result import Result
from rocelab.scenario import Scenario
from rocelab.simulate import Progress, check_count, check_scenario, check_scratch, run_law

__all__ = ["Limits", "Prototype", "prototype"]


class Prototype:
    """A law in Python that can be run and tested. Made by :func:`prototype`."""

    def __init__(self, law: _rocelab.Law) -> None:
        self._law = law

    def run(
        self,
        scenario: Scenario,
        *,
        progress: bool | Callable[[Progress], None] = False,
        scratch: str | PathLike[str] | None = None,
    ) -> Result:
        """Runs ``scenario`` with this law in place of its scheme, on one thread.

        Its switches mark as the scenario's ``[ecn]`` says, and do not mark where it says nothing.
        Raises what a method of the law raises; else as :func:`rocelab.run`.
        """
        check_scenario(scenario)
        check_scratch(scratch)
        scenario = scenario.with_settings(scheme={"name": "prototype"})
        _memory.check(scenario, "run")
        return run_law(scenario, self._law, progress=progress, scratch=scratch)

    def check_invariants(self, histories: int = 100) -> None:
        """Checks what every scheme promises, by random histories of a QP.

        They have packets, marks, losses, pauses and timers, and are the same each time. Raises
        AssertionError where a promise is broken: a rate is at most the line rate, a window is not
        zero where no timer is set, what ``observe`` returns is not negative, and looking changes
        nothing. Raises ValueError where a run would, too: a timer is in the past, or not later
        after ``on_timer``, or ``observe`` returns no finite number. Raises what a method of the law
        raises.
        """
        _rocelab.check_law(self._law, check_count("histories", histories))


def prototype(
    law: Callable[..., Any],
    *,
    receiver: Callable[..., Any] | None = None,
    switch: Callable[..., Any] | None = None,
    meta_bytes: tuple[int, int] = (0, 0),
) -> Prototype:
    """A law in Python, for first experiments: slow, deterministic, on one thread.

    ``law`` is a class. Each QP has an object of it, made as ``law(path, now_ps)``. Its method
    ``limits`` returns a :class:`rocelab.Limits` and is called after each other method. The rest is
    optional, and a name that is none of these is refused where it begins with ``on_``:

    - ``on_ack(cx, ack)``, ``on_send(cx, data, meta)``, ``on_ctl(cx, numbers)``,
      ``on_backlog(cx, left_bytes)``, ``on_retransmission_timeout(cx)``;
    - ``next_timer_ps()``, the time at which ``on_timer(cx)`` is called, or None; asked for after
      each other method;
    - ``observe(now_ps, what)``, for probes of "rate", "window" and "alpha".

    ``receiver`` is a class as well, whose objects are made as ``receiver(now_ps)`` where a QP's
    first packet arrives: ``on_packet(cx, data, meta)``, ``on_kept_data(cx, data, meta)``,
    ``on_ctl(cx, numbers)``, ``on_message_end(cx, is_last)`` and a timer. ``switch`` is made as
    ``switch(node, tier)``: ``on_depart(now_ps, port, view, packet, meta)`` returns True to mark a
    data packet, and ``port(number, rate_bps, to_host)`` returns the state of a port, a dictionary
    without it.

    ``cx`` has ``now_ps``, ``host``, a dictionary that the QPs of a host share, and ``send``, which
    sends a control packet of up to four numbers to the other end. ``meta`` is a list of the four
    numbers that a packet carries, to be changed in place. ``meta_bytes`` is what they take on the
    wire, in data packets and in ACKs. Times are whole picoseconds.

    What hooks are given has these values:

    - ``path``, the path of a QP: ``line_rate_bps`` of the sender's port, ``bottleneck_rate_bps``,
      the lowest on the path, ``base_rtt_ps``, the round trip of a full packet and its ACK in an
      empty network, ``payload_bytes`` and ``packet_bytes`` of a full packet, without and with
      headers, ``switches``, how many there are on it, ``receiver``, the number of the host;
      ``network_rtt_ps``, the largest base round trip of all pairs of hosts, and
      ``network_bdp_bytes``, what the sender's port sends in that time;
    - ``ack``: ``next_expected``, the first byte of the QP's stream that the receiver waits for,
      ``next_to_send``, the first byte that the sender has not sent yet, ``newly_acked``, the bytes
      that were not acknowledged before, ``acks_new_data``, whether there are any, ``nack``, whether
      the receiver has seen a gap, ``marked``, whether the data was marked, ``rtt_ps``, from the
      departure of the data to the arrival of the ACK, and ``meta``;
    - ``data`` and ``packet``: ``kind`` ("data", "ack", "nack", "control" or "pfc"), ``src`` and
      ``dst``, the numbers of the hosts that send and receive the data, ``flow``, the number of the
      message, ``sequence``, the first byte in it or, of an ACK, the first that is missing,
      ``sent_at_ps``, when the data left its sender, ``size``, the bytes on the wire, ``payload``,
      ``priority`` and ``marked``;
    - ``view``, a port as the packet leaves it: ``port``, its number, ``rate_bps``, ``queue_bytes``
      that wait in all its queues and ``class_bytes`` in that of the packet's priority, both without
      the packet, ``tx_bytes`` that were sent before it, and ``last_departure_ps``.
    """
    return Prototype(_rocelab.Law(law, receiver, switch, meta_bytes))
