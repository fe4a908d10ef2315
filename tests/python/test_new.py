"""``rocelab new`` writes examples that run as they are; ``rocelab list`` tells what there is."""

from __future__ import annotations

import json
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


def test_all_example_files_have_a_name() -> None:
    named = {one.file for one in _examples.EXAMPLES}
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


@pytest.mark.parametrize("scheme", [one["name"] for one in catalogue.schemes()])
def test_list_of_a_scheme_has_its_presets_and_parameters(scheme: str, command: Command) -> None:
    done = command("list", scheme)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    (whole,) = (one for one in catalogue.schemes() if one["name"] == scheme)
    begins = [line.split()[0] for line in lines if line and not line.startswith(" ")]
    for kind in ("presets", "params"):
        assert {one["name"] for one in whole[kind]} <= set(begins)
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
