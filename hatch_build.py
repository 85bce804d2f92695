"""Builds `samuel-emit`, the client of `samuel serve`: native where a compiler is at hand, else in Python.

The compiler is the one in the variable CC, the system's, or that of the package `ziglang` if it can be imported.
"""

from __future__ import annotations

import json
import os
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "samuel-emit"
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-s")
# Without a C library, and without what compilers add for one: checks that it would report, tables for exceptions.
BARE = (
    *("-DWITHOUT_LIBC", "-fno-builtin", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-U_FORTIFY_SOURCE"),
    *("-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-Os"),
)
# The first that works. Linked statically it starts twice as fast as dynamically, and without a C library twice as
# fast again; macOS has no static C library.
LINKS = (BARE, ("-static",), ())

# Installers replace the first line by the interpreter of the environment.
IN_PYTHON = """\
#!python
from samuel.__main__ import emit

raise SystemExit(emit())
"""


class NativeClient(BuildHookInterface[Any]):
    """Puts `samuel-emit` among the programs of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._directory = tempfile.TemporaryDirectory()
        program = Path(self._directory.name, NAME)
        if compiled(Path(self.root), program):
            tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data.update(pure_python=False, tag=f"py3-none-{tag}")
        else:
            program.write_text(IN_PYTHON)
            program.chmod(0o755)
        build_data["shared_scripts"] = {str(program): NAME}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._directory.cleanup()


def compiled(root: Path, program: Path) -> bool:
    """Compile the client to `program`; False if there is no compiler that can."""
    compiler = compiler_command()
    if not compiler:
        return False
    source = root / "src" / "native" / "samuel_emit.c"
    version = runpy.run_path(str(root / "src/samuel/version.py"))["__version__"]
    (program.parent / "passed.h").write_text(passed_header(root))
    words = [*compiler, *FLAGS, f'-DSAMUEL_VERSION="{version}"', "-I", str(program.parent)]
    for link in LINKS:
        done = subprocess.run([*words, *link, "-o", str(program), str(source)], capture_output=True, text=True)
        if done.returncode == 0 and works(program):
            return True
    print(f"{NAME} is not compiled, so it is a Python program: {done.stderr[-2000:]}", file=sys.stderr)
    return False


def works(program: Path) -> bool:
    """Whether it runs, as far as that can be known: one for another machine cannot be started here."""
    try:
        return subprocess.run([program, "--socket"], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    except OSError:
        return True


def compiler_command() -> list[str]:
    if chosen := os.environ.get("CC"):
        return shlex.split(chosen)
    for name in ("cc", "gcc", "clang"):
        if path := shutil.which(name):
            return [path]
    try:
        import ziglang  # noqa: F401
    except ImportError:
        return []
    return [sys.executable, "-m", "ziglang", "cc"]


def passed_header(root: Path) -> str:
    """The variables that are part of a server's name, as a C header."""
    values = runpy.run_path(str(root / "src/samuel/process/passed.py"))
    prefixes = (*values["PASSED_PREFIXES"], *values["INTERPRETER_PREFIXES"])
    lists = {"PASSED_NAMES": values["PASSED"], "PASSED_PREFIXES": prefixes}
    return "".join(f"#define {name} {', '.join(map(json.dumps, words))}\n" for name, words in lists.items())
