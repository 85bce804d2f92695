"""Facts about where checks run: the system, the versions of the tools that commands name, and installed packages.

They explain why the same check says something else on another machine. No program of the project is started to
find them out.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from samuel.base.decoding import decode_json
from samuel.files.regular import read_regular
from samuel.git.hardening import path_outside
from samuel.process import spawn

MOST_PACKAGES = 300
_TOOL = re.compile(r"(?:python[0-9.]*|pytest|node|npm|npx|cargo|ruby|php|java)")
_WORD = re.compile(r"[^\s;&|()<>'\"=]+")
_DEADLINE = 10.0
_LARGEST = 1 << 20
_MOST_TOOLS = 10


class ToolVersions:
    """The versions of tools, each asked for once."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        """`root` is the project: a program below it is not started."""
        self._root = root
        self._variables = {**environment, "PATH": path_outside(environment, root)}
        self._versions: dict[str, str] = {}

    def of(self, commands: Iterable[str], directory: Path) -> list[dict[str, str]]:
        """The tools that the commands name, with what each prints about its version; they run in `directory`."""
        words = {word for command in commands for word in _WORD.findall(command)}
        tools = sorted(word for word in words if _TOOL.fullmatch(os.path.basename(word)))[:_MOST_TOOLS]
        versions = ((os.path.basename(tool), self._version(tool, directory)) for tool in tools)
        return [{"name": name, "version": version} for name, version in versions if version]

    def _version(self, tool: str, directory: Path) -> str:
        path = os.path.join(directory, tool) if "/" in tool else shutil.which(tool, path=self._variables["PATH"])
        if not path:
            return ""
        if os.path.basename(path) == "pytest":
            path = os.path.join(os.path.dirname(path), "python")
        if _is_below(path, directory) or _is_below(path, self._root):
            return _of_virtual_environment(Path(path))
        if path not in self._versions:
            self._versions[path] = self._printed_version(path)
        return self._versions[path]

    def _printed_version(self, path: str) -> str:
        finished = spawn.run([path, "--version"], cwd="/", env=self._variables, timeout=_DEADLINE)
        if finished.ended != "exited" or finished.returncode != 0:
            return ""
        lines = (finished.stdout.strip() or finished.stderr.strip()).decode("utf-8", "replace").splitlines()
        return lines[0].strip()[:200] if lines else ""


def _is_below(path: str, directory: Path) -> bool:
    return os.path.normpath(path).startswith(f"{os.path.normpath(directory)}/")


def _of_virtual_environment(program: Path) -> str:
    """The version of Python that a virtual environment names; "" if the program is in none."""
    try:
        text = read_regular(program.parent.parent / "pyvenv.cfg")[:_LARGEST].decode("utf-8", "replace")
    except OSError:
        return ""
    version = re.search(r"^version(?:_info)?\s*=\s*(\S+)$", text, re.MULTILINE)
    return f"Python {version[1]}" if version else ""


def environment_facts(tools: Sequence[Mapping[str, str]], top: Path, paths: Iterable[str]) -> dict[str, Any]:
    """What is known of the machine and of the environment at these `paths` below `top`."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "tools": [dict(tool) for tool in tools],
        "packages": [fact for path in sorted(paths) if (fact := _packages(top / path, path))],
    }


def _packages(directory: Path, path: str) -> dict[str, Any] | None:
    """The packages of a virtual environment of Python, or the lock file of installed node modules."""
    if directory.name == "node_modules":
        try:
            lock = read_regular(directory / ".package-lock.json")
        except OSError:
            return None
        return {"path": path, "digest": {"sha256": hashlib.sha256(lock).hexdigest()}, "names": []}
    if not (directory / "pyvenv.cfg").is_file():
        return None
    entries = sorted({entry.name.removesuffix(".dist-info") for entry in directory.glob(_DISTRIBUTIONS)})
    digest = hashlib.sha256("".join(f"{name}\n" for name in entries).encode("utf-8", "backslashreplace"))
    names = entries if len(entries) <= MOST_PACKAGES else []
    return {"path": path, "digest": {"sha256": digest.hexdigest()}, "names": names}


_DISTRIBUTIONS = "lib/python*/site-packages/*.dist-info"


def program_version(program: str, search_path: str) -> str:
    """The version in the package.json that an installed program of npm came with; "" for any other program."""
    path = shutil.which(program, path=search_path)
    if not path:
        return ""
    for directory in list(Path(os.path.realpath(path)).parents)[:4]:
        try:
            package = decode_json(read_regular(directory / "package.json")[:_LARGEST], dict[str, Any])
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
            continue
        return str(package.get("version") or "")[:100]
    return ""
