"""All abilities of a project: the files below `.system/registry/`, and what ABILITY.md says of them.

A file with a problem is left out and told of; it never hides another. Reading ten thousand files takes seconds, so
what was read is kept in the user's cache for as long as every file is the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from samuel.abilities.definition import ExecutionSettings, read_ability, read_execution
from samuel.abilities.model import Ability, Level
from samuel.abilities.tables import FILE, LARGEST, AbilityRow, AbilityTables, read_tables
from samuel.config import kinds
from samuel.decoding import msgpack_decoder
from samuel.errors import ConfigError, Problem, SamuelError, UsageError
from samuel.files import file_cache, yaml
from samuel.files.inside import read_inside
from samuel.files.survey import Signature, signature
from samuel.nearest import SpellingHints, did_you_mean
from samuel.printable import file_name
from samuel.version import __version__

FOLDER = ".system/registry"
LEVELS = {f"{FOLDER}/high-level": Level.HIGH, f"{FOLDER}/low-level": Level.LOW}
CONFIG = f"{FOLDER}/config"
FOLDERS = (*LEVELS, CONFIG)
ENDINGS = (".yaml", ".yml")
MOST_FILES = 20_000


class Registry(msgspec.Struct, frozen=True, dict=True):
    abilities: tuple[Ability, ...] = ()
    """By id."""
    problems: tuple[Problem, ...] = ()
    rows: tuple[AbilityRow, ...] = ()
    """What ABILITY.md lists."""
    stamp: str = ""
    """Changes when any of the files does."""

    @cached_property
    def by_name(self) -> Mapping[str, Ability]:
        """By id and by operation key."""
        return {name: one for one in self.abilities for name in one.names}

    def find(self, name: str) -> Ability:
        """The ability of this id or operation key; UsageError with the nearest one if there is none."""
        if name in self.by_name:
            return self.by_name[name]
        if broken := [problem for problem in self.problems if Path(problem.file).stem == name]:
            what = f"the ability `{file_name(name)[:100]}` cannot be used: {broken[0]}"
            raise UsageError(what, "`samuel ability lint` shows everything that is wrong")
        hint = did_you_mean(name, self.by_name, "`samuel ability list` shows those that are there")
        if self.problems:
            hint += "; `samuel ability lint` shows files that cannot be used"
        raise UsageError(f"there is no ability `{file_name(name)[:100]}`", hint)


def has_registry(root: Path) -> bool:
    """Whether a project describes any abilities, right or wrong."""
    return (root / FOLDER).is_dir() or (root / FILE).is_file()


def load(root: Path, cache: Path | None = None) -> Registry:
    """The registry of a project; what has not changed since the last time comes from `cache`, a directory."""
    file = cache and cache_file(cache, root, "msgpack")
    found = _survey(root)
    if file and (known := _recall(file, root, found)):
        return known
    reading = _Reading(root, found)
    registry = reading.registry()
    if file and found == _survey(root):  # what changed meanwhile is read again next time
        cached = _CachedRegistry(found, reading.elsewhere, registry)
        file_cache.save(file, cached, msgspec.msgpack.encode, __version__)
    return registry


def cache_file(cache: Path, root: Path, ending: str) -> Path:
    """Where something about a project's registry is kept."""
    return cache / "abilities" / f"{file_cache.digest_of(str(root))}.{ending}"


class _CachedRegistry(msgspec.Struct, array_like=True):
    found: dict[str, Signature]
    elsewhere: dict[str, Signature]
    """Files outside of the registry that ABILITY.md names."""
    registry: Registry


_decode = msgpack_decoder(_CachedRegistry)


def _recall(file: Path, root: Path, found: Mapping[str, Signature]) -> Registry | None:
    cached = file_cache.load(file, _decode, __version__)
    if cached is None or cached.found != found:
        return None
    if any(_signature(root / path) != before for path, before in cached.elsewhere.items()):
        return None
    return cached.registry


def _survey(root: Path) -> dict[str, Signature]:
    """Each file of the registry, below the root, with what tells whether it changed."""
    found = {FILE: _signature(root / FILE)}
    for folder in FOLDERS:
        try:
            with os.scandir(root / folder) as entries:
                for entry in entries:
                    if entry.name.endswith(ENDINGS) and not entry.name.startswith("."):
                        found[f"{folder}/{entry.name}"] = _signature(entry)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
    return found


def _signature(path: Path | os.DirEntry[str]) -> Signature:
    try:
        return signature(path.stat(follow_symlinks=False))
    except (OSError, ValueError):  # ValueError: a NUL in a name
        return ()


