"""The Python environment of a plugin with dependencies: created when the plugin is installed, from wheels only.

Environments belong to the user, not to a project. Each is named by the digest of its exact packages, so plugins
with the same packages share one, and so do clones of one project. A wheel is only unpacked: none of its code runs
before its plugin does, within the walls of that plugin.
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

from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError
from samuel.files.lock import held
from samuel.plugins import ranges
from samuel.process import spawn
from samuel.process.environment import clean

TIMEOUT = 600.0
READY = ".ready"  # written last: without it the environment is incomplete
PYTHON = os.path.join("bin", "python")
# The user decides which index pip uses; Samuel decides where pip installs.
PIP_SETTINGS = (
    *("PIP_CONFIG_FILE", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_FIND_LINKS"),
    *("PIP_TRUSTED_HOST", "PIP_CERT", "PIP_CLIENT_CERT", "PIP_PROXY", "PIP_KEYRING_PROVIDER"),
    *("PIP_CACHE_DIR", "PIP_NO_CACHE_DIR", "PIP_TIMEOUT", "PIP_DEFAULT_TIMEOUT", "PIP_RETRIES", "PIP_CONSTRAINT"),
)
_PIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*==[0-9A-Za-z][0-9A-Za-z.!+_-]*")
_INSTALL = ("install", "--quiet", "--no-input", "--disable-pip-version-check", "--only-binary", ":all:")


def interpreter(environments: Path, pins: Sequence[str]) -> str:
    """The interpreter of the environment with exactly these packages; "" if it is missing or broken."""
    directory = environments / _key(pins)
    python = directory / PYTHON
    return str(python) if (directory / READY).exists() and os.access(python, os.X_OK) else ""


def resolve(environments: Path, dependencies: Sequence[str]) -> tuple[str, ...]:
    """The exact packages that satisfy these dependencies here, as `name==version`. Raises SamuelError."""
    if not dependencies:
        return ()
    try:
        checked = ranges.dependencies(list(dependencies))
    except ValueError as error:
        raise SamuelError(f"its dependencies {error}") from None
    pip = set_up_pip(environments)
    with tempfile.TemporaryDirectory(prefix="samuel-pip-") as scratch:
        report = Path(scratch, "report.json")
        # Ignoring what is installed: pip's own environment is not the plugin's.
        _run([*pip, *_INSTALL, "--dry-run", "--ignore-installed", "--report", str(report), "--", *checked])
        pip_report = decode_json(report.read_bytes(), _PipReport)
    return tuple(sorted(f"{_plain(item.metadata.name)}=={item.metadata.version}" for item in pip_report.install))


def make(environments: Path, pins: Sequence[str]) -> str:
    """Create the environment with exactly these packages, unless it exists; returns its interpreter."""
    for pin in pins:
        _check_pin(pin)
    directory = environments / _key(pins)
    environments.mkdir(parents=True, exist_ok=True, mode=0o700)
    with held(directory.with_suffix(".lock"), wait=TIMEOUT, note="samuel plugin"):
        if ready := interpreter(environments, pins):
            return ready
        # In place, because an environment has its own path written into it.
        _create_venv(directory, "--without-pip")
        python = str(directory / PYTHON)
        _run([*set_up_pip(environments), "--python", python, *_INSTALL, "--no-deps", "--", *pins])
        (directory / READY).touch()
    return python


class _Metadata(msgspec.Struct):
    name: str
    version: str


class _PipItem(msgspec.Struct):
    metadata: _Metadata


class _PipReport(msgspec.Struct):
    install: list[_PipItem] = []


def _key(pins: Iterable[str]) -> str:
    text = "\n".join((f"{sys.implementation.cache_tag}", *sorted(pins)))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _plain(name: str) -> str:
    """A package's name in its normalised spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def set_up_pip(environments: Path) -> list[str]:
    """The command of a pip in its own environment: those of plugins have none, and Samuel's may have none."""
    directory = environments / f"pip-{_key(())}"
    environments.mkdir(parents=True, exist_ok=True, mode=0o700)
    with held(directory.with_suffix(".lock"), wait=TIMEOUT, note="samuel plugin"):
        if not ((directory / READY).exists() and os.access(directory / PYTHON, os.X_OK)):
            _create_venv(directory)
            (directory / READY).touch()
    return [str(directory / PYTHON), "-I", "-m", "pip"]


def _create_venv(directory: Path, *options: str) -> None:
    shutil.rmtree(directory, ignore_errors=True)  # one that was never finished
    _run([sys.executable, "-I", "-m", "venv", *options, str(directory)])


def _run(argv: Sequence[str]) -> None:
    env = clean(pass_names=PIP_SETTINGS)
    process = spawn.run(argv, cwd="/", env=env, timeout=TIMEOUT)
    if process.ended == "exited" and process.returncode == 0:
        return
    reason = (
        process.why
        or (process.stderr + process.stdout).decode(errors="replace").strip()
        or f"exit code {process.returncode}"
    )
    if process.ended == "timed_out":
        reason = f"stopped after {TIMEOUT:g}s"
    raise SamuelError(
        f"the Python environment of a plugin could not be created: {reason}",
        "pip uses your own settings (`pip config list`, PIP_INDEX_URL, ...); only wheels are installed",
    )


def _check_pin(pin: str) -> None:
    """Checked because samuel.lock may come with a clone."""
    if not _PIN.fullmatch(pin):
        raise SamuelError(f"`{pin}` in samuel.lock is not an exact version", "restore samuel.lock")
