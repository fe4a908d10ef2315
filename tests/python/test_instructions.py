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


@pytest.fixture(scope="module")
def counted() -> dict[str, float]:
    """Instructions per packet-hop of each case. Under valgrind it takes seconds to start Python."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    found = bench.count_instructions(CASES)
    return {one.case: one.instructions_per_packet_hop for one in found}


@pytest.mark.parametrize("case", CASES)
def test_a_packet_hop_takes_no_more_instructions_than_it_did(
    counted: dict[str, float], case: str
) -> None:
    change = counted[case] / LAST[case] - 1
    assert abs(change) < 0.10, (
        f"{case}: {counted[case]:.1f} instructions per packet-hop, "
        f"{change:+.1%} against the last entry of instructions.toml; if that is meant, add one"
    )


def test_a_case_that_there_is_none_of_is_refused_before_the_first_run() -> None:
    with pytest.raises(ConfigError, match="no case 'k9-hpcc'"):
        bench.count_instructions(["k8-hpcc", "k9-hpcc"])


def test_without_valgrind_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match="valgrind"):
        bench.count_instructions(["k8-hpcc"])
