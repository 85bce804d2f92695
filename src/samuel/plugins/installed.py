"""The installed plugins: the manifest and the grants of each, and the text that the user agrees to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from samuel.base import paths
from samuel.base.errors import ConfigError, Problem
from samuel.base.printable import file_name
from samuel.files.survey import TooManyFiles, survey
from samuel.hooks.capability import Capabilities, beyond
from samuel.plugins import lock
from samuel.plugins.lock import LockedPlugin
from samuel.plugins.manifest import load
from samuel.plugins.model import Manifest
from samuel.trust.digests import Digests, agreed_digest, digest_file, tree_digest

LOCAL, GLOBAL = "local", "global"


class InstalledPlugin(NamedTuple):
    """One plugin directory."""

    directory: Path
    location: str  # local or global
    manifest: Manifest
    grants: Capabilities
    locked: LockedPlugin | None = None
    linked: str = ""  # where it really is, if it is a link
    problems: tuple[Problem, ...] = ()  # why it cannot be used

    @property
    def title(self) -> str:
        """The name that people use: org/repo, or the name of its directory."""
        return titled(self.directory.name)

    @property
    def name(self) -> str:
        """Its identity in references, order keys and the context, and of its data directory."""
        return self.manifest.name or self.title

    @property
    def agreement(self) -> str:
        return f"plugin:{self.directory.name}"

    @property
    def words(self) -> str:
        """The text that the user agrees to together with the content."""
        lines = [f"{self.title}  ({self.manifest.kind})", *(f"may use {line}" for line in self.grants.lines())]
        if self.locked and self.locked.image:
            lines.append(f"runs the image {self.locked.image}")
        if self.locked and self.locked.python:
            lines.append(f"runs with {', '.join(self.locked.python)}")
        if self.linked:
            lines.append(f"linked to {self.linked}, whatever is in it when a run begins")
        return "".join(f"{line}\n" for line in lines)


def titled(directory: str) -> str:
    return directory.replace("@", "/", 1)


def directory_of(title: str) -> str:
    return title.replace("/", "@", 1)


def look(base: Path, location: str, locked: Mapping[str, LockedPlugin]) -> list[InstalledPlugin]:
    """The plugins of a project or of a home directory, sorted by name."""
    plugins = []
    for directory in paths.PLUGIN_DIRS:
        try:
            names = sorted(os.listdir(base / directory))
        except (FileNotFoundError, NotADirectoryError):
            continue
        for name in names:
            if not name.startswith(".") and (base / directory / name).is_dir():
                plugins.append(examine(base / directory / name, location, locked.get(titled(name))))
    return plugins


def examine(directory: Path, location: str, locked: LockedPlugin | None = None) -> InstalledPlugin:
    """One plugin directory, with everything that is wrong with it."""
    linked = os.path.realpath(directory) if directory.is_symlink() else ""
    problems: list[Problem] = []
    if directory.name != file_name(directory.name):
        problems.append(Problem("its name is not UTF-8", file_name(str(directory)), hint="rename it"))
    try:
        manifest = load(directory)
    except ConfigError as error:
        manifest = Manifest()
        problems += error.problems
    # With a manifest, exactly what it asks for; without one, what the user granted when adding the plugin.
    grants = manifest.capabilities
    if locked and manifest.file and (missing := beyond(grants, locked.capabilities)):
        what = f"it asks for more than samuel.lock grants: {'; '.join(missing)}"
        problems.append(Problem(what, manifest.file, hint="`samuel plugin add --force` shows it and asks again"))
    elif locked and not manifest.file:
        grants = locked.capabilities
    return InstalledPlugin(directory, location, manifest, grants, locked, linked, tuple(problems))


def content_digest(directory: Path) -> str:
    """The digest of all files in a directory; "" if they cannot be read or are too many."""
    try:
        files = survey(directory)
    except (OSError, TooManyFiles):
        return ""
    return tree_digest(str(directory), files, Digests())


class AgreementText(NamedTuple):
    """Something that a user can agree to: its name and digest, and the content to read before."""

    name: str
    digest: str
    content: str


def agreement(plugin: InstalledPlugin) -> AgreementText:
    """What `samuel trust` shows of a plugin, and the name and digest of an agreement to it.

    The author of a linked plugin may change its content: an agreement to it covers its directory, not the content.
    """
    content = "" if plugin.linked else content_digest(plugin.directory)
    lines = [plugin.words, f"content sha256 {content}\n" if content else ""]
    if content:
        files = sorted(survey(plugin.directory))
        lines += (f"  {digest_file(str(plugin.directory / path))[:16]} {file_name(path)}\n" for path in files)
    readable = content or plugin.linked
    digest = agreed_digest(plugin.words, content) if readable else ""
    return AgreementText(plugin.agreement, digest, "".join(lines))


def texts(root: Path) -> list[AgreementText]:
    """What the user must agree to before the plugins of a project run."""
    return [agreement(plugin) for plugin in look(root, LOCAL, lock.read(root / paths.LOCK))]
