"""Writes the parts of these pages that the program itself knows: keys, presets, parameters.

``python docs/generate.py`` rewrites what stands between ``<!-- generated: NAME -->`` and ``<!--
end -->`` in every page and in the README, and the pages of claims: verdicts are those that
``rocelab reproduce --readings`` wrote, ``claims/PAPER.json``, words are those that the papers have
today, which it writes there, too. It also writes the keys of scenarios as TypedDicts,
``python/rocelab/keys.py``, the package's README, ``python/README.md``, and the manual page,
``rocelab.data/``. ``--check`` only says whether anything is out of date. It needs the ``rocelab``
package of the same tree.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import bench_results
from command_line import command_line
from man_page import man_page
from typed_keys import typed_keys

import rocelab
from rocelab.catalogue import SchemeInfo
from rocelab.io.files import to_json
from rocelab.papers import pages, reproduce
from rocelab.papers.matrix import reworded
from rocelab.papers.record import Matrix, read_matrix

HERE = Path(__file__).parent
BLOCK = re.compile(r"(<!-- generated: ([\w .+/{}-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
UNITS = {"1.5us": "time", "100Gbps": "rate", "320KB": "size"}
RATES = ("25Gbps", "40Gbps", "100Gbps", "400Gbps")

Schema = dict[str, Any]


def cell(text: str) -> str:
    """``text`` fit for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (header, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]]) + "\n"


class Keys:
    """The keys of scenario files, as the JSON Schema has them."""

    def __init__(self, schema: Schema) -> None:
        self.root = schema

    def resolve(self, schema: Schema) -> Schema:
        """``schema`` with its references followed and `null` left out."""
        while True:
            if "$ref" in schema:
                name = schema["$ref"].rsplit("/", 1)[-1]
                beside = {key: value for key, value in schema.items() if key != "$ref"}
                schema = {**self.root["$defs"][name], **beside}
                continue
            several = schema.get("anyOf", [])
            real = [one for one in several if one.get("type") != "null"]
            if several and len(real) == 1:
                beside = {key: value for key, value in schema.items() if key != "anyOf"}
                schema = {**real[0], **beside}
                continue
            return schema

    def kind(self, schema: Schema) -> str:
        """What a value is, in a word or two."""
        schema = self.resolve(schema)
        words = [one["const"] for one in schema.get("oneOf", []) if "const" in one]
        if words:
            return " or ".join(f'`"{word}"`' for word in words)
        if "enum" in schema:
            return " or ".join(f'`"{word}"`' for word in schema["enum"])
        if "anyOf" in schema:
            return " or ".join(self.kind(one) for one in schema["anyOf"])
        if "oneOf" in schema:
            return "table"
        types = schema.get("type", "")
        name = types if isinstance(types, str) else next(t for t in types if t != "null")
        if name == "string":
            examples = schema.get("examples", [])
            if examples and examples[0] in UNITS:
                return UNITS[examples[0]]
            word = re.match(r"\^\(([a-z-]+)\|", schema.get("pattern", ""))
            if word:
                return f'`"{word[1]}"` or a quantity'
            return "text"
        if name == "array":
            items = schema.get("items")
            if schema.get("prefixItems"):
                return "pair"
            return f"list of {self.kind(items)}" if isinstance(items, dict) else "list"
        return {"integer": "count", "number": "number", "boolean": "flag", "object": "table"}[name]

    def rows(self, schema: Schema) -> list[list[str]]:
        """A row for each key of a table, those that must be given first."""
        schema = self.resolve(schema)
        # A kind that is given is the heading.
        keys = [key for key, value in schema["properties"].items() if "const" not in value]
        needed = [key for key in schema.get("required", []) if key in keys]
        others = [key for key in keys if key not in needed]
        rows = []
        for key in needed + others:
            value = schema["properties"][key]
            if key in needed:
                default = "required"
            elif "default" in value:
                default = f"`{json.dumps(value['default'])}`"
            else:
                default = ""
            text = self.resolve(value).get("description", "")
            rows.append([f"`{key}`", self.kind(value), default, cell(text)])
        return rows

    def page(self, key: str) -> str:
        """The table of one top-level key."""
        header = ["key", "value", "default", "meaning"]
        if key == "top":
            plain = ("schema", "name", "description")
            properties = {name: self.root["properties"][name] for name in plain}
            return table(header, self.rows({"properties": properties}))
        schema = self.root["properties"][key]
        schema = self.resolve(schema.get("items", schema))
        if key == "scheme":
            schema = self.resolve(next(s for s in schema["anyOf"] if "$ref" in s))
        if "oneOf" not in schema:
            return table(header, self.rows(schema))
        parts = []
        for variant in schema["oneOf"]:
            body = self.resolve(variant)
            name = variant["properties"]["kind"]["const"]
            parts.append(f'#### `kind = "{name}"`\n\n{cell(variant.get("description", ""))}\n')
            parts.append(table(header, self.rows(body)))
        return "\n".join(parts)

    def part(self, name: str) -> str:
        """The table of a type that stands inside another."""
        return table(["key", "value", "default", "meaning"], self.rows(self.root["$defs"][name]))

    def words(self, name: str) -> str:
        """The words of a choice and what they mean."""
        choices = self.root["$defs"][name]["oneOf"]
        return table(
            ["word", "meaning"],
            [[f"`{one['const']}`", cell(one.get("description", ""))] for one in choices],
        )


