"""The manual page of the command, from the program's own help."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import typer
from command_line import help_of, leaves

from rocelab.cli.app import app

ROOT = Path(__file__).parents[1]
_EXIT_CODES = (
    ("0", "done"),
    ("1", "a run failed through no fault of its input, or a warning casts doubt on the numbers"),
    ("2", "bad input, or a file that cannot be read or written"),
    ("130", "interrupted by Ctrl-C or SIGTERM"),
)


def man_page() -> str:
    """The page in the language of man: ``rocelab.1``."""
    whole: Any = typer.main.get_command(app)
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    version = cargo["workspace"]["package"]["version"]
    lines = [
        f'.TH ROCELAB 1 "" "rocelab {version}" "User Commands"',
        ".SH NAME",
        r"rocelab \- a laboratory for congestion control in lossless RDMA networks",
        ".SH SYNOPSIS",
        ".B rocelab",
        r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]",
        ".SH DESCRIPTION",
        "Simulates lossless RDMA (RoCEv2) networks packet by packet. A scenario file says what",
        "network, what traffic and what scheme. A result has tables that anyone can read.",
        ".SH OPTIONS",
        *_options(whole),
        ".SH COMMANDS",
    ]
    for name, command in leaves(whole):
        lines += [
            f".SS rocelab {_text(name)}",
            *_paragraphs(command.help or ""),
            *_options(command),
        ]
    lines.append(".SH EXIT STATUS")
    for code, meaning in _EXIT_CODES:
        lines += [".TP", rf"\fB{code}\fR", _text(meaning)]
    lines += [
        ".SH SEE ALSO",
        r"\fBrocelab \fICOMMAND\fB \-\-help\fR prints what is here of a command.",
    ]
    return "\n".join(lines) + "\n"


def _options(command: Any) -> list[str]:  # noqa: ANN401
    lines = []
    for param in command.params:
        if getattr(param, "hidden", False):
            continue
        metavar = rf" \fI{_text(param.metavar)}\fR" if param.metavar else ""
        if param.param_type_name == "argument":
            called = rf"\fI{_text(param.metavar or param.name.upper())}\fR"
        else:
            names = [*param.opts, *param.secondary_opts]
            called = ", ".join(rf"\fB{_text(name)}\fR" for name in names) + metavar
        lines += [".TP", called, _text(help_of(param))]
    return lines


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a help text, each behind a line of its own."""
    lines = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        lines += [".PP", _text(" ".join(paragraph.split()))]
    return lines


def _text(text: str) -> str:
    """``text`` as man takes it: code in bold, hyphens that can be copied, no line a request."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    return rf"\&{text}" if text.startswith((".", "'")) else text
