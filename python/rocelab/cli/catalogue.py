"""``rocelab list`` and ``rocelab schema``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from typing import Annotated, Any

import typer

from rocelab import _rocelab, catalogue
from rocelab._text import filled, json_text
from rocelab.catalogue import Named, ParameterInfo, Quantity, SchemeInfo, SchemePreset
from rocelab.cli.output import note, show
from rocelab.sweeps import metrics

_LISTS: dict[str, Callable[[], Sequence[Named]]] = {
    "schemes": catalogue.schemes,
    "presets": catalogue.presets,
    "topologies": catalogue.topologies,
    "workloads": catalogue.workloads,
    "traffic": catalogue.traffic,
    "balance": catalogue.balance,
    "spray": catalogue.spray,
    "probes": catalogue.probes,
    "metrics": metrics.catalogue,
    "examples": catalogue.examples,
}


def _topic(word: str | None) -> str | None:
    # Not an enumeration: some versions of Typer describe its values in words of their own.
    if word is None or word in _LISTS or _scheme(word):
        return word
    if word in _rocelab.LEFT_OUT:
        raise typer.BadParameter(f"{word!r} was left out when this rocelab was built.")
    preset = next((one for one in catalogue.presets() if one.name == word), None)
    if preset is not None:
        raise typer.BadParameter(
            f"{word!r} is a preset: `rocelab list {preset.scheme}` shows those of its scheme."
        )
    near = get_close_matches(word, _names(), n=1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise typer.BadParameter(
        f"{word!r} is neither a scheme nor one of {', '.join(map(repr, _LISTS))}.{meant}"
    )


def _scheme(name: str) -> SchemeInfo | None:
    return next((one for one in catalogue.schemes() if one.name == name), None)


def _names() -> list[str]:
    """What can be listed."""
    return [*_LISTS, *(one.name for one in catalogue.schemes())]


def _complete(begun: str) -> list[str]:
    return [name for name in _names() if name.startswith(begun)]


def list_(
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar="TOPIC|SCHEME",
            callback=_topic,
            autocompletion=_complete,
            help=f"What to list: {', '.join(_LISTS)}; default: all. Of a scheme: its presets and "
            "parameters.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="All fields, as JSON.")] = False,
) -> None:
    """List what there is to choose from, or a scheme's parameters."""
    if topic in (None, "schemes", "presets") and _rocelab.LEFT_OUT:
        note(
            "this rocelab was built with a selection of schemes, without "
            f"{', '.join(_rocelab.LEFT_OUT)}"
        )
    if topic and (scheme := _scheme(topic)):
        show(json_text(_data(scheme))) if as_json else _print_scheme(scheme)
        return
    topics = [topic] if topic else list(_LISTS)
    if as_json:
        found = {each: [_data(one) for one in _LISTS[each]()] for each in topics}
        show(json_text(found[topic] if topic else found))
        return
    for index, each in enumerate(topics):
        if topic is None:
            show(f"{each}:" if index == 0 else f"\n{each}:")
        _print_names(_LISTS[each]())


def _data(entry: Named) -> dict[str, Any]:
    """All fields of ``entry``. Parameters without choices have no such field."""
    return asdict(
        entry,
        dict_factory=lambda fields: {
            key: value for key, value in fields if key != "choices" or value is not None
        },
    )


def _print_scheme(scheme: SchemeInfo) -> None:
    """A scheme's paper, presets and parameters, with their symbols and sources."""
    show(f"{scheme.name}: {scheme.summary}")
    for name, text in (("paper", scheme.paper), ("caveat", scheme.caveat)):
        if text:
            show(filled(text, first=f"  {name}: ", others="    "))
    notes = [one for one in scheme.tolerates if one.why]
    if notes:
        show("\nwith packets on several paths and loss recovery:")
        _print_names([Named(one.name, f"{one.fit}: {one.why}") for one in notes])
    if scheme.beside:
        show("\n" + filled(f"beside it, in [[scheme.also]]: {', '.join(scheme.beside)}"))
    show("\npresets, the first by default:")
    _print_names(scheme.presets)
    show("\nparameters, set by scheme.params.NAME; `rocelab validate FILE` has their values:")
    width = max((len(one.name) for one in scheme.params), default=0)
    for one in scheme.params:
        symbol = f"; {one.symbol} in the paper" if one.symbol else ""
        indent = " " * (width + 2)
        show(filled(f"{_values(one)}{symbol}", first=f"{one.name:<{width}}  ", others=indent))
        source = f" Source: {one.source}." if one.source else ""
        show(filled(f"{one.summary}{source}", first=indent, others=indent))


def _values(param: ParameterInfo) -> str:
    """What values a parameter takes."""
    if param.choices:
        return ", ".join(param.choices)
    return f"{param.kind}, {' to '.join(param.range)}" if param.range else param.kind


def _print_names(entries: Sequence[Named]) -> None:
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        indent = " " * (width + 2)
        first = f"{entry.name:<{width}}  "
        show(filled(_summary(entry), first=first, others=indent) or entry.name)
        if isinstance(entry, SchemeInfo) and entry.caveat:
            show(filled(entry.caveat, first=f"{indent}caveat: ", others=f"{indent}  "))


def _summary(entry: Named) -> str:
    """What a list says of ``entry`` beside its name."""
    if isinstance(entry, SchemePreset):
        return f"{entry.scheme}: {entry.summary}"
    if isinstance(entry, Quantity) and entry.unit:
        return f"{entry.summary} ({entry.unit})"
    return entry.summary


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    show(json_text(catalogue.schema()))