def scheme_named(name: str) -> SchemeInfo:
    """The catalogue's entry of a scheme."""
    return next(scheme for scheme in rocelab.schemes() if scheme.name == name)


def tolerates() -> str:
    """Which scheme goes together with which way to spread and recover packets."""
    schemes = rocelab.schemes()
    names = [one.name for one in schemes[0].tolerates]
    words = {"works": "yes", "note": "note", "refused": "no"}
    rows = [[f"`{one.name}`", *(words[fit.fit] for fit in one.tolerates)] for one in schemes]
    return table(["scheme", *names], rows)


def beside() -> str:
    """Which schemes one run may have together."""
    rows = [
        [f"`{one.name}`", ", ".join(f"`{name}`" for name in one.beside)]
        for one in rocelab.schemes()
        if one.beside
    ]
    return table(["scheme", "beside it"], rows)


def parameters(argument: str) -> str:
    """The parameters of a scheme, all or those named after it."""
    name, *chosen = argument.split()
    rows = []
    for param in scheme_named(name).params:
        if chosen and param.name not in chosen:
            continue
        kind = " or ".join(f'`"{word}"`' for word in param.choices or ()) or param.kind
        allowed = " to ".join(param.range) if param.range else ""
        rows.append(
            [
                f"`{param.name}`",
                param.symbol,
                kind,
                allowed,
                cell(param.summary),
                cell(param.source),
            ]
        )
    return table(["parameter", "symbol", "type", "range", "meaning", "source"], rows)


def presets(name: str) -> str:
    """What each preset of a scheme stands for, and its marking law."""
    rows = []
    for preset in scheme_named(name).presets:
        law = preset.ecn
        ecn = f"{law.kmin} / {law.kmax} / {law.pmax} at {law.at}" if law else "none"
        rows.append([f"`{preset.name}`", cell(preset.summary), ecn, cell(preset.source)])
    return table(["preset", "what it is", "Kmin / Kmax / Pmax", "source"], rows)


def resolved(scheme: str, preset: str, rate: str) -> Schema:
    """The parameters that a preset has with hosts of this rate."""
    scenario = rocelab.Scenario(
        topology={"kind": "star", "hosts": 2, "host_rate": rate, "host_delay": "1us"},
        scheme={"name": scheme, "preset": preset},
        run={"stop": "1us"},
    )
    params: Schema = scenario.to_dict()["scheme"]["params"]
    return params


def values(name: str) -> str:
    """Each preset's values with hosts at 100 Gb/s, and those that follow the rate at others."""
    scheme = scheme_named(name)
    names = [preset.name for preset in scheme.presets]
    columns = {preset: resolved(name, preset, "100Gbps") for preset in names}
    order = [param.name for param in scheme.params]
    show = json.dumps
    rows = [[f"`{key}`", *(f"`{show(columns[one][key])}`" for one in names)] for key in order]
    text = table(["at 100 Gb/s", *(f"`{one}`" for one in names)], rows)
    scaled = []
    for preset in names:
        at = {rate: resolved(name, preset, rate) for rate in RATES}
        scaled += [
            [f"`{preset}`", f"`{key}`", *(str(at[rate][key]) for rate in RATES)]
            for key in order
            if len({show(at[rate][key]) for rate in RATES}) > 1
        ]
    if scaled:
        text += "\nWhat follows the rate of the hosts' ports (of the slowest, where they differ; a "
        text += "warning says so):\n\n"
        text += table(["preset", "parameter", *RATES], scaled)
    return text


