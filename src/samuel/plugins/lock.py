"""samuel.lock: the exact plugins of a project. It says what to install; it is not an agreement to run them."""

from __future__ import annotations

import errno
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from samuel.base.decoding import convert
from samuel.base.errors import ConfigError, Problem
from samuel.files import atomic
from samuel.files.regular import read_regular
from samuel.hooks.capability import NOTHING, Capabilities
from samuel.hooks.handler import Role

if TYPE_CHECKING:
    from tomlkit.items import InlineTable

VERSION = 1
HEAD = "Written by `samuel plugin`. Commit it: `samuel plugin install` gives every clone the same plugins."
MOST = 4 * 1024 * 1024


class LockedHook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One handler of a plugin, as it was found when the plugin was installed."""

    event: str
    name: str
    order: int | None = None
    role: Role | None = None


class LockedPlugin(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    name: str  # org/repo: the directory's name with `/` for `@`
    source: str  # a git URL, or a path relative to the project
    ref: str = ""  # the requested branch, tag or commit; "" for the default branch
    commit: str = ""  # "" for a plain directory
    digest: str = ""  # of the installed content; "" for a linked plugin
    link: bool = False
    capabilities: Capabilities = NOTHING  # granted
    image: str = ""  # oci: `name@sha256:...`, or the id of an image built here
    python: tuple[str, ...] = ()  # the packages of its environment: `name==version`
    hooks: tuple[LockedHook, ...] | None = None  # its hooks and their events; None if they are not known


class _File(msgspec.Struct, forbid_unknown_fields=True):
    version: int = VERSION
    plugin: tuple[LockedPlugin, ...] = ()


def read(file: Path) -> dict[str, LockedPlugin]:
    """The entries by name; none if there is no such file. Raises ConfigError."""
    try:
        text = read_regular(file, MOST + 1, follow=False)
    except FileNotFoundError:
        return {}
    except OSError as error:
        is_link = error.errno == errno.ELOOP
        raise _refusal(file, "the file is a symbolic link" if is_link else str(error.strerror)) from None
    if len(text) > MOST:
        raise _refusal(file, f"larger than {MOST} bytes")
    try:
        lock_file = convert(tomllib.loads(text.decode()), _File)
    except tomllib.TOMLDecodeError as error:
        from samuel.files.toml.syntax import syntax_problem  # only for people who have to look at the file

        what, line, _ = syntax_problem(error, text.decode())
        raise _refusal(file, what, line) from None
    except (UnicodeDecodeError, RecursionError, msgspec.ValidationError) as error:
        from samuel.events.explain import explained  # only for a file that is wrong

        raise _refusal(file, explained(error)) from None
    if lock_file.version != VERSION:
        raise _refusal(file, f"version {lock_file.version}; this Samuel reads version {VERSION}")
    entries = {entry.name: entry for entry in lock_file.plugin}
    if len(entries) < len(lock_file.plugin):  # as a merge may leave it
        duplicate = next(name for name in entries if sum(entry.name == name for entry in lock_file.plugin) > 1)
        raise _refusal(file, f"it names `{duplicate}` twice")
    return entries


def write(file: Path, entries: Mapping[str, LockedPlugin]) -> None:
    """Write all entries, sorted by name, so that two machines write the same file."""
    import tomlkit  # slow to import, and every start reads the lock

    document = tomlkit.document()
    document.add(tomlkit.comment(HEAD))
    document["version"] = VERSION
    plugins = tomlkit.aot()
    for name in sorted(entries):
        table = tomlkit.table()
        for key, value in msgspec.to_builtins(entries[name], str_keys=True).items():
            if isinstance(value, dict):
                value = _inline(value)
            elif key == "hooks":
                rows = tomlkit.array()
                for hook in value:
                    rows.add_line(_inline(hook))
                value = rows.multiline(bool(value))
            table[key] = value
        plugins.append(table)
    if entries:
        document.add(tomlkit.nl())
        document["plugin"] = plugins
    file.parent.mkdir(parents=True, exist_ok=True)
    atomic.write_text(file, document.as_string())


def _inline(values: Mapping[str, Any]) -> InlineTable:
    import tomlkit

    inline = tomlkit.inline_table()
    inline.update(values)
    return inline


def _refusal(file: Path, what: str, line: int = 0) -> ConfigError:
    hint = "it is written by `samuel plugin`; restore it from version control, or add the plugins again"
    return ConfigError([Problem(f"cannot be read: {what}", str(file), line, hint)])
