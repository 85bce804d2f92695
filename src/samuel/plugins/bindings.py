"""Which handler of a plugin is bound to which event, in all forms that a manifest may use.

[hooks]                                   "context.extra" = "function", a table with `handler`, or an array
[provides] hooks = [...] and [hook.name]  a list of events, each bound by a table of its own or by any other form
[wasm.hook_handlers] [oci.hook_handlers]  like [hooks]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from samuel.base.errors import UnknownEvent
from samuel.base.printable import shorten
from samuel.config import kinds
from samuel.config.reader import ConfigTable
from samuel.events import event_type
from samuel.events.names import ALL, canonical
from samuel.files.toml.keys import dotted
from samuel.hooks.background import HINT, background_refusal
from samuel.hooks.handler import Role
from samuel.hooks.mode import HandlerMode, declared_mode
from samuel.plugins.model import Binding

MAX_BINDINGS = 1_000
HANDLER = "handler"


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
        table.refuse("background", refusal, HINT)
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
