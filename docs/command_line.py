"""The reference of the command line, from the program's own help."""

from __future__ import annotations

import inspect
from typing import Any

import typer

from rocelab.cli.app import app


def command_line() -> str:
    """A section for each command: what it does, its arguments and its options."""
    whole: Any = typer.main.get_command(app)
    return "\n".join(_section(f"rocelab {name}", one) for name, one in leaves(whole))


def leaves(group: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
    """The commands of a group, with those of its groups, by their names."""
    found = []
    for name, command in group.commands.items():
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            found += [(f"{name} {inner}", one) for inner, one in leaves(command)]
        else:
            found.append((name, command))
    return found


def _section(name: str, command: Any) -> str:  # noqa: ANN401
    lines = [f"## {name}", "", inspect.cleandoc(command.help or ""), ""]
    rows = [_row(param) for param in command.params if not getattr(param, "hidden", False)]
    if rows:
        lines += ["| argument or option | meaning |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def _row(param: Any) -> str:  # noqa: ANN401
    if param.param_type_name == "argument":
        called = f"`{(param.metavar or param.name.upper())}`"
    else:
        called = ", ".join(f"`{option}`" for option in [*param.opts, *param.secondary_opts])
        if param.metavar:
            called += f" {param.metavar}"
    text = help_of(param).replace("|", "\\|")
    return f"| {called.replace('|', chr(92) + '|')} | {text} |"


def help_of(param: Any) -> str:  # noqa: ANN401
    """What the program says of an argument or option, with the default that it adds."""
    text = " ".join((param.help or "").split())
    if param.param_type_name == "argument" or param.default is None or param.default is False:
        return text
    default = param.opts[0] if param.default is True else param.default
    return f"{text} Default: {default}."
