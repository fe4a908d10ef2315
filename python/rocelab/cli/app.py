"""The program with all its commands."""

from __future__ import annotations

from rocelab.cli.commands import COMMANDS, app_with

app = app_with(COMMANDS)
