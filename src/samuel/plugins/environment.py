"""The Python environment of a plugin that depends on others' packages: made when it is installed, wheels only.

Environments are the user's, not a project's: each is known by exactly what is in it, so plugins that need the same
share one, and a lock that came with a clone finds the one that an earlier clone made. A wheel is only unpacked:
nothing of it runs before its plugin does, within the walls of that plugin.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from samuel.decoding import decode_json
from samuel.errors import SamuelError
from samuel.files.lock import held
from samuel.plugins import ranges
from samuel.process import spawn
from samuel.process.environment import clean

TIMEOUT = 600.0
READY = ".ready"  # written last: without it an environment was never finished
PYTHON = os.path.join("bin", "python")
# Which packages and from where is the user's business; where pip puts them is ours.
PIP_SETTINGS = (
    *("PIP_CONFIG_FILE", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_FIND_LINKS"),
    *("PIP_TRUSTED_HOST", "PIP_CERT", "PIP_CLIENT_CERT", "PIP_PROXY", "PIP_KEYRING_PROVIDER"),
    *("PIP_CACHE_DIR", "PIP_NO_CACHE_DIR", "PIP_TIMEOUT", "PIP_DEFAULT_TIMEOUT", "PIP_RETRIES", "PIP_CONSTRAINT"),
)
_PIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*==[0-9A-Za-z][0-9A-Za-z.!+_-]*")
_INSTALL = ("install", "--quiet", "--no-input", "--disable-pip-version-check", "--only-binary", ":all:")


def interpreter(environments: Path, pins: Sequence[str]) -> str:
    """The interpreter of the environment that holds exactly these; "" when it was not made, or is broken."""
    place = environments / _key(pins)
    python = place / PYTHON
    return str(python) if (place / READY).exists() and os.access(python, os.X_OK) else ""


def resolve(environments: Path, dependencies: Sequence[str]) -> tuple[str, ...]:
    """What exactly satisfies these on this machine, as `name==version`. Raises SamuelError."""
    if not dependencies:
        return ()
    try:
        wanted = ranges.dependencies(list(dependencies))
    except ValueError as error:
        raise SamuelError(f"its dependencies {error}") from None
    pip = set_up_pip(environments)
    with tempfile.TemporaryDirectory(prefix="samuel-pip-") as scratch:
        report = Path(scratch, "report.json")
        # Ignoring what is installed: pip's own environment is not the plugin's.
        _run([*pip, *_INSTALL, "--dry-run", "--ignore-installed", "--report", str(report), "--", *wanted])
        found = decode_json(report.read_bytes(), _PipReport)
    return tuple(sorted(f"{_plain(one.metadata.name)}=={one.metadata.version}" for one in found.install))


def make(environments: Path, pins: Sequence[str]) -> str:
    """Make the environment that holds exactly these, unless it is there; gives its interpreter."""
    for pin in pins:
        _check_pin(pin)
    place = environments / _key(pins)
    environments.mkdir(parents=True, exist_ok=True, mode=0o700)
    with held(place.with_suffix(".lock"), wait=TIMEOUT, note="samuel plugin"):
        if ready := interpreter(environments, pins):
            return ready
        # In place, because an environment has its own path written into it.
        _new(place, "--without-pip")
        python = str(place / PYTHON)
        _run([*set_up_pip(environments), "--python", python, *_INSTALL, "--no-deps", "--", *pins])
        (place / READY).touch()
    return python


class _Metadata(msgspec.Struct):
    name: str
    version: str


class _PipItem(msgspec.Struct):
    metadata: _Metadata


class _PipReport(msgspec.Struct):
    install: list[_PipItem] = []


def _key(pins: Iterable[str]) -> str:
    said = "\n".join((f"{sys.implementation.cache_tag}", *sorted(pins)))
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def _plain(name: str) -> str:
    """A package's name in the one spelling that all its spellings have in common."""
    return re.sub(r"[-_.]+", "-", name).lower()


def set_up_pip(environments: Path) -> list[str]:
    """The command of a pip of our own: an environment of a plugin has none, and Samuel's need not have one."""
    place = environments / f"pip-{_key(())}"
    environments.mkdir(parents=True, exist_ok=True, mode=0o700)
    with held(place.with_suffix(".lock"), wait=TIMEOUT, note="samuel plugin"):
        if not ((place / READY).exists() and os.access(place / PYTHON, os.X_OK)):
            _new(place)
            (place / READY).touch()
    return [str(place / PYTHON), "-I", "-m", "pip"]


def _new(place: Path, *options: str) -> None:
    shutil.rmtree(place, ignore_errors=True)  # one that was never finished
    _run([sys.executable, "-I", "-m", "venv", *options, str(place)])


def _run(argv: Sequence[str]) -> None:
    env = clean(pass_names=PIP_SETTINGS)
    done = spawn.run(argv, cwd="/", env=env, timeout=TIMEOUT)
    if done.ended == "exited" and done.returncode == 0:
        return
    said = (
        done.why or (done.stderr + done.stdout).decode(errors="replace").strip() or f"exit code {done.returncode}"
    )
    if done.ended == "timed_out":
        said = f"stopped after {TIMEOUT:g}s"
    raise SamuelError(
        f"the Python environment of a plugin could not be made: {said}",
        "pip uses your own settings (`pip config list`, PIP_INDEX_URL, ...); only wheels are installed",
    )


def _check_pin(pin: str) -> None:
    """A lock may have come with a clone."""
    if not _PIN.fullmatch(pin):
        raise SamuelError(f"`{pin}` in samuel.lock is not an exact version", "restore samuel.lock")
