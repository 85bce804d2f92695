"""Where a plugin comes from, as somebody writes it: `org/repo@v1`, a git URL, or a directory.

What is written here ends up as an argument of git, as the name of a directory and in samuel.lock, which is
committed. So the forms are a short list, each taken apart here, and everything else is refused with a reason.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from samuel.config.model import DEFAULT, DEFAULT_ALIAS
from samuel.errors import UsageError
from samuel.plugins.installed import directory_of
from samuel.plugins.lock import LockedPlugin

GIT, PATH = "git", "path"
GITHUB = "https://github.com/"
SCHEMES = ("https", "http", "ssh", "git", "file")
RESERVED = (DEFAULT, DEFAULT_ALIAS)

FORMS = "write `org/repo`, a git URL or `./path`, each with `@branch`, `@tag` or `@commit` if you like"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SHORT = re.compile(r"[^/:@]+/[^/:@]+")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(/.*)?")
_SCP = re.compile(r"(?:([^/:@]*)@)?([^/:@]+):(.+)")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_REF = re.compile(r"(?![-./+@])(?!.*(?:\.\.|//|@\{|\.lock$|[./]$))[^\s~^:?*\[\\@]{1,250}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PATH_STARTS = ("./", "../", "/", "~/")


class PluginSource(NamedTuple):
    kind: str  # git or path
    url: str  # what git is given; of a path, the absolute directory
    ref: str  # a branch, a tag, a commit; "" for the default branch
    title: str  # org/repo; for a directory, its own name until its manifest says another
    local: bool = False  # a directory of this machine, also one that git reads

    @property
    def directory(self) -> str:
        """What it is installed under."""
        return directory_of(self.title)

    @property
    def shown(self) -> str:
        return f"{self.url}@{self.ref}" if self.ref else self.url

    def titled(self, name: str) -> PluginSource:
        """A directory is called as its manifest says, if it has one."""
        return self._replace(title=check_title(name or self.title)) if self.local else self

    def written(self, base: Path, *, relative: bool) -> str:
        """For a lock: a directory relative to the project, so that a clone beside the same directory finds it."""
        if not self.local:
            return self.url
        path = os.path.relpath(self.url, base) if relative else self.url
        return path if path.startswith(_PATH_STARTS) else f"./{path}"


def parse(text: str, base: Path, *, paths_too: bool = True) -> PluginSource:
    """What `plugin add` was given. Paths are relative to `base`; without `paths_too` there may be none."""
    if not text.isprintable() or "\\" in text:
        raise _refusal(text, "has backslashes or control characters in it")
    if paths_too and (text == "." or text.startswith(_PATH_STARTS)):
        return _path(text, base)
    if not text or " " in text:
        raise _refusal(text, "is empty, or has spaces in it")
    if text.startswith("-"):
        raise _refusal(text, "begins with `-`")
    if "::" in text:
        raise _refusal(text, "names a transport that runs programs")
    if url := _URL.fullmatch(text):
        return _url(text, *url.groups(default=""))
    if scp := _SCP.fullmatch(text):
        return _scp(text, *scp.groups(default=""))
    plain, ref = _split(text, text)
    if _SHORT.fullmatch(plain):
        return _checked(text, f"{GITHUB}{plain.removesuffix('.git')}.git", ref, plain)
    raise _refusal(text, "is neither `org/repo`, nor a git URL, nor a path")


def of_entry(entry: LockedPlugin, base: Path) -> PluginSource:
    """Where a lock says it came from. The lock may have come with a clone: it is checked like anybody's word."""
    found = parse(entry.source, base)
    if entry.commit:
        found = found._replace(kind=GIT)
    return found._replace(ref=entry.ref, title=check_title(entry.name))


def locked(entry: LockedPlugin, base: Path) -> PluginSource:
    """The same, at the very commit."""
    found = of_entry(entry, base)
    if found.kind == GIT and not _COMMIT.fullmatch(entry.commit):
        raise UsageError(f"samuel.lock names no commit for `{entry.name}`", "add it again")
    return found._replace(ref=entry.commit)


