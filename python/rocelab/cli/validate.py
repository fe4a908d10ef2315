"""``rocelab validate``."""

from __future__ import annotations

from rocelab.cli.options import (
    ScenarioFile,
    Settings,
    load_scenario,
)
from rocelab.cli.output import show_toml


def validate(scenario: ScenarioFile, settings: Settings = None) -> None:
    """Check a scenario without running it.

    It is printed complete, with every default filled in.
    """
    loaded = load_scenario(scenario, settings)
    loaded.validate()
    show_toml(loaded.to_toml())
