"""The permit check of every call: a handler may run only if the user trusts its content.

The agreements are pinned when the Permit is created: nothing that happens later in the process can add to them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from samuel.base.printable import file_name
from samuel.files.survey import Signature, TooManyFiles, file_signature, survey, survey_place
from samuel.hooks.capability import binding_refusal
from samuel.hooks.handler import Handler, Origin, Package
from samuel.trust.content import NO_CONTENT, TrustedContent, TrustedFile
from samuel.trust.digests import Digests, agreed_digest, single_file_directories, tree_digest
from samuel.trust.store import Agreement

NEEDS_NO_TRUST = (Origin.BUILT_IN, Origin.USER, Origin.USER_PLUGIN, Origin.EMBEDDER)
CheckDirectory = Callable[[str], Mapping[str, str]]
_Results = list[tuple[Mapping[str, object], str, object]]  # of checks: where each is, its key, and itself
HOW = "run `samuel trust` to look at it and agree"
CHANGED = "its files changed while it was called, so it is not known what ran"


class Permit:
    """Checks a handler's file, and everything in its directory, against the user's agreements."""

    def __init__(
        self, root: Path, agreed: Callable[[], Mapping[str, Agreement]], *, everything: bool = False
    ) -> None:
        self._root = str(root)
        self._single_file_directories = single_file_directories(root)
        self._agreed = agreed
        self._everything = everything
        self.digests = Digests()
        self._checked: dict[str, tuple[dict[str, Signature], dict[str, str]]] = {}
        self._packages: dict[str, tuple[dict[str, Signature], str, TrustedContent]] = {}
        self._single_files: dict[str, TrustedFile] = {}
        self._contents: dict[tuple[str, ...], tuple[_Results, TrustedContent]] = {}
        self._linked: dict[str, str] = {}

    def __call__(self, handler: Handler) -> str:
        """ "" if the handler may run, or why not."""
        if handler.package is not None:
            return self._of_plugin(handler, handler.package)
        if self._everything or handler.origin in NEEDS_NO_TRUST:
            return ""
        if handler.origin is Origin.DISTRIBUTION:
            return self.text(f"distribution:{handler.owner}", handler.digest)
        return self.declared(handler) if handler.file else self.file(handler.path)

    def stamp(self, handler: Handler) -> object:
        """What tells whether the files that the permit looks at were touched: equal stamps, no change in between.

        The permit reads files by their names, and so does whatever runs them. Where the stamp from before the
        permit is still the same after the call, what ran is what was looked at. () where no file counts. Its
        `repr` is the same in another process.
        """
        if self._everything or handler.origin in NEEDS_NO_TRUST:
            return ()
        if handler.package is not None:
            return _survey(handler.package.directory)
        files = _files_of(handler)
        alone = self._single_file_directories
        places = {path if (above := os.path.dirname(path)) in alone else above for path in files if path}
        return [_survey(place) for place in sorted(places)]

    def content(self, handler: Handler) -> TrustedContent:
        """What a handler was permitted with: whatever runs it compares the bytes that it runs with this."""
        if self._everything or handler.origin in NEEDS_NO_TRUST:
            return NO_CONTENT
        if handler.package is not None:
            return self.package_content(handler.package)
        return self.content_of(_files_of(handler))

    def package_content(self, package: Package) -> TrustedContent:
        """What a plugin of the project was permitted with."""
        return NO_CONTENT if self._everything else self._packages[package.directory][2]

    def content_of(self, files: tuple[str, ...]) -> TrustedContent:
        """What these files, and everything in their directories, were permitted with."""
        if self._everything:
            return NO_CONTENT
        cached = self._contents.get(files)
        # The same objects, and not only equal ones: a result is replaced when a file changed.
        if cached is not None and all(where.get(key) is result for where, key, result in cached[0]):
            return cached[1]
        alone = {path: self._single_files[path] for path in files if path in self._single_files}
        places = {os.path.dirname(path) for path in files if path} - self._single_file_directories
        checked = {place: self._checked[place] for place in sorted(places) if place in self._checked}
        trusted = dict(alone)
        for place, (signatures, objections) in checked.items():
            trusted.update(self._agreed_files(place, signatures, objections))
        content = TrustedContent(tuple(checked), trusted)
        # One object for all hooks of a directory: it is compared with the one that a worker has.
        content = next((other for _, other in self._contents.values() if other == content), content)
        results: _Results = [(self._single_files, path, self._single_files.get(path)) for path in files]
        results += [(self._checked, place, self._checked.get(place)) for place in places]
        self._contents[files] = results, content
        return content

    def _agreed_files(
        self, directory: str, signatures: Mapping[str, Signature], objections: Mapping[str, str]
    ) -> Iterator[tuple[str, TrustedFile]]:
        agreed, prefix = self._agreed(), os.path.relpath(directory, self._root)
        for name, signature in signatures.items():
            agreement = agreed.get(os.path.join(prefix, name))
            if agreement is not None and name not in objections:
                digests = (agreement.digest, *agreement.earlier)
                yield os.path.join(directory, name), TrustedFile(signature, digests)

    def declared(self, handler: Handler, look: CheckDirectory | None = None) -> str:
        """Why a YAML hook may not run, or "": its file and the files that it runs must be as agreed.

        `look` gives the objections to a directory, if the caller has them already.
        """
        if why := self.text(handler.file, handler.digest):
            return why
        there = (path for path in handler.runs if os.path.isfile(path))
        return next(filter(None, (self.file(path, look) for path in there)), "")

    def _of_plugin(self, handler: Handler, package: Package) -> str:
        """Capabilities are checked for all plugins, agreements only for those of a project."""
        if why := binding_refusal(handler.event, package.grants):
            return why
        return "" if handler.origin in NEEDS_NO_TRUST else self.package(package)

    def package(self, package: Package) -> str:
        """Why a plugin may not run, or "": everything in its directory must be as agreed."""
        if self._everything:
            return ""
        try:
            signatures = survey(package.directory)
        except TooManyFiles as error:
            return f"not trusted: {error}"
        except OSError as error:
            return f"not trusted: cannot read `{package.directory}`: {error.strerror}"
        checked = self._packages.get(package.directory)
        if checked is not None and checked[0] == signatures:
            return checked[1]
        content = tree_digest(package.directory, signatures, self.digests)
        answer = self._linked_since(package, content) if package.linked else ""
        answer = answer or self._compare(
            package.agreement, agreed_digest(package.agreed_text, "" if package.linked else content)
        )
        trusted = {} if answer else self._files_in(package.directory, signatures)
        self._packages[package.directory] = (signatures, answer, TrustedContent((package.directory,), trusted))
        return answer

    def _files_in(self, directory: str, signatures: Mapping[str, Signature]) -> dict[str, TrustedFile]:
        named = ((name, signature) for name, signature in signatures.items() if name == file_name(name))
        paths = ((os.path.join(directory, name), signature) for name, signature in named)
        return {path: TrustedFile(signature, (self.digests.of(path, signature),)) for path, signature in paths}

    def _linked_since(self, package: Package, content: str) -> str:
        """Refuse a linked plugin that changed within a run, perhaps by the agent; between runs it may change."""
        if self._linked.setdefault(package.directory, content) == content:
            return ""
        return f"`{package.directory}` changed since this process started; run the command again"

    def text(self, name: str, digest: str) -> str:
        """Why a text that is not a file may not run, or ""."""
        if self._everything:
            return ""
        return self._compare(name, digest)

    def file(self, path: str, look: CheckDirectory | None = None) -> str:
        """Why a hook file may not run, or "": its directory must be as agreed, in some only the file."""
        directory, name = os.path.split(path)
        if directory in self._single_file_directories:
            return self._single_file(path)
        return refusal(name, (look or self.objections)(directory))

    def _single_file(self, path: str) -> str:
        if self._everything:
            return ""
        try:
            signature = file_signature(path)
        except OSError as error:
            return f"not trusted: cannot read `{path}`: {error.strerror}"
        digest = self.digests.of(path, signature)
        if why := self._compare(os.path.relpath(path, self._root), digest):
            return why
        file = TrustedFile(signature, (digest,))
        if self._single_files.get(path) != file:
            self._single_files[path] = file
        return ""

    def objections(self, directory: str) -> Mapping[str, str]:
        """Why files of a directory are not trusted, by name; {} if all are as agreed."""
        if self._everything:
            return {}
        try:
            signatures = survey(directory)
        except TooManyFiles as error:
            return {"": f"not trusted: {error}"}
        except OSError as error:
            return {"": f"not trusted: cannot read `{directory}`: {error.strerror}"}
        checked = self._checked.get(directory)
        if checked is not None and checked[0] == signatures:
            return checked[1]
        answer = self._read(directory, signatures)
        self._checked[directory] = (signatures, answer)
        return answer

    @property
    def trusts_something(self) -> bool:
        """Whether the user agreed to anything here."""
        return self._everything or bool(self._agreed())

    def agreed_names(self) -> list[str]:
        """The names of everything that was agreed to."""
        return [] if self._everything else list(self._agreed())

    def gone(self, directory: str) -> list[str]:
        """The paths of files in a directory that were agreed to and do not exist any more."""
        if self._everything:
            return []
        prefix = os.path.relpath(directory, self._root) + "/"
        agreed = (os.path.join(self._root, name) for name in self._agreed() if name.startswith(prefix))
        return [path for path in agreed if not os.path.lexists(path) or os.path.isdir(path)]

    def recall(self, directory: str, signatures: dict[str, Signature], objections: dict[str, str]) -> None:
        """Use the result of an earlier check of exactly these files."""
        self._checked[directory] = (signatures, objections)

    def _read(self, directory: str, signatures: Mapping[str, Signature]) -> dict[str, str]:
        prefix = os.path.relpath(directory, self._root)
        digests = (
            (path, self.digests.of(os.path.join(directory, path), signatures[path])) for path in sorted(signatures)
        )
        checked = ((path, self._compare(os.path.join(prefix, path), digest)) for path, digest in digests)
        return {path: objection for path, objection in checked if objection}

    def _compare(self, name: str, digest: str) -> str:
        agreement = self._agreed().get(name)
        name = file_name(name)
        if agreement is None:
            return f"not trusted: `{name}` has not been agreed to yet; {HOW}"
        if not agreement.covers(digest):
            return f"not trusted: `{name}` is not what was agreed to; {HOW}"
        return ""


def _files_of(handler: Handler) -> tuple[str, ...]:
    """The files that a handler of no plugin runs."""
    return handler.runs if handler.file else (handler.path,)


def _survey(place: str) -> object:
    try:
        return sorted(survey_place(place).items())
    except (OSError, TooManyFiles) as error:
        return str(error)


def refusal(name: str, objections: Mapping[str, str]) -> str:
    """Why one file of a directory may not run, given the objections to the directory's files, or ""."""
    if not objections:
        return ""
    return objections.get(name) or f"what lies beside it is {next(iter(objections.values()))}"


class PermitCheck(NamedTuple):
    """What is asked before each call, and compared after it."""

    refusal: Callable[[Handler], str]  # "" or the reason why the handler may not run
    stamp: Callable[[Handler], object] = lambda handler: ()  # changes with the files that the permit looks at
    content: Callable[[Handler], TrustedContent] = lambda handler: NO_CONTENT  # of a handler that was permitted
