"""A commit, made as its owner set git up: with their filters and signature, and without hooks unless asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from samuel.base.printable import safe
from samuel.git import settings as git_settings
from samuel.git.git import Git, GitFailed
from samuel.git.hardening import without_filters
from samuel.git.settings import GitSetting

TIMEOUT = 600.0  # of hooks, if they run, as well

# What writes needs no monitor, no other repository, and nothing that is tidied up in the background.
WRITING = {
    "core.fsmonitor": "false",
    "submodule.recurse": "false",
    "safe.bareRepository": "explicit",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "color.ui": "false",
}


def commit_paths(
    git: Git,
    add: Sequence[str],
    paths: Sequence[str],
    message: str,
    *,
    hooks: Path | None = None,
    writable: Sequence[Path] = (),
) -> str:
    """Commit `paths` and nothing else, after taking `add` into the index; gives the commit.

    Filters and signatures are the owner's. No hook runs, unless `hooks` is a directory of them. Below
    `writable` lies what an agent behind a wall could change: a command of the configuration that runs
    something there is not started, and nothing is committed. Raises GitFailed.
    """
    git.location()  # raises GitFailed outside of a repository
    # Git also filters files that are not in the commit, to see whether they changed.
    off = without_filters(_refuse_programs_below(git, writable, paths)) if writable else {}
    if add:
        _write(git, ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"], add, hooks, off)
    verified = () if hooks else ("--no-verify",)
    names = ("--pathspec-from-file=-", "--pathspec-file-nul")  # more than a command line may hold
    _write(git, ["commit", "--quiet", *verified, "-m", message, *names], paths, hooks, off)
    return git.head()


def forget(git: Git, paths: Iterable[str]) -> None:
    """Let git look at these files again: without flags that hide a change, and whatever it knew of their times.

    Raises GitFailed.
    """
    prefix = git.location().prefix
    names = {prefix + os.fsencode(path) for path in paths}
    if not names:
        return
    entries = git.run("ls-files", "--stage", "--full-name", "-z").split(b"\0")
    tracked = [entry for entry in entries if b" 0\t" in entry and entry.partition(b"\t")[2] in names]
    if tracked:
        env = {**git.owner_environment, "GIT_TERMINAL_PROMPT": "0"}
        git.call(["update-index", "-z", "--index-info"], WRITING, stdin=b"\0".join(tracked) + b"\0", env=env)


def _refuse_programs_below(git: Git, places: Sequence[Path], paths: Sequence[str]) -> list[str]:
    """Raises GitFailed if a commit of `paths` runs something below `places`; gives all filters that would."""

    def runs(setting: GitSetting) -> str:
        return git_settings.runs_something_of(places, setting.value, git.top, git.home)

    settings = git.settings()
    attributes = git.call(["check-attr", "--stdin", "-z", "filter"], stdin=_names(paths)).split(b"\0")
    filter_names = {os.fsdecode(name) for name in attributes[2::3]}
    drivers = git_settings.filters(settings)
    commands = [setting for name in drivers.keys() & filter_names for setting in drivers[name]]
    if git_settings.value_of(settings, "commit.gpgsign").lower() not in ("", "false", "no", "off", "0"):
        commands += [item for item in git_settings.program_settings(settings) if item.key.startswith("gpg.")]
    for setting in commands:
        if word := runs(setting):
            raise GitFailed(
                f"`{safe(setting.key)}` runs `{safe(word)}`, which a sandboxed agent can change",
                "look at the changes and commit them yourself, or keep that program outside of the project",
            )
    return [name for name, lines in drivers.items() if any(map(runs, lines))]


def _write(git: Git, args: list[str], paths: Sequence[str], hooks: Path | None, off: Mapping[str, str]) -> None:
    off = {**WRITING, **off, "core.hooksPath": str(hooks or "/dev/null")}
    env = {**git.owner_environment, "GIT_LITERAL_PATHSPECS": "1", "GIT_TERMINAL_PROMPT": "0"}
    git.call(args, off, TIMEOUT, stdin=_names(paths), env=env)


def _names(paths: Sequence[str]) -> bytes:
    return b"\0".join(map(os.fsencode, paths))