def workloads() -> str:
    """The flow-size distributions."""
    rows = [
        [
            f"`{one.name}`",
            cell(one.summary),
            f"{one.mean_bytes:,.0f}",
            f"{one.p50_bytes:,.0f}",
            f"{one.p99_bytes:,.0f}",
        ]
        for one in rocelab.workloads()
    ]
    return table(["name", "what it is", "mean, B", "median, B", "p99, B"], rows)


def block(name: str, keys: Keys) -> str:
    """The text of the block called ``name``."""
    what, _, argument = name.partition(" ")
    makers = {
        "keys": keys.page,
        "tolerates": lambda _: tolerates(),
        "beside": lambda _: beside(),
        "part": keys.part,
        "words": keys.words,
        "parameters": parameters,
        "presets": presets,
        "values": values,
    }
    if what == "commands":
        return command_line()
    if what == "bench":
        return table(*bench_results.TABLES[argument]())
    if what == "claims":
        return pages.overview(list(matrices().values()), argument) + "\n"
    return workloads() if what == "workloads" else makers[what](argument)


MAN_PAGE = Path("rocelab.data/data/share/man/man1/rocelab.1")
"""Where maturin finds it: below the folder of its scheme, ``data``."""

PACKAGE_PAGE = Path("python/README.md")
"""The README of the Python package, whose links also work on a package index."""

REPOSITORY = "https://github.com/rocelab/rocelab/blob/main/"
PICTURES = "https://raw.githubusercontent.com/rocelab/rocelab/main/"
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")


def package_page(keys: Keys) -> str:
    """The README, with links to the repository in place of those to its files."""
    text = fresh_page(HERE.parent / "README.md", keys)
    page = "<!-- Made from README.md by docs/generate.py. -->\n"
    return page + LINK.sub(
        lambda link: f"{link[1]}[{link[2]}]({PICTURES if link[1] else REPOSITORY}{link[3]})", text
    )


PAPERS = ("mercury", "rcm", "fncc", "hiercc", "themis", "conweave")
"""In the order of their pages."""


@cache
def matrices() -> dict[str, Matrix]:
    """By papers, what ``rocelab reproduce --readings`` wrote of them, in the words of today."""
    papers = {paper.id: paper for paper in reproduce.PAPERS}
    return {paper: reworded(read_matrix(claims_of(paper)), papers[paper]) for paper in PAPERS}


def claims_of(paper: str) -> Path:
    """What ``rocelab reproduce --readings`` wrote of a paper."""
    return HERE / "claims" / f"{paper}.json"


def fresh_page(page: Path, keys: Keys) -> str:
    """A page with its generated parts as they should be."""
    text = page.read_text(encoding="utf-8")
    return BLOCK.sub(lambda m: f"{m[1]}\n{block(m[2], keys)}\n{m[3]}", text)


def fresh_pages(keys: Keys) -> Iterator[tuple[Path, str]]:
    """All files with generated parts, and what they should be."""
    for page in (*sorted(HERE.rglob("*.md")), HERE.parent / "README.md"):
        yield page, fresh_page(page, keys)
    for paper, matrix in matrices().items():
        yield HERE / f"claims-{paper}.md", pages.page(matrix)
        yield claims_of(paper), to_json(matrix.to_dict()).decode()
    yield HERE.parent / PACKAGE_PAGE, package_page(keys)
    yield HERE.parent / "python/rocelab/keys.py", typed_keys(keys.root)
    yield HERE.parent / MAN_PAGE, man_page()


def main() -> None:
    """Rewrites the pages, or checks them."""
    parser = argparse.ArgumentParser(
        description="Writes the parts of the pages beside it that the program itself knows.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; name pages that are out of date, and end with 1 if there are any",
    )
    check = parser.parse_args().check
    keys = Keys(rocelab.schema())
    stale = []
    try:
        pages_now = list(fresh_pages(keys))
    except rocelab.ConfigError as error:
        sys.exit(f"error: {error}")
    for page, fresh in pages_now:
        if not page.exists() or page.read_text(encoding="utf-8") != fresh:
            stale.append(str(page.relative_to(HERE.parent)))
            if not check:
                page.parent.mkdir(parents=True, exist_ok=True)
                page.write_text(fresh, encoding="utf-8")
    for page in stale:
        print(page)
    if stale and check:
        print("out of date: run `python docs/generate.py`", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
