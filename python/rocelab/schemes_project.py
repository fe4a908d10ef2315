"""Projects with schemes of the user's own, as ``rocelab scheme`` makes and builds them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocelab import _module
from rocelab.errors import ConfigError
from rocelab.io.files import check_output_directory, os_errors_as_result_error, write_atomic

_PACKAGE = Path(__file__).parent
_TEMPLATE = _PACKAGE / "scheme_template"
_SOURCES = ".rocelab/sources"
_CONFIG = ".cargo/config.toml"
_PLACES = {"cargo-config.toml": _CONFIG, "gitignore": ".gitignore"}
"""Where files of the template go that are not in their place there."""
_SELECTION = re.compile(r'^ROCELAB_SCHEMES = \{ value = "([^"]*)"', re.MULTILINE)

_RESERVED = """
abstract as async await become box break const continue crate do dyn else enum extern false final
fn for gen if impl in let loop macro match mod move mut override priv pub ref return self static
struct super trait true try type typeof unsafe unsized use virtual where while yield
alloc core std test proc_macro schemes units wire
"""
"""Words of Rust, and crates, which no crate of the user's may be called."""
_TYPES = {"Absent", "Ack", "Cp", "Packet", "Preset", "Rp", "Scheme", "Stamper", "Window"}
"""Names in the template that the scheme's type may not have."""


@dataclass(frozen=True)
class Built:
    """A simulator that was built."""

    file: Path
    """The compiled module."""
    schemes: list[str]
    """The schemes of rocelab in it."""


def sources() -> Path:
    """The directory of rocelab's crates and their workspace."""
    crates = (_PACKAGE / "_sources/crates").resolve()
    if not (crates / "bindings/Cargo.toml").is_file():
        raise ConfigError(
            f"this rocelab came without the sources of its crates ({crates})",
            hint="install a wheel of rocelab, or a checkout of its repository",
        )
    return crates.parent


def check_name(name: str, taken: Sequence[str]) -> str:
    """``name`` as the name of a scheme, a crate and, with capitals, a type."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise ConfigError(
            f"{name!r} is no name for a scheme",
            hint="take small letters, digits and _, with a letter first, such as my_law",
        )
    if name in taken:
        raise ConfigError(f"rocelab has a scheme called {name}", hint="take another name")
    if name in _RESERVED.split() or _type_name(name) in _TYPES:
        raise ConfigError(f"{name!r} means something else in Rust", hint="take another name")
    return name


def check_selection(wanted: str, known: Sequence[str]) -> list[str]:
    """The schemes that ``--with`` names."""
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise ConfigError(
                f"--with names {name!r}, which is no scheme of rocelab",
                hint=f"there are {', '.join(known)}",
            )
    if not names:
        raise ConfigError("--with names no scheme", hint="`--with none` is the least")
    return list(dict.fromkeys(names))


def create(name: str, directory: Path, selection: Sequence[str]) -> list[Path]:
    """Writes a project for the scheme ``name``; returns its files, with the law first."""
    home = sources()
    if directory.is_symlink() or (directory.exists() and not _is_empty(directory)):
        raise ConfigError(
            "exists already", file=str(directory), hint="name another directory after the name"
        )
    check_output_directory(directory)
    files = sorted(path for path in _TEMPLATE.rglob("*") if path.is_file())
    written = []
    for source in files:
        inner = source.relative_to(_TEMPLATE).as_posix()
        target = directory / _PLACES.get(inner, inner)
        text = _renamed(source.read_text(encoding="utf-8"), name)
        # Its advice is to try a scheme that the build has.
        text = text.replace("`--set scheme=dcqcn`", f"`--set scheme={selection[0]}`")
        write_atomic(target, text.encode())
        written.append(target)
    _select(directory, selection)
    _link_sources(directory, home)
    lock = home / "Cargo.lock"
    if lock.is_file():
        # A checkout has one, with versions that are known to work.
        write_atomic(directory / "Cargo.lock", lock.read_bytes())
    return sorted(written, key=lambda path: path.name != "lib.rs" or "module" in path.parts)


def find(start: Path) -> Path:
    """The project that ``start`` is in."""
    start = start.resolve()
    for directory in (start, *start.parents):
        if (directory / "module/Cargo.toml").is_file() and (directory / _CONFIG).is_file():
            return directory
    raise ConfigError(
        f"{start} is in no project of `rocelab scheme new`",
        hint="go to one, or make one with `rocelab scheme new NAME`",
    )


def build(project: Path, selection: Sequence[str] | None) -> Built:
    """Compiles the simulator of a project and puts it where rocelab finds it.

    What cargo has to say goes to the standard error stream.
    """
    cargo = shutil.which("cargo")
    if cargo is None:
        raise ConfigError(
            "cargo is not installed, and a scheme is compiled with it",
            hint="install Rust 1.90 or later with rustup, or try a law in Python first: "
            "rocelab.prototype",
        )
    _link_sources(project, sources())
    if selection is not None:
        _select(project, selection)
    target = _module.module_of(project)
    if target is None:
        raise ConfigError("the user has no home directory to keep the simulator in")
    compiled = _compile(cargo, project)
    kept = target.read_bytes() if target.is_file() else None
    if compiled.fresh and compiled.file.read_bytes() != kept:
        # Projects whose crates have one name may share a directory for what cargo makes, and then
        # overwrite each other's module there. Cargo does not notice.
        _clean(cargo, project, compiled.package)
        compiled = _compile(cargo, project)
    check_output_directory(target.parent)
    stamp = {"rocelab": _module.own_hash(), "project": str(project)}
    write_atomic(_module.stamp_of(target), json.dumps(stamp).encode())
    write_atomic(target, compiled.file.read_bytes())
    return Built(target, selected(project))


def selected(project: Path) -> list[str]:
    """The schemes of rocelab that the project's simulator has; an empty list stands for all."""
    found = _SELECTION.search(_read(project / _CONFIG))
    return [name for name in (found[1].split(",") if found else []) if name]


