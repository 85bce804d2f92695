"""Find git directories below a project, and say what in them would make git run something.

Git uses the repository that its working directory is in, and one that the index lists as a submodule from above as
well. Its configuration then counts as much as the project's own. An agent can make one anywhere, and most of those
that it makes are harmless: a test's fixture, a clone to look at. So each is judged by what is in it.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

SMALL = 1 << 20  # bytes of a configuration file; no honest one is larger

# What HFS+ and NTFS take for `.git` as well: other letters, names with invisible characters, endings that are cut.
_INVISIBLE = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_SHORT_NAME = "git~1"

_SECTION = re.compile(r'\[([A-Za-z0-9-]+)(?:[ \t]+"([^"\\]*)")?\]')
_VARIABLE = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?")
_QUOTING = re.compile(r'["\\]')  # then a value may be another one than it looks, or go on in the next line


OFF = ("false", "no", "off", "0")


def _plain_url(value: str) -> bool:
    """Not `helper::address`, which starts a program of that name, nor an option."""
    return "::" not in value and not value.startswith("-")


# Settings that start no program and lead git nowhere. Whatever is not here counts as dangerous.
_HARMLESS: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys(
        (
            *("core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates"),
            *("core.ignorecase", "core.precomposeunicode", "core.symlinks", "core.autocrlf", "core.eol"),
            *("core.safecrlf", "core.abbrev", "core.quotepath", "core.untrackedcache", "core.preloadindex"),
            *("core.sparsecheckout", "core.sparsecheckoutcone", "core.compression", "core.sharedrepository"),
            *("extensions.objectformat", "extensions.refstorage", "user.name", "user.email"),
            *("init.defaultbranch", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote"),
            *("merge.conflictstyle", "fetch.prune", "gc.auto", "gc.autodetach", "maintenance.auto"),
            *("receive.denycurrentbranch", "receive.denynonfastforwards", "lfs.repositoryformatversion"),
            *("remote.*.fetch", "remote.*.tagopt", "remote.*.prune", "remote.*.mirror"),
            *("branch.*.remote", "branch.*.merge", "branch.*.rebase", "submodule.*.active"),
        ),
        lambda value: True,
    ),
    **dict.fromkeys(("remote.*.url", "remote.*.pushurl", "submodule.*.url"), _plain_url),
    **dict.fromkeys(("core.fsmonitor", "commit.gpgsign", "tag.gpgsign"), lambda value: value.lower() in OFF),
    "core.hookspath": lambda value: value == os.devnull,
}


class GitSearch(NamedTuple):
    directories: dict[str, dict[str, str]]
    """Each git directory, with what in it is neither a file nor a directory, and what that is."""
    files: dict[str, str]
    """Files called `.git`, with their content."""
    links: dict[str, str]
    """What is called `.git` and is neither a file nor a directory, and what that is."""
    unread: list[str]
    """Directories that could not be read."""


def search(places: Iterable[str], own: Sequence[str], leave_out: Sequence[str] = ()) -> GitSearch:
    """Every git directory at or below `places`, without following links; those of `own` whatever is in them."""
    result = GitSearch({}, {}, {}, [])
    waiting = [(place, "") for place in places]
    while waiting:
        directory, around = waiting.pop()
        entries = _entries(directory)
        if entries is None:
            result.unread.append(directory)
            continue
        if directory in own or _is_git_directory({entry.name.lower() for entry in entries}):
            around = directory
            result.directories[around] = {}
        for entry in entries:
            kind = _kind(entry)
            if kind == stat.S_IFDIR:
                if entry.path not in leave_out:
                    waiting.append((entry.path, around))
            elif kind != stat.S_IFREG and around:
                result.directories[around][entry.path] = _described(entry.path, kind)
            elif kind != stat.S_IFREG and _means_git(entry.name):
                result.links[entry.path] = _described(entry.path, kind)
            elif _means_git(entry.name):
                result.files[entry.path] = os.fsdecode(_read(entry.path))
    return result


def dangers(directory: str, irregular: Iterable[str]) -> list[str]:
    """What in a git directory makes git run something or leads it elsewhere, in words."""
    reasons = [f"`{os.path.relpath(path, directory)}`, which is not a file" for path in irregular]
    for name in ("config", "config.worktree"):
        reasons += _settings_in(_read(os.path.join(directory, name)), name)
    reasons += [f"the hook `{name}`" for name in _hooks(directory)]
    if (common := _read(os.path.join(directory, "commondir"))) and not _is_linked_tree(directory, common):
        reasons.append("`commondir`, which leads to another git directory")
    if _read(os.path.join(directory, "objects", "info", "alternates")).strip():
        reasons.append("`objects/info/alternates`, which leads to other objects")
    if rebase_commands(directory):
        reasons.append("an unfinished rebase that runs commands")
    return reasons


def rebase_commands(directory: str) -> list[bytes]:
    """The commands that `git rebase --continue` would run."""
    lines = _read(os.path.join(directory, "rebase-merge", "git-rebase-todo")).split(b"\n")
    return [line for line in lines if line.split()[:1] in ([b"exec"], [b"x"])]


def fingerprint(directory: str, irregular: Iterable[str]) -> str:
    """Changes with anything that `dangers` looks at."""
    whole = hashlib.sha256(repr(sorted(irregular)).encode(errors="surrogateescape"))
    names = ("config", "config.worktree", "commondir", "objects/info/alternates", "rebase-merge/git-rebase-todo")
    for path in (*names, *(f"hooks/{name}" for name in _hooks(directory))):
        content = _read(os.path.join(directory, path), limit=1 << 30)
        whole.update(f"\0{path}\0{len(content)}\0".encode(errors="surrogateescape") + content)
    return whole.hexdigest()


def settings_of(content: bytes) -> list[tuple[str, str]] | None:
    """The settings in a configuration file; None if a line is not plain enough to be sure. Values stay quoted."""
    settings: list[tuple[str, str]] = []
    section = ""
    for line in content.decode("utf-8", "replace").split("\n"):
        text = line.strip(" \t\r")
        if not text or text[0] in "#;":
            continue
        if match := _SECTION.fullmatch(text):
            section = match[1].lower() if match[2] is None else f"{match[1].lower()}.{match[2]}"
        elif section and (match := _VARIABLE.fullmatch(text)):
            value = match[2]
            settings.append((f"{section}.{match[1].lower()}", "true" if value is None else value.strip()))
        else:
            return None
    return settings


def is_harmless(key: str, value: str) -> bool:
    section, _, rest = key.partition(".")
    _, dot, name = rest.rpartition(".")
    check = _HARMLESS.get(f"{section}.*.{name}" if dot else key)
    return check is not None and not _QUOTING.search(value) and check(value)


def _settings_in(content: bytes, name: str) -> list[str]:
    settings = settings_of(content)
    if settings is None:
        return [f"lines in `{name}` that are not plain settings"]
    return [f"the setting `{key}`" for key, value in settings if not is_harmless(key, value)]


def _is_git_directory(names: set[str]) -> bool:
    """What git itself asks for. A directory with any name counts, since git takes it for a bare repository."""
    return "head" in names and ("commondir" in names or {"objects", "refs"} <= names)


def _is_linked_tree(directory: str, common: bytes) -> bool:
    """`.git/worktrees/x` that leads back to its own `.git`."""
    leads_to = os.path.realpath(os.path.join(directory, os.fsdecode(common.strip())))
    return leads_to == os.path.realpath(os.path.join(directory, "..", ".."))


def _hooks(directory: str) -> list[str]:
    """Git runs those that are executable."""
    entries = _entries(os.path.join(directory, "hooks")) or []
    return sorted(
        entry.name
        for entry in entries
        if _kind(entry) == stat.S_IFREG
        and not entry.name.endswith(".sample")
        and entry.stat(follow_symlinks=False).st_mode & 0o111
    )


def _means_git(name: str) -> bool:
    plain = name.lower() if name.isascii() else _INVISIBLE.sub("", name).lower()
    return plain.rstrip(" .") == ".git" or plain == _SHORT_NAME


def _entries(directory: str) -> list[os.DirEntry[str]] | None:
    try:
        try:
            with os.scandir(directory) as entries:
                return list(entries)
        except PermissionError:  # it can be hidden from us, and shown again later
            os.chmod(directory, 0o700)
            with os.scandir(directory) as entries:
                return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return None


def _kind(entry: os.DirEntry[str]) -> int:
    if entry.is_dir(follow_symlinks=False):  # mostly known without asking
        return stat.S_IFDIR
    if entry.is_file(follow_symlinks=False):
        return stat.S_IFREG
    return stat.S_IFLNK if entry.is_symlink() else stat.S_IFIFO


def _described(path: str, kind: int) -> str:
    try:
        return os.readlink(path) if kind == stat.S_IFLNK else "special"
    except OSError:
        return ""


def _read(path: str, limit: int = SMALL) -> bytes:
    """A regular file's content; b"" if there is none. A longer one ends in a line that is not a setting."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return b""
        content = file.read(limit + 1)
    return content if len(content) <= limit else content[:limit] + b"\n[too long"
