"""Result directories with random damage, and a reader that looks at all of what they hold.

As a program: ``result_mutants.py ORIGINALS WORK FIRST COUNT`` reads mutants, prints what is wrong
with the readers, and ends with 1 where anything is. Library code may abort the process, so tests
start it as one.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import rocelab
from rocelab.io.checksums import add_checksums, is_panic

ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1 << 63,
    1 << 70,
    -1.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "../../outside",
    "/absolute",
    "\x1b[31m",
    "\u202e",
    "\ud800",
    "a" * 5000,
    [],
    {},
    [[[]]],
    [None],
    {"": None},
]
WORDS = [
    "0",
    "-1",
    "1e400",
    "nan",
    '"',
    "'''",
    "[",
    "[[probe]]",
    "\0",
    "\x1b[2J",
    "1s",
    "h0",
    "= =",
]
MEMORY = 6 << 30
"""Address space of the process: a reader must not need more for a few kilobytes."""


def mutant(directory: Path, dice: random.Random) -> str:
    """Damages the result in ``directory``; says how."""
    kinds = [_bits, _cut, _file, _json, _json, _scenario, _table, _table]
    done = []
    for _ in range(dice.choice([1, 1, 2, 3])):
        change = dice.choice(kinds)
        done.append(f"{change.__name__}: {change(directory, dice)}")
    raw = any(one.startswith(("_bits", "_cut")) and ".parquet" in one for one in done)
    seal = dice.choice(["kept", "kept", "none", "new"])
    # Damaged Parquet with right checksums, or none, is Polars' to read: it may end the process.
    if not raw and seal != "kept":
        done.append(f"checksums {seal}")
        _seal(directory, new=seal == "new")
    return "; ".join(done)


def _files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


def _some(directory: Path, dice: random.Random, suffix: str = "") -> Path | None:
    files = [path for path in _files(directory) if path.name.endswith(suffix)]
    return dice.choice(files) if files else None


def _bits(directory: Path, dice: random.Random) -> str:
    path = _some(directory, dice)
    if path is None or not (content := bytearray(path.read_bytes())):
        return "nothing"
    for _ in range(dice.choice([1, 1, 5])):
        content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    path.write_bytes(content)
    return path.name


def _cut(directory: Path, dice: random.Random) -> str:
    path = _some(directory, dice)
    if path is None:
        return "nothing"
    content = path.read_bytes()
    path.write_bytes(content[: dice.randrange(len(content) + 1)])
    return path.name


def _file(directory: Path, dice: random.Random) -> str:
    path, other = _some(directory, dice), _some(directory, dice)
    if path is None or other is None:
        return "nothing"
    content = other.read_bytes()
    what = dice.choice(["removed", "copied", "a directory", "a link", "a pipe", "a loop"])
    path.unlink()
    if what == "copied":
        path.write_bytes(content)
    elif what == "a directory":
        path.mkdir()
    elif what == "a link":
        path.symlink_to("/etc/hostname")
    elif what == "a loop":
        path.symlink_to(path.name)
    elif what == "a pipe":
        os.mkfifo(path)
    return f"{path.name} is {what}"


def _json(directory: Path, dice: random.Random) -> str:
    path = _some(directory, dice, ".json")
    try:
        data = json.loads(path.read_bytes()) if path else None
    except (OSError, ValueError, RecursionError):
        return "nothing"
    if path is None or not isinstance(data, dict | list):
        return "nothing"
    told = []
    for _ in range(dice.choice([1, 1, 3])):
        places = list(_places(data, ""))
        if not places:
            break
        holder, key, place = dice.choice(places)
        if dice.random() < 0.2:
            del holder[key]
            told.append(f"no {place}")
        else:
            holder[key] = dice.choice(ODD)
            told.append(f"{place} = {holder[key]!r:.40}")
    path.write_bytes(json.dumps(data).encode())
    return f"{path.name} {told}"


def _places(data: Any, path: str) -> list[tuple[Any, Any, str]]:  # noqa: ANN401 - JSON
    pairs = list(data.items() if isinstance(data, dict) else enumerate(data))
    found = []
    for key, value in pairs:
        found.append((data, key, f"{path}.{key}"))
        if isinstance(value, dict | list):
            found += _places(value, f"{path}.{key}")
    return found


def _scenario(directory: Path, dice: random.Random) -> str:
    path = directory / "scenario.toml"
    if not path.is_file():
        return "nothing"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return "nothing"
    at = dice.randrange(len(text) + 1)
    end = min(len(text), at + dice.choice([0, 1, 10, 200]))
    word = dice.choice(WORDS)
    path.write_text(text[:at] + word + text[end:], encoding="utf-8")
    return f"{word!r} for {text[at:end]!r:.60}"


def _table(directory: Path, dice: random.Random) -> str:
    path = _some(directory, dice, ".parquet")
    try:
        frame = pl.read_parquet(path.read_bytes()) if path else None
    except (OSError, pl.exceptions.PolarsError):
        return "nothing"
    except BaseException as error:  # It may be damaged already.
        if not is_panic(error):
            raise
        return "nothing"
    if path is None or frame is None or not frame.width:
        return "nothing"
    name = dice.choice(frame.columns)
    what = dice.choice(_TABLES)
    _changed(frame, name, what, dice).write_parquet(path)
    return f"{path.name} {what} {name}"


_TABLES = (
    "without",
    "renamed",
    "text in",
    "nulls in",
    "NaN in",
    "-1 in",
    "lists in",
    "largest in",
    "no rows, of",
    "a row, of",
    "twice",
    "shuffled",
)
_VALUES = {
    "text in": "\x1b]0;x\u202e",
    "nulls in": None,
    "NaN in": float("nan"),
    "-1 in": -1,
    "lists in": [1],
    "largest in": (1 << 64) - 1,
}


def _changed(frame: pl.DataFrame, name: str, what: str, dice: random.Random) -> pl.DataFrame:
    if what in _VALUES:
        kind = frame[name].dtype
        fits = what == "largest in" and kind in (pl.UInt64, pl.Float64)
        value = pl.lit(_VALUES[what], dtype=kind if fits else None)
        return frame.with_columns(value.alias(name))
    if what == "without":
        return frame.drop(name)
    if what == "renamed":
        return frame.rename({name: "\x1b[31m" + name})
    if what == "no rows, of":
        return frame.clear()
    if what == "a row, of":
        return frame.head(1)
    if what == "twice":
        return pl.concat([frame, frame])
    return frame.sample(fraction=1, shuffle=True, seed=dice.randrange(99))


def _seal(directory: Path, *, new: bool) -> None:
    """Gives the files right checksums, or takes all away as in results of earlier versions."""
    path = directory / "summary.json"
    if not path.is_file():
        return
    try:
        summary = json.loads(path.read_bytes())
        if new:
            summary = add_checksums(summary, directory)
        else:
            del summary["checksums"]
            summary["schema"] = 1
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return
    path.write_bytes(json.dumps(summary).encode())


def look(directory: Path, out: Path, *, draws: bool) -> None:
    """Looks at all of a result, and saves it again."""
    result = rocelab.open(directory)
    repr(result)
    steps: list[Callable[[], object]] = [
        lambda: result.flows.to_polars(),
        lambda: result.ports.to_polars(),
        lambda: [table.to_polars() for table in result.series.values()],
        lambda: [table.to_polars() for table in result.traces.values()],
        lambda: result.capture,
        lambda: result.warnings,
        lambda: result.probes,
        lambda: result.scenario,
        lambda: result.save(out),
    ]
    if draws:
        steps.append(lambda: result.plot.fct())
    for step in steps:
        try:
            step()
        except rocelab.RocelabError as error:
            fit_for_a_terminal(error)


def fit_for_a_terminal(error: Exception) -> None:
    """Raises where the message has characters that could change what a terminal shows."""
    text = str(error)
    odd = [letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cs")]
    assert set(odd) <= {"\n"}, f"{text!r}"
    assert len(text) < 2000, f"{text[:200]!r}..."


def main() -> int:
    originals, work = map(Path, sys.argv[1:3])
    first, count = map(int, sys.argv[3:5])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    outcomes: Counter[str] = Counter()
    for number in range(first, first + count):
        dice = random.Random(number)  # noqa: S311 - not for secrets
        target, out = work / "mutant", work / "saved"
        for old in (target, out):
            shutil.rmtree(old, ignore_errors=True)
        original = dice.choice(sorted(originals.iterdir()))
        shutil.copytree(original, target)
        change = mutant(target, dice)
        # Where the process is ended, this is the last line.
        print(f"{number} {original.name} {change}".encode("ascii", "backslashreplace"), flush=True)
        before = _outside(work)
        try:
            look(target, out, draws=number % 20 == 0)
            outcomes["read"] += 1
        except rocelab.RocelabError as error:
            outcomes["refused"] += 1
            try:
                fit_for_a_terminal(error)
            except AssertionError as shown:
                outcomes["wrong"] += 1
                print(f"WRONG {number}: {shown}".encode("ascii", "backslashreplace"))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # Panics of libraries are none of Exception.
            outcomes["wrong"] += 1
            told = f"WRONG {number}: {type(error).__name__}: {error}"
            print(told.encode("ascii", "backslashreplace"))
        if _outside(work) != before:
            outcomes["wrong"] += 1
            print(f"WRONG {number}: files were written beside the result")
    print(f"OUTCOMES {json.dumps(outcomes)}")
    return 1 if outcomes["wrong"] else 0


def _outside(work: Path) -> list[str]:
    """What is beside the mutant and the copy of it."""
    names = ("mutant", "saved")
    return sorted(path.name for path in work.iterdir() if path.name not in names)


if __name__ == "__main__":
    sys.exit(main())
