"""Checks names, comments and docs against docs/contributing/style-and-glossary.md.

An error is a line of Rust with more than 100 columns, a comment of Rust or Python that begins
with "The same", or a word of `BANNED` in a comment, a docstring or a page. In a page it is also
a word of `AMERICAN` or `FILLERS`, a sentence that is too long, or a beginning other than a
heading and a sentence. `--long` also lists sentences that are longer than the style guide
wants, and long paragraphs; these are no errors. Pages that the program writes may have long
sentences.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAX_COLUMNS = 100
WANTED_SENTENCE_WORDS = 25
MAX_SENTENCE_WORDS = 35
MAX_PARAGRAPH_WORDS = 120

BANNED = {
    "anew": "again",
    "at leisure": "slowly",
    "by the book": "in the reference engine",
    "dealt": "bucketed",
    "gravest": "most severe",
    "hears": "receives",
    "shall": "must",
    "so many": "up to `n`, or `n`",
    "tied": "coupled",
    "told": "notified, or said",
    "who works": "which thread advances",
    "without a guess": "without a branch",
}
"""Words that only insiders understand, and what to write instead."""

AMERICAN = {
    "analyze": "analyse",
    "behavior": "behaviour",
    "canceled": "cancelled",
    "center": "centre",
    "color": "colour",
    "favor": "favour",
    "labeled": "labelled",
    "neighbor": "neighbour",
    "normalize": "normalise",
    "optimize": "optimise",
    "serialize": "serialise",
    "utilization": "utilisation",
}
"""American spellings, and the British ones. Quoted names and code are left out."""

FILLERS = {
    "in order to": "to",
    "leverage": "use",
    "obviously": "nothing: it is, or it is not",
    "please note": "nothing: say it",
    "utilise": "use",
    "utilize": "use",
}
"""Words of pages that say nothing, and what to write instead."""

_BANNED = re.compile(rf"\b({'|'.join(BANNED)})\b", re.IGNORECASE)
_COMMENT = re.compile(r"//.*$")
_THE_SAME = re.compile(r"^\s*//[/!] The same\b")
_DOCSTRING = ('"""', 'r"""')
_OF_PAGES = {**AMERICAN, **FILLERS}
_PAGE_WORD = re.compile(rf"\b({'|'.join(_OF_PAGES)})(?:s|d|ing)?\b", re.IGNORECASE)
_GENERATED = re.compile(r"<!-- generated: .*?<!-- end -->", re.DOTALL)
_WRITTEN = re.compile(r"claims-\w+\.md|tournament\.md|behaviour\.md|command-line\.md")
"""Pages that the program writes."""
_ITEM = re.compile(r"\n(?=\s*(?:[-*]|\d+\.)\s)")
_MARKER = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")
_SENTENCE = re.compile(r"(?<=[.!?:;])\s")
_CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")
_EXEMPT = {Path("docs/contributing/style-and-glossary.md"), Path("CHANGELOG.md")}

Finding = tuple[Path, int, str]


def rust_files() -> list[Path]:
    """All sources of the workspace, with its tests, fuzz targets and benches, and the template."""
    folders = ("crates", "fuzz", "benches", "python/rocelab/scheme_template")
    files = (path for folder in folders for path in (ROOT / folder).rglob("*.rs"))
    return sorted(path for path in files if "target" not in path.parts)


def python_files() -> list[Path]:
    """All sources in Python but this one, which lists the banned words."""
    folders = ("python", "tests/python", "docs")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def pages() -> list[Path]:
    """All pages of the documentation."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def banned(text: str) -> Iterator[str]:
    """A message for each banned word in a text, quotations left out."""
    for match in _BANNED.finditer(_QUOTED.sub("", text)):
        word = match[1].lower()
        yield f'"{match[1]}" is a private word: write "{BANNED[word]}"'


