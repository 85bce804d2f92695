"""The permit check of every call: a handler may run only if the user trusts its content.

The agreements are pinned when the Permit is created: nothing that happens later in the process can add to them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from samuel.base.printable import file_name
from samuel.files.survey import Signature, TooManyFiles, file_signature, survey, survey_place
from samuel.hooks.capability import binding_refusal
from samuel.hooks.handler import Handler, Origin
from samuel.hooks.package import Package
from samuel.trust.digests import Digests, agreed_digest, tree_digest
from samuel.trust.neighbours import single_file_directories
from samuel.trust.store import Agreement

NEEDS_NO_TRUST = (Origin.BUILT_IN, Origin.USER, Origin.USER_PLUGIN, Origin.EMBEDDER)
CheckDirectory = Callable[[str], Mapping[str, str]]
HOW = "run `samuel trust` to look at it and agree"


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
        self._packages: dict[str, tuple[dict[str, Signature], str]] = {}
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
        files = handler.runs if handler.file else (handler.path,)
        alone = self._single_file_directories
        places = {path if (above := os.path.dirname(path)) in alone else above for path in files if path}
        return [_survey(place) for place in sorted(places)]

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
        self._packages[package.directory] = (signatures, answer)
        return answer

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
        return self._compare(os.path.relpath(path, self._root), self.digests.of(path, signature))

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
