"""Writes the licences of all crates that are compiled into the package.

``python tools/third_party.py FILE`` asks cargo which crates those are, and takes their texts from
the sources that cargo has. Texts that several crates have stand there once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "rocelab-py"
NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT")
HEAD = """\
The compiled part of rocelab contains the crates below. Each is listed with its version and licence;
then follow the texts of the licences as the crates have them, each with the crates that it is of.
"""


def compiled_in(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """The packages of others that the package needs as it runs, by name and version."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    todo = [id_ for id_, package in packages.items() if package["name"] == PACKAGE]
    seen: set[str] = set()
    while todo:
        id_ = todo.pop()
        if id_ in seen:
            continue
        seen.add(id_)
        # What is only needed to build or to test it is not in it.
        todo += [
            needed["pkg"]
            for needed in nodes[id_]["deps"]
            if any(kind["kind"] is None for kind in needed["dep_kinds"])
        ]
    found = [packages[id_] for id_ in seen if packages[id_]["source"] is not None]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def texts(package: dict[str, Any]) -> Iterator[str]:
    """The licences in the directory of a package."""
    directory = Path(package["manifest_path"]).parent
    for path in sorted(directory.iterdir()):
        if path.is_file() and path.name.upper().startswith(NAMES):
            yield path.read_text(encoding="utf-8", errors="replace").strip()


def document(packages: list[dict[str, Any]]) -> str:
    """The whole file."""
    named = {f"{one['name']} {one['version']}": one for one in packages}
    width = max(map(len, named))
    lines = [HEAD, *(f"{name:<{width}}  {one['license']}" for name, one in named.items())]
    by_text: dict[str, list[str]] = {}
    for name, package in named.items():
        for text in texts(package):
            by_text.setdefault(text, []).append(name)
    for text, names in by_text.items():
        lines += ["", "-" * 80, ", ".join(names), "", text]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes the file that the command line names."""
    (path,) = sys.argv[1:]
    host = subprocess.run(
        ["rustc", "-vV"],  # noqa: S607
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    (target,) = (line.split()[1] for line in host.splitlines() if line.startswith("host: "))
    told = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--filter-platform", target],  # noqa: S607
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    Path(path).write_text(document(compiled_in(json.loads(told.stdout))), encoding="utf-8")


if __name__ == "__main__":
    main()