@dataclass(frozen=True)
class _Compiled:
    """What cargo says of the module."""

    file: Path
    package: str
    """Its crate, as cargo calls it."""
    fresh: bool
    """It was there already."""


def _compile(cargo: str, project: Path) -> _Compiled:
    manifest = project / "module/Cargo.toml"
    command = [cargo, "build", "--release", "--manifest-path", str(manifest)]
    # Its messages about the artifacts name the file; those about errors go to the user as they are.
    command.append("--message-format=json-render-diagnostics")
    done = subprocess.run(command, cwd=project, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise ConfigError(
            "cargo could not build it, and said why above",
            hint="`cargo check` finds errors of the law in a second; "
            "docs/write-your-own-scheme.md explains likely ones",
        )
    for line in reversed(done.stdout.splitlines()):
        message = json.loads(line)
        made_here = Path(message.get("manifest_path", "")) == manifest
        if made_here and "cdylib" in message.get("target", {}).get("kind", []):
            for name in message["filenames"]:
                if name.endswith((".so", ".dylib")):
                    return _Compiled(Path(name), message["package_id"], message["fresh"])
    raise ConfigError("cargo made no module of its crate", file=str(manifest))


def _clean(cargo: str, project: Path, package: str) -> None:
    """Has cargo forget what it made of a crate."""
    manifest = str(project / "module/Cargo.toml")
    command = [cargo, "clean", "--quiet", "--release", "--manifest-path", manifest]
    done = subprocess.run([*command, "--package", package], cwd=project, check=False)
    if done.returncode != 0:
        raise ConfigError(
            "cargo could not remove what it made of it, and said why above", file=manifest
        )


def _link_sources(project: Path, home: Path) -> None:
    """Points the project at the crates of this rocelab; a newer one has other sources."""
    link = project / _SOURCES
    with os_errors_as_result_error(link):
        if link.is_symlink() and link.readlink() == home:
            return
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(home)


def _select(project: Path, selection: Sequence[str]) -> None:
    path = project / _CONFIG
    line = f'ROCELAB_SCHEMES = {{ value = "{",".join(selection)}"'
    text, count = _SELECTION.subn(line, _read(path))
    if count != 1:
        raise ConfigError(
            "has no line `ROCELAB_SCHEMES = { value = ... }`, which --with would change",
            file=str(path),
        )
    write_atomic(path, text.encode())


def _read(path: Path) -> str:
    with os_errors_as_result_error(path, "read"):
        return path.read_text(encoding="utf-8")


def _renamed(text: str, name: str) -> str:
    """The template with the name of the scheme, and of types that carry it."""
    text = re.sub(r"\bMine(?=Params\b|\b)", _type_name(name), text)
    return re.sub(r"\bmine(?=_module\b|\b)", name, text)


def _type_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _is_empty(directory: Path) -> bool:
    with os_errors_as_result_error(directory, "read"):
        return directory.is_dir() and not any(directory.iterdir())
