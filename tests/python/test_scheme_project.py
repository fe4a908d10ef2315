"""Schemes outside of rocelab's sources: the guide's commands, and how projects are refused."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import command_here
from rocelab import _module, schemes_project
from rocelab.errors import ConfigError

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/write-your-own-scheme.md"
CRATES = sorted(path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml"))
PACKAGES = {"bindings": "rocelab-bindings"}
OF_PYTHON = ["pyo3", "pyo3-ffi", "pythonize"]
"""The package's own build of these depends on its Python, and cargo would make it again.

With a profile of their own, they lie beside it."""

needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="it compiles a scheme")


def _environment(home: Path, **more: str) -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ROCELAB")}
    # What cargo and rustup keep in the user's home stays there.
    rust = {
        "CARGO_HOME": os.environ.get("CARGO_HOME", str(Path.home() / ".cargo")),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
        "CARGO_TARGET_DIR": str(ROOT / "target"),
    }
    cache = {"XDG_CACHE_HOME": str(home / "cache")}
    return {**kept, **rust, **cache, "PATH": path, **more}


def _rocelab(
    *arguments: str, cwd: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rocelab", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def _blocks(page: str) -> list[tuple[str, str]]:
    """The commands and programs of the page, in their order."""
    return re.findall(r"^```(sh|python)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def _optimised(manifest: str, package: str, how: str) -> str:
    """The manifest with another profile for a package; its last table is that of these."""
    kept = re.sub(rf"^{package} = {{ opt-level.*\n", "", manifest, flags=re.MULTILINE)
    return f"{kept}{package} = {{ {how} }}\n"


def _compile_faster(project: Path) -> None:
    """Has cargo optimise rocelab's crates less; others are those of the package's own build."""
    manifest = project / "Cargo.toml"
    text = manifest.read_text(encoding="utf-8")
    for crate in CRATES:
        if crate != "py":
            text = _optimised(text, PACKAGES.get(crate, crate), "opt-level = 0")
    for package in OF_PYTHON:
        text = _optimised(text, package, "opt-level = 0, codegen-units = 2")
    manifest.write_text(text, encoding="utf-8")


@pytest.fixture
def place() -> Iterator[Path]:
    """An empty directory that is the same in each run of the tests.

    Cargo compiles crates again that are in another place. Here it compiles only what has changed
    since the tests ran last. Those of two runs at once wait for each other.
    """
    target = ROOT / "target"
    target.mkdir(exist_ok=True)
    with (target / "guide.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(target / "guide", ignore_errors=True)
        (target / "guide").mkdir()
        yield target / "guide"


@needs_cargo
def test_the_guide_works_as_it_is_written(place: Path, tmp_path: Path) -> None:
    """Every command and program of the page, in its order, in an empty directory."""
    environment = _environment(tmp_path)
    where = place
    package = ROOT / "target/release/lib_rocelab.so"
    before = package.read_bytes() if package.is_file() else None
    for language, code in _blocks(PAGE.read_text(encoding="utf-8")):
        # `cd` holds for the blocks that follow.
        end = tmp_path / "directory"
        script = f"set -e\n{code}\npwd > {end}\n" if language == "sh" else code
        command = ["bash", "-c", script] if language == "sh" else [sys.executable, "-c", script]
        done = subprocess.run(
            command, cwd=where, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
        if language == "sh":
            where = Path(end.read_text(encoding="utf-8").strip())
            if "scheme new" in code:
                _compile_faster(where)
    project = place / "mine"
    for name in ("mine", "dcqcn", "short"):
        summary = json.loads((project / f"out/{name}/summary.json").read_bytes())
        assert summary["scheme"] == ("dcqcn" if name == "dcqcn" else "mine")
        assert summary["flows_done"] == summary["flows"]
    assert list((project / "out/compare").glob("*.png"))

    # The build is used in the project and where it is named, and says so.
    listed = _rocelab("list", "schemes", cwd=project / "src", environment=environment)
    assert f"using the build with mine of {project}" in listed.stderr
    assert "this rocelab was built with a selection of schemes, without none, hpcc" in listed.stderr
    assert [line.split()[0] for line in listed.stdout.splitlines() if line[0] != " "] == [
        "dcqcn",
        "mine",
    ]
    outside = _rocelab("list", "mine", cwd=tmp_path, environment=environment)
    assert outside.returncode == 2, "another directory has rocelab's own build"
    (module,) = (tmp_path / "cache").rglob("_rocelab.abi3.so")
    named = {**environment, "ROCELAB_MODULE": str(module)}
    shown = _rocelab("list", "mine", cwd=tmp_path, environment=named)
    assert shown.returncode == 0, shown.stderr
    assert "time, 100ns to 1ms" in shown.stdout
    own = _rocelab("list", "mine", cwd=project, environment={**environment, "ROCELAB_MODULE": ""})
    assert own.returncode == 2

    # A scheme that was left out differs from one that there is none of.
    left_out = _rocelab(
        "run", "incast.toml", "--set", "scheme=swift", cwd=project, environment=environment
    )
    assert left_out.returncode == 2
    assert "scheme `swift` was left out when this rocelab was built" in left_out.stderr
    assert "it has dcqcn, mine; build it with `rocelab scheme build --with`" in left_out.stderr

    # Caches go by the build, and the build is refused by another rocelab.
    code = "from rocelab.sweeps.simulator import simulator_hash; print(simulator_hash())"
    hashed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert hashed.stdout.strip() == hashlib.sha256(module.read_bytes()).hexdigest()
    stamp = _module.stamp_of(module)
    stamp.write_text('{"rocelab": "another"}', encoding="utf-8")
    stale = _rocelab("list", cwd=project, environment=environment)
    assert stale.returncode == 2
    assert stale.stderr.strip().endswith("run `rocelab scheme build` again")

    # A project whose crates have the same name, with the same directory for what cargo makes.
    (ROOT / "target/release/libmine_module.so").write_bytes(b"another project's module")
    again = _rocelab("scheme", "build", cwd=project, environment=environment)
    assert again.returncode == 0, again.stderr
    relisted = _rocelab("list", "schemes", cwd=project, environment=environment)
    assert (relisted.returncode, relisted.stdout) == (0, listed.stdout), relisted.stderr
    # Rocelab's own module lies there, too.
    assert before is None or package.read_bytes() == before

    # An error of the law is the compiler's own, and the command's exit code.
    law = project / "src/lib.rs"
    law.write_text(law.read_text().replace("self.round_end = sent;", "self.round_end = send;"))
    other = {**environment, "PATH": os.pathsep.join([str(tmp_path), environment["PATH"]])}
    failed = _rocelab("scheme", "build", cwd=project, environment=other)
    assert failed.returncode == 2
    assert "Compiling mine" in failed.stderr
    assert "Compiling pyo3" not in failed.stderr, "another PATH is no reason"
    assert "cannot find value `send` in this scope" in failed.stderr
    assert "src/lib.rs:" in failed.stderr
    assert failed.stderr.rstrip().splitlines()[-2].startswith("error: cargo could not build it")


def test_without_cargo_it_says_what_is_missing(tmp_path: Path) -> None:
    environment = _environment(tmp_path, PATH=str(tmp_path))
    made = _rocelab("scheme", "new", "mine", cwd=tmp_path, environment=environment)
    assert made.returncode == 0, made.stderr
    built = _rocelab("scheme", "build", cwd=tmp_path / "mine", environment=environment)
    assert built.returncode == 2
    assert "error: cargo is not installed" in built.stderr
    assert "hint: install Rust 1.90 or later" in built.stderr
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("new", "dcqcn"), "rocelab has a scheme called dcqcn"),
        (("new", "My-Law"), "'My-Law' is no name for a scheme"),
        (("new", "match"), "'match' means something else in Rust"),
        (("new", "window"), "'window' means something else in Rust"),
        (("new", "mine", "--with", "dcqcn,swfit"), "--with names 'swfit', which is no scheme"),
        (("new", "mine", "--with", ","), "--with names no scheme"),
        (("new", "mine", "there"), "there: exists already"),
        (("build",), "is in no project of `rocelab scheme new`"),
    ],
)
def test_what_it_refuses(
    arguments: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/file").touch()
    monkeypatch.chdir(tmp_path)
    code, _, told = command_here("scheme", *arguments)
    assert code == 2
    assert says in told
    assert not (tmp_path / "mine").exists()


def test_a_module_that_is_none_is_refused_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "some.so").write_bytes(b"no module")
    for name in ("some.so", "missing.so"):
        environment = _environment(tmp_path, ROCELAB_MODULE=name)
        done = _rocelab("list", cwd=tmp_path, environment=environment)
        assert done.returncode == 2
        assert "is no module that `rocelab scheme build` has made" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_program_can_catch_that_a_module_is_none(tmp_path: Path) -> None:
    """Though nothing of the compiled module is there to make the text."""
    (tmp_path / "some.so").write_bytes(b"no module")
    script = (
        "import rocelab\n"
        "try:\n"
        "    rocelab.schemes()\n"
        "except rocelab.RocelabError as error:\n"
        "    print(isinstance(error, rocelab.ModuleChoiceError), error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=_environment(tmp_path, ROCELAB_MODULE="some.so"),
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("True ROCELAB_MODULE: "), done.stderr


def test_a_module_that_does_not_load_is_named(tmp_path: Path) -> None:
    (tmp_path / "some.so").write_bytes(b"no module")
    (tmp_path / "module.json").write_text(json.dumps({"rocelab": _module.own_hash()}))
    environment = _environment(tmp_path, ROCELAB_MODULE="some.so")
    done = _rocelab("list", cwd=tmp_path, environment=environment)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ROCELAB_MODULE: ")
    assert "Traceback" not in done.stderr


def test_a_directory_of_somebody_else_runs_none_of_its_code(tmp_path: Path) -> None:
    """Protects who enters a directory that was sent: a module in it is not looked at."""
    project = tmp_path / "sent"
    schemes_project.create("mine", project, ["dcqcn"])
    for place in (project, project / ".rocelab", project / "target/release"):
        place.mkdir(parents=True, exist_ok=True)
        (place / "_rocelab.abi3.so").write_bytes(b"no module")
        (place / "module.json").write_text(json.dumps({"rocelab": _module.own_hash()}))
    done = _rocelab("list", "schemes", cwd=project, environment=_environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "using the build" not in done.stderr


def test_the_guide_shows_the_law_of_a_project(tmp_path: Path) -> None:
    schemes_project.create("mine", tmp_path / "p", ["dcqcn"])
    law = (tmp_path / "p/src/lib.rs").read_text(encoding="utf-8")
    assert f"```rust\n{law}```" in PAGE.read_text(encoding="utf-8")


def test_projects_have_the_name_everywhere(tmp_path: Path) -> None:
    schemes_project.create("fair_share", tmp_path / "p", ["dcqcn", "hpcc"])
    texts = {
        path.relative_to(tmp_path / "p").as_posix(): path.read_text(encoding="utf-8")
        for path in (tmp_path / "p").rglob("*")
        if path.is_file() and ".rocelab" not in path.parts and path.name != "Cargo.lock"
    }
    assert "schemes::invariants! { fair_share::FairShare }" in texts["tests/invariants.rs"]
    assert "FairShareParams" in texts["src/lib.rs"]
    assert 'name: "fair_share-short"' in texts["src/lib.rs"]
    assert 'value = "dcqcn,hpcc"' in texts[".cargo/config.toml"]
    assert not [name for name, text in texts.items() if re.search(r"\b[Mm]ine", text)]
    assert "Try `--set scheme=dcqcn`." in texts["incast.toml"]
    schemes_project.create("other", tmp_path / "q", ["hpcc"])
    advice = (tmp_path / "q/incast.toml").read_text(encoding="utf-8")
    assert "Try `--set scheme=hpcc`." in advice, "only that is in the build"
    lines = [line for text in texts.values() for line in text.splitlines()]
    assert max(map(len, lines)) <= 100, "also with a name that is longer than the template's"
    (tmp_path / "p/.cargo/config.toml").write_text("")
    with pytest.raises(ConfigError, match="has no line `ROCELAB_SCHEMES"):
        schemes_project.build(tmp_path / "p", ["dcqcn"])
