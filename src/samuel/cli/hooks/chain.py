"""A resolved chain in words, for `hooks explain` and `doctor --hooks`."""

from __future__ import annotations

from typing import Any

from samuel.cli.output import OutputTable
from samuel.config.duration import format_duration
from samuel.hooks.handler import Handler, HandlerMode
from samuel.hooks.match import words
from samuel.hooks.order import Chain, ChainStep

COLUMNS = ("", "handler", "order", "origin", "runtime", "strict", "timeout", "status", "why")


def plain(chain: Chain) -> dict[str, Any]:
    return {
        "event": chain.event.name,
        "composes": chain.event.composition.name,
        "chain": [_plain_step(position, step) for position, step in enumerate(chain.steps, start=1)],
        "left_out": [{"handler": left.handler.name, "why": left.why} for left in chain.left_out],
        "warnings": list(chain.warnings),
    }


def table(chain: Chain) -> OutputTable | str:
    if not chain.steps:
        return "  no handler runs"
    return OutputTable(COLUMNS, [_row(position, step) for position, step in enumerate(chain.steps, start=1)])


def left_out(chain: Chain) -> str:
    return "\n".join(f"left out: `{left.handler.name}`: {left.why}" for left in chain.left_out)


def _plain_step(position: int, step: ChainStep) -> dict[str, Any]:
    handler = step.handler
    return {
        "position": position,
        "handler": handler.name,
        "order": step.order,
        "origin": handler.origin.label,
        "runtime": handler.runtime,
        "path": handler.path,
        "strict": step.strict,
        "timeout": format_duration(step.timeout),
        "status": handler.status.value,
        "reason": handler.reason,
        "why": step.why,
        "match": handler.match,
        "mode": step.mode.value,
        "background": step.background,
    }


def _background(step: ChainStep) -> str:
    return "in the background: its answer is not awaited" if step.background else ""


def _observed(step: ChainStep) -> str:
    return "observed: what it decides is only recorded" if step.mode is HandlerMode.OBSERVE else ""


def _only(handler: Handler) -> str:
    return f"only if {words(handler.match)}" if handler.match else ""


def _row(position: int, step: ChainStep) -> tuple[str, ...]:
    handler = step.handler
    return (
        str(position),
        handler.name,
        "-" if step.order is None else str(step.order),
        handler.origin.label,
        handler.runtime,
        "yes" if step.strict and step.mode is HandlerMode.ENFORCE else "no",
        format_duration(step.timeout),
        handler.status.value,
        "; ".join(filter(None, (step.why, _observed(step), _background(step), _only(handler), handler.reason))),
    )
