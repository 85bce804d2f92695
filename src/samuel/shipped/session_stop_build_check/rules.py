"""Which commands check which files: the rules of `session_stop_build_check`.

config:
  builds:
    - paths: "services/{service}/**"     # patterns as in a .gitignore; {name} stands for one directory
      command: npm run build:{service}   # for each service that was changed, once; without a shell
    - paths: ["*.py", "!docs/**"]
      command: [python3, -m, compileall, -q, src]
      directory: backend                 # where it runs, from the project's root
      timeout: 5m
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

import msgspec

from samuel.config import kinds
from samuel.config.reader import ConfigTable
from samuel.files.globs import chosen
from samuel.shipped.rule_values import entries

# What a directory may be called to stand in a command: it can be no option, and means nothing to a shell.
_PLAIN = re.compile(r"[A-Za-z0-9_@+][A-Za-z0-9_.@+-]*")
_HOLE = re.compile(r"\{([a-z_]+)\}")


class Build(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    paths: tuple[str, ...]
    command: tuple[str, ...]
    directory: str = ""
    timeout: float | None = None


class Builds(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    builds: tuple[Build, ...] = ()


class BuildStep(msgspec.Struct, frozen=True):
    """One command to run."""

    words: tuple[str, ...]
    directory: str = ""
    timeout: float | None = None

    @property
    def shown(self) -> str:
        return shlex.join(self.words)


def read(table: ConfigTable) -> Builds:
    found = []
    for entry in entries(table, "builds"):
        build = Build(
            paths=entry.require("paths", path_patterns, ()),
            command=entry.require("command", command_line, ()),
            directory=entry.take("directory", directory, ""),
            timeout=entry.take("timeout", kinds.timeout, None),
        )
        _check_holes(entry, build)
        found.append(build)
    return Builds(tuple(found))


def steps(builds: Builds, changed: Iterable[str]) -> list[BuildStep]:
    """What to run for these files, given from the project's root: in the order of the rules, each command once."""
    files = list(changed)
    found: dict[BuildStep, None] = {}
    for build in builds.builds:
        for path in files:
            if chosen(path, [_HOLE.sub("*", pattern) for pattern in build.paths]):
                found.update(dict.fromkeys(_filled(build, path)))
    return list(found)


def _filled(build: Build, path: str) -> Iterator[BuildStep]:
    """The build for one file, with the directories of its path in the holes; nothing if there is no such path."""
    wanted = _holes(build.command, build.directory)
    values = _directories(build.paths, path) if wanted else {}
    if values.keys() >= wanted and all(_PLAIN.fullmatch(values[hole]) for hole in wanted):
        words = tuple(_HOLE.sub(lambda hole: values[hole[1]], word) for word in build.command)
        yield BuildStep(words, _HOLE.sub(lambda hole: values[hole[1]], build.directory), build.timeout)


def _directories(paths: Iterable[str], path: str) -> dict[str, str]:
    """What the holes of the last fitting pattern stand for in `path`."""
    parts = path.split("/")
    found: dict[str, str] = {}
    for pattern in paths:
        if chosen(path, [_HOLE.sub("*", pattern)]):
            names = pattern.lstrip("/").split("/")
            for name, part in zip(names, parts[:-1], strict=False):
                if hole := _HOLE.fullmatch(name):
                    found[hole[1]] = part
    return found


def _holes(command: Iterable[str], directory: str) -> set[str]:
    return {hole for text in (*command, directory) for hole in _HOLE.findall(text)}


def _check_holes(entry: ConfigTable, build: Build) -> None:
    """Each hole of the command must be one of every pattern, or nobody could fill it."""
    for hole in sorted(_holes(build.command, build.directory)):
        if any(hole not in _HOLE.findall(pattern) for pattern in build.paths if not pattern.startswith("!")):
            key = "directory" if f"{{{hole}}}" in build.directory else "command"
            entry.refuse(key, f"`{{{hole}}}` is not in all of `paths`", f"write it like services/{{{hole}}}/**")


# What the values must be


def path_patterns(value: object) -> tuple[str, ...]:
    found = kinds.patterns(value)
    for pattern in found:
        before, hole, _ = pattern.rpartition("}")
        if hole and "**" in before:
            raise ValueError(f"must not have `**` before a directory with a name, as in `{pattern}`")
        for part in pattern.split("/"):
            if _HOLE.search(part) and not _HOLE.fullmatch(part):
                raise ValueError(f"must name whole directories, and `{part}` is a part of one")
        if _HOLE.fullmatch(pattern.rstrip("/").rpartition("/")[2]):
            raise ValueError(f"must go on behind the last directory: `{pattern.rstrip('/')}/**`")
    return found


def command_line(value: object) -> tuple[str, ...]:
    words = kinds.words(value)
    if not words:
        raise ValueError("must name a program")
    return words


def directory(value: object) -> str:
    return kinds.inner_path(kinds.name(value).rstrip("/"))
