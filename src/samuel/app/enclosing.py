"""The guards of the projects around an opened one: on an event that can be denied they are asked, too.

The nearest project answers first, with all of its handlers. Of each project around it, only its own guards are
asked, about the final input, and only their verdict counts: the strictest wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from samuel.events import EventType
from samuel.events.catalogue import BY_PAYLOAD
from samuel.hooks.guards import is_guard
from samuel.hooks.handler import Origin, Role
from samuel.hooks.order import Chain, ChainStep

if TYPE_CHECKING:
    from samuel.app.project import App
    from samuel.dispatch.record import AskUser, Fired

OF_PROJECT = (Origin.PROJECT, Origin.PROJECT_PLUGIN, Origin.DISTRIBUTION)


def guard_steps(app: App, kind: EventType) -> list[ChainStep]:
    """The guards of a project's own in the chain of an event; the user's are asked by the nearest project."""
    if not kind.composition.can_deny or not app.permit.trusts_something:
        return []
    steps = (step for step in app.chains[kind.name].steps if step.handler.origin in OF_PROJECT)
    return [
        replace(step, handler=replace(step.handler, role=Role.GUARD))
        for step in steps
        if is_guard(step.handler, kind)
    ]


def ask_guards(app: App, fired: Fired, ask: AskUser | None) -> Fired:
    """The outcome of an event with the verdict of the guards of `app`, a project around the one of `fired`."""
    kind = BY_PAYLOAD[type(fired.event)]
    if not (steps := guard_steps(app, kind)):
        return fired
    chains: Mapping[str, Chain] = {kind.name: replace(app.chains[kind.name], steps=tuple(steps))}
    dispatcher = app.make_dispatcher(chains, app.sink, ask)
    try:
        theirs = dispatcher.fire(replace(fired.event, methodology="", recipe_name=fired.event.recipe_name))
    finally:
        dispatcher.close()
    return _strictest(fired, theirs, str(app.paths.root))


def _strictest(fired: Fired, theirs: Fired, root: str) -> Fired:
    decision = theirs.result.get("decision")
    where = f"the project around this one, `{root}`"
    warnings = (*fired.warnings, *(f"{warning} (in {where})" for warning in theirs.warnings))
    calls = (*fired.calls, *theirs.calls)
    if not theirs.stopped and (decision != "ask" or fired.result.get("decision") == "ask"):
        return replace(fired, calls=calls, warnings=warnings)
    reason = f"{theirs.reason or theirs.result.get('reason') or 'a hook asks whether to continue'} (in {where})"
    result = {**fired.result, "decision": decision, "reason": reason}
    return replace(
        fired,
        ok=fired.ok and not theirs.stopped,
        stopped=theirs.stopped,
        result=result,
        calls=calls,
        warnings=warnings,
        reason=reason if theirs.stopped else fired.reason,
    )
