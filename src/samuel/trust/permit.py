"""May this handler run? The one check that every call passes.

What was agreed to is pinned when this is made: nothing that happens later in the same process can widen it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from samuel.files.survey import Signature, TooManyFiles, file_signature, survey
from samuel.hooks.capability import binding_refusal
from samuel.hooks.handler import Handler, Origin
from samuel.hooks.package import Package
from samuel.printable import file_name
from samuel.trust.digests import Digests, agreed_digest, tree_digest
from samuel.trust.store import Agreement

NEEDS_NO_TRUST = (Origin.BUILT_IN, Origin.USER, Origin.USER_PLUGIN, Origin.EMBEDDER)
CheckDirectory = Callable[[str], Mapping[str, str]]
HOW = "run `samuel trust` to look at it and agree"


class Permit:
    """Checks a handler's content, and everything beside it, against what its owner agreed to."""

    def __init__(
        self, root: Path, agreed: Callable[[], Mapping[str, Agreement]], *, everything: bool = False
    ) -> None:
        self._root = str(root)
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

    def declared(self, handler: Handler, look: CheckDirectory | None = None) -> str:
        """For a handler that a file describes: as it was read from there, and with what it runs as agreed.

        `look` gives the objections to a directory, where somebody has just asked for them.
        """
        if why := self.text(handler.file, handler.digest):
            return why
        there = (path for path in handler.runs if os.path.isfile(path))
        return next(filter(None, (self.file(path, look) for path in there)), "")

    def _of_plugin(self, handler: Handler, package: Package) -> str:
        """What was granted is asked for at every call, of everybody's plugins; agreement only of a project's."""
        if why := binding_refusal(handler.event, package.grants):
            return why
        return "" if handler.origin in NEEDS_NO_TRUST else self.package(package)

    def package(self, package: Package) -> str:
        """For a plugin: it and everything in its directory must be as agreed."""
        if self._everything:
            return ""
        try:
            found = survey(package.directory)
        except TooManyFiles as error:
            return f"not trusted: {error}"
        except OSError as error:
            return f"not trusted: cannot read `{package.directory}`: {error.strerror}"
        checked = self._packages.get(package.directory)
        if checked is not None and checked[0] == found:
            return checked[1]
        content = tree_digest(package.directory, found, self.digests)
        answer = self._linked_since(package, content) if package.linked else ""
        answer = answer or self._compare(
            package.agreement, agreed_digest(package.agreed_text, "" if package.linked else content)
        )
        self._packages[package.directory] = (found, answer)
        return answer

    def _linked_since(self, package: Package, content: str) -> str:
        """A linked plugin may change between runs, not within one: an agent may be what changes it."""
        if self._linked.setdefault(package.directory, content) == content:
            return ""
        return f"`{package.directory}` changed since this began; start again"

    def text(self, name: str, digest: str) -> str:
        """For executable text that is not a file: agreed to by name and digest."""
        if self._everything:
            return ""
        return self._compare(name, digest)

    def file(self, path: str, look: CheckDirectory | None = None) -> str:
        """For a hook file: it and everything in its directory must be as agreed; in the root, the file alone."""
        directory, name = os.path.split(path)
        if directory == self._root:
            return self._alone(path)
        return refusal(name, (look or self.objections)(directory))

    def _alone(self, path: str) -> str:
        if self._everything:
            return ""
        try:
            found = file_signature(path)
        except OSError as error:
            return f"not trusted: cannot read `{path}`: {error.strerror}"
        return self._compare(os.path.relpath(path, self._root), self.digests.of(path, found))

    def objections(self, directory: str) -> Mapping[str, str]:
        """What is wrong with the files of a directory, by name; nothing if all are as agreed."""
        if self._everything:
            return {}
        try:
            found = survey(directory)
        except TooManyFiles as error:
            return {"": f"not trusted: {error}"}
        except OSError as error:
            return {"": f"not trusted: cannot read `{directory}`: {error.strerror}"}
        checked = self._checked.get(directory)
        if checked is not None and checked[0] == found:
            return checked[1]
        answer = self._read(directory, found)
        self._checked[directory] = (found, answer)
        return answer

    def agreed_names(self) -> list[str]:
        """Everything that was agreed to, by name."""
        return [] if self._everything else list(self._agreed())

    def gone(self, directory: str) -> list[str]:
        """The files of a directory that somebody agreed to and that are not there any more, by path."""
        if self._everything:
            return []
        prefix = os.path.relpath(directory, self._root) + "/"
        agreed = (os.path.join(self._root, name) for name in self._agreed() if name.startswith(prefix))
        return [path for path in agreed if not os.path.lexists(path) or os.path.isdir(path)]

    def recall(self, directory: str, found: dict[str, Signature], objections: dict[str, str]) -> None:
        """What an earlier check of exactly these files said."""
        self._checked[directory] = (found, objections)

    def _read(self, directory: str, found: Mapping[str, Signature]) -> dict[str, str]:
        prefix = os.path.relpath(directory, self._root)
        digests = ((path, self.digests.of(os.path.join(directory, path), found[path])) for path in sorted(found))
        checked = ((path, self._compare(os.path.join(prefix, path), digest)) for path, digest in digests)
        return {path: objection for path, objection in checked if objection}

    def _compare(self, name: str, digest: str) -> str:
        known = self._agreed().get(name)
        name = file_name(name)
        if known is None:
            return f"not trusted: nobody agreed to `{name}` yet; {HOW}"
        if not known.covers(digest):
            return f"not trusted: `{name}` is not what was agreed to; {HOW}"
        return ""


def refusal(name: str, objections: Mapping[str, str]) -> str:
    """What the objections to a directory mean for one file in it: its own first, else those to its neighbours."""
    if not objections:
        return ""
    return objections.get(name) or f"what lies beside it is {next(iter(objections.values()))}"
