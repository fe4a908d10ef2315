"""Checks that the rooms of a crate use each other in one direction only.

A room is a module of the crate with all below it. The crate's documentation lists them under
`# Rooms`, one line or several for each, the lowest first:

    //! - `context`: what all nodes share.
    //! - `cioq`, `host`: ...

A room may use those listed before it. Rooms of one entry may not use each other.
"""

import re
import sys
from pathlib import Path

CRATES = [Path("crates/fabric/src")]

ENTRY = re.compile(r"^//! - ((?:`\w+`(?:, )?)+):", re.MULTILINE)
PATH = re.compile(r"\bcrate::(\w+)")
GROUP = re.compile(r"\bcrate::\{([^;]*)\}\s*;")
COMMENT = re.compile(r"//.*")


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
    return wrong


def main() -> int:
    """Prints what is wrong; returns the exit status."""
    wrong = [line for source in CRATES for line in check(source)]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