class _Reading:
    """One look through all the files."""

    def __init__(self, root: Path, found: Mapping[str, Signature]) -> None:
        self._root = root
        self._found = found
        self._problems: list[Problem] = []
        self.elsewhere: dict[str, Signature] = {}

    def registry(self) -> Registry:
        tables = self._tables()
        abilities = self._distinct(self._abilities(self._files(tables.rows)))
        abilities = self._with_executions(abilities)
        abilities = self._with_rows(abilities, tables.rows)
        whole = sorted(abilities.values(), key=lambda one: one.id)
        signatures = (repr(sorted(files.items())) for files in (self._found, self.elsewhere))
        stamp = file_cache.digest_of(__version__, *signatures)
        return Registry(tuple(whole), tuple(self._problems), tables.rows, stamp)

    def _tables(self) -> AbilityTables:
        if not self._found[FILE]:
            return AbilityTables()
        try:
            data = read_inside(self._root, FILE, limit=LARGEST)
            tables = read_tables(data.decode("utf-8-sig"))
        except UnicodeDecodeError:
            self._problem("it is not UTF-8", FILE, hint="save it as UTF-8")
            return AbilityTables()
        except (SamuelError, OSError) as error:
            self._problem(_reason(error), FILE)
            return AbilityTables()
        self._problems += tables.problems
        return tables

    def _files(self, rows: Iterable[AbilityRow]) -> dict[str, Level]:
        """Every file that defines an ability: those of the registry, and those that ABILITY.md names elsewhere.

        Those that it names come first, so that another file cannot take over the name of one of them.
        """
        named = set()
        files = {
            path: level for folder, level in LEVELS.items() for path in sorted(self._found) if _is_in(path, folder)
        }
        for row in rows:
            try:
                path = kinds.inner_path(row.path)
            except ValueError as error:
                self._problem(f"the registry path of `{row.name}` {error}", FILE, row.line)
                continue
            named.add(path)
            if path not in self._found and path not in files:
                self.elsewhere[path] = _signature(self._root / path)
                if self.elsewhere[path]:
                    files[path] = row.level
        if len(files) > MOST_FILES:
            what = f"{len(files)} abilities are more than {MOST_FILES}: the rest is left out"
            self._problem(what, FOLDER, hint="remove some")
        return dict(sorted(files.items(), key=lambda item: item[0] not in named)[:MOST_FILES])  # stable

    def _abilities(self, files: Mapping[str, Level]) -> Iterator[Ability]:
        for path, level in files.items():
            if (data := self._read(path)) is None:
                continue
            try:
                yield read_ability(data, path, level)
            except ConfigError as error:
                self._problems += error.problems

    def _distinct(self, abilities: Iterable[Ability]) -> dict[str, Ability]:
        kept: dict[str, Ability] = {}
        taken: dict[str, Ability] = {}
        for one in abilities:
            if twice := next((name for name in one.names if name in taken), None):
                what = f"`{twice}` is already the name of the ability in `{taken[twice].file}`"
                self._problem(what, one.file, hint="give it another one")
                continue
            kept[one.id] = one
            taken.update(dict.fromkeys(one.names, one))
        return kept

    def _with_executions(self, abilities: dict[str, Ability]) -> dict[str, Ability]:
        names = {name: one.id for one in abilities.values() for name in one.names}
        hints = SpellingHints()
        for said in self._executions():
            if said.name not in names:
                hint = hints.did_you_mean(said.name, names)
                self._problem(f"there is no ability `{said.name}`", said.file, said.line, hint)
                continue
            one = abilities[names[said.name]]
            if one.implementation_file:
                what = f"the implementation of `{one.id}` is already given in `{one.implementation_file}`"
                self._problem(what, said.file, said.line, "keep one of the two")
                continue
            abilities[one.id] = msgspec.structs.replace(
                one, implementation=said.implementation, implementation_file=said.file
            )
        return abilities

    def _executions(self) -> Iterator[ExecutionSettings]:
        for path in sorted(self._found):
            if not _is_in(path, CONFIG) or (data := self._read(path)) is None:
                continue
            try:
                yield read_execution(data, path)
            except ConfigError as error:
                self._problems += error.problems

    def _with_rows(self, abilities: dict[str, Ability], rows: Iterable[AbilityRow]) -> dict[str, Ability]:
        """What the tables say of those that they describe rightly; `lint` tells of the others."""
        names = {name: one.id for one in abilities.values() for name in one.names}
        for row in rows:
            one = abilities.get(names.get(row.name, ""))
            if one is not None and one.level is row.level:
                abilities[one.id] = msgspec.structs.replace(one, when_to_use=row.text, area=row.scope)
        return abilities

    def _read(self, path: str) -> bytes | None:
        if path != file_name(path):  # it could be named in no payload and no record
            self._problem("its name is not UTF-8", path, hint="rename it")
            return None
        try:
            return read_inside(self._root, path, limit=yaml.LARGEST)
        except (SamuelError, OSError) as error:
            self._problem(_reason(error), path)
            return None

    def _problem(self, what: str, file: str, line: int = 0, hint: str = "") -> None:
        self._problems.append(Problem(what, file_name(file), line, hint))


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def _reason(error: SamuelError | OSError) -> str:
    return error.message if isinstance(error, SamuelError) else f"it cannot be read: {error.strerror}"
