"""What git knows of the project: what is committed and unchanged, which branches are pushed or shared."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samuel.git.git import Git

_STATUS = ("--porcelain=v1", "-z", "--no-renames", "--untracked-files=all")
TIMEOUT = 5.0
_DEFAULT_BRANCHES = ("main", "master", "trunk", "develop", "production", "release")


@lru_cache(maxsize=4)
def _git_at(root: str, environment: tuple[tuple[str, str], ...]) -> Git:
    """Git for a project; kept from call to call, because finding the repository takes several processes."""
    from samuel.git.git import Git  # only a rule about saved work needs it

    return Git(Path(root), dict(environment))


class GuardedWorkTree:
    """The repository that the project is in. Every question starts git, and only when a rule asks it."""

    def __init__(self, root: str, environment: Mapping[str, str]) -> None:
        self._root = root
        self._environment = environment

    @cached_property
    def _git(self) -> Git | None:
        git = _git_at(self._root, tuple(sorted(self._environment.items())))
        return git if git.is_repository else None

    def _ask(self, *args: str) -> str | None:
        """What git prints; None where it fails or where there is no repository."""
        from samuel.git.git import GitFailed  # likewise

        try:
            return self._git.run(*args, timeout=TIMEOUT).decode("utf-8", "replace") if self._git else None
        except GitFailed:
            return None

    def unsaved(self, paths: Sequence[str], *, ignored: bool = True) -> list[str] | None:
        """The paths at or below `paths` that git cannot bring back; None if that is not known."""
        options = [*_STATUS, *(["--ignored=matching"] if ignored else [])]
        output = self._ask("status", *options, "--", *(f":(literal){path}" for path in paths))
        if output is None:
            return None
        top = str(self._git.top) if self._git else self._root
        return [os.path.join(top, entry[3:].rstrip("/")) for entry in output.split("\0") if entry[3:]]

    def changes(self, paths: Sequence[str] = ()) -> list[str] | None:
        """Tracked files that differ from the last commit and are not just deleted; None if that is not known."""
        output = self._ask("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no", "--", *paths)
        if output is None:
            return None
        return [entry[3:] for entry in output.split("\0") if entry[3:] and entry[:2] not in (" D", "D ")]

    def has_untracked(self, *, ignored: bool) -> bool:
        options = ["--ignored=matching"] if ignored else []
        output = self._ask("status", "--porcelain=v1", "-z", "--untracked-files=normal", *options)
        return output is None or any(entry.startswith(("??", "!!")) for entry in output.split("\0"))

    @cached_property
    def branch(self) -> str:
        return (self._ask("symbolic-ref", "--quiet", "--short", "HEAD") or "").strip()

    @cached_property
    def default_branch(self) -> str:
        """The branch that the remote calls its default; empty if that is not known."""
        output = self._ask("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD") or ""
        return output.strip().partition("/")[2]

    def is_shared(self, branch: str) -> bool:
        """Whether others use the branch: the default branch, or one with commits of others."""
        if not branch or branch == self.default_branch or branch in _DEFAULT_BRANCHES:
            return True
        own = (self._ask("config", "user.email") or "").strip()
        base = self.default_branch or "main"
        authors = self._ask("log", "--format=%ae", f"refs/remotes/origin/{branch}", f"^refs/remotes/origin/{base}")
        if authors is None:
            return False  # not pushed yet
        return any(author != own for author in authors.split())

    def is_merged(self, branch: str) -> bool:
        """Whether every commit of the branch is on another branch too."""
        ref = f"refs/heads/{branch}"
        others = self._ask(
            "for-each-ref", "--format=%(refname)", f"--contains={ref}", "refs/heads", "refs/remotes"
        )
        return others is not None and any(line != ref for line in others.split())

    def is_pushed(self, revision: str = "HEAD") -> bool:
        """Whether a commit is on a remote-tracking branch."""
        output = self._ask("for-each-ref", "--count=1", "--format=x", f"--contains={revision}", "refs/remotes")
        return bool(output and output.strip())

    def rewrites_pushed(self, base: str) -> bool:
        """Whether a commit between `base` and HEAD was pushed, other than those that the base has too."""
        oldest = self._ask("rev-list", "--reverse", "--max-count=1000", f"{base}..HEAD")
        if oldest is None:
            return False  # git refuses such a base, too
        commits = oldest.split()
        return bool(commits) and self.is_pushed(commits[0])

    def is_tracked(self, path: str) -> bool:
        """Whether git has the path, or something in it, in its index."""
        return bool(self._ask("ls-files", "-z", "--", f":(literal){path}"))

    def exists(self, branch: str) -> bool:
        return self._ask("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}") is not None

    def alias(self, name: str) -> str:
        """What an alias of git stands for; empty if there is none."""
        return (self._ask("config", "--get", f"alias.{name}") or "").strip()
