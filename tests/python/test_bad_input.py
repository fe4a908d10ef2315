"""Bad scenarios and settings: one clear line, exit code 2, nothing written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rocelab
from conftest import INCAST, Command, assert_one_error
from rocelab.errors import MAX_ERRORS

STAR = '[topology]\nkind = "star"\nhosts = 4\nhost_rate = "100Gbps"\nhost_delay = "1us"\n'
TREE = (
    '[topology]\nkind = "fat-tree"\nk = {k}\nhost_rate = "100Gbps"\nhost_delay = "1us"\n'
    'rate = "100Gbps"\ndelay = "1us"\n'
)
CUSTOM = """\
[topology]
kind = "custom"
nodes = [
    {{ name = "a", kind = "host" }},
    {{ name = "b", kind = "host" }},
    {{ name = "{third}", kind = "switch" }},
]
links = [
    {{ a = "a", b = "s", rate = "100Gbps", delay = "{delay}" }},
    {more}
]
"""
LINK = '{ a = "b", b = "s", rate = "100Gbps", delay = "1us" },'


def flow(src: str = "h0", dst: str = "h1", size: str = "1KB") -> str:
    return (
        '[[traffic]]\nkind = "flows"\n'
        f'flows = [{{ src = "{src}", dst = "{dst}", size = "{size}" }}]\n'
    )


def poisson(sizes: str, load: str = "0.5") -> str:
    return f'[run]\nstop = "1ms"\n{STAR}[[traffic]]\nkind = "poisson"\n{sizes}\nload = {load}\n'


# What is wrong, the scenario, and words that the error must have.
BAD = [
    ("unknown key", STAR + "hostz = 3\n", ["topology.hostz", "unknown", "hint: ", "hosts"]),
    ("unknown table", STAR + "[topologie]\n", ["topologie", "topology"]),
    ("unknown kind", STAR.replace("star", "start"), ["topology.kind", "star"]),
    ("wrong unit", STAR.replace("100Gbps", "100us"), ["bad.toml:4", "topology.host_rate"]),
    ("bare number", STAR.replace('"100Gbps"', "100"), ["topology.host_rate", "unit"]),
    ("negative rate", STAR.replace("100Gbps", "-100Gbps"), ["topology.host_rate"]),
    ("zero rate", STAR.replace("100Gbps", "0Gbps"), ["topology.host_rate"]),
    ("disconnected", CUSTOM.format(third="s", delay="1us", more="") + flow("a", "b"), ["b"]),
    ("flow to itself", STAR + flow("h1", "h1"), ["h1", "itself"]),
    ("unknown host", STAR + flow("h1", "h9"), ["h9"]),
    ("load 0", poisson('workload = "WebSearch"', "0.0"), ["load", "0"]),
    ("load 2", poisson('workload = "WebSearch"', "2.0"), ["load", "2"]),
    ("odd k", TREE.format(k=7), ["bad.toml:3", "topology.k", "even", "7"]),
    ("truncated", INCAST[: INCAST.index("300KB")], ["bad.toml:"]),
    (
        "CDF not monotone",
        poisson("cdf = [[0, 0.0], [1000, 0.7], [2000, 0.6], [3000, 1.0]]"),
        ["cdf"],
    ),
    ("CDF without end", poisson("cdf = [[0, 0.0], [1000, 0.7]]"), ["cdf", "1"]),
    ("unknown workload", poisson('workload = "WebSerch"'), ["WebSerch", "WebSearch"]),
    ("workload file missing", poisson('workload_file = "none.csv"'), ["none.csv"]),
    ("2^63 bytes", STAR + flow(size="9223372036854775808B"), ["size"]),
    ("2^64 bytes", STAR + flow(size="18446744073709551616B"), ["size"]),
    ("empty message", STAR + flow(size="0B"), ["size"]),
    ("duplicate node", CUSTOM.format(third="a", delay="1us", more=LINK), ["a"]),
    ("zero delay", CUSTOM.format(third="s", delay="0us", more=LINK), ["delay", "hint: "]),
    ("unknown scheme", STAR + '[scheme]\nname = "vegas"\n', ["scheme.name", "vegas"]),
    ("unknown preset", STAR + '[scheme]\nname = "hpcc"\npreset = "x"\n', ["scheme.preset"]),
    (
        "unknown parameter",
        STAR + '[scheme]\nname = "hpcc"\nparams = { x = 1 }\n',
        ["scheme.params"],
    ),
    (
        "two schemes",
        STAR + flow() + '[[scheme]]\nname = "hpcc"\n[[scheme]]\nname = "dcqcn"\n',
        ["scheme"],
    ),
    ("negative seed", STAR + "[run]\nseed = -1\n", ["run.seed"]),
    ("no hosts", STAR.replace("hosts = 4", "hosts = 0"), ["topology.hosts"]),
    ("not text", "\0", ["bad.toml"]),
]


@pytest.mark.parametrize(("scenario", "words"), [case[1:] for case in BAD], ids=[c[0] for c in BAD])
def test_bad_scenario(command: Command, tmp_path: Path, scenario: str, words: list[str]) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(scenario, encoding="utf-8")
    done = command("run", path, "--out", tmp_path / "out")
    assert done.returncode == 2, done.stdout + done.stderr
    assert_one_error(done.stderr)
    assert done.stdout == ""
    assert [word for word in words if word not in done.stderr] == [], done.stderr
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bad.toml"]
    assert command("validate", path).returncode == 2


@pytest.mark.parametrize("what", ["run", "validate"])
@pytest.mark.parametrize(
    ("more", "line", "key", "words"),
    [
        ('[switch]\nbuffer = "120KB"\n', 10, "switch.buffer", "headroom and reserve"),
        (
            '[switch]\narchitecture = "cioq"\nlatency = "1ms"\ninput_queue = "1MB"\n',
            12,
            "switch.input_queue",
            "is too small for PFC",
        ),
        (
            '[scheme]\nname = "expresspass"\n[switch]\narchitecture = "cioq"\n',
            12,
            "switch.architecture",
            "CIOQ switches have no place",
        ),
    ],
)
def test_what_building_the_network_finds_is_said_of_the_line(
    command: Command, tmp_path: Path, what: str, more: str, line: int, key: str, words: str
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(STAR + flow() + more, encoding="utf-8")
    done = command(what, path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_error(done.stderr)
    assert done.stderr.startswith(f"error: {path}:{line}: {key}: ")
    assert words in done.stderr
    scenario = rocelab.load(path).to_dict()
    with pytest.raises(rocelab.ConfigError) as caught:
        rocelab.run(rocelab.Scenario(**scenario))
    error = caught.value
    assert (error.file, error.line, error.key) == (None, None, key), "made by a program"


def test_a_link_is_not_repaired_before_it_is_empty(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(
        """\
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 1
host_rate = "100Gbps"
host_delay = "1us"
rate = "100Gbps"
delay = "1us"
[[traffic]]
kind = "permutation"
size = "1MB"
[[failure]]
link = "leaf0:spine0"
at = "1us"
until = "1ms"
[[failure]]
link = "leaf0:spine0"
at = "2ms"
until = "2001us"
""",
        encoding="utf-8",
    )
    done = command("validate", path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {path}:20: failure.1.until: what was on the link between leaf0 and spine0 may "
        "arrive up to 1088ns after it fails\nhint: repair it later than that\n"
    )


@pytest.mark.parametrize("name", ["validate", "plan", "run"])
def test_all_errors_of_a_scenario_are_printed(command: Command, tmp_path: Path, name: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(STAR + "[pfc]\nxof = '1MB'\n[ecn]\nkmin = 5\n" + flow("h7"), encoding="utf-8")
    done = command(name, path, "--set", "run.seed=x", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert [line for line in done.stderr.splitlines() if not line.startswith("hint: ")] == [
        f"error: {path}:7: pfc.xof: unknown key",
        f'error: {path}:9: ecn.kmin: a size needs its unit, in quotes, such as "320KB"; got 5',
        f"error: {path}:12: traffic.0.flows.0.src: unknown node `h7`",
        'error: --set run.seed=x: run.seed: needs a whole number, 0 or more, got "x"',
        "4 errors",
    ]
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_has_the_others() -> None:
    with pytest.raises(rocelab.ConfigError, match=r"(?s)hosts.*\n2 errors$") as caught:
        rocelab.Scenario(
            topology={"kind": "star", "hosts": "x", "host_rate": "1Gbps", "host_delay": 1},
            traffic=[],
        )
    error = caught.value
    keys = {error.key, *(one.key for one in error.others)}
    assert keys == {"topology.host_delay", "topology.hosts"}
    assert error.line is None
    assert not error.others[0].others


def test_the_first_errors_are_printed_of_many(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("".join(f"k{number} = 1\n" for number in range(50)) + STAR, encoding="utf-8")
    done = command("validate", path)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("hint: ")]
    assert len(lines) == MAX_ERRORS + 1
    assert lines[-1] == f"the first {MAX_ERRORS} errors"


def test_missing_file(command: Command, tmp_path: Path) -> None:
    done = command("run", tmp_path / "none.toml")
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert "none.toml: no such file" in done.stderr


def test_directory_for_a_file(command: Command, tmp_path: Path) -> None:
    done = command("run", tmp_path)
    assert done.returncode == 2
    assert_one_error(done.stderr)


def test_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rocelab.scenario._MAX_FILE_BYTES", 1 << 20)
    path = tmp_path / "large.toml"
    path.write_bytes(b"#" * (1 << 20))
    with pytest.raises(rocelab.ConfigError, match="topology: is missing"):
        rocelab.load(path)
    path.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(rocelab.ConfigError, match=r"large\.toml: larger than 1 MiB"):
        rocelab.load(path)


def test_binary_file(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    done = command("run", path)
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert "hint: save it as UTF-8\n" in done.stderr


@pytest.mark.parametrize("setting", ["seed", "name=\udcff", "\udcff=1"])
def test_malformed_set(command: Command, incast_file: Path, setting: str) -> None:
    done = command("run", incast_file, "--set", setting)
    assert done.returncode == 2
    assert_one_error(done.stderr)


def test_unknown_key_in_set(command: Command, incast_file: Path) -> None:
    done = command("run", incast_file, "--set", "run.sede=3")
    assert done.returncode == 2
    assert_one_error(done.stderr)
    assert "run.sede" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--threads", 0], "threads: must be 1 or more, not 0"),
        (["run", "--threads", -1], "threads: must be 1 or more, not -1"),
        (["run", "--seed", -1], "error: --seed -1: run.seed: needs a whole number, 0 or more"),
        (["run", "--seed", 10**20], "error: --seed 100000000000000000000: run.seed: needs"),
        (["bench", "--threads", 0], "threads: must be 1 or more, not 0"),
        (["bench", "--repeat", 0], "repeat: must be 1 or more, not 0"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_numbers_out_of_range(
    command: Command, incast_file: Path, arguments: list[object], words: str
) -> None:
    what, *options = arguments
    files = [incast_file] if what == "run" else []
    done = command(what, *files, *options, cwd=incast_file.parent)
    assert done.returncode == 2
    assert done.stdout == ""
    assert_one_error(done.stderr)
    assert words in done.stderr
    assert sorted(entry.name for entry in incast_file.parent.iterdir()) == ["incast.toml"]


@pytest.mark.parametrize(
    ("setting", "key"),
    [("scheme=hpc", "scheme.name"), ("seed=3", "seed"), ("topology.hosts=0", "topology.hosts")],
)
def test_an_error_of_a_setting_is_not_said_of_the_file(
    command: Command, tmp_path: Path, setting: str, key: str
) -> None:
    path = tmp_path / "good.toml"
    path.write_text(STAR + flow("h0"), encoding="utf-8")
    done = command("validate", path, "--set", "run.seed=2", "--set", setting)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: --set {setting}: {key}: ")
    assert str(path) not in done.stderr


def test_an_error_of_the_file_is_said_of_its_line(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(STAR + flow("h0") + "[run]\nseed = 'x'\n", encoding="utf-8")
    done = command("validate", path, "--set", "scheme=hpcc")
    assert re.match(rf"error: {re.escape(str(path))}:\d+: run.seed: ", done.stderr), done.stderr
