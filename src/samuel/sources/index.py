"""The handlers that were found in the directories of hooks and plugins, cached until a file there changes.

While every file and every agreement stays the same, nothing is read, hashed or asked again. If a handler is
broken, nothing is cached, since its problem may go away without a change of these files.
"""

# Annotations are not postponed here: msgspec would evaluate the text of each when a type is first used.

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from samuel.base.decoding import msgpack_decoder
from samuel.files import file_cache
from samuel.files.survey import ITSELF, Signature, TooManyFiles, survey_place
from samuel.hooks.handler import Handler, HandlerStatus
from samuel.trust.digests import single_file_directories
from samuel.trust.permit import Permit
from samuel.version import __version__


class _CachedIndex(msgspec.Struct, array_like=True):
    directories: dict[str, dict[str, Signature]]
    objections: dict[str, dict[str, str]]
    handlers: list[Handler]


_decode = msgpack_decoder(_CachedIndex)


class HookIndex:
    """The cache of the discovered handlers of one project."""

    def __init__(
        self,
        file: Path,
        hooks: Sequence[Path],
        other_directories: Sequence[Path],
        root: Path,
        stamp: str,
        *,
        fresh: bool = False,
    ) -> None:
        """`root` is the project: hooks below it need a permit. Plugins, YAML hooks and agents' hook files,
        in `other_directories`, are trusted in another way.

        `stamp` changes with the agreements and with everything else that the handlers depend on. With `fresh`
        nothing is recalled: the machine may have lost what a handler needs.
        """
        self._file = file
        self._other_directories = {str(directory) for directory in other_directories}
        self._directories = [*map(str, hooks), *self._other_directories]
        self._project_prefix = f"{root}/"
        self._single_file_directories = single_file_directories(root)
        self._stamp = f"{__version__} {stamp}"
        self._fresh = fresh
        self._surveyed: dict[str, dict[str, Signature]] | None = None
        self.watched_files: dict[str, dict[str, Signature]] | None = None
        """All files that the handlers depend on; None if they depend on more than files."""

    def recall(self, permit: Permit) -> list[Handler] | None:
        """The cached handlers, if no file changed; the permit gets back its objections to them."""
        self._surveyed = _survey(self._directories)
        if self._fresh or self._surveyed is None:
            return None
        cached_index = file_cache.load(self._file, _decode, self._stamp)
        if cached_index is None:
            return None
        scripts = _survey([place for place in cached_index.directories if place not in self._surveyed])
        if scripts is None or cached_index.directories != {**self._surveyed, **scripts}:
            return None
        self.watched_files = cached_index.directories
        for directory, objections in cached_index.objections.items():
            permit.recall(directory, cached_index.directories[directory], objections)
        return cached_index.handlers

    def remember(self, handlers: Sequence[Handler], permit: Permit, more_directories: Sequence[Path] = ()) -> None:
        """Cache the handlers. They also depend on the files in `more_directories`."""
        if self._surveyed is None:
            return
        # The files of a linked plugin are not surveyed.
        is_linked = any(handler.package and handler.package.linked for handler in handlers)
        if is_linked or any(handler.status is HandlerStatus.BROKEN for handler in handlers):
            return
        scripts, others = _survey(self._scripts(handlers)), _survey(map(str, more_directories))
        if scripts is None or others is None:
            return
        objections = {
            directory: dict(permit.objections(directory))
            for directory, files in {**self._surveyed, **scripts}.items()
            if files and ITSELF not in files and self._needs_permit(directory)
        }
        # If a file changed meanwhile, the handlers may be those of its old content.
        if self._surveyed != _survey(self._directories):
            return
        new_index = _CachedIndex({**self._surveyed, **scripts, **others}, objections, list(handlers))
        self.watched_files = new_index.directories
        file_cache.save(self._file, new_index, msgspec.msgpack.encode, self._stamp)

    def _needs_permit(self, directory: str) -> bool:
        return directory.startswith(self._project_prefix) and directory not in self._other_directories

    def _scripts(self, handlers: Sequence[Handler]) -> list[str]:
        """The directories of the scripts that hooks run; where a script counts alone, the script itself."""
        directories = set()
        for path in {path for handler in handlers for path in handler.runs}:
            directory = os.path.dirname(path)
            directories.add(path if directory in self._single_file_directories else directory)
        return sorted(directories)


def _survey(places: Iterable[str]) -> dict[str, dict[str, Signature]] | None:
    try:
        return {place: survey_place(place) for place in places}
    except (OSError, TooManyFiles):
        return None
