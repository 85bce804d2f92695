"""The YAML files of `.system/hooks/`, each parsed once until it changes.

The cache is in the user's state directory. It also holds each hook as it was when it was last trusted: a hook that
was tampered with, or that broke, keeps its place in the chain and is refused there. While no file changes, PyYAML
is not imported.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from samuel.base import paths
from samuel.base.decoding import msgpack_decoder
from samuel.base.errors import ConfigError, Problem
from samuel.base.printable import file_name
from samuel.files import file_cache
from samuel.files.survey import Signature, signature
from samuel.sources.yaml_hook import ShippedHooks, YamlHook
from samuel.trust.digests import read_file
from samuel.version import __version__

SUFFIXES = (".yaml", ".yml")
MAX_BYTES = 1024 * 1024


class YamlHookFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file: the hook that it declares, or its problems."""

    file: str  # relative to the project
    path: str
    signature: Signature = ()
    digest: str = ""
    hook: YamlHook | None = None
    problems: tuple[Problem, ...] = ()
    last_trusted: YamlHook | None = None  # the hook when it was last trusted and enabled


class _Stored(msgspec.Struct):
    version: str = ""
    files: dict[str, YamlHookFile] = {}


class YamlHookCache:
    """The YAML hooks of one repository; without `file` the cache is not saved."""

    def __init__(self, shipped_hooks: ShippedHooks, file: Path | None = None) -> None:
        self._shipped_hooks = shipped_hooks
        self._file = file

    @cached_property
    def _stored(self) -> _Stored:
        # Without a stamp: the last trusted hook of a file must survive an update of Samuel.
        return file_cache.load(self._file, msgpack_decoder(_Stored)) or _Stored()

    def look(self, root: Path) -> list[YamlHookFile]:
        """Every YAML file of the project, sorted by name."""
        cached_files, same_version = self._stored.files, self._stored.version == __version__
        hook_files = []
        changed = False
        for name, path, status in _listed(root / paths.YAML_HOOKS):
            file, file_signature = f"{paths.YAML_HOOKS}/{name}", signature(status)
            cached = cached_files.get(path)
            if cached is None or cached.signature != file_signature or not same_version:
                hook_file = _read(file, path, file_signature, self._shipped_hooks)
                cached_files[path] = replace(hook_file, last_trusted=cached.last_trusted if cached else None)
                changed = True
            hook_files.append(cached_files[path])
        if changed:
            self._stored.version = __version__
            self._write()
        return hook_files

    def save_trusted(self, hooks: Iterable[tuple[str, YamlHook | None]]) -> None:
        """Save the hooks of trusted files, by path; None for one that is disabled."""
        cached_files, changed = self._stored.files, False
        for path, hook in hooks:
            cached = cached_files[path]
            if cached.last_trusted != hook:
                cached_files[path] = replace(cached, last_trusted=hook)
                changed = True
        if changed:
            self._write()

    def last(self, path: str) -> YamlHookFile | None:
        """The cached state of a file, even if the file is gone."""
        return self._stored.files.get(path)

    def _write(self) -> None:
        file_cache.save(self._file, self._stored, msgspec.msgpack.encode)


def _listed(directory: Path) -> Iterator[tuple[str, str, os.stat_result]]:
    try:
        with os.scandir(directory) as entries:
            hook_files = sorted((entry.name, entry) for entry in entries if _is_hook_name(entry.name))
    except (FileNotFoundError, NotADirectoryError):
        return
    for name, entry in hook_files:
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:  # removed in the meantime
            continue
        if not stat.S_ISDIR(status.st_mode):
            yield file_name(name), file_name(entry.path), status


def overlooked(root: Path) -> list[str]:
    """Entries of `.system/hooks/` that look like hooks and are not read: directories, and files like `x.YAML`."""
    try:
        with os.scandir(root / paths.YAML_HOOKS) as entries:
            names = [entry.name for entry in entries if entry.is_dir() or not _is_hook_name(entry.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    similar = [name for name in names if "." not in name or name.lower().endswith(SUFFIXES)]
    return [f"{paths.YAML_HOOKS}/{file_name(name)}" for name in sorted(similar)]


def _is_hook_name(name: str) -> bool:
    return name.endswith(SUFFIXES) and not name.startswith(".")


def _read(file: str, path: str, file_signature: Signature, shipped_hooks: ShippedHooks) -> YamlHookFile:
    mode = file_signature[4]
    if stat.S_ISLNK(mode):
        return _problem(file, path, file_signature, "it is a symbolic link", "put the file itself there")
    if not stat.S_ISREG(mode):
        return _problem(file, path, file_signature, "it is not a regular file", "put a plain file there")
    # Read once: the digest that is trusted is of the bytes that are parsed, even if the file changes meanwhile.
    digest, data = read_file(path, MAX_BYTES + 1)
    if not digest:
        hint = "its name must be UTF-8, and you need the permission to read it"
        return _problem(file, path, file_signature, "it cannot be read", hint)
    from samuel.sources.yaml_file import read_hook  # imports PyYAML, which cached files do without

    try:
        return YamlHookFile(file, path, file_signature, digest, read_hook(data, file, shipped_hooks))
    except ConfigError as error:
        return YamlHookFile(file, path, file_signature, digest, problems=error.problems)


def _problem(file: str, path: str, file_signature: Signature, what: str, hint: str) -> YamlHookFile:
    return YamlHookFile(file, path, file_signature, problems=(Problem(what, file, 0, hint),))
