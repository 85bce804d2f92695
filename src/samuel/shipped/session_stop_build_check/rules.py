"""The rules of `session_stop_build_check`: which commands build which files.

config:
  builds:
    - paths: "services/{service}/**"     # patterns as in a .gitignore; {name} matches one directory
      command: npm run build:{service}   # runs once for each service that was changed; without a shell
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

# Names of directories that may be inserted into a command: not an option, and without meaning to a shell.
_SAFE_NAME = re.compile(r"[A-Za-z0-9_@+][A-Za-z0-9_.@+-]*")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


class Build(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    paths: tuple[str, ...]
    command: tuple[str, ...]
    directory: str = ""
    timeout: float | None = None


class Builds(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    builds: tuple[Build, ...] = ()


class BuildStep(msgspec.Struct, frozen=True):
    """One command to run, its placeholders replaced."""

    words: tuple[str, ...]
    directory: str = ""
    timeout: float | None = None

    @property
    def command_line(self) -> str:
        return shlex.join(self.words)


def read(table: ConfigTable) -> Builds:
    builds = []
    for entry in entries(table, "builds"):
        build = Build(
            paths=entry.require("paths", path_patterns, ()),
            command=entry.require("command", command_words, ()),
            directory=entry.take("directory", directory, ""),
            timeout=entry.take("timeout", kinds.timeout, None),
        )
        _check_placeholders(entry, build)
        builds.append(build)
    return Builds(tuple(builds))


def build_steps(rules: Builds, changed: Iterable[str]) -> list[BuildStep]:
    """The commands to run for changed files, in the order of the rules, each command once."""
    files = list(changed)
    steps: dict[BuildStep, None] = {}
    for build in rules.builds:
        for path in files:
            if chosen(path, [_PLACEHOLDER.sub("*", pattern) for pattern in build.paths]):
                steps.update(dict.fromkeys(_step_for(build, path)))
    return list(steps)


def _step_for(build: Build, path: str) -> Iterator[BuildStep]:
    """The build of one file, with directories of its path as placeholders; nothing if one has no safe value."""
    placeholders = _placeholders(build.command, build.directory)
    values = _placeholder_values(build.paths, path) if placeholders else {}
    if values.keys() >= placeholders and all(_SAFE_NAME.fullmatch(values[name]) for name in placeholders):
        words = tuple(_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in build.command)
        directory = _PLACEHOLDER.sub(lambda match: values[match[1]], build.directory)
        yield BuildStep(words, directory, build.timeout)


def _placeholder_values(paths: Iterable[str], path: str) -> dict[str, str]:
    """The directories of `path` at the placeholders of the patterns that match it; the last pattern counts."""
    parts = path.split("/")
    values: dict[str, str] = {}
    for pattern in paths:
        if chosen(path, [_PLACEHOLDER.sub("*", pattern)]):
            names = pattern.lstrip("/").split("/")
            for name, part in zip(names, parts[:-1], strict=False):
                if match := _PLACEHOLDER.fullmatch(name):
                    values[match[1]] = part
    return values


def _placeholders(command: Iterable[str], directory: str) -> set[str]:
    return {name for text in (*command, directory) for name in _PLACEHOLDER.findall(text)}


def _check_placeholders(entry: ConfigTable, build: Build) -> None:
    """Each placeholder of the command must be in every pattern, or it has no value for some files."""
    patterns = [pattern for pattern in build.paths if not pattern.startswith("!")]
    for name in sorted(_placeholders(build.command, build.directory)):
        if any(name not in _PLACEHOLDER.findall(pattern) for pattern in patterns):
            key = "directory" if f"{{{name}}}" in build.directory else "command"
            entry.refuse(key, f"`{{{name}}}` is not in all of `paths`", f"write it like services/{{{name}}}/**")


# Kinds of values


def path_patterns(value: object) -> tuple[str, ...]:
    patterns = kinds.patterns(value)
    for pattern in patterns:
        before, brace, _ = pattern.rpartition("}")
        if brace and "**" in before:
            raise ValueError(f"must not have `**` before a `{{name}}`, as in `{pattern}`")
        for part in pattern.split("/"):
            if _PLACEHOLDER.search(part) and not _PLACEHOLDER.fullmatch(part):
                raise ValueError(f"must have a whole directory for each `{{name}}`, not `{part}`")
        if _PLACEHOLDER.fullmatch(pattern.rstrip("/").rpartition("/")[2]):
            raise ValueError(f"must continue after the last `{{name}}`: `{pattern.rstrip('/')}/**`")
    return patterns


def command_words(value: object) -> tuple[str, ...]:
    words = kinds.words(value)
    if not words:
        raise ValueError("must name a program")
    return words


def directory(value: object) -> str:
    return kinds.inner_path(kinds.name(value).rstrip("/"))
