"""Where a path is: inside the project, in its build output, in a directory for temporary files, or outside."""

from __future__ import annotations

import os
import re
from enum import Enum
from fnmatch import fnmatchcase
from functools import cached_property
from typing import NamedTuple

BUILD_DIRECTORIES = (
    *("node_modules", "bower_components", "dist", "build", "out", "target", "_build", "obj", ".next", ".nuxt"),
    *(".output", ".svelte-kit", ".turbo", ".parcel-cache", ".vite", ".angular", ".webpack", ".cache", ".eggs"),
    *(
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".tox",
        ".nox",
        ".venv",
        "venv",
    ),
    *("htmlcov", "coverage", ".coverage", ".nyc_output", ".gradle", ".dart_tool", "DerivedData", "cmake-build-*"),
    *("*.egg-info", "test-results", "playwright-report", ".ipynb_checkpoints", "zig-cache", ".zig-cache", "tmp"),
    *(".terraform", ".serverless", "site", "storybook-static", "bazel-*", ".stack-work", "dist-newstyle", "_site"),
)
"""Names of directories, and a few files, that a build makes again."""

BUILD_FILES = (
    *("*.pyc", "*.pyo", "*.o", "*.obj", "*.a", "*.so", "*.class", "*.tmp", "*.temp", "*.log", "*.bak", "*.orig"),
    *("*.rej", "*.swp", "*~", ".DS_Store", "Thumbs.db", ".coverage", "*.tsbuildinfo", "core", "*.gcda", "*.gcno"),
)
"""Names of files that programs write by the way."""

_SYSTEM = re.compile(
    r"/(?:bin|boot|dev|etc|lib\w*|opt|proc|root|run|sbin|snap|srv|sys|usr|var|nix"
    r"|Applications|Library|System|Volumes|private/etc|private/var|[A-Z]:|mnt|media)(?:/.*)?",
    re.IGNORECASE,
)
_DESCRIPTORS = re.compile(r"/dev/(?:std(?:in|out|err)|fd/\d+)|/proc/self/fd/\d+")
_HARMLESS_DEVICES = re.compile(rf"/dev/(?:null|zero|full|u?random|tty\w*|shm/.+)|{_DESCRIPTORS.pattern}")
_HOMES = frozenset({"/home", "/Users", "/root", "/var/root"})


class Where(Enum):
    """What kind of place a path is in."""

    INSIDE = "inside"
    PROJECT = "project"
    """The project's own directory."""
    BUILD = "build"
    GIT = "git"
    """A git directory of the project, or something in it."""
    TEMPORARY = "temporary"
    TEMPORARY_ROOT = "temporary root"
    """A directory for temporary files itself."""
    ABOVE = "above"
    """The root of the file system, or a directory that the project or the home directory is in."""
    HOME = "home"
    SYSTEM = "system"
    DEVICE = "device"
    OUTSIDE = "outside"

    @property
    def is_project(self) -> bool:
        return self in (Where.INSIDE, Where.PROJECT, Where.BUILD, Where.GIT)


class Places:
    """The places of one project and one user."""

    def __init__(self, root: str, home: str, temporary: str = "") -> None:
        self.root = os.path.realpath(root)
        self.home = os.path.realpath(home) if home else "/nonexistent"
        self._temporary = tuple(
            {"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", temporary.rstrip("/") or "/tmp"}
        )

    @cached_property
    def _parent(self) -> str:
        return os.path.dirname(self.root)

    def where(self, path: str) -> Where:
        """Where a path is that `real_path` returned."""
        if path in self._temporary:
            return Where.TEMPORARY_ROOT
        if self.root == path or self.root.startswith(f"{path.rstrip('/')}/"):
            return Where.PROJECT if path == self.root else Where.ABOVE
        if path.startswith(f"{self.root}/"):
            return self._inside(path[len(self.root) + 1 :])
        if path == self.home or path in _HOMES:
            return Where.HOME
        if self.home.startswith(f"{path.rstrip('/')}/"):
            return Where.ABOVE
        if any(path.startswith(f"{directory}/") for directory in self._temporary):
            return Where.OUTSIDE if self._is_beside_the_project(path) else Where.TEMPORARY
        if path.startswith(f"{self.home}/"):
            return Where.OUTSIDE
        if _HARMLESS_DEVICES.fullmatch(path):
            return Where.TEMPORARY
        if path.startswith("/dev/"):
            return Where.DEVICE
        return Where.SYSTEM if _SYSTEM.fullmatch(path) else Where.OUTSIDE

    def _is_beside_the_project(self, path: str) -> bool:
        """Whether it is in the user's home, or a neighbour of the project, where these are in such a directory."""
        if path.startswith(f"{self.home}/"):
            return True
        if not path.startswith(f"{self._parent}/"):
            return False
        neighbour = os.path.join(self._parent, path[len(self._parent) + 1 :].partition("/")[0])
        if self._parent not in self._temporary:
            return True
        return any(os.path.lexists(os.path.join(neighbour, name)) for name in (".git", "samuel.toml"))

    def _inside(self, name: str) -> Where:
        parts = name.split("/")
        if ".git" in parts:
            return Where.GIT
        return Where.BUILD if any(map(is_build_directory, parts)) or is_build_file(parts[-1]) else Where.INSIDE

    def relative(self, path: str) -> str:
        """The path as seen from the project's root; absolute if it is elsewhere."""
        return path[len(self.root) + 1 :] if path.startswith(f"{self.root}/") else path


def is_build_directory(name: str) -> bool:
    return any(fnmatchcase(name, glob) for glob in BUILD_DIRECTORIES)


def is_build_file(name: str) -> bool:
    return any(fnmatchcase(name, glob) for glob in BUILD_FILES)


class ResolvedPath(NamedTuple):
    """A word of a command as a path."""

    path: str
    """Absolute, with the links of its directories resolved."""
    where: Where
    contents: bool = False
    """Is everything in it meant, as with `dir/*`?"""
    pattern: str = ""
    """Names in it that are meant, as with `dir/*.o`."""


def real_path(path: str, *, follow: bool = False) -> str:
    """An absolute path without `..` and without links; the last part is followed only if asked for."""
    try:
        if _DESCRIPTORS.fullmatch(os.path.normpath(path)):
            return os.path.normpath(path)  # links to what this process has open
        if follow:
            return os.path.realpath(path)
        directory, name = os.path.split(os.path.normpath(path))
        return os.path.join(os.path.realpath(directory), name) if name else directory
    except OSError:  # a link of the kernel that this user may not read
        return os.path.normpath(path)
