"""`[capabilities]` of a manifest: what a plugin asks for. Which values are allowed depends on its kind.

`--grant env=TOKEN` gives a plugin without a manifest the same, under the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from samuel.base.errors import UsageError
from samuel.base.printable import shorten
from samuel.config import kinds
from samuel.config.reader import ConfigTable, ProblemReport
from samuel.confine.walls.places import PROTECTED
from samuel.files.toml.lines import toml_lines
from samuel.hooks.capability import ENV, EXEC, NETWORK, READ, WRITE, Capabilities, covers
from samuel.plugins import manifest_capabilities
from samuel.plugins.model import SKILL, WASM

FILESYSTEM, OUTBOUND = "filesystem", "outbound"
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?")
LISTED, PLAIN = (READ, WRITE, ENV), (EXEC, NETWORK)


def read(table: ConfigTable, kind: str) -> Capabilities:
    """The capabilities in the table. A key may be quoted or dotted: TOML can write `filesystem.read` both ways."""
    filesystem = table.table(FILESYSTEM)
    return Capabilities(
        read=_listed(table, filesystem, READ, _readable),
        write=_listed(table, filesystem, WRITE, _writable),
        exec=table.take(EXEC, kinds.flag, False),
        network=_network(table, kind),
        env=table.take(ENV, kinds.variables, ()),
    )


def _listed(
    table: ConfigTable, filesystem: ConfigTable, name: str, kind: Callable[[object], tuple[str, ...]]
) -> tuple[str, ...]:
    inner = name.removeprefix(f"{FILESYSTEM}.")
    quoted, dotted = table.take(name, kind, ()), filesystem.take(inner, kind, ())
    if name in table and inner in filesystem:
        table.refuse(name, f"`{name}` is given twice", "keep one of the two")
    return quoted or dotted


def _network(table: ConfigTable, kind: str) -> bool | tuple[str, ...]:
    alias = f"{NETWORK}.{OUTBOUND}"
    dotted = isinstance(table.take(NETWORK, kinds.any_value, None), dict)
    places = [(table.table(NETWORK), OUTBOUND) if dotted else (table, NETWORK), (table, alias)]
    values = [
        place.take(key, _hosts if kind == WASM else _yes_or_no, False) for place, key in places if key in place
    ]
    if len(values) > 1:
        table.refuse(alias, f"`{NETWORK}` is given twice", "keep one of the two")
    return values[0] if values else False


def _yes_or_no(value: object) -> bool:
    if isinstance(value, list):
        raise ValueError("must be true or false: only a module can be held to a list of hosts")
    return kinds.flag(value)


def _hosts(value: object) -> bool | tuple[str, ...]:
    if value is False:
        return False
    if value is True:
        raise ValueError('must list the hosts a module may reach, like ["api.example.com"]')
    listed = tuple(host.lower() for host in kinds.names(value))
    for host in listed:
        if not _HOST.fullmatch(host):
            raise ValueError(f"must list host names like `api.example.com`, not `{shorten(host)}`")
    return listed


def _readable(value: object) -> tuple[str, ...]:
    listed = kinds.names(value)
    for path in listed:
        _check_inside(path)
    return listed


def _writable(value: object) -> tuple[str, ...]:
    listed = _readable(value)
    for path in listed:
        # Some file systems take `.GIT` for `.git`, and a repository may be inside another.
        plain = path.casefold()
        if ".git" in plain.split("/") or covers(PROTECTED, plain):
            raise ValueError(f"must not list `{shorten(path)}`: it decides what runs here")
    return listed


def _check_inside(path: str) -> None:
    if path == ".":
        return
    if "*" in path:
        raise ValueError(f"must not list patterns like `{shorten(path)}`: a directory includes everything in it")
    names = path.removesuffix("/").split("/")
    if path.startswith("~") or any(name in ("", ".", "..") for name in names):
        raise ValueError(f"must list paths inside the project, like `src/data`, not `{shorten(path)}`")


def granted(texts: Sequence[str]) -> Capabilities:
    """The capabilities, under the same rules as in a manifest. Raises UsageError or ConfigError."""
    listed: dict[str, list[str]] = {}
    plain: dict[str, bool] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if name in PLAIN and not equals:
            plain[name] = True
        elif name in LISTED and value:
            listed.setdefault(name, []).extend(value.split(","))
        else:
            valid = [*(f"`{name}=VALUE`" for name in LISTED), *(f"`{name}`" for name in PLAIN)]
            raise UsageError(f"`--grant {text}` is not a capability", f"use one of {', '.join(valid)}")
    report = ProblemReport(Path("--grant"), toml_lines(""))
    capabilities = manifest_capabilities.read(report.read({**listed, **plain}), SKILL)
    report.finish()
    return capabilities
