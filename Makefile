# make demo: build, run the example under three schemes, say where table and pictures are.
# make test: all tests. make lint: formats, lints, types, docs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
SOURCES := pyproject.toml Cargo.toml $(shell find crates python rocelab.data -type f \
	-not -name '*.py[co]' -not -name '*.so' -not -name 'THIRD-PARTY-LICENSES.txt')
LICENCES := python/rocelab/THIRD-PARTY-LICENSES.txt

.PHONY: demo test test-rust test-checked test-released test-debug test-python miri loom fuzz soak lint \
	lint-rust lint-python format docs docs-slow man wheels agreement bench clean

demo: $(VENV)/.installed
	$(BIN)/python -m rocelab.demo examples/incast.toml --out out/demo

test: test-rust test-python

# What takes longest to compile, every scheme and Arrow, is compiled once, for these tests and for the
# package.
AS_RELEASED := results rocelab rocelab-bindings rocelab-py

test-rust: test-checked test-released

# With debug assertions and checks of overflow.
test-checked:
	cargo test --workspace $(AS_RELEASED:%=--exclude %) --exclude 'instantiations*' --quiet

test-released:
	cargo test --release $(AS_RELEASED:%=--package %) --quiet

# The same as test-rust with debug assertions and checks of overflow everywhere.
test-debug:
	cargo test --workspace --quiet

# Tests wait for processes, browsers and disks, too: one more at a time than there are cores.
test-python: $(VENV)/.installed-dev
	$(BIN)/python -m pytest --numprocesses $$(($$(getconf _NPROCESSORS_ONLN) + 1)) --dist loadfile

# Undefined behaviour in the engine; needs Miri of a nightly toolchain, and a quarter of an hour.
miri:
	MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=2 cargo +nightly miri test --package engine

# Models of the engine's threads: the barrier, the stealing of groups, and mailboxes, under every order
# of memory accesses. A minute or two.
loom:
	RUSTFLAGS="--cfg loom" cargo test --package engine --lib --target-dir target/loom models

# Any bytes as an input file: make fuzz TARGET=scenario SECONDS=60. Needs cargo-fuzz and a nightly
# toolchain. fuzz/fuzz_targets lists the targets.
TARGET ?= scenario
SECONDS ?= 60
fuzz:
	cargo +nightly fuzz run $(TARGET) -- -max_total_time=$(SECONDS) -max_len=8192

# More of the random scenarios that `make test` has 200 of: make soak N=5000.
N ?= 2000
soak: $(VENV)/.installed-dev
	SCENARIOS=$(N) $(BIN)/python -m pytest --quiet tests/python/test_random_scenarios.py

# Side by side, as most of what looks at Python has one thread. The output of each comes in one piece.
lint:
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint-rust lint-python

lint-rust:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

lint-python: $(VENV)/.installed-dev
	$(PYTHON) tools/check_rooms.py
	$(PYTHON) tools/check_python_rooms.py
	$(PYTHON) tools/check_text.py
	$(BIN)/ruff check python tests/python docs tools
	$(BIN)/ruff format --check python tests/python docs tools
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest --concise rocelab._rocelab
	$(BIN)/python docs/generate.py --check
	@if command -v tsc >/dev/null; then echo tsc --project tools/tsconfig.json && \
		tsc --project tools/tsconfig.json; \
	else echo "no tsc: types of scripts are not checked"; fi

format: $(VENV)/.installed-dev
	cargo fmt --all
	$(BIN)/ruff check --fix-only --quiet python tests/python docs tools
	$(BIN)/ruff format python tests/python docs tools

# The manual page: man rocelab.data/data/share/man/man1/rocelab.1. It is written with the tables of the pages.
man: $(VENV)/.installed-dev
	$(BIN)/python docs/generate.py

# The commands of the documentation that take minutes, too; `make test` runs the others.
docs-slow: $(VENV)/.installed-dev
	DOCS_SLOW=1 $(BIN)/python -m pytest --quiet tests/python/test_docs.py

# The documentation as a site, in out/site. It needs the extra "docs".
docs: $(VENV)/.installed-dev
	$(PIP) install '.[docs]'
	$(BIN)/mkdocs build --quiet --strict
	@echo "The site is out/site/index.html. With a search: $(PYTHON) -m http.server --directory out/site"

# What a release has: a wheel that needs no compiler, and the sources. On Linux the wheel is for glibc
# 2.28 and later, which zig links for.
wheels: | $(BIN)/python
	$(PIP) install 'maturin[zig]>=1.9,<2'
	$(BIN)/python tools/third_party.py $(LICENCES)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --release --zig --compatibility manylinux_2_28 --out dist
	$(BIN)/maturin sdist --out dist

# How far runs agree with the HPCC ns-3 simulator's own: the table of docs/hpcc-simulator.md, in five minutes.
agreement: $(VENV)/.installed
	$(BIN)/python tests/python/hpcc_cases.py out/agreement
	$(BIN)/rocelab compare-hpcc out/agreement --seeds 40

bench: $(VENV)/.installed
	$(BIN)/rocelab bench

clean:
	rm -rf $(VENV) target

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Lists of what pyproject.toml says.
NEEDED := project["dependencies"]
NEEDED_BY_DEVELOPERS := project["dependencies"] + project["optional-dependencies"]["dev"]

# Installs the package from a wheel, which stays in the directory $(2). The packages of the list $(1) are
# installed while it is compiled, which does not keep two cores busy.
define install
$(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print(*($(1)), sep="\n")' >$(VENV)/requirements.txt
rm -rf $(2)
$(PIP) install -r $(VENV)/requirements.txt & needed=$$!; \
	$(PIP) wheel --no-deps --wheel-dir $(2) . && wait $$needed
$(PIP) install --force-reinstall --no-deps $(2)/*.whl
endef

$(VENV)/.installed: $(SOURCES) | $(BIN)/python
	@echo "Compiling takes three to four minutes on two cores."
	$(call install,$(NEEDED),$(VENV)/wheel)
	touch $@

# The package and the tools that check it. The wheel stays in out/wheel, where a test installs it in an
# environment without a compiler.
$(VENV)/.installed-dev: $(SOURCES) | $(BIN)/python
	$(BIN)/python tools/third_party.py $(LICENCES)
	$(call install,$(NEEDED_BY_DEVELOPERS),out/wheel)
	touch $(VENV)/.installed $@
