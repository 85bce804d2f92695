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
from samuel.hooks.guards import can_become_guard, is_guard
from samuel.hooks.handler import Handler, HandlerStatus, Origin, Outcome, Role
from samuel.hooks.order import Chain, ChainStep

if TYPE_CHECKING:
    from samuel.app.project import App
    from samuel.dispatch.record import AskUser, Fired

OF_PROJECT = (Origin.PROJECT, Origin.PROJECT_PLUGIN, Origin.DISTRIBUTION)


def guard_steps(app: App, kind: EventType) -> list[ChainStep]:
    """The guards of a project's own in the chain of an event; the user's are asked by the nearest project."""
    if not kind.composition.can_deny or not (app.permit.trusts_something or _lost_its_agreements(app)):
        return []
    steps = (step for step in app.chains[kind.name].steps if step.handler.origin in OF_PROJECT)
    return [
        replace(step, handler=replace(step.handler, role=Role.GUARD))
        for step in steps
        if _may_deny(app, step.handler, kind)
    ]


def _lost_its_agreements(app: App) -> bool:
    """True for a project with agreements under another key than its own: its `.git` was moved away."""
    return not (app.user.state / "trust" / f"{app.trust_key}.json").exists()


def _may_deny(app: App, handler: Handler, kind: EventType) -> bool:
    """True for a guard, and for a handler without a role that can be called or that once denied."""
    if not can_become_guard(handler, kind):
        return is_guard(handler, kind)
    return handler.status is HandlerStatus.ACTIVE or app.handler_state.once_denied(handler)


def ask_guards(app: App, fired: Fired, ask: AskUser | None) -> Fired:
    """The outcome of an event with the verdict of the guards of `app`, a project around the one of `fired`.

    Raises SamuelError if a run of `app` is around this process, and its guards are not those that the run pinned.
    """
    app.expect_pinned(fired.event)
    kind = BY_PAYLOAD[type(fired.event)]
    if not (steps := guard_steps(app, kind)):
        return fired
    chains: Mapping[str, Chain] = {kind.name: replace(app.chains[kind.name], steps=tuple(steps))}
    dispatcher = app.make_dispatcher(chains, app.sink, ask)
    try:
        theirs = dispatcher.fire(replace(fired.event, methodology="", recipe_name=fired.event.recipe_name))
    finally:
        dispatcher.close()
    for call in theirs.calls:
        if call.outcome is Outcome.DENIED:
            app.handler_state.record_denial(call.handler)
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
