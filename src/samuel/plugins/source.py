"""Where a plugin comes from, as users write it: `org/repo@v1`, a git URL, or a directory.

The text becomes an argument of git, the name of a directory, and part of samuel.lock, which is committed. So only
a few forms are accepted, each is parsed here, and everything else is refused with a reason.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import UsageError
from samuel.config.model import RESERVED_NAMES
from samuel.plugins.installed import directory_of
from samuel.plugins.lock import LockedPlugin

GIT, PATH = "git", "path"
GITHUB = "https://github.com/"
PIP_PREFIX = "git+"
"""What pip writes before the URL of a git repository."""
SCHEMES = ("https", "http", "ssh", "git", "file")

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
    url: str  # the argument of git; of a path, the absolute directory
    ref: str  # a branch, a tag, a commit; "" for the default branch
    title: str  # org/repo; for a directory, its own name until its manifest is read
    local: bool = False  # a directory of this machine, even if git reads it

    @property
    def directory(self) -> str:
        """The name of the directory that it is installed in."""
        return directory_of(self.title)

    @property
    def text_with_ref(self) -> str:
        return f"{self.url}@{self.ref}" if self.ref else self.url

    def titled(self, name: str) -> PluginSource:
        """With the name of the manifest, if the source is a directory."""
        return self._replace(title=check_title(name or self.title)) if self.local else self

    def lock_text(self, base: Path, *, relative: bool) -> str:
        """The source in samuel.lock; a directory is relative to the project, so that other clones can find it."""
        if not self.local:
            return self.url
        path = os.path.relpath(self.url, base) if relative else self.url
        return path if path.startswith(_PATH_STARTS) else f"./{path}"


def parse(text: str, base: Path, *, paths_too: bool = True) -> PluginSource:
    """The source that an argument of `plugin add` names. Paths, if allowed, are relative to `base`."""
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
    if url := _URL.fullmatch(text.removeprefix(PIP_PREFIX)):
        return _url(text, *url.groups(default=""))
    if scp := _SCP.fullmatch(text):
        return _scp(text, *scp.groups(default=""))
    plain, ref = _split(text, text)
    if _SHORT.fullmatch(plain):
        return _checked(text, f"{GITHUB}{plain.removesuffix('.git')}.git", ref, plain)
    raise _refusal(text, "is neither `org/repo`, nor a git URL, nor a path")


def of_entry(entry: LockedPlugin, base: Path) -> PluginSource:
    """The source of an entry of samuel.lock, checked like an argument: the file may come with a clone."""
    source = parse(entry.source, base)
    if entry.commit:
        source = source._replace(kind=GIT)
    return source._replace(ref=entry.ref, title=check_title(entry.name))


def locked(entry: LockedPlugin, base: Path) -> PluginSource:
    """The source of an entry of samuel.lock, at the locked commit."""
    source = of_entry(entry, base)
    if source.kind == GIT and not _COMMIT.fullmatch(entry.commit):
        raise UsageError(f"samuel.lock has no commit for `{entry.name}`", "add it again")
    return source._replace(ref=entry.commit)


def check_title(title: str) -> str:
    """`title`, if it can be the name of a plugin: one or two plain names. Raises UsageError."""
    names = title.split("/")
    if len(names) > 2 or not all(_NAME.fullmatch(name) for name in names) or title in RESERVED_NAMES:
        why = "is reserved" if title in RESERVED_NAMES else "is not made of one or two plain names"
        raise UsageError(
            f"`{title}` {why}", "a plugin is called `name` or `org/repo`: letters, digits, `.`, `_`, `-`"
        )
    return title


def _path(text: str, base: Path) -> PluginSource:
    """An existing directory may have an `@` in its name; otherwise `@` begins a ref."""
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
    """A valid plugin name made from the directory's name; a manifest usually has a better one."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", directory.name.removesuffix(".git")).strip("-._")
    return name or "plugin"


def _url(text: str, scheme: str, authority: str, rest: str) -> PluginSource:
    if scheme not in SCHEMES:
        schemes = ", ".join(f"{name}://" for name in SCHEMES)
        raise _refusal(text, f"has a scheme that is not allowed (use {schemes})")
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
    positions = [
        position for position, char in enumerate(path) if char == "@" and position and path[position - 1] != "/"
    ]
    if len(positions) > 1:
        raise _refusal(text, "has more than one `@`")
    if not positions:
        return path, ""
    if positions[0] == len(path) - 1:
        raise _refusal(text, "ends in an empty ref")
    return path[: positions[0]], path[positions[0] + 1 :]


def _title(path: str) -> str:
    """The last two names of a URL's path."""
    names = [name for name in path.removesuffix("/").removesuffix(".git").split("/") if name]
    return "/".join(name.removeprefix("~") for name in names[-2:])


def _checked(text: str, url: str, ref: str, title: str) -> PluginSource:
    if ref and not _REF.fullmatch(ref):
        raise _refusal(text, f"has a ref, `{ref}`, that cannot be a branch, a tag or a commit")
    if any(char in url for char in "?#;&|<>$`'\"*") or ".." in url.split("/"):
        raise _refusal(text, "has `..` or a special character in it")
    try:
        return PluginSource(GIT, url, ref, check_title(title.removesuffix(".git")))
    except UsageError as error:
        raise _refusal(text, f"would be called `{title}`, which {error.message.partition('` ')[2]}") from None


def _refusal(text: str, why: str) -> UsageError:
    return UsageError(f"{text!r} {why}", FORMS)
