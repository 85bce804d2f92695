"""All abilities of a project: the files below `.system/registry/`, and the tables of ABILITY.md.

A file with a problem is left out and reported; it does not affect others. Reading ten thousand files takes
seconds, so the registry is in the user's cache as long as no file changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec

from samuel.base.decoding import msgpack_decoder
from samuel.base.errors import ConfigError, Problem, SamuelError, UsageError
from samuel.base.nearest import SpellingHints, did_you_mean
from samuel.base.printable import file_name
from samuel.config import kinds
from samuel.files import file_cache, yaml
from samuel.files.inside import read_inside
from samuel.files.survey import Signature, signature_if_exists
from samuel.routing.abilities.definition import read_ability, read_execution
from samuel.routing.abilities.model import Ability, Level
from samuel.routing.abilities.tables import FILE, LARGEST, AbilityRow, AbilityTables, read_tables
from samuel.version import __version__

FOLDER = ".system/registry"
LEVELS = {f"{FOLDER}/high-level": Level.HIGH, f"{FOLDER}/low-level": Level.LOW}
CONFIG = f"{FOLDER}/config"
FOLDERS = (*LEVELS, CONFIG)
ENDINGS = (".yaml", ".yml")
MOST_FILES = 20_000

Parsed = TypeVar("Parsed")


class Registry(msgspec.Struct, frozen=True, dict=True):
    abilities: tuple[Ability, ...] = ()
    """By id."""
    problems: tuple[Problem, ...] = ()
    rows: tuple[AbilityRow, ...] = ()
    """The rows of ABILITY.md."""
    stamp: str = ""
    """Changes when one of the files changes."""
    outside: dict[str, Signature] = {}
    """The files outside of the registry that ABILITY.md names, each with its signature when it was read."""

    @cached_property
    def by_name(self) -> Mapping[str, Ability]:
        """By id and by operation key."""
        return {name: ability for ability in self.abilities for name in ability.names}

    def find(self, name: str) -> Ability:
        """The ability of this id or operation key; UsageError with the nearest one if there is none."""
        if name in self.by_name:
            return self.by_name[name]
        if broken := [problem for problem in self.problems if Path(problem.file).stem == name]:
            what = f"the ability `{file_name(name)[:100]}` cannot be used: {broken[0]}"
            raise UsageError(what, "`samuel ability lint` lists every problem")
        hint = did_you_mean(name, self.by_name, "`samuel ability list` lists them")
        if self.problems:
            hint += "; `samuel ability lint` lists files that cannot be used"
        raise UsageError(f"there is no ability `{file_name(name)[:100]}`", hint)


_decode = msgpack_decoder(Registry)


def has_registry(root: Path) -> bool:
    """Whether a project has a registry or an ABILITY.md, valid or not."""
    return (root / FOLDER).is_dir() or (root / FILE).is_file()


def load(root: Path, cache: Path | None = None) -> Registry:
    """The registry of a project; from the directory `cache` if no file has changed."""
    file = cache and cache_file(cache, root, "msgpack")
    signatures = _survey(root)
    stamp = _stamp(signatures)
    cached = file_cache.load(file, _decode, stamp)
    if cached and cached.outside == {path: signature_if_exists(root / path) for path in cached.outside}:
        return cached
    registry = _RegistryReader(root, signatures).registry()
    if file and signatures == _survey(root):  # not cached if a file changed meanwhile
        file_cache.save(file, registry, msgspec.msgpack.encode, stamp)
    return registry


def cache_file(cache: Path, root: Path, ending: str) -> Path:
    """The cache file of a project's registry with this extension."""
    return cache / "abilities" / f"{file_cache.digest_of(str(root))}.{ending}"


def _stamp(*signatures: Mapping[str, Signature]) -> str:
    return file_cache.digest_of(__version__, *(repr(sorted(files.items())) for files in signatures))


def _survey(root: Path) -> dict[str, Signature]:
    """The signature of each file of the registry, by its path below the root."""
    signatures = {FILE: signature_if_exists(root / FILE)}
    for folder in FOLDERS:
        try:
            with os.scandir(root / folder) as entries:
                for entry in entries:
                    if entry.name.endswith(ENDINGS) and not entry.name.startswith("."):
                        signatures[f"{folder}/{entry.name}"] = signature_if_exists(entry.path)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
    return signatures


