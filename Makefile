# Two commands are all a new machine needs: `make demo` and `make test`. Each does its own set-up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Samuel and what it needs to run; and what its tests and pages need.
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

# Tests start the command hundreds of times. A shell that forbids cached bytecode makes each start 1.5 times slower.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test rest lint system full crash stress fuzz agents fleet coverage bench soak docs changelog release-check clean

demo: $(INSTALLED)
	@$(BIN)/python examples/demo.py

test: $(READY) system lint
	$(PYTEST)

# The tests that `make test` leaves out because they are marked as `slow` or `sampled`. CI runs both.
rest: $(READY) system
	SAMUEL_TESTS=rest $(PYTEST)

# Containers and bubblewrap for the tests that need them: installed where that is possible, said where it is not.
system:
	@sh tests/system.sh

lint: $(READY)
	$(BIN)/ruff check src tests benchmarks examples docs tools
	$(BIN)/ruff format --check src tests benchmarks examples docs tools
	$(BIN)/mypy
	$(BIN)/lint-imports

# All tests at length: what `make test` tries a sample of is tried completely. The three after it are parts of it.
full: $(READY) system
	SAMUEL_TESTS=full $(PYTEST)

# The crash test: every rename, removal and append, some other operations, and 60 random moments; every call of an
# agent, a check, a sealed check or `prepare` in each corner of the evidence; with lanes, 100 random moments and each
# git call of a landing.
crash: $(READY)
	SAMUEL_TESTS=full $(PYTEST) tests/run/test_crash.py tests/run/test_evidence_crash.py \
		tests/run/test_acceptance_crash.py tests/workspaces/lanes/test_crash.py

# Types that are first used by many threads at once, in 500 fresh processes.
stress: $(READY)
	SAMUEL_TESTS=full $(BIN)/python -m pytest -s tests/engine/test_stress.py

# The tests of properties, with 200 examples each instead of 15.
fuzz: $(READY)
	SAMUEL_TESTS=full $(PYTEST) -m hypothesis

# Real clients of coding agents against a model on loopback. They are installed once, below the user's cache; the tests
# of those that cannot be installed are skipped.
agents: $(READY)
	-$(PYTHON) tests/live/install.py
	-$(BIN)/python tests/live/install_python.py
	SAMUEL_TESTS=full $(PYTHON) tests/live/offline.py $(BIN)/python -m pytest -n 2 -v tests/live

# Attempts on other machines, at length: with a real Ray cluster, which runs in a network namespace of its own.
fleet: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[ray]'
	SAMUEL_TESTS=full $(PYTEST) --dist loadfile $(wildcard tests/places tests/workspaces/fleet)

# What the tests run in their own processes; the share that must be covered is in pyproject.toml.
coverage: $(READY) system
	$(BIN)/coverage erase
	COVERAGE_PROCESS_START=pyproject.toml $(PYTEST)
	SAMUEL_TESTS=rest COVERAGE_PROCESS_START=pyproject.toml $(PYTEST)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered

bench: $(READY)
	$(BIN)/python benchmarks

# A million calls to one server: what it and its workers hold meanwhile.
soak: $(READY)
	$(BIN)/python benchmarks/soak.py

docs: $(READY)
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --strict

# The section that the files in changes/ become, as the next release will have it.
changelog: $(READY)
	@$(BIN)/towncrier build --draft --version "$$($(BIN)/python -c 'import samuel; print(samuel.__version__)')" 2>/dev/null

# A release without publishing it: the changelog, an sdist, a wheel, both in empty environments, and the demo.
release-check: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[release]'
	$(BIN)/python tools/release_check.py

clean:
	rm -rf $(VENV) site dist build .demo

$(INSTALLED): pyproject.toml hatch_build.py src/native/samuel_emit.c src/native/bare_linux.h src/samuel/process/passed.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Samuel needs Python 3.11 or newer; say which with: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $(INSTALLED)

$(READY): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)
