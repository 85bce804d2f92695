"""Which handler of a plugin is bound to which event, in all forms that a manifest may use.

[hooks]                                   "context.extra" = "function", a table with `handler`, or an array
[provides] hooks = [...] and [hook.name]  a list of events, each bound by a table of its own or by any other form
[wasm.hook_handlers] [oci.hook_handlers]  like [hooks]

That the handlers exist in the plugin is checked without running or importing anything.
"""

from __future__ import annotations

import keyword
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from samuel.base.errors import UnknownEvent
from samuel.base.printable import shorten
from samuel.config import kinds
from samuel.config.reader import ConfigTable
from samuel.events import event_type
from samuel.events.names import ALL, canonical
from samuel.files.inside import is_inside
from samuel.files.toml.lines import dotted
from samuel.hooks.handler import BACKGROUND_HINT, HandlerMode, Role, background_refusal, declared_mode
from samuel.plugins.model import OCI, PYTHON, SKILL, WASM, Binding

MAX_BINDINGS = 1_000
HANDLER = "handler"
_SUBCOMMAND = re.compile(r"[a-z0-9][a-z0-9_.-]*", re.IGNORECASE)


class BoundHandler(NamedTuple):
    binding: Binding
    table: ConfigTable  # its table in the manifest, for problems with their line

    def refuse(self, what: str, hint: str = "") -> None:
        self.table.refuse(HANDLER, what, hint)


def read(top: ConfigTable, tier: ConfigTable | None, *, has_files: bool) -> list[BoundHandler]:
    """Every binding, in the order of the forms above. `has_files`: there are executables in `hooks/`.

    Only these executables declare their events, so with them a provided event need not be bound in the manifest.
    """
    provides, hook = top.table("provides"), top.table("hook")
    tables = [top.table("hooks"), hook, *([tier.table("hook_handlers")] if tier else ())]
    count = sum(_count(table) for table in tables)
    if count > MAX_BINDINGS:  # before anything is read: each could be a problem of its own
        top.refuse("hooks", f"it binds {count} handlers; at most {MAX_BINDINGS} are allowed")
        return []
    provided = _provided(provides)
    bindings = [(table, bound) for table in tables for bound in _bindings(table)]
    bound_events = {bound.binding.event for _, bound in bindings}
    for event, spelling in provided.items():
        if event not in bound_events and not has_files:
            hint = f'for example: [hooks] "{event}" = "..."'
            provides.refuse("hooks", f"`{spelling}` is provided, but no handler is bound to it", hint)
    for table, bound in bindings:
        if table is hook and bound.binding.event not in provided:
            event = bound.binding.event
            bound.refuse(f"`[provides] hooks` does not name `{event}`", f'add "{event}" to it')
    _refuse_twice(bound for _, bound in bindings)
    return [bound for _, bound in bindings]


def _count(table: ConfigTable) -> int:
    values = (table.take(key, kinds.any_value, None) for key in table)
    return sum(len(value) if isinstance(value, list) else 1 for value in values)


def _provided(table: ConfigTable) -> dict[str, str]:
    """The provided events, each with its spelling in the manifest."""
    listed = table.take("hooks", kinds.names, ())
    if len(listed) > MAX_BINDINGS:
        table.refuse("hooks", f"it provides {len(listed)} hooks; at most {MAX_BINDINGS} are allowed")
        return {}
    spelling_of: dict[str, str] = {}
    for spelling in listed:
        try:
            event = canonical(shorten(spelling))
        except UnknownEvent as error:
            table.refuse("hooks", error.message, error.hint)
            continue
        if event in spelling_of:
            table.refuse(
                "hooks", f"`{spelling}` is the same event as `{spelling_of[event]}`", "keep one of the two"
            )
        spelling_of[event] = spelling
    return spelling_of


def _bindings(table: ConfigTable) -> Iterator[BoundHandler]:
    for spelling in table:
        try:
            event = canonical(shorten(spelling))
        except UnknownEvent as error:
            _refuse_event(table, spelling, error)
            continue
        for binding_table in _forms(table, spelling):
            yield BoundHandler(_binding(event, binding_table), binding_table)


def _refuse_event(table: ConfigTable, spelling: str, error: UnknownEvent) -> None:
    # `context.extra = "function"` without quotes is a common mistake: in TOML it is a table `context`.
    inner = table.take(spelling, kinds.any_value, None)
    slips = [f"{spelling}.{key}" for key in inner if f"{spelling}.{key}" in ALL] if isinstance(inner, dict) else []
    for event in slips:
        table.refuse(spelling, f"`{event}` needs quotes", f"write `{dotted((*table.path, event))}`")
    if not slips:
        table.refuse(spelling, error.message, error.hint)


