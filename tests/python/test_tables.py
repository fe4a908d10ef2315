from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any

import polars as pl
import pytest

import rocelab


def test_polars_reads_every_table(incast: rocelab.Result) -> None:
    flows = pl.DataFrame(incast.flows)
    assert flows.schema["fct_ps"] == pl.UInt64
    assert flows.schema["slowdown"] == pl.Float64
    assert flows.schema["src"] == pl.String
    assert flows.schema["done"] == pl.Boolean
    assert flows.equals(incast.flows.to_polars())
    ports = pl.DataFrame(incast.ports)
    assert ports.schema["paused_ns"] == pl.UInt64
    for series in incast.series.values():
        frame = pl.DataFrame(series)
        assert frame.columns == ["time_ps", "node", "port", series.column]
        assert frame["time_ps"].is_sorted()


def test_a_table_can_be_read_twice(incast: rocelab.Result) -> None:
    assert pl.DataFrame(incast.flows).equals(pl.DataFrame(incast.flows))
    assert len(incast.flows) == 4
    assert incast.flows.columns[0] == "flow_id"


def test_pyarrow_reads_tables(incast: rocelab.Result) -> None:
    pyarrow: Any = importlib.import_module("pyarrow")
    table = pyarrow.table(incast.flows)
    assert table.num_rows == 4
    assert table.column("dst").to_pylist() == ["h4", "h4", "h4", "h3"]


def test_pandas_reads_tables(incast: rocelab.Result) -> None:
    pandas: Any = importlib.import_module("pandas")
    frame = pandas.DataFrame.from_arrow(incast.flows)
    assert list(frame["tag"]) == ["incast"] * 3 + ["victim"]


def test_summary_agrees_with_the_tables(incast: rocelab.Result) -> None:
    flows, ports, summary = incast.flows.to_polars(), incast.ports.to_polars(), incast.summary
    slowdown = flows["fct_ps"] / flows["ideal_fct_ps"]
    assert (flows["slowdown"] - slowdown).abs().max() == 0
    assert summary["slowdown"]["p99"] == flows["slowdown"].max()
    assert summary["slowdown"]["mean"] == pytest.approx(flows["slowdown"].mean())
    assert [entry["flows"] for entry in summary["slowdown"]["bins"]] == [1, 3]
    assert summary["pause_frames"] == ports["pause_frames_sent"].sum()
    assert summary["max_queue_bytes"] == ports["max_queue_bytes"].max()
    assert summary["drops"] == ports["dropped_packets"].sum() == 0
    assert summary["series"] == [
        {
            "name": name,
            "kind": series.kind,
            "unit": series.unit,
            "column": series.column,
            "rows": len(series),
        }
        for name, series in incast.series.items()
    ]


def test_ports_of_probes_may_be_ranges_and_patterns() -> None:
    rates = {"host_rate": "100Gbps", "host_delay": "1us", "rate": "100Gbps", "delay": "1us"}
    kind = {"kind": "leaf-spine", "leaves": 3, "spines": 2, "hosts_per_leaf": 2}

    def probed(*ports: str) -> list[str]:
        probe = {"name": "q", "kind": "queue", "interval": "1us", "ports": list(ports)}
        made = rocelab.Scenario(topology={**kind, **rates}, probe=[probe], run={"stop": "1us"})
        result = rocelab.run(made)
        names = result.ports.to_polars().select("node", "port", "peer")
        rows = result.series["q"].to_polars().join(names, on=["node", "port"])
        return sorted({f"{node}:{peer}" for node, peer in rows.select("node", "peer").iter_rows()})

    uplinks = [f"leaf{leaf}:spine{spine}" for leaf in range(3) for spine in range(2)]
    assert probed("leaf*:spine*") == uplinks
    assert probed("leaf1..leaf2:*1") == ["leaf1:spine1", "leaf2:spine1"]
    assert probed("leaf0:h*", "leaf0:h1", "h0:leaf*") == ["h0:leaf0", "leaf0:h0", "leaf0:h1"]


def test_what_the_probe_saw_is_what_the_port_counted(incast: rocelab.Result) -> None:
    seen = incast.series["bottleneck"].to_polars()["queue_bytes"].max()
    port = incast.ports.to_polars().filter(node="s0", peer="h4")
    assert isinstance(seen, float)
    assert 0 < seen <= port["max_queue_bytes"].item()


def test_columns_by_name(incast: rocelab.Result) -> None:
    assert incast.flows["fct_ps"].equals(incast.flows.to_polars()["fct_ps"])
    assert incast.flows[["dst", "src"]].columns == ["dst", "src"]
    with pytest.raises(KeyError, match="no column 'fct'; the columns are flow_id, qp_id"):
        incast.flows["fct"]
    with pytest.raises(KeyError, match="no column 'fct'"):
        incast.flows[["src", "fct"]]


def test_to_pandas(incast: rocelab.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = incast.flows.to_pandas()
    assert list(frame.columns) == incast.flows.columns
    assert len(frame) == len(incast.flows)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(rocelab.MissingPackageError, match="to_pandas needs pandas 3") as refused:
        incast.flows.to_pandas()
    assert refused.value.hint is not None
    assert "to_polars()" in refused.value.hint


def test_help_has_every_column(incast: rocelab.Result) -> None:
    told = inspect.getdoc(rocelab.Result)
    assert told is not None
    for table in (incast.flows, incast.ports):
        assert [name for name in table.columns if f"``{name}``" not in told] == []
