"""Which Python is behind a version manager's shim (pyenv, asdf): asked once, then remembered.

A shim is a shell script that works out the version anew at every call, which takes 95 ms. It may answer
differently in each directory (`.python-version`); a hook should not, so it is asked from `/`, where only the
user's own choice counts.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from samuel.process import environment
from samuel.process.reason import NotRunnable
from samuel.process.spawn import run

CACHE = "interpreters.json"
_ASK = "import sys; sys.stdout.write(sys.executable)"
_TIMEOUT = 30.0
_STEERING = ("PYENV_VERSION", "PYENV_ROOT", "ASDF_PYTHON_VERSION", "ASDF_DATA_DIR", "ASDF_DIR")

_known: dict[str, str] = {}


def is_shim(interpreter: str) -> bool:
    try:
        with open(interpreter, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def behind(shim: str, path: str, cache_dir: Path | None = None) -> str:
    """The real interpreter, or NotRunnable when the shim does not name one."""
    key = _key(shim)
    python = _known.get(key) or _load(cache_dir).get(key, "")
    if not os.access(python, os.X_OK):  # never asked, or uninstalled since
        python = _ask(shim, path)
        _save(cache_dir, {**_load(cache_dir), key: python})
    _known[key] = python
    return python


def leads_to(python: str) -> bool:
    """Is it what some shim of the host's led to?"""
    return python in _known.values()


def _key(shim: str) -> str:
    """Everything that the answer depends on: the shim, the user's global choice, and what overrides it."""
    steering = (
        shim,
        os.path.join(os.path.dirname(os.path.dirname(shim)), "version"),  # pyenv global
        os.path.expanduser("~/.tool-versions"),  # asdf
    )
    return json.dumps([shim, *map(_age, steering), *(os.environ.get(name, "") for name in _STEERING)])


def _age(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


def _ask(shim: str, path: str) -> str:
    env = environment.clean({"PATH": path}, pass_names=_STEERING)
    asked = run([shim, "-I", "-c", _ASK], cwd="/", env=env, timeout=_TIMEOUT, output_limit=4096)
    python = os.fsdecode(asked.stdout).strip()
    if asked.ended == "exited" and asked.returncode == 0 and os.path.isabs(python) and os.access(python, os.X_OK):
        return python
    said = asked.stderr.decode(errors="replace").strip().splitlines()
    raise NotRunnable(f"`{shim}` does not lead to a Python: {asked.why or (said or [asked.ended])[-1]}")


def _load(cache_dir: Path | None) -> dict[str, str]:
    if cache_dir is None:
        return {}
    try:
        found = json.loads((cache_dir / CACHE).read_bytes())
    except (OSError, ValueError):  # not there yet, or somebody wrote in it: it is only a cache
        return {}
    return (
        {key: value for key, value in found.items() if isinstance(value, str)} if isinstance(found, dict) else {}
    )


def _save(cache_dir: Path | None, answers: dict[str, str]) -> None:
    if cache_dir is None:
        return
    temporary = cache_dir / f".{CACHE}.{os.getpid()}"
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(answers, indent=1))
        os.replace(temporary, cache_dir / CACHE)
    except OSError:  # a read-only home: then each process asks once
        pass
