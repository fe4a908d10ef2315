"""The wheel in an environment without a compiler, as who installs a release has it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WHEELS = sorted((ROOT / "out/wheel").glob("rocelab-*.whl"))

pytestmark = pytest.mark.skipif(not WHEELS, reason="`make test` builds it into out/wheel")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with the wheel, and this one's other packages after it."""
    place = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    binaries = place / "bin"
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps")
    subprocess.run([binaries / "python", *install, WHEELS[-1]], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return binaries


def _run(binaries: Path, directory: Path, *command: str) -> str:
    environment = {"PATH": str(binaries), "HOME": str(directory)}
    done = subprocess.run(
        [binaries / command[0], *command[1:]],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_runs_without_a_compiler(installed: Path, tmp_path: Path) -> None:
    where = _run(installed, tmp_path, "python", "-c", "import rocelab; print(rocelab.__file__)")
    assert where.startswith(str(installed.parent))
    _run(installed, tmp_path, "rocelab", "new", "incast")
    _run(installed, tmp_path, "rocelab", "run", "incast.toml", "--out", "run", "--quiet")
    assert (tmp_path / "run/flows.parquet").is_file()
    _run(installed, tmp_path, "rocelab", "plot", "run")
    assert list((tmp_path / "run").rglob("*.png"))
    _run(installed, tmp_path, "rocelab", "reproduce", "fncc/fig3", "--quick", "--cache", "cache")
    assert (tmp_path / "out/reproduce/fncc/fig3/claims.json").is_file()


def test_it_brings_a_manual_page(installed: Path) -> None:
    page = installed.parent / "share/man/man1/rocelab.1"
    assert page.read_text(encoding="utf-8").startswith(".TH ROCELAB 1")


def test_it_has_the_licences_of_what_is_compiled_in() -> None:
    with zipfile.ZipFile(WHEELS[-1]) as wheel:
        text = wheel.read("rocelab/THIRD-PARTY-LICENSES.txt").decode()
        names = wheel.namelist()
    assert "\npyo3 " in text
    assert "\nmimalloc " in text
    assert "Permission is hereby granted" in text
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert any(entry.endswith(f"licenses/{name}") for entry in names)


def test_it_has_the_sources_that_a_scheme_is_built_of(installed: Path, tmp_path: Path) -> None:
    """All files that the crates are compiled from, so that cargo alone builds a project."""
    crates = ROOT / "crates"
    tree = {
        path.relative_to(crates).as_posix()
        for path in crates.rglob("*")
        if path.is_file() and not {"tests", "target", "proptest-regressions"} & set(path.parts)
    }
    inside = "rocelab/_sources/crates/"
    with zipfile.ZipFile(WHEELS[-1]) as wheel:
        names = {name.removeprefix(inside) for name in wheel.namelist() if inside in name}
    assert names == tree
    _run(installed, tmp_path, "rocelab", "scheme", "new", "mine")
    project = tmp_path / "mine"
    assert ROOT not in (project / ".rocelab/sources").resolve().parents
    if cargo := shutil.which("cargo"):
        # It finds all crates; those of others are as in this tree.
        shutil.copy(ROOT / "Cargo.lock", project)
        command = [cargo, "metadata", "--offline", "--format-version", "1"]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
