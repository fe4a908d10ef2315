"""Checks that the rooms of the Python package import each other in one direction only.

A table of ARCHITECTURE.md lists the rooms, each with its files: `plot/` is all below that folder,
and `_*.py` are files beside it. A file may import those of its own room and of the rooms above.
What is imported for type checkers alone does not count. Functions of the public API may import any
room.
"""

import ast
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path("python/rocelab")
TABLE = re.compile(r"^\| room \| what \|\n\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)
API = "the public API"
"""What the table says of its room."""
ENTRIES = ("__init__.py", "__main__.py")
"""Files that stand for the whole package."""
NO_CODE = ("_sources/", "scheme_template/")


class Room(NamedTuple):
    """A line of the table."""

    patterns: list[str]
    """Its files."""
    is_api: bool


def rooms(text: str) -> list[Room]:
    """Returns the rooms that the table lists, in its order."""
    table = TABLE.search(text)
    cells = [line.split("|")[1:3] for line in table[1].splitlines()] if table else []
    return [Room(re.findall(r"`([^`]+)`", files), what.strip() == API) for files, what in cells]


def fits(name: str, pattern: str) -> bool:
    """Returns whether the file `name` is one of `pattern`."""
    if pattern.endswith("/"):
        return name.startswith(pattern)
    return name.count("/") == pattern.count("/") and fnmatchcase(name, pattern)


class Import(NamedTuple):
    """An import of a file of the package."""

    line: int
    file: str
    inside: bool
    """Whether it is in a function."""


def imports(tree: ast.AST, files: dict[str, str], *, inside: bool = False) -> Iterator[Import]:
    """Yields the imports of the package. `files` has its files by their names as modules."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        names = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # What is imported of a package may be a file of it.
            each = (f"{node.module}.{one.name}" for one in node.names)
            names = [name if name in files else node.module for name in each]
        yield from (Import(node.lineno, files[name], inside) for name in names if name in files)
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        yield from imports(node, files, inside=inside or isinstance(node, functions))


def module(package: Path, name: str) -> str:
    """Returns the name by which the file `name` of `package` is imported."""
    parts = name.removesuffix(".py").removesuffix("/__init__").split("/")
    return ".".join([package.name, *parts])


def check(package: Path, text: str) -> list[str]:
    """Returns what is wrong with the imports of `package`, whose rooms `text` lists."""
    listed = rooms(text)
    names = sorted(path.relative_to(package).as_posix() for path in package.rglob("*.py"))
    names = [name for name in names if not name.startswith(NO_CODE) and name not in ENTRIES]
    patterns = [(pattern, at) for at, room in enumerate(listed) for pattern in room.patterns]
    levels = {name: {at for pattern, at in patterns if fits(name, pattern)} for name in names}
    wrong = [
        f"ARCHITECTURE.md: {len(found)} rooms have {name}"
        for name, found in levels.items()
        if len(found) > 1
    ]
    wrong += [
        f"ARCHITECTURE.md: no file is `{pattern}`"
        for pattern, _ in patterns
        if not any(fits(name, pattern) for name in names)
    ]
    files = {module(package, name): name for name in names}
    for name in names:
        path = package / name
        for line, other, inside in imports(ast.parse(path.read_text(encoding="utf-8")), files):
            if lacking := [one for one in (name, other) if not levels[one]]:
                wrong.append(f"ARCHITECTURE.md: no room has {lacking[0]}")
                continue
            own = max(levels[name])
            if min(levels[other]) > own and not (inside and listed[own].is_api):
                wrong.append(f"{path}:{line}: imports {other}, which is of a room below its own")
    return list(dict.fromkeys(wrong))


def main() -> int:
    """Prints what is wrong; returns the exit status."""
    wrong = check(PACKAGE, Path("ARCHITECTURE.md").read_text(encoding="utf-8"))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
