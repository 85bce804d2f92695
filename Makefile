# Two commands are all a new machine needs: `make demo` and `make test`. Each does its own set-up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Tests start the command hundreds of times. A shell that forbids cached bytecode makes each start 1.5 times slower.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint bench crash stress coverage docs system clean

demo: $(READY)
	@$(BIN)/python examples/demo.py

test: $(READY) system lint
	$(BIN)/python -m pytest -n auto

# Containers and bubblewrap for the tests that need them: installed where that is possible, said where it is not.
system:
	@sh tests/system.sh

lint: $(READY)
	$(BIN)/ruff check src tests benchmarks examples docs
	$(BIN)/ruff format --check src tests benchmarks examples docs
	$(BIN)/mypy
	$(BIN)/lint-imports

# The crash test at length: every write, fsync and rename, and 200 random moments.
crash: $(READY)
	SAMUEL_CRASH=full $(BIN)/python -m pytest -n auto tests/loop/test_crash.py

# Types that are first used by many threads at once, in 500 fresh processes.
stress: $(READY)
	SAMUEL_STRESS=full $(BIN)/python -m pytest -s tests/engine/test_stress.py

coverage: $(READY)
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage report --skip-covered

bench: $(READY)
	$(BIN)/python benchmarks

docs: $(READY)
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) site dist build .demo

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Samuel needs Python 3.11 or newer; say which with: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)
