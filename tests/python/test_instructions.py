"""The alarm for speed: instructions per packet-hop, which repeat exactly where times do not."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from rocelab import bench
from rocelab.errors import ConfigError

LAST = tomllib.loads(Path(__file__).with_name("instructions.toml").read_text())["measured"][-1]
CASES = [name for name in LAST if name not in ("what", "rustc")]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.parametrize("case", CASES)
def test_a_packet_hop_takes_no_more_instructions_than_it_did(case: str) -> None:
    counted = bench.count_instructions(case)
    change = counted.instructions_per_packet_hop / LAST[case] - 1
    assert abs(change) < 0.10, (
        f"{case}: {counted.instructions_per_packet_hop:.1f} instructions per packet-hop, "
        f"{change:+.1%} against the last entry of instructions.toml; if that is meant, add one"
    )


def test_without_valgrind_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match="valgrind"):
        bench.count_instructions("k8-hpcc")
