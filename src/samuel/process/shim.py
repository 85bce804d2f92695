"""Which Python is behind a version manager's shim (pyenv, asdf): asked once, then remembered.

A shim is a shell script that works out the version at every call, which takes 95 ms. It may answer
differently in each directory (`.python-version`); a hook should not, so it is asked from `/`, where only the
user's own choice counts.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from samuel.files.keyed_cache import KeyedCache
from samuel.files.survey import signature_if_exists
from samuel.process import environment
from samuel.process.output import failure, last_line
from samuel.process.reason import NotRunnable
from samuel.process.spawn import run

CACHE = "interpreters"
_ASK = "import sys; sys.stdout.write(sys.executable)"
_TIMEOUT = 30.0
STEERING = ("PYENV_VERSION", "PYENV_ROOT", "ASDF_PYTHON_VERSION", "ASDF_DATA_DIR", "ASDF_DIR")

_interpreters: dict[str, str] = {}


def is_shim(interpreter: str) -> bool:
    try:
        with open(interpreter, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def behind(shim: str, path: str, cache_dir: Path | None = None) -> str:
    """The real interpreter, or NotRunnable when the shim does not name one."""
    key = _key(shim)
    interpreters = KeyedCache(cache_dir and cache_dir / CACHE, str)
    python = _interpreters.get(key) or interpreters.get(key) or ""
    if not os.access(python, os.X_OK):  # never asked, or uninstalled since
        python = _ask(shim, path)
        interpreters.add(key, python)
    _interpreters[key] = python
    return python


def leads_to(python: str) -> bool:
    """Is it what some shim of the host's led to?"""
    return python in _interpreters.values()


def _key(shim: str) -> str:
    """Everything that the answer depends on: the shim, the user's global choice, and what overrides it."""
    steering = (
        shim,
        os.path.join(os.path.dirname(os.path.dirname(shim)), "version"),  # pyenv global
        os.path.expanduser("~/.tool-versions"),  # asdf
    )
    files = [signature_if_exists(file) for file in steering]
    return json.dumps([shim, files, [os.environ.get(name, "") for name in STEERING]])


def _ask(shim: str, path: str) -> str:
    env = environment.clean({"PATH": path}, pass_names=STEERING)
    finished = run([shim, "-I", "-c", _ASK], cwd="/", env=env, timeout=_TIMEOUT, output_limit=4096)
    python = os.fsdecode(finished.stdout).strip()
    why = failure(finished)
    if not why and os.path.isabs(python) and os.access(python, os.X_OK):
        return python
    raise NotRunnable(f"`{shim}` does not lead to a Python: {last_line(why, finished.ended)}")
