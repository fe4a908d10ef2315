"""``rocelab validate``."""

from __future__ import annotations

from rocelab.cli.options import (
    ScenarioFile,
    Settings,
    load_scenario,
)
from rocelab.cli.output import print_warnings, show_toml


def validate(scenario: ScenarioFile, settings: Settings = None) -> None:
    """Check a scenario without running it.

    It is printed complete, with every default filled in. Warnings are those that are known before
    a run; `rocelab plan` prints the numbers behind them.
    """
    loaded = load_scenario(scenario, settings)
    loaded.validate()
    print_warnings(loaded.plan().warnings)
    show_toml(loaded.to_toml())
