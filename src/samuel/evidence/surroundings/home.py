"""The HOME that checks get on a machine where agents can write into their user's.

It is a directory of links to what the user's own HOME has, with copies of the files that programs read when they
start: `.gitconfig`, `.npmrc`, `.bashrc`, `.cargo/config.toml`, `.m2/settings.xml`, the modules and `.pth` files of
Python's user site. They are copied before the first agent. What is added to HOME later, is not in it. Stores and
toolchains (`.cargo/registry`, `.m2/repository`, `.rustup/toolchains`) are links, so programs work offline as ever.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from samuel.evidence.surroundings.copies import remove

LARGEST = 256 * 1024  # bytes of a settings file
# Directories that have settings beside stores and programs, and the names of the settings. All else in them are
# links, also locks, which must be the same for programs that use the store at the same time.
_SETTINGS: dict[str, frozenset[str]] = {
    ".config": frozenset(
        (
            *("git", "pip", "npm", "yarn", "pnpm", "uv", "ruff", "black", "pypoetry", "pycodestyle", "flake8"),
            *("cargo", "composer", "bundle", "fish", "jest", "mypy", "pylint", "pylintrc", "mise", "rtx"),
        )
    ),
    ".cargo": frozenset(("config", "config.toml", "env")),
    ".m2": frozenset(("settings.xml", "settings-security.xml", "toolchains.xml", "extensions.xml")),
    ".gradle": frozenset(("gradle.properties", "init.gradle", "init.gradle.kts", "init.d")),
    ".rustup": frozenset(("settings.toml",)),
    ".pyenv": frozenset(("version",)),
    ".bundle": frozenset(("config",)),
    ".composer": frozenset(("config.json", "composer.json")),
    ".pip": frozenset(("pip.conf",)),
    ".local": frozenset(),
    ".local/lib": frozenset(),
}
_USER_SITE = (".local", "lib", "python", "site-packages")
# Not settings: what shells remember, and secrets that no check needs.
_LINKED = frozenset(
    (
        *(".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".lesshst", ".viminfo"),
        *(".netrc", ".git-credentials", ".pypirc", ".Xauthority", ".ICEauthority"),
    )
)


class HomeContent(msgspec.Struct):
    """What a HOME for checks has in it, by path: where links lead, and files with their rights."""

    links: dict[str, bytes] = {}
    files: dict[str, tuple[int, bytes]] = {}


def read_home(home: Path) -> HomeContent:
    """What the user's HOME has now; nothing where there is no such directory."""
    content = HomeContent()
    if home.is_absolute() and home != Path("/"):
        _note(content, home, "")
    return content


def make_home(directory: Path, content: HomeContent) -> None:
    """Make the directory what was read, in the place of whatever is there."""
    remove(directory)
    directory.mkdir(parents=True, mode=0o700)
    for path, (mode, data) in content.files.items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_bytes(data)
        file.chmod(mode | stat.S_IWUSR)
    for path, target in content.links.items():
        link = directory / path
        link.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(os.fsdecode(target), link)


def home_variables(directory: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables that lead to this HOME and not to the user's; `variables` are those that checks would get."""
    old, new = variables["HOME"].rstrip("/"), str(directory)
    moved = {
        name: new + value[len(old) :]
        for name, value in variables.items()
        if name != "PATH" and value.startswith(f"{old}/.") and os.path.lexists(new + value[len(old) :])
    }
    moved["HOME"] = new
    if os.path.lexists(f"{new}/.m2"):  # Java asks the system where the user's home is
        moved["MAVEN_OPTS"] = f"{variables.get('MAVEN_OPTS', '')} -Duser.home={new}".strip()
    if os.path.lexists(f"{new}/.gradle"):
        moved.setdefault("GRADLE_USER_HOME", f"{new}/.gradle")
    return moved


def _note(content: HomeContent, directory: Path, prefix: str) -> None:
    for entry in _entries(directory):
        path = prefix + entry.name
        if entry.is_dir() and (path in _SETTINGS or _leads_to_user_site(path)):
            _note(content, Path(entry.path), f"{path}/")
        elif not _is_setting(prefix.rstrip("/"), entry):
            content.links[path] = os.fsencode(entry.path)
        elif entry.is_dir():
            _note_all(content, Path(entry.path), path)
        else:
            _note_file(content, entry, path)


def _is_setting(directory: str, entry: os.DirEntry[str]) -> bool:
    if directory in _SETTINGS:
        return entry.name in _SETTINGS[directory]
    if directory:  # the modules and start files of Python's user site
        return _is_small(entry)
    return entry.name.startswith(".") and entry.name not in _LINKED and _is_small(entry)


def _note_all(content: HomeContent, directory: Path, path: str) -> None:
    """Note a directory of settings with all that is in it."""
    for place, _, _ in os.walk(directory):
        inner = os.path.relpath(place, directory)
        prefix = f"{path}/" if inner == "." else f"{path}/{inner}/"
        for entry in _entries(Path(place)):
            if _is_small(entry):
                _note_file(content, entry, prefix + entry.name)


def _note_file(content: HomeContent, entry: os.DirEntry[str], path: str) -> None:
    try:
        content.files[path] = (stat.S_IMODE(entry.stat().st_mode), Path(entry.path).read_bytes())
    except OSError:  # the user cannot read it either
        return


def _entries(directory: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            yield from (entry for entry in entries if entry.name.isprintable())
    except OSError:
        return


def _is_small(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file() and entry.stat().st_size <= LARGEST
    except OSError:
        return False


def _leads_to_user_site(path: str) -> bool:
    """Whether this is `.local/lib/python3.x`, or the packages in it."""
    names = path.split("/")
    if not 3 <= len(names) <= len(_USER_SITE):
        return False
    return all(name.startswith(own) for name, own in zip(names, _USER_SITE, strict=False))
