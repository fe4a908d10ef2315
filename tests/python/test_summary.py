"""The summary of a result: an object whose values are attributes, and those of a dictionary too."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import rocelab
from conftest import INCAST
from rocelab import _rocelab

RECORDS = (
    _rocelab.Summary,
    _rocelab.Deadlock,
    _rocelab.SeriesInfo,
    _rocelab.SizeBin,
    _rocelab.SlowdownStatistics,
    _rocelab.TagStatistics,
    _rocelab.TraceInfo,
    _rocelab.Unfinished,
    _rocelab.WarningInfo,
)


def records(value: object) -> Iterator[Mapping[str, Any]]:
    """All objects of a summary."""
    if isinstance(value, RECORDS):
        yield value
        for inner in value.values():
            yield from records(inner)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from records(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from records(inner)


def test_the_object_is_what_the_file_says(incast: rocelab.Result, tmp_path: Path) -> None:
    written = json.loads((incast.save(tmp_path / "out") / "summary.json").read_bytes())
    del written["checksums"]
    whole = incast.summary.to_dict()
    # Keys stand in the same order, and numbers are written alike.
    assert json.dumps(whole) == json.dumps(written)
    assert incast.summary == written == rocelab.open(tmp_path / "out").summary
    assert incast.summary != {**written, "flows": 0}


def test_values_are_attributes_and_entries() -> None:
    scenario = rocelab.Scenario.from_toml(INCAST)
    summary = rocelab.run(scenario.with_settings(run__stop="40us", trace__pfc=True)).summary
    kinds = {type(one) for one in records(summary)}
    assert kinds == set(RECORDS) - {_rocelab.Deadlock}
    for one in records(summary):
        assert isinstance(one, Mapping)
        assert {key: getattr(one, key) for key in one} == dict(one) == one.to_dict()  # type: ignore[attr-defined]
        assert list(one) == list(one.keys()) == [key for key, _ in one.items()]
        assert len(one) == len(list(one.values()))
        assert "no such value" not in one
        assert one.get("no such value", 3) == 3
        with pytest.raises(KeyError, match="no such value"):
            one["no such value"]
        with pytest.raises(AttributeError):
            one.flows = 1  # type: ignore[attr-defined]
    assert summary.slowdown.p50 == summary["slowdown"]["p50"] is not None
    assert summary.by_tag["incast"].flows == 3


def test_a_series_of_all_priorities_has_no_priority() -> None:
    text = f'{INCAST}[[probe]]\nname = "of-3"\nkind = "queue"\nports = ["s0:h4"]\n'
    text += 'interval = "1us"\npriority = 3\n'
    some = rocelab.run(rocelab.Scenario.from_toml(text)).summary.series
    assert [one.priority for one in some] == [None, None, 3]
    assert ["priority" in one for one in some] == [False, False, True]
    for one in some:
        assert _rocelab.SeriesInfo.from_dict(one.to_dict()) == one


def test_copies_are_equal(incast: rocelab.Result) -> None:
    for one in records(incast.summary):
        assert pickle.loads(pickle.dumps(one)) == one == copy.deepcopy(one)  # noqa: S301 - our own


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_value_is_documented(record: type) -> None:
    about = inspect.getdoc(record)
    assert about
    assert about.endswith("It never changes.")
    values = [name for name, one in vars(record).items() if inspect.isgetsetdescriptor(one)]
    assert values
    for name in values:
        doc = inspect.getdoc(getattr(record, name))
        assert doc, name
        assert re.fullmatch(r"[A-Z0-9].*\.", doc, re.DOTALL), (name, doc)
        # Links of the Rust documentation mean nothing here.
        assert not re.search(r"\[`|::", doc), (name, doc)
        units = {"_ns": "nanoseconds", "_ps": "picoseconds", "_bytes": "bytes", "_bps": "bits"}
        for end, unit in units.items():
            assert not name.endswith(end) or unit in doc, (name, doc)


def test_the_docs_have_every_key(incast: rocelab.Result) -> None:
    page = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
    section = page.partition("\n## `summary.json`\n")[2].partition("\n## ")[0]
    table = "".join(line for line in section.splitlines() if line.startswith("|"))
    missing = [key for key in incast.summary if f"`{key}`" not in table]
    assert not missing


def test_plain_data_that_does_not_fit_is_refused(incast: rocelab.Result) -> None:
    whole = incast.summary.to_dict()
    more = _rocelab.Summary.from_dict({**whole, "unknown": 1})
    assert more == incast.summary
    for key, value, words in (
        ("flows", True, "flows: cannot be true"),
        ("flows", 1 << 64, f"flows: cannot be {1 << 64}"),
        ("wall_s", "1", 'wall_s: cannot be "1"'),
        ("counters", {"x": 0.5}, "counters.x: cannot be 0.5"),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
            _rocelab.Summary.from_dict({**whole, key: value})
    del whole["wall_s"], whole["flows"]
    with pytest.raises(ValueError, match=r"^has no wall_s, flows$"):
        _rocelab.Summary.from_dict(whole)