def _form(value: object) -> str | list[object] | dict[str, object]:
    if not isinstance(value, (str, list, dict)):
        raise ValueError(f"must be a handler, a table with `{HANDLER}` or an array, not {kinds.type_name(value)}")
    return value


def _forms(table: ConfigTable, key: str) -> Iterator[ConfigTable]:
    """Each handler at `key` as a table."""
    value = table.take(key, _form, [])
    if isinstance(value, dict):
        yield table.table(key)
        return
    for index, item in enumerate([value] if isinstance(value, str) else value):
        values: object = {HANDLER: item} if isinstance(item, str) else item
        if isinstance(values, dict):
            yield table.entry(key, index, values)
        else:
            what = f"must be a string or a table, not {kinds.type_name(item)}"
            table.refuse(key, f"item {index + 1} of `{shorten(key)}` {what}")


def _binding(event: str, table: ConfigTable) -> Binding:
    entry = table.take(HANDLER, kinds.name, "")
    if HANDLER not in table:
        table.refuse(HANDLER, f"the binding of `{event}` has no `{HANDLER}`")
    role = table.take("role", kinds.one_of(*Role), None)
    mode = table.take("mode", partial(declared_mode, event=event_type(event)), HandlerMode.ENFORCE)
    strict = table.take("strict", kinds.flag, None)
    background = table.take("background", kinds.flag, False)
    refusal = background_refusal(event_type(event), Role(role) if role else None, strict=strict)
    if background and refusal:
        table.refuse("background", refusal, BACKGROUND_HINT)
    return Binding(
        event=event,
        entry=entry,
        order=table.take("order", kinds.integer, None),
        strict=strict,
        timeout=table.take("timeout", kinds.timeout, None),
        serial=table.take("serial", kinds.flag, False),
        background=background,
        role=Role(role) if role else None,
        mode=mode,
        line=table.line(),
    )


def _refuse_twice(bindings: Iterable[BoundHandler]) -> None:
    first_of: dict[tuple[str, str], Binding] = {}
    for bound in bindings:
        binding = bound.binding
        first = first_of.setdefault((binding.event, binding.entry), binding)
        if binding.entry and first is not binding:
            what = f"`{binding.entry}` is bound to `{binding.event}` twice, first on line {first.line}"
            bound.refuse(what, "keep one of the two")


def check(directory: Path, kind: str, bound: BoundHandler) -> None:
    """Report a problem with a binding whose handler does not exist or does not suit the plugin's kind."""
    if bound.binding.entry and kind in _CHECKS and (why := _CHECKS[kind](directory, bound.binding.entry)):
        bound.refuse(why)


def file_problem(directory: Path, path: str) -> str:
    """Why `path` is not a file of the plugin; "" if it is one. A link must stay inside."""
    if any(name in ("", ".", "..") for name in path.split("/")):
        return f"`{shorten(path)}` must be a path inside the plugin, like `scripts/check`"
    file = directory / path
    if not os.path.lexists(file):
        return f"`{shorten(path)}` does not exist in the plugin"
    if not is_inside(file, directory):
        return f"`{shorten(path)}` is a link that leaves the plugin"
    try:
        mode = os.stat(file).st_mode
    except OSError as error:
        return f"`{shorten(path)}` cannot be read: {error.strerror}"
    return "" if stat.S_ISREG(mode) else f"`{shorten(path)}` is not a regular file"


def _script(directory: Path, entry: str) -> str:
    if why := file_problem(directory, entry):
        return why
    executable = os.stat(directory / entry).st_mode & 0o111
    return "" if executable else f"`{shorten(entry)}` is not executable; run `chmod +x` on it"


def _function(directory: Path, entry: str) -> str:
    """`function`, of the plugin's module, or `file.py:function`."""
    file, colon, name = entry.rpartition(":")
    if not name.isidentifier() or keyword.iskeyword(name):
        return f"`{shorten(entry)}` must name a function: `function`, or `file.py:function`"
    if not colon:
        return ""
    return file_problem(directory, file) if file.endswith(".py") else f"`{shorten(file)}` must be a `.py` file"


def _export(directory: Path, entry: str) -> str:
    return f"`{shorten(entry)}` cannot name an export: it has spaces" if " " in entry else ""


def _subcommand(directory: Path, entry: str) -> str:
    if _SUBCOMMAND.fullmatch(entry):
        return ""
    return f"`{shorten(entry)}` cannot be a subcommand: use letters, digits, `-`, `_` and `.`"


_CHECKS: Mapping[str, Callable[[Path, str], str]] = MappingProxyType(
    {SKILL: _script, PYTHON: _function, WASM: _export, OCI: _subcommand}
)
