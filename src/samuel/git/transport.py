"""Fetching from and pushing to the remote of a repository, out of reach of an agent that changes `.git`.

An agent may write `.git/config` and `.git/hooks`: a remote's URL, `core.sshCommand` or a pre-push hook there would
run a program of its choice. So there is a second git directory, in the user's state. It has refs of its own and
the repository's objects. The URL is read once, before an agent starts, and of the settings only the user's and the
machine's count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from samuel.base.errors import SamuelError
from samuel.base.printable import safe, shell_word
from samuel.files import atomic
from samuel.git import settings as git_settings
from samuel.git.git import Git, GitFailed
from samuel.git.hardening import NOT_FOUND, configured, git_program, path_outside
from samuel.git.own_index import lay_out_git_directory
from samuel.process import spawn
from samuel.process.environment import clean

LONGEST_USER = 39  # characters
TIMEOUT = 900.0  # of one transfer
DELETED_AT_ONCE = 200  # refs: a command line has its limits
CREDENTIALS = ("SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "fetch.recurseSubmodules": "false",
    "push.recurseSubmodules": "no",
    "push.gpgSign": "false",
    "push.followTags": "false",
    "submodule.recurse": "false",
    "fetch.writeCommitGraph": "false",
    "transfer.bundleURI": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "color.ui": "false",
}
VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_PASSWORD = re.compile(r"(\w[\w+.-]*://)[^/@\s]*@")
_REFUSED = ("[rejected]", "[remote rejected]")


class TransferFailed(SamuelError):
    """The remote could not be reached, or the transfer broke off. Trying again may help."""


class PushRefused(SamuelError):
    """The remote was reached and refused a ref. Trying again does not help."""


class RefMissing(SamuelError):
    """The remote was reached and does not have a ref. Trying again does not help."""


class RemoteName(NamedTuple):
    """A remote of a repository."""

    name: str
    url: str


def without_password(url: str) -> str:
    """The URL without its password; a user's name alone stays, which `ssh://git@host/x` needs."""
    parts = urlsplit(url)
    if not parts.scheme or "@" not in parts.netloc:
        return url
    user, _, host = parts.netloc.rpartition("@")
    user, colon, _ = user.partition(":")
    if parts.scheme.startswith("http") and not colon and len(user) > LONGEST_USER:
        user = ""  # a token in the place of a name
    return urlunsplit(parts._replace(netloc=f"{user}@{host}" if user else host))


def remote_of(git: Git, name: str) -> RemoteName:
    """The remote of this name. Raises SamuelError if there is none, or if its URL holds a password.

    Git shows the URL to everybody who can list processes.
    """
    where = f"`{safe(str(git.root))}`"
    url = git_settings.value_of(git.settings(), f"remote.{name}.url")
    if not url:
        raise SamuelError(
            f"the repository at {where} has no remote `{name}`", f"`git remote add {shell_word(name)} URL` adds it"
        )
    if without_password(url) != url:
        raise SamuelError(
            f"the URL of the remote `{name}` at {where} holds a password",
            "give git a credential helper, and the remote a URL without the password",
        )
    return RemoteName(name, url)


def is_shallow(git: Git) -> bool:
    return git.run("rev-parse", "--is-shallow-repository").decode().strip() == "true"