def check_rust(path: Path, lines: list[str]) -> Iterator[Finding]:
    """Findings in a Rust file."""
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield path, number, f"{len(line)} columns, more than {MAX_COLUMNS}"
        if _THE_SAME.match(line):
            yield path, number, 'a doc comment that begins with "The same": name what it is'
        comment = _COMMENT.search(line)
        for message in banned(comment[0]) if comment else ():
            yield path, number, message


def check_python(path: Path, text: str) -> Iterator[Finding]:
    """Findings in comments and docstrings of a Python file."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        docstring = token.type == tokenize.STRING and token.line.lstrip().startswith(_DOCSTRING)
        if token.type != tokenize.COMMENT and not docstring:
            continue
        words = token.string.lstrip('#r"').rstrip('"')
        if words.lstrip().startswith("The same "):
            yield path, token.start[0], 'a comment that begins with "The same": name what it is'
        for number, line in enumerate(words.splitlines(), token.start[0]):
            for message in banned(line.replace("``", "`")):
                yield path, number, message


def check_page(path: Path, lines: list[str]) -> Iterator[Finding]:
    """Findings in a page; code blocks are left out."""
    in_code = False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            in_code = not in_code
        if not in_code:
            for message in banned(line):
                yield path, number, message
            for match in _PAGE_WORD.finditer(_QUOTED.sub("", line)):
                better = _OF_PAGES[match[1].lower()]
                yield path, number, f'"{match[1]}": write "{better}"'


def check_beginning(path: Path, text: str) -> Iterator[Finding]:
    """A page begins with its heading, and then says in a sentence what it answers."""
    blocks = [block for block in text.split("\n\n") if block.strip()]
    heading, *rest = [*blocks, ""]
    if not heading.startswith("# "):
        yield path, 1, "a page that does not begin with its heading"
    elif not rest[0][:1].isalnum() and (rest[0][:1] not in "`[*" or rest[0].startswith("```")):
        yield path, 2, "a page that does not say first what it answers"


def long_parts(path: Path, text: str) -> Iterator[tuple[Finding, bool]]:
    """Sentences and paragraphs of a page that are longer than the style guide has them.

    The second value says whether that is an error.
    """
    if _WRITTEN.fullmatch(path.name):
        return

    def empty(block: re.Match[str]) -> str:
        return "\n" * block[0].count("\n")

    text = _GENERATED.sub(empty, _CODE.sub(empty, text))
    line = 1
    for paragraph in text.split("\n\n"):
        first, line = line, line + paragraph.count("\n") + 2
        if paragraph.lstrip().startswith(("|", "#")):
            continue
        for item in _ITEM.split(paragraph):
            if (words := len(item.split())) > MAX_PARAGRAPH_WORDS:
                yield (path, first, f"a paragraph of {words} words"), False
            for sentence in _SENTENCE.split(_MARKER.sub("", item)):
                if (words := len(sentence.split())) > WANTED_SENTENCE_WORDS:
                    message = f"a sentence of {words} words: {' '.join(sentence.split()[:8])} ..."
                    yield (path, first, message), words > MAX_SENTENCE_WORDS


def main() -> int:
    """Prints all findings; 1 if there is an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="list long sentences of pages, too")
    options = parser.parse_args()
    errors: list[Finding] = []
    remarks: list[Finding] = []
    for path in rust_files():
        errors += check_rust(path, path.read_text(encoding="utf-8").splitlines())
    for path in python_files():
        errors += check_python(path, path.read_text(encoding="utf-8"))
    for path in pages():
        if path.relative_to(ROOT) in _EXEMPT:
            continue
        text = path.read_text(encoding="utf-8")
        errors += check_page(path, text.splitlines())
        if path.is_relative_to(ROOT / "docs"):
            errors += check_beginning(path, text)
        for finding, is_error in long_parts(path, text):
            if is_error:
                errors.append(finding)
            elif options.long:
                remarks.append(finding)
    for path, number, message in [*errors, *remarks]:
        print(f"{path.relative_to(ROOT)}:{number}: {message}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
