"""The files of `.system/hooks/`, each read once for as long as it stays the same.

Kept in the user's state directory, with what each said when it last was agreed to: a hook that was tampered with,
or broken, keeps its place in the chain, and is refused there. While nothing changes, YAML is not even imported.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from samuel import paths
from samuel.decoding import msgpack_decoder
from samuel.errors import ConfigError, Problem
from samuel.files import file_cache
from samuel.files.survey import Signature, signature
from samuel.printable import file_name
from samuel.sources.shipped_hook import ShippedHooks
from samuel.sources.yaml_hook import YamlHook
from samuel.trust.digests import read_file
from samuel.version import __version__

ENDINGS = (".yaml", ".yml")
LARGEST = 1024 * 1024


class YamlHookFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file, as it was read: what it says, or what is wrong with it."""

    file: str  # relative to the project
    path: str
    signature: Signature = ()
    digest: str = ""
    hook: YamlHook | None = None
    problems: tuple[Problem, ...] = ()
    good: YamlHook | None = None  # what it said when it last was agreed to, and took part


class _Stored(msgspec.Struct):
    version: str = ""
    files: dict[str, YamlHookFile] = {}


class YamlHookCache:
    """What is known of the YAML hooks of one repository; without a file, only until the end."""

    def __init__(self, shipped_hooks: ShippedHooks, file: Path | None = None) -> None:
        self._shipped_hooks = shipped_hooks
        self._file = file

    @cached_property
    def _stored(self) -> _Stored:
        # Without a stamp: what a file said when it was agreed to is good for a newer Samuel too.
        return file_cache.load(self._file, msgpack_decoder(_Stored)) or _Stored()

    def look(self, root: Path) -> list[YamlHookFile]:
        """Every file there, in the order of the names."""
        known, fresh = self._stored.files, self._stored.version == __version__
        found = []
        changed = False
        for name, path, status in _listed(root / paths.YAML_HOOKS):
            file, sign = f"{paths.YAML_HOOKS}/{name}", signature(status)
            before = known.get(path)
            if before is None or before.signature != sign or not fresh:
                known[path] = replace(
                    _read(file, path, sign, self._shipped_hooks), good=before.good if before else None
                )
                changed = True
            found.append(known[path])
        if changed:
            self._stored.version = __version__
            self._write()
        return found

    def agreed(self, said: Iterable[tuple[str, YamlHook | None]]) -> None:
        """What files, by path, say while they are agreed to; None takes one out."""
        known, changed = self._stored.files, False
        for path, hook in said:
            before = known[path]
            if before.good != hook:
                known[path] = replace(before, good=hook)
                changed = True
        if changed:
            self._write()

    def last(self, path: str) -> YamlHookFile | None:
        """What was known of a file, also if it is gone."""
        return self._stored.files.get(path)

    def _write(self) -> None:
        file_cache.save(self._file, self._stored, msgspec.msgpack.encode)


def _listed(directory: Path) -> Iterator[tuple[str, str, os.stat_result]]:
    try:
        with os.scandir(directory) as entries:
            found = sorted((entry.name, entry) for entry in entries if _is_one(entry.name))
    except (FileNotFoundError, NotADirectoryError):
        return
    for name, entry in found:
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:  # gone meanwhile
            continue
        if not stat.S_ISDIR(status.st_mode):
            yield file_name(name), file_name(entry.path), status


def overlooked(root: Path) -> list[str]:
    """What somebody may take for hooks, and nobody reads: in a directory of its own, or with another ending."""
    try:
        with os.scandir(root / paths.YAML_HOOKS) as entries:
            names = [entry.name for entry in entries if entry.is_dir() or not _is_one(entry.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    known = [name for name in names if "." not in name or name.lower().endswith(ENDINGS)]
    return [f"{paths.YAML_HOOKS}/{file_name(name)}" for name in sorted(known)]


def _is_one(name: str) -> bool:
    return name.endswith(ENDINGS) and not name.startswith(".")


def _read(file: str, path: str, found: Signature, shipped_hooks: ShippedHooks) -> YamlHookFile:
    mode = found[4]
    if stat.S_ISLNK(mode):
        return _wrong(file, path, found, "it is a symbolic link", "put the file itself there")
    if not stat.S_ISREG(mode):
        return _wrong(file, path, found, "it is not a regular file", "put a plain file there")
    # Read once: what is understood is what is agreed to, whatever happens to the file meanwhile.
    digest, data = read_file(path, LARGEST + 1)
    if not digest:
        return _wrong(file, path, found, "it cannot be read", "its name must be UTF-8, and yours to read")
    from samuel.sources.yaml_file import read_hook  # with PyYAML, which known files do without

    try:
        return YamlHookFile(file, path, found, digest, read_hook(data, file, shipped_hooks))
    except ConfigError as error:
        return YamlHookFile(file, path, found, digest, problems=error.problems)


def _wrong(file: str, path: str, found: Signature, what: str, hint: str) -> YamlHookFile:
    return YamlHookFile(file, path, found, problems=(Problem(what, file, 0, hint),))
