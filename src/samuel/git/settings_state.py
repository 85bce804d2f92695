"""Settings of a repository that a program changed: which are put back, and which are only named."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from samuel.git import hardening
from samuel.git import settings as git_settings
from samuel.git.git import Git, GitFailed

SEEING = (
    *("core.sparsecheckout", "core.sparsecheckoutcone", "core.bare", "core.worktree", "core.fsmonitor"),
    *("core.splitindex", "core.untrackedcache", "core.ignorestat", "core.excludesfile", "core.attributesfile"),
    *("core.filemode", "core.ignorecase", "core.checkstat", "core.trustctime", "index.sparse"),
    *("extensions.worktreeconfig", "core.repositoryformatversion"),
)
"""Settings that decide which work tree git sees, and what of it."""


class SettingChanges(NamedTuple):
    back: tuple[str, ...]
    """The keys that are to be put back: those that are gone, and those of `SEEING`."""
    staying: tuple[str, ...]
    """Other keys that are new or have another value."""


def setting_changes(git: Git, before: Path, after: Path) -> SettingChanges:
    """How one configuration file differs from another. Raises GitFailed if git cannot read one."""
    old, new = _values(git, before), _values(git, after)
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    back = [key for key in changed if key not in new or key in SEEING]
    return SettingChanges(tuple(sorted(back)), tuple(sorted(set(changed) - set(back))))


def put_back_settings(git: Git, before: Path, after: Path, keys: tuple[str, ...]) -> None:
    """Give these keys of the file `after` the values that they have in `before`. Raises GitFailed."""
    values = _values(git, before)
    for key in keys:
        with suppress(GitFailed):  # it has no value now
            _config(git, after, "--unset-all", key)
        for value in values.get(key, ()):
            _config(git, after, "--add", key, value)


def _values(git: Git, file: Path) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    if file.exists():
        for setting in git_settings.parse(_config(git, file, "--list", "--show-origin", "-z")):
            values.setdefault(setting.key, []).append(setting.value)
    return values


def _config(git: Git, file: Path, *args: str) -> bytes:
    return git.call(["config", "--file", str(file), *args], hardening.SETTINGS, cwd="/")