def check_title(title: str) -> str:
    """`title`, if it can be the name of a plugin: one or two plain names. Raises UsageError."""
    names = title.split("/")
    if len(names) > 2 or not all(_NAME.fullmatch(name) for name in names) or title in RESERVED:
        why = "is reserved" if title in RESERVED else "is not made of one or two plain names"
        raise UsageError(
            f"`{title}` {why}", "a plugin is called `name` or `org/repo`: letters, digits, `.`, `_`, `-`"
        )
    return title


def _path(text: str, base: Path) -> PluginSource:
    """A directory that is there is taken by its whole name, also with an `@` in it."""
    whole = _absolute(text, base)
    if whole.is_dir():
        return PluginSource(PATH, str(whole), "", _name_of(whole), local=True)
    plain, ref = _split(text, text)
    place = _absolute(plain, base)
    if not place.is_dir():
        raise UsageError(f"`{text}` is not a directory", FORMS)
    if not ref:
        raise _refusal(text, "ends in an empty ref")
    return _checked(text, str(place), ref, _name_of(place))._replace(local=True)


def _absolute(text: str, base: Path) -> Path:
    return Path(os.path.abspath(base / os.path.expanduser(text)))


def _name_of(directory: Path) -> str:
    """Shortened to what a name may be: a manifest usually says a better one."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", directory.name.removesuffix(".git")).strip("-._")
    return name or "plugin"


def _url(text: str, scheme: str, authority: str, rest: str) -> PluginSource:
    if scheme not in SCHEMES:
        raise _refusal(text, f"is no URL that git may be given here ({', '.join(f'{one}://' for one in SCHEMES)})")
    user, at, host = authority.rpartition("@")
    if scheme == "file":
        if authority:
            raise _refusal(text, "names a host in a `file://` URL")
    elif not _HOST.fullmatch(host):
        raise _refusal(text, "has no plain host name in it")
    if at and (scheme != "ssh" or not _USER.fullmatch(user)):
        raise UsageError(
            f"`{scheme}://…@{host}/…` has a user, a password or a token in it",
            "samuel.lock is committed: leave it out, and let git's credential helper or ssh give it",
        )
    path, ref = _split(text, rest)
    return _checked(text, f"{scheme}://{authority}{path}", ref, _title(path))


def _scp(text: str, user: str, host: str, rest: str) -> PluginSource:
    if not _HOST.fullmatch(host) or ":" in host or (user and not _USER.fullmatch(user)):
        raise _refusal(text, "has no plain user and host in it")
    path, ref = _split(text, rest)
    return _checked(text, f"{user}@{host}:{path}" if user else f"{host}:{path}", ref, _title(path))


def _split(text: str, path: str) -> tuple[str, str]:
    """The path and its ref. An `@` at the beginning of a component is part of a name."""
    places = [at for at, one in enumerate(path) if one == "@" and at and path[at - 1] != "/"]
    if len(places) > 1:
        raise _refusal(text, "has more than one `@`")
    if not places:
        return path, ""
    if places[0] == len(path) - 1:
        raise _refusal(text, "ends in an empty ref")
    return path[: places[0]], path[places[0] + 1 :]


def _title(path: str) -> str:
    """The last two names of a URL's path."""
    names = [name for name in path.removesuffix("/").removesuffix(".git").split("/") if name]
    return "/".join(name.removeprefix("~") for name in names[-2:])


def _checked(text: str, url: str, ref: str, title: str) -> PluginSource:
    if ref and not _REF.fullmatch(ref):
        raise _refusal(text, f"has a ref, `{ref}`, that cannot be a branch, a tag or a commit")
    if any(one in url for one in "?#;&|<>$`'\"*") or ".." in url.split("/"):
        raise _refusal(text, "has something in it that no repository needs")
    try:
        return PluginSource(GIT, url, ref, check_title(title.removesuffix(".git")))
    except UsageError as error:
        raise _refusal(text, f"would be called `{title}`, which {error.message.partition('` ')[2]}") from None


def _refusal(text: str, why: str) -> UsageError:
    return UsageError(f"{text!r} {why}", FORMS)
