"""Which compiled module the package uses: its own, or one with schemes of the user's.

``rocelab scheme build`` puts the module of a project into the user's cache, under a hash of the
project's directory. It is used in that directory and below. A directory that somebody else made has
none there, so to enter it runs no code of theirs. ``ROCELAB_MODULE`` names a module's file and
overrides this; empty, it stands for the package's own.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from rocelab.errors import ModuleChoiceError

NAME = "rocelab._rocelab"
VARIABLE = "ROCELAB_MODULE"
FILE = "_rocelab.abi3.so"

_PACKAGE = Path(__file__).parent


@dataclass(frozen=True)
class Choice:
    """A compiled module that is not the package's own."""

    file: Path
    project: Path | None
    """The directory of its project; None where ``ROCELAB_MODULE`` names it."""


def cache_directory() -> Path | None:
    """``rocelab`` in the user's cache directory; None for a user without a home directory."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rocelab"
    except RuntimeError:
        return None


def module_of(project: Path) -> Path | None:
    """Where the module of a project is; it may not be there."""
    directory = cache_directory()
    if directory is None:
        return None
    name = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
    return directory / "modules" / f"{project.name}-{name}" / FILE


def stamp_of(module: Path) -> Path:
    """The file beside a module that says which rocelab it was built for."""
    return module.with_name("module.json")


def own_hash() -> str:
    """A hash of the package's own module, which differs from build to build."""
    digest = hashlib.sha256()
    for file in sorted(_PACKAGE.glob("_rocelab*.so")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


@cache
def chosen() -> Choice | None:
    """The module to be used; None for the package's own. The same for the life of the process."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Choice(Path(named).absolute(), None) if named else None
    try:
        here = Path.cwd()
    except OSError:
        return None
    for directory in (here, *here.parents):
        file = module_of(directory)
        if file is None:
            return None
        if file.is_file() and (directory / "Cargo.toml").is_file():
            return Choice(file, directory)
    return None


def use_own() -> None:
    """Has this process use the package's own module."""
    os.environ[VARIABLE] = ""
    chosen.cache_clear()


class _Loader(ExtensionFileLoader):
    """Loads a chosen module. What goes wrong names it."""

    def __init__(self, choice: Choice) -> None:
        super().__init__(NAME, str(choice.file))
        self._choice = choice

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        try:
            return super().create_module(spec)
        except ImportError as error:
            raise ModuleChoiceError(f"{_name(self._choice)}: {error}") from error

    def exec_module(self, module: ModuleType) -> None:
        try:
            super().exec_module(module)
        except ImportError as error:
            raise ModuleChoiceError(f"{_name(self._choice)}: {error}") from error


def _name(choice: Choice) -> str:
    return VARIABLE if choice.project is None else str(choice.project)


def _check(choice: Choice) -> None:
    """Raises where there is no such module, or it is of another rocelab than this package."""
    name = _name(choice)
    try:
        built_for = json.loads(stamp_of(choice.file).read_bytes())["rocelab"]
        choice.file.open("rb").close()
    except (OSError, ValueError, LookupError, TypeError):
        raise ModuleChoiceError(
            f"{name}: {choice.file} is no module that `rocelab scheme build` has made"
        ) from None
    if built_for != own_hash():
        raise ModuleChoiceError(
            f"{name}: its module was built for another rocelab than this one; run "
            "`rocelab scheme build` again"
        )


def chosen_spec() -> ModuleSpec | None:
    """How to import the chosen module; None for the package's own.

    Raises :class:`ModuleChoiceError` where it cannot be used.
    """
    choice = chosen()
    if choice is None:
        return None
    _check(choice)
    return spec_from_file_location(NAME, choice.file, loader=_Loader(choice))
