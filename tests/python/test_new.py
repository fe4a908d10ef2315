"""``rocelab new`` writes examples that run as they are; ``rocelab list`` tells what there is."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from conftest import Command
from rocelab import _examples, catalogue


@pytest.mark.parametrize("example", _examples.EXAMPLES, ids=lambda one: one.name)
def test_every_example_is_written_and_valid(
    example: _examples.Example, command: Command, tmp_path: Path
) -> None:
    done = command("new", example.name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (written,) = tmp_path.iterdir()
    first, following = done.stderr.splitlines()
    assert first == f"{written.name}: {example.summary}"
    assert following.startswith("next: ")
    if written.is_dir():
        run = command("hpcc", "config.txt", "--strict", cwd=written)
    else:
        run = command("validate", written.name, cwd=tmp_path)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("words", "option"),
    [(["new", "incast"], "run"), (["new", "hpcc-files"], "cd"), (["scheme", "new", "mine"], "cd")],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_the_next_command_is_right_for_a_shell(
    words: list[str], option: str, command: Command, tmp_path: Path
) -> None:
    """Paths with spaces stay one word."""
    done = command(*words, "My experiment", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    following = shlex.split(done.stderr.splitlines()[-1])
    assert following[following.index(option) + 1] == "My experiment"


def test_all_example_files_have_a_name() -> None:
    named = {one.path.name for one in _examples.EXAMPLES}
    assert named == {path.name for path in _examples.FOLDER.iterdir()}


def test_nothing_is_replaced(command: Command, tmp_path: Path) -> None:
    (tmp_path / "incast.toml").write_text("mine", encoding="utf-8")
    (tmp_path / "hpcc-files").mkdir()
    for name, target in (("incast", "incast.toml"), ("hpcc-files", "hpcc-files")):
        done = command("new", name, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {target}: exists already\nhint: give another name")
    assert (tmp_path / "incast.toml").read_text() == "mine"
    assert command("new", "incast", "other.toml", cwd=tmp_path).returncode == 0
    assert (tmp_path / "other.toml").is_file()


def test_an_unknown_example_names_the_known(command: Command) -> None:
    done = command("new", "ring")
    assert done.returncode == 2
    assert "'ring' is not one of incast, leaf-spine" in done.stderr


@pytest.mark.parametrize("scheme", [one.name for one in catalogue.schemes()])
def test_list_of_a_scheme_has_its_presets_and_parameters(scheme: str, command: Command) -> None:
    done = command("list", scheme)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    (whole,) = (one for one in catalogue.schemes() if one.name == scheme)
    begins = [line.split()[0] for line in lines if line and not line.startswith(" ")]
    names = [one.name for one in whole.presets] + [one.name for one in whole.params]
    assert set(names) <= set(begins)
    assert all(len(line) <= 80 for line in lines[lines.index("") :] if line.startswith("    "))


@pytest.mark.parametrize("topic", ["traffic", "probes", "metrics", "examples"])
def test_lists(topic: str, command: Command) -> None:
    plain = command("list", topic).stdout.splitlines()
    found = json.loads(command("list", topic, "--json").stdout)
    # What does not fit a line goes on below it.
    begun = [line.split()[0] for line in plain if not line.startswith(" ")]
    assert begun == [one["name"] for one in found]
    assert all(one["summary"] for one in found)
    assert len(found) > 5


def test_neither_a_list_nor_a_scheme(command: Command) -> None:
    done = command("list", "dcqnc")
    assert done.returncode == 2
    assert "'dcqnc' is neither a scheme nor one of 'schemes'" in done.stderr
    assert done.stderr.rstrip().endswith("Did you mean 'dcqcn'?")


def test_a_list_of_a_preset_names_its_scheme(command: Command) -> None:
    done = command("list", "dcqcn-paper")
    assert done.returncode == 2
    assert "is a preset: `rocelab list dcqcn` shows" in done.stderr


def test_an_example_is_a_scenario_by_its_name(command: Command, tmp_path: Path) -> None:
    """Wherever a scenario file is expected, from any directory."""
    assert command("plan", "leaf-spine", cwd=tmp_path).stdout.startswith("leaf-spine: 32 hosts")
    assert 'name = "two-schemes"' in command("validate", "two-schemes", cwd=tmp_path).stdout
    done = command("run", "incast", "--set", "scheme=hpcc", "--json", cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["scheme"]) == (0, "hpcc")
    done = command("sweep", "incast", "--over", "scheme=none", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # The command that makes it again names it as well, and not a place in the package.
    asked = json.loads((tmp_path / "out/incast-sweep/sweep.json").read_text())
    assert asked["file"] == "incast"


def test_a_file_goes_before_the_example_of_its_name(command: Command, tmp_path: Path) -> None:
    (tmp_path / "incast").write_text("schema = 2\n", encoding="utf-8")
    done = command("validate", "incast", cwd=tmp_path)
    assert done.returncode == 2
    assert "topology" in done.stderr


@pytest.mark.parametrize(
    ("missing", "hint"),
    [
        ("incast.toml", "`rocelab new incast` writes"),
        ("examples/leaf-spine.toml", "`rocelab new leaf-spine` writes"),
        ("ring", "`rocelab list examples` shows"),
        ("hpcc-files", "`rocelab new hpcc-files` writes a folder, with files for `rocelab hpcc`"),
    ],
)
def test_a_scenario_that_is_not_there_has_a_hint(
    missing: str, hint: str, command: Command, tmp_path: Path
) -> None:
    done = command("run", missing, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {missing}: no such file\nhint: {hint}")


def test_shells_complete_examples_and_files(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "incast-mine.toml").touch()
    for begun, expected in (("inc", {"incast-mine.toml", "incast"}), ("out/", set())):
        monkeypatch.setenv("_ROCELAB_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", f"rocelab run {begun}")
        monkeypatch.setenv("COMP_CWORD", "2")
        done = command(cwd=tmp_path)
        assert set(done.stdout.split()) == expected