class _RegistryReader:
    """Reads all files of a registry and collects their problems."""

    def __init__(self, root: Path, signatures: Mapping[str, Signature]) -> None:
        self._root = root
        self._signatures = signatures
        self._problems: list[Problem] = []
        self._outside: dict[str, Signature] = {}

    def registry(self) -> Registry:
        tables = self._tables()
        levels = self._files(tables.rows)
        parsed = self._parsed(levels, lambda data, path: read_ability(data, path, levels[path]))
        abilities = self._with_executions(self._distinct(parsed))
        abilities = self._with_rows(abilities, tables.rows)
        by_id = sorted(abilities.values(), key=lambda ability: ability.id)
        stamp = _stamp(self._signatures, self._outside)
        return Registry(tuple(by_id), tuple(self._problems), tables.rows, stamp, self._outside)

    def _tables(self) -> AbilityTables:
        if not self._signatures[FILE]:
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
            path: level
            for folder, level in LEVELS.items()
            for path in sorted(self._signatures)
            if _is_in(path, folder)
        }
        for row in rows:
            try:
                path = kinds.inner_path(row.path)
            except ValueError as error:
                self._problem(f"the registry path of `{row.name}` {error}", FILE, row.line)
                continue
            named.add(path)
            if path not in self._signatures and path not in files:
                self._outside[path] = signature_if_exists(self._root / path)
                if self._outside[path]:
                    files[path] = row.level
        if len(files) > MOST_FILES:
            what = f"{len(files)} abilities exceed the limit of {MOST_FILES}; the rest is left out"
            self._problem(what, FOLDER, hint="remove some")
        return dict(sorted(files.items(), key=lambda item: item[0] not in named)[:MOST_FILES])  # stable

    def _parsed(self, paths: Iterable[str], parse: Callable[[bytes, str], Parsed]) -> Iterator[Parsed]:
        for path in paths:
            if (data := self._read(path)) is None:
                continue
            try:
                yield parse(data, path)
            except ConfigError as error:
                self._problems += error.problems

    def _distinct(self, abilities: Iterable[Ability]) -> dict[str, Ability]:
        distinct: dict[str, Ability] = {}
        taken: dict[str, Ability] = {}
        for ability in abilities:
            if twice := next((name for name in ability.names if name in taken), None):
                what = f"`{twice}` is already the name of the ability in `{taken[twice].file}`"
                self._problem(what, ability.file, hint="choose another name")
                continue
            distinct[ability.id] = ability
            taken.update(dict.fromkeys(ability.names, ability))
        return distinct

    def _with_executions(self, abilities: dict[str, Ability]) -> dict[str, Ability]:
        names = {name: ability.id for ability in abilities.values() for name in ability.names}
        hints = SpellingHints()
        files = (path for path in sorted(self._signatures) if _is_in(path, CONFIG))
        for settings in self._parsed(files, read_execution):
            if settings.name not in names:
                hint = hints.did_you_mean(settings.name, names)
                self._problem(f"there is no ability `{settings.name}`", settings.file, settings.line, hint)
                continue
            ability = abilities[names[settings.name]]
            if ability.implementation_file:
                what = f"the implementation of `{ability.id}` is already given in `{ability.implementation_file}`"
                self._problem(what, settings.file, settings.line, "keep one of the two")
                continue
            abilities[ability.id] = msgspec.structs.replace(
                ability, implementation=settings.implementation, implementation_file=settings.file
            )
        return abilities

    def _with_rows(self, abilities: dict[str, Ability], rows: Iterable[AbilityRow]) -> dict[str, Ability]:
        """Abilities with the text of their rows. Rows of the wrong table are ignored; `lint` reports them."""
        names = {name: ability.id for ability in abilities.values() for name in ability.names}
        for row in rows:
            ability = abilities.get(names.get(row.name, ""))
            if ability is not None and ability.level is row.level:
                abilities[ability.id] = msgspec.structs.replace(ability, when_to_use=row.text, area=row.scope)
        return abilities

    def _read(self, path: str) -> bytes | None:
        if path != file_name(path):  # payloads and records are UTF-8
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