class RemoteRepository:
    """One remote, with the objects of the repository of `git`; `directory` has refs of Samuel's own."""

    def __init__(self, git: Git, directory: Path, url: str) -> None:
        self._git = git
        self._directory = directory
        self._url = url
        self._is_prepared = False

    def push(self, refspecs: Sequence[str], timeout: float = TIMEOUT) -> None:
        """Push these. Raises TransferFailed, or PushRefused if the remote does not take one of them."""
        self._push((), refspecs, timeout)

    def create(self, refs: Mapping[str, str], timeout: float = TIMEOUT) -> None:
        """Create these refs (name: commit), none of which may exist with another commit. Raises as `push` does."""
        leases = [f"--force-with-lease={ref}:" for ref in refs]
        try:
            self._push(leases, [f"{commit}:{ref}" for ref, commit in refs.items()], timeout)
        except PushRefused:
            if self.refs(*refs) != dict(refs):  # a push whose answer was lost is repeated
                raise

    def delete(self, refs: Mapping[str, str], timeout: float = TIMEOUT) -> None:
        """Remove these refs (name: commit), each unless it has another commit by now. Raises as `push` does."""
        names = list(refs)
        for start in range(0, len(names), DELETED_AT_ONCE):
            some = names[start : start + DELETED_AT_ONCE]
            leases = [f"--force-with-lease={ref}:{refs[ref]}" for ref in some]
            self._push(leases, [f":{ref}" for ref in some], timeout)

    def _push(self, options: Sequence[str], refspecs: Sequence[str], timeout: float) -> None:
        self._call(["push", "--porcelain", "--no-verify", "--quiet", *options, self._url, *refspecs], timeout)

    def fetch(self, refspecs: Sequence[str], timeout: float = TIMEOUT) -> None:
        """Fetch these: the objects into the repository, the refs into Samuel's own git directory."""
        options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-gc")
        self._call(["fetch", *options, self._url, *refspecs], timeout)

    def fetched(self, ref: str) -> str:
        """Fetch one ref of the remote; gives its commit. Raises TransferFailed."""
        self.fetch([f"+{ref}:{ref}"])
        return self._call(["rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"], 60.0).decode().strip()

    def refs(self, *patterns: str, timeout: float = 60.0) -> dict[str, str]:
        """The refs of the remote that match these patterns, by name. Raises TransferFailed."""
        output = self._call(["ls-remote", "--quiet", self._url, *patterns], timeout).decode(errors="replace")
        pairs = (line.split("\t", 1) for line in output.splitlines() if "\t" in line)
        return {name: commit for commit, name in pairs}

    def forget(self, prefixes: Sequence[str]) -> None:
        """Remove the refs below these that earlier transfers left in Samuel's own git directory."""
        names = self._call(["for-each-ref", "--format=%(refname)", *prefixes], 60.0).decode().split()
        for name in names if prefixes else ():
            self._call(["update-ref", "-d", name], 60.0)

    def knows(self, commit: str) -> None:
        """Let the next transfers build on a commit that the repository has."""
        self._prepare()
        if re.fullmatch(r"[0-9a-f]{40,64}", commit):
            atomic.write_text(self._directory / "refs/heads/here", f"{commit}\n", 0o600, durable=False)

    def _call(self, arguments: list[str], timeout: float) -> bytes:
        self._prepare()
        location = self._git.location()
        env = clean(VARIABLES, pass_names=CREDENTIALS)
        env |= {
            "PATH": path_outside(env, location.top),
            "GIT_DIR": str(self._directory),
            "GIT_OBJECT_DIRECTORY": str(location.shared / "objects"),
            **configured(SETTINGS),
        }
        program = git_program(env, location.top)
        if not program:
            raise GitFailed(NOT_FOUND, "install it, or put it on PATH")
        done = spawn.run([program, "--no-pager", *arguments], cwd=str(self._directory), env=env, timeout=timeout)
        if done.ended == "exited" and done.returncode == 0:
            return done.stdout
        output = (done.stdout + b"\n" + done.stderr).decode(errors="replace")
        why = f"stopped after {timeout:g}s" if done.ended == "timed_out" else done.why or _last_lines(output)
        what = f"`git {arguments[0]}` with `{safe(without_password(self._url))}` failed: {why}"
        if arguments[0] == "push" and any(mark in output for mark in _REFUSED):
            raise PushRefused(what, "look at the rules of the remote: Samuel needs to push to `refs/samuel/*`")
        if "couldn't find remote ref" in output:
            raise RefMissing(what)
        raise TransferFailed(what, "try the same by hand; git cannot ask for a password here")

    def _prepare(self) -> None:
        if self._is_prepared:
            return
        object_format = git_settings.value_of(self._git.settings(), "extensions.objectformat")
        lay_out_git_directory(self._directory, object_format, {}, bare=True)
        for name in ("refs/heads", "objects"):
            (self._directory / name).mkdir(exist_ok=True)
        self._is_prepared = True


def _last_lines(output: str) -> str:
    """The end of what git printed, without passwords: it repeats the URL."""
    lines = [line.strip() for line in _PASSWORD.sub(r"\1", output).splitlines() if line.strip()]
    return safe("; ".join(lines[-4:])) or "it gave no reason"
