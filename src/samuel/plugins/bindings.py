"""Which handler of a plugin answers to which event: every form in which a manifest may say it.

[hooks]                                   "context.extra" = "function", a table with `handler`, or an array
[provides] hooks = [...] and [hook.name]  names first, each bound by a table of its own or by any other form
[wasm.hook_handlers] [oci.hook_handlers]  like [hooks]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from samuel.config import kinds
from samuel.config.keys import dotted
from samuel.config.reader import ConfigTable
from samuel.errors import UnknownEvent
from samuel.events.names import ALL, canonical
from samuel.hooks.handler import Role
from samuel.plugins.model import Binding
from samuel.printable import shorten

MOST = 1_000
HANDLER = "handler"


class Bound(NamedTuple):
    binding: Binding
    table: ConfigTable  # where it stands, to refuse it there

    def refuse(self, what: str, hint: str = "") -> None:
        self.table.refuse(HANDLER, what, hint)


def read(top: ConfigTable, tier: ConfigTable | None, *, has_files: bool) -> list[Bound]:
    """Every binding, in the order of the forms above. `has_files`: there are executables in `hooks/`.

    What those are for only they can say, so with them a provided name may be bound without a word about it here.
    """
    provides, hook = top.table("provides"), top.table("hook")
    tables = [top.table("hooks"), hook, *([tier.table("hook_handlers")] if tier else ())]
    count = sum(_count(table) for table in tables)
    if count > MOST:  # before anything is read: each could be a problem of its own
        top.refuse("hooks", f"it binds {count} handlers, and {MOST} are the most")
        return []
    provided = _provided(provides)
    found = [(table, bound) for table in tables for bound in _bindings(table)]
    bound_events = {bound.binding.event for _, bound in found}
    for event, spelling in provided.items():
        if event not in bound_events and not has_files:
            hint = f'for example: [hooks] "{event}" = "..."'
            provides.refuse("hooks", f"`{spelling}` is provided, but nothing is bound to it", hint)
    for table, bound in found:
        if table is hook and bound.binding.event not in provided:
            event = bound.binding.event
            bound.refuse(f"`[provides] hooks` does not name `{event}`", f'add "{event}" to it')
    _refuse_twice(bound for _, bound in found)
    return [bound for _, bound in found]


def _count(table: ConfigTable) -> int:
    values = (table.take(key, kinds.any_value, None) for key in table)
    return sum(len(value) if isinstance(value, list) else 1 for value in values)


def _provided(table: ConfigTable) -> dict[str, str]:
    """Event -> as it was spelled."""
    listed = table.take("hooks", kinds.names, ())
    if len(listed) > MOST:
        table.refuse("hooks", f"it provides {len(listed)} hooks, and {MOST} are the most")
        return {}
    found: dict[str, str] = {}
    for spelling in listed:
        try:
            event = canonical(shorten(spelling))
        except UnknownEvent as error:
            table.refuse("hooks", error.message, error.hint)
            continue
        if event in found:
            table.refuse("hooks", f"`{spelling}` is the same event as `{found[event]}`", "keep one of the two")
        found[event] = spelling
    return found


def _bindings(table: ConfigTable) -> Iterator[Bound]:
    for spelling in table:
        try:
            event = canonical(shorten(spelling))
        except UnknownEvent as error:
            _refuse_event(table, spelling, error)
            continue
        for one in _forms(table, spelling):
            yield Bound(_binding(event, one), one)


def _refuse_event(table: ConfigTable, spelling: str, error: UnknownEvent) -> None:
    # `context.extra = "function"` without quotes is an easy slip: to TOML it is a table `context`.
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
        one: object = {HANDLER: item} if isinstance(item, str) else item
        if isinstance(one, dict):
            yield table.entry(key, index, one)
        else:
            what = f"must be a string or a table, not {kinds.type_name(item)}"
            table.refuse(key, f"item {index + 1} of `{shorten(key)}` {what}")


def _binding(event: str, table: ConfigTable) -> Binding:
    entry = table.take(HANDLER, kinds.name, "")
    if HANDLER not in table:
        table.refuse(HANDLER, f"the binding of `{event}` has no `{HANDLER}`")
    role = table.take("role", kinds.one_of(*Role), None)
    return Binding(
        event=event,
        entry=entry,
        order=table.take("order", kinds.integer, None),
        strict=table.take("strict", kinds.flag, None),
        timeout=table.take("timeout", kinds.timeout, None),
        role=Role(role) if role else None,
        line=table.line(),
    )


def _refuse_twice(found: Iterable[Bound]) -> None:
    seen: dict[tuple[str, str], Binding] = {}
    for bound in found:
        one = bound.binding
        first = seen.setdefault((one.event, one.entry), one)
        if one.entry and first is not one:
            what = f"`{one.entry}` is bound to `{one.event}` twice, first on line {first.line}"
            bound.refuse(what, "keep one of the two")
