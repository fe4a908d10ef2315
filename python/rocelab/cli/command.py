"""What all commands have of their help."""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperCommand


class PlainCommand(TyperCommand):
    """A command whose help has arguments by their names alone.

    Typer adds their types, such as ``<list[Path]>``, which are Python's.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Writes arguments and options."""
        for one in self.params:
            if isinstance(one, TyperArgument):
                vars(one)["display_type_rich"] = _no_type
        super().format_options(ctx, formatter)


def _no_type(ctx: object) -> None:
    del ctx
