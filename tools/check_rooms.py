"""Checks that the rooms and the files of a crate use each other in one direction only.

A room is a module of the crate with all below it. The crate's documentation lists them under
`# Rooms`, one line or several for each, the lowest first:

    //! - `context`: what all nodes share.
    //! - `cioq`, `host`: ...

A room may use those listed before it. Rooms of one entry may not use each other. Within a room no
files may use each other in a circle; tests and `super` do not count.
"""

import re
import sys
from pathlib import Path

CRATES = [Path("crates/fabric/src")]

ENTRY = re.compile(r"^//! - ((?:`\w+`(?:, )?)+):", re.MULTILINE)
PATH = re.compile(r"\bcrate::(\w+)")
GROUP = re.compile(r"\bcrate::\{([^;]*)\}\s*;")
COMMENT = re.compile(r"//.*")
LONG_PATH = re.compile(r"\bcrate((?:::\w+)+)")
TESTS = "#[cfg(test)]\nmod tests"


def listed(lib: str) -> dict[str, int]:
    """Returns the level of each room that the crate's documentation lists."""
    section = lib.split("//! # Rooms", 1)[-1].split("//! # ", 1)[0]
    entries = [re.findall(r"`(\w+)`", names) for names in ENTRY.findall(section)]
    return {room: level for level, names in enumerate(entries) for room in names}


def used(text: str) -> set[str]:
    """Returns the modules of the crate that a file names outside of comments."""
    text = COMMENT.sub("", text)
    names = set(PATH.findall(text))
    for group in GROUP.findall(text):
        # What is in inner braces belongs to the name before them.
        while (flat := re.sub(r"\{[^{}]*\}", "", group)) != group:
            group = flat
        names.update(re.findall(r"(?:^|,)\s*(\w+)", group))
    return names


def circles(source: Path) -> list[str]:
    """Returns the circles in which files of a crate use each other, one for each."""
    files = {}
    for path in source.rglob("*.rs"):
        parts = path.relative_to(source).with_suffix("").parts
        files[parts[:-1] if parts[-1] == "mod" else parts] = path
    uses = {}
    for module, path in sorted(files.items()):
        text = COMMENT.sub("", path.read_text(encoding="utf-8").split(TESTS)[0])
        paths = [tuple(found.split("::")[1:]) for found in LONG_PATH.findall(text)]
        # The longest beginning of a path that is a file.
        known = ([one[:n] for n in range(len(one), 0, -1) if one[:n] in files] for one in paths)
        uses[module] = sorted({found[0] for found in known if found} - {module})
    found = []
    done: set[tuple[str, ...]] = set()

    def follow(way: list[tuple[str, ...]]) -> None:
        for other in uses[way[-1]]:
            if other in way:
                circle = ["/".join(module) for module in [*way[way.index(other) :], other]]
                found.append(f"{source}: files use each other in a circle: {' > '.join(circle)}")
            elif other not in done:
                follow([*way, other])
        done.add(way[-1])

    for module in uses:
        if module not in done:
            follow([module])
    return found


def check(source: Path) -> list[str]:
    """Returns what is wrong with a crate."""
    lib = (source / "lib.rs").read_text(encoding="utf-8")
    levels = listed(lib)
    declared = set(re.findall(r"^(?:pub )?mod (\w+);", lib, re.MULTILINE))
    wrong = [
        f"{source}/lib.rs: its documentation does not list the room `{room}`"
        for room in sorted(declared - levels.keys())
    ]
    wrong += [
        f"{source}/lib.rs: its documentation lists `{room}`, which does not exist"
        for room in sorted(levels.keys() - declared)
    ]
    for path in sorted(source.rglob("*.rs")):
        room = path.relative_to(source).parts[0].removesuffix(".rs")
        for other in sorted(used(path.read_text(encoding="utf-8")) & levels.keys() - {room}):
            if room in levels and levels[other] >= levels[room]:
                wrong.append(f"{path}: `{room}` uses `{other}`, which is not below it")
    return wrong + circles(source)


def main() -> int:
    """Prints what is wrong; returns the exit status."""
    wrong = [line for source in CRATES for line in check(source)]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
