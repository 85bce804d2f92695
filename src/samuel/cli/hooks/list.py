from __future__ import annotations

from collections.abc import Iterable

import click

from samuel.app import App
from samuel.app.discovery import tool_name_warnings
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.output import OutputTable
from samuel.events import canonical
from samuel.hooks.handler import Handler, HandlerMode, HandlerStatus
from samuel.shipped.table import SHIPPED_HOOKS, definition
from samuel.sources.hook_files import unmarked_files
from samuel.sources.yaml_cache import YamlHookFile
from samuel.sources.yaml_file import read_hook
from samuel.sources.yaml_hook import BUILTIN

EXCLUDED = "excluded"
OBSERVED = "observed"
BACKGROUND = "background"
COLUMNS = ("event", "name", "order", "origin", "runtime", "status", "reason")
SHIPPED_COLUMNS = ("name", "event", "status", "summary")


@command("list")
@click.option("--event", metavar="EVENT", help="Only hooks of this event.")
@click.option(
    "--shipped", is_flag=True, help="List the hooks that come with Samuel instead; `hooks enable` adds one."
)
@env_option
def list_(here: CommandContext, event: str | None, shipped: bool, environment: str) -> int:
    """List all hooks with their order, origin and status.

    \b
        samuel hooks list --event quality.check
        samuel hooks list --shipped
    """
    event_name = canonical(event) if event else ""
    with here.open(environment=environment) as app:
        if shipped:
            shipped_rows = _shipped(app.discovery.yaml_files.look(app.paths.root))
            rows = [row for row in shipped_rows if not event_name or event_name in row["event"].split(", ")]
            return here.out.answer(rows, OutputTable.of(SHIPPED_COLUMNS, rows), warnings=app.warnings)
        handler_rows = [row for row in _rows(app) if event_name in ("", row["event"]) or not row["event"]]
    table = OutputTable.of(COLUMNS, map(_table_row, handler_rows))
    missing = [text for chain in app.chains.values() for text in chain.missing]
    unmarked = unmarked_files(app.paths.root, app.user.home)
    warnings = [*app.warnings, *missing, *unmarked, *tool_name_warnings(app)]
    return here.out.answer(handler_rows, table, warnings=warnings)


def _shipped(reads: Iterable[YamlHookFile]) -> list[dict[str, str]]:
    """The hooks that come with Samuel, and how each stands in the project whose YAML files these are."""
    here: dict[str, bool] = {}
    for hook in (read.hook for read in reads if read.hook and read.hook.kind == BUILTIN):
        here[hook.command] = here.get(hook.command, False) or hook.enabled
    states = {True: "enabled", False: "disabled", None: "not here yet"}
    return [
        {
            "name": name,
            "event": ", ".join(SHIPPED_HOOKS[name].events),
            "status": states[here.get(name)],
            "summary": read_hook(definition(name), name, SHIPPED_HOOKS).summary,
        }
        for name in SHIPPED_HOOKS
    ]


def _rows(app: App) -> list[dict[str, str | int | None]]:
    """Event by event, in the order they run; then those that run on none, and those of unknown events."""
    rows, placed = [], set()
    for chain in app.chains.values():
        event = chain.event.name
        steps = [step for step in chain.steps if step.handler.event or step.order is None]
        for step in steps:
            row = _row(step.handler, event, step.order, step.handler.status, step.handler.reason, step.mode)
            rows.append({**row, "background": step.background})
        for left in chain.left_out:
            handler = left.handler
            works = handler.status is HandlerStatus.ACTIVE
            status, reason = (EXCLUDED, left.why) if works else (handler.status, handler.reason)
            rows.append(_row(handler, event, handler.effective_order, status, reason))
        placed |= {_identity(step.handler) for step in steps}
        placed |= {_identity(left.handler) for left in chain.left_out}
    for handler in (handler for handler in app.handlers if _identity(handler) not in placed):
        order = handler.effective_order if handler.event else None
        rows.append(_row(handler, handler.event, order, handler.status, handler.reason))
    return rows


def _identity(handler: Handler) -> tuple[object, ...]:
    # Not its event: a file that could not be asked has none, and stands in a chain that `handlers` put it into.
    return handler.origin, handler.path, handler.name, handler.declared


def _row(
    handler: Handler,
    event: str,
    order: int | None,
    status: str,
    reason: str,
    mode: HandlerMode = HandlerMode.ENFORCE,
) -> dict[str, str | int | None]:
    return {
        "event": event,
        "name": handler.name,
        "order": order,
        "origin": handler.origin.label,
        "runtime": handler.runtime,
        "status": str(status),
        "reason": reason,
        "path": handler.path,
        "mode": mode.value,
        "background": handler.background,
    }


def _table_row(row: dict[str, str | int | None]) -> dict[str, str | int | None]:
    """The row of the table: the answer of an observed handler, or of one in the background, is not used."""
    if row["mode"] == HandlerMode.OBSERVE and row["status"] == HandlerStatus.ACTIVE:
        return {**row, "status": OBSERVED, "reason": "what it decides is only recorded"}
    if row["background"] and row["status"] == HandlerStatus.ACTIVE:
        return {**row, "status": BACKGROUND, "reason": "its answer is not awaited"}
    return row
