"""``result.plot``: the pictures of one result."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from rocelab.plot import congestion_region, slowdown, timeline, uplinks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rocelab.result import Result

Options = ParamSpec("Options")


def _of_one_result(
    function: Callable[Concatenate[Result, Options], Figure],
) -> Callable[Concatenate[Plots, Options], Figure]:
    """``function`` as a method that draws the one result of a :class:`Plots`."""

    @wraps(function)
    def method(self: Plots, /, *args: Options.args, **kwargs: Options.kwargs) -> Figure:
        return function(self._result, *args, **kwargs)

    return method


class Plots:
    """The pictures of one result; :mod:`rocelab.plot` draws several results together."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def __repr__(self) -> str:
        return f"<pictures of {self._result!r}>"

    fct = _of_one_result(slowdown.fct)
    tags = _of_one_result(slowdown.tags)
    fct_by_tag = _of_one_result(slowdown.fct_by_tag)
    queue = _of_one_result(timeline.queue)
    throughput = _of_one_result(timeline.throughput)
    pauses = _of_one_result(timeline.pauses)
    balance = _of_one_result(uplinks.balance)
    region = _of_one_result(congestion_region.region)
    series = _of_one_result(timeline.series)
