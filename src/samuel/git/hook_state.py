"""Hooks and settings of a repository that a program changed.

Git would run the hooks at the next commit of the person: they are taken away or put back, and a ref keeps what the
program had there. Of the settings some are put back, and the others only named.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from samuel.files.regular import read_regular
from samuel.files.survey import Signature
from samuel.git import settings as git_settings
from samuel.git import worktrees
from samuel.git.git import Git, GitFailed, RepositoryLocation
from samuel.git.kept_refs import KeptRefs
from samuel.git.saved_files import HOOKS, SavedFiles

SAMPLE = ".sample"
SEEING = (
    *("core.sparsecheckout", "core.sparsecheckoutcone", "core.bare", "core.worktree", "core.fsmonitor"),
    *("core.splitindex", "core.untrackedcache", "core.ignorestat", "core.excludesfile", "core.attributesfile"),
    *("core.filemode", "core.ignorecase", "core.checkstat", "core.trustctime", "index.sparse"),
    *("extensions.worktreeconfig", "core.repositoryformatversion", "core.hookspath"),
)
"""Settings that decide which work tree git sees, what of it, and which hooks it runs."""


class HookChanges(NamedTuple):
    names: tuple[str, ...] = ()
    """The hooks that are as before again."""
    held: str = ""
    """The ref that has what was put there; "" for none."""


def hook_names(location: RepositoryLocation) -> Iterator[str]:
    """The files that can be hooks, from the git directory; the place of hooks first if it is no directory."""
    directory = location.shared / HOOKS
    if os.path.lexists(directory) and (directory.is_symlink() or not directory.is_dir()):
        yield HOOKS
    with suppress(OSError):
        for name in sorted(os.listdir(directory)):
            if not name.endswith(SAMPLE) and _is_file(directory / name):
                yield f"{HOOKS}/{name}"


def is_hook(name: str) -> bool:
    return name == HOOKS or name.startswith(f"{HOOKS}/")


def put_back_hooks(
    git: Git, files: SavedFiles, before: Mapping[str, Signature], ref: str, leave: frozenset[str] = frozenset()
) -> HookChanges:
    """Make the hooks what they were; `ref` gets what they are now. Raises OSError.

    `before` has the signatures of those that were saved. Those in `leave` stay as they are.
    """
    changed = [name for name in _changed(git, files, before) if name not in leave]
    if not changed:
        return HookChanges()
    # Where the place of all hooks was replaced, every file in it is another one now.
    now = [name for name in hook_names(git.location()) if name != HOOKS and name not in leave]
    held = _keep(git, {name: files.path(name) for name in now if HOOKS in changed or name in changed}, ref)
    if HOOKS in changed:
        files.put_back(HOOKS)
        changed = [HOOKS, *(name for name in _changed(git, files, before) if name not in leave)]
    for name in changed:
        if name != HOOKS:
            files.put_back(name)
    return HookChanges(tuple(sorted({*changed, *now} if HOOKS in changed else changed)), held)


def _changed(git: Git, files: SavedFiles, before: Mapping[str, Signature]) -> list[str]:
    names = dict.fromkeys((*hook_names(git.location()), *(name for name in before if is_hook(name))))
    return files.changed(names, before)


def _keep(git: Git, hooks: Mapping[str, Path], ref: str) -> str:
    """Let a ref hold these files; gives it, or "" if nothing could be kept."""
    lines = []
    with suppress(GitFailed, OSError):
        for name, file in sorted(hooks.items()):
            is_link = file.is_symlink()
            content = os.fsencode(os.readlink(file)) if is_link else read_regular(file)
            mode = "120000" if is_link else "100755" if file.stat().st_mode & 0o111 else "100644"
            blob = worktrees.write(git, "hash-object", "-w", "--stdin", stdin=content).decode().strip()
            lines.append(f"{mode} blob {blob}\t".encode() + os.fsencode(name.removeprefix(f"{HOOKS}/")) + b"\0")
        if lines:
            tree = worktrees.write(git, "mktree", "-z", stdin=b"".join(lines)).decode().strip()
            refs = KeptRefs(git)
            refs.set_ref(ref, refs.commit(tree, "", "samuel: hooks that were put back\n"))
            return ref
    return ""


def _is_file(path: Path) -> bool:
    """Whether it is a file that can be saved, or a link."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISLNK(mode) or (stat.S_ISREG(mode) and os.access(path, os.R_OK))


class SettingChanges(NamedTuple):
    back: tuple[str, ...]
    """The keys that are to be put back: those that are gone, those of `SEEING`, and files with more settings."""
    staying: tuple[str, ...]
    """Other keys that are new or have another value."""


def setting_changes(git: Git, before: Path, after: Path) -> SettingChanges:
    """How one configuration file differs from another. Raises GitFailed if git cannot read one."""
    old, new = _values(git, before), _values(git, after)
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    back = [key for key in changed if key not in new or key in SEEING or git_settings.is_include(key)]
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
        for setting in git_settings.parse(_config(git, file, *git_settings.LISTING)):
            values.setdefault(setting.key, []).append(setting.value)
    return values


def _config(git: Git, file: Path, *args: str) -> bytes:
    return git.call(["config", "--file", str(file), *args], cwd="/")
