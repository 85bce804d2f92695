"""Git's configuration as a list, and what in it leads git to other files: hooks, includes, programs.

A program that can write one of those files decides what the next git command runs, as if it had written the
configuration itself.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

# Programs that plain commands (status, add, commit, diff, log, fetch, merge) start by themselves. An alias or a
# difftool is left out: it runs when its owner asks for it by name, like any script of the project.
_PROGRAM = re.compile(
    r"core\.(fsmonitor|sshcommand|gitproxy|askpass|editor|pager|alternaterefscommand)|sequence\.editor"
    r"|pager\..+|interactive\.difffilter|diff\.external|diff\..+\.(command|textconv)|merge\..+\.driver"
    r"|filter\..+\.(clean|smudge|process)|gpg\.(.+\.)?program|gpg\.ssh\.defaultkeycommand"
    r"|credential\.(.+\.)?helper|trailer\..+\.(cmd|command)|gc\.recentobjectshook|uploadpack\.packobjectshook"
    r"|remote\..+\.(uploadpack|receivepack)|submodule\..+\.update"
)
_INCLUDE = re.compile(r"include\.path|includeif\..+\.path")

# These run what the working directory says: which file that is cannot be told from the command.
_RUNNERS = frozenset(
    (
        *("npx", "npm", "pnpm", "yarn", "bunx", "make", "just", "rake", "bundle", "poetry", "pipenv", "pdm"),
        *("uv", "uvx", "hatch", "tox", "nox", "cargo", "go", "deno", "gradle", "mvn", "bun", "dotnet", "composer"),
        *("eslint", "prettier", "stylelint", "standard", "tsx", "ts-node", "lint-staged", "pre-commit"),
        *("mise", "asdf", "direnv", "nix", "nix-shell", "nix-run", "ansible-vault", "mix", "sbt", "cd", "pushd"),
    )
)
# With an option these may take code from the working directory: `python -m`, `ruby -r`, `node --import`.
_INTERPRETER = re.compile(r"(python|pypy|node|nodejs|ruby|perl|php|lua|tclsh|java|Rscript)[0-9.]*")
_ISOLATED = re.compile(r"-[IPEsSBuO]+")
_UNKNOWN = re.compile(r"`|\$[({A-Za-z_]")  # only a shell knows what this becomes


LISTING = ("--list", "--show-scope", "--show-origin", "-z")
"""The options of `git config` for what `parse` reads."""


class GitSetting(NamedTuple):
    scope: str
    """Whose it is: `system`, `global` (the user's), `local` or `worktree` (the repository's)."""
    origin: str
    """The file it stands in, as git has it; "" for none."""
    key: str
    """Section and name in lower case, the part between them as written."""
    value: str


def parse(output: bytes) -> list[GitSetting]:
    """What `git config` printed with `LISTING`, without what we passed ourselves."""
    fields = [os.fsdecode(field) for field in output.split(b"\0")[:-1]]
    settings = []
    for scope, origin, entry in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        key, _, value = entry.partition("\n")
        if origin.startswith("file:"):
            settings.append(GitSetting(scope, origin[5:], key, value))
    return settings


def expanded(value: str, home: str) -> str:
    """A path as git reads it from a configuration: `~` is the home."""
    return home + value[1:] if value == "~" or value.startswith("~/") else value


def value_of(settings: Iterable[GitSetting], key: str) -> str:
    """The value of a key, by its last setting; "" if it is not set."""
    return next((setting.value for setting in reversed(list(settings)) if setting.key == key), "")


def is_include(key: str) -> bool:
    """Whether the value of a key is a file with more settings."""
    return _INCLUDE.fullmatch(key.lower()) is not None


def include_targets(settings: Iterable[GitSetting], home: str) -> list[str]:
    """The files that are included, or would be under a condition, whether they exist or not."""
    return [
        os.path.join(os.path.dirname(setting.origin), expanded(setting.value, home))
        for setting in settings
        if is_include(setting.key) and setting.value
    ]


def program_settings(settings: Iterable[GitSetting]) -> list[GitSetting]:
    """The settings whose value is a command that git starts by itself."""
    return [setting for setting in settings if _PROGRAM.fullmatch(setting.key.lower()) and setting.value]


def files_named(command: str, top: Path, home: str) -> Iterator[str]:
    """The existing files that a command line names, as absolute paths. It runs at the top of the work tree."""
    for word in _words(command):
        path = os.path.join(top, expanded(word, home))
        if os.path.lexists(path):
            yield os.path.normpath(path)


def runs_something_of(places: Sequence[Path], command: str, top: Path, home: str) -> str:
    """The word by which a command runs something below one of `places`, or may do so; "" when none does."""
    if expansion := _UNKNOWN.search(command):
        return expansion[0]
    words = _words(command)
    runner = next((word for word in words if os.path.basename(word) in _RUNNERS), "") or _code_option(words)
    return runner or next((path for path in files_named(command, top, home) if _is_below(path, places)), "")


def _code_option(words: Sequence[str]) -> str:
    """The option by which an interpreter may load something by a name that is not a path; "" for none."""
    for position, word in enumerate(words):
        if _INTERPRETER.fullmatch(os.path.basename(word)):
            # What follows the program's own file is that program's.
            for option in words[position + 1 :]:
                if not option.startswith("-"):
                    break
                if not _ISOLATED.fullmatch(option):
                    return option
    return ""


def hooks_beside(directory: Path) -> Path:
    """All that hooks in a directory are made of. Those that husky generates in `_` run what lies beside it."""
    return directory.parent if directory.name == "_" else directory


def filters(settings: Iterable[GitSetting]) -> Mapping[str, list[GitSetting]]:
    """Each filter driver's commands that are run when a file is added."""
    drivers: dict[str, list[GitSetting]] = {}
    for setting in settings:
        section, _, rest = setting.key.partition(".")
        name, _, variable = rest.rpartition(".")
        if section == "filter":
            drivers.setdefault(name, [])
            if variable in ("clean", "process"):
                drivers[name].append(setting)
    return drivers


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command.lstrip("!"))
    except ValueError:
        words = command.split()
    # `--config=tools/x` names a file as well, so does `tools/x;`, and `sh -c 'sh tools/x'` holds another command.
    return [
        *words,
        *(part for word in words for part in re.split(r"[=;&|<>()\"'\s]", word) if part and part != word),
    ]


def _is_below(path: str, places: Sequence[Path]) -> bool:
    names = (Path(path), Path(os.path.realpath(path)))
    real_places = [Path(os.path.realpath(place)) for place in places]
    return any(name.is_relative_to(place) for name in names for place in (*places, *real_places))
