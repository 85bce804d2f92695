"""Calls of a hook that was written for an agent: none, one, or one for each file of a patch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from samuel.clients.hook_formats.hook_format import PATH, inputs_by_file, left_to_client
from samuel.events import Event, PostAbilityCall, PreAbilityCall
from samuel.events.compose import HandlerResult, merge, verdict
from samuel.hooks.handler import Handler, Outcome
from samuel.runtimes.base import Reply

Call = Callable[[Handler, Event, float], Reply]


def call_client_hook(
    call: Call, monotonic: Callable[[], float], handler: Handler, event: Event, timeout: float
) -> Reply:
    """The reply of all calls together, within `timeout`. The first fault or denial ends them."""
    if handler.left_to and left_to_client(event.extra, handler.left_to):
        note = f"not called: `{handler.left_to}` runs `{handler.name}` itself"
        return Reply(Outcome.OK, {"logs": [{"level": "debug", "message": note}]})
    events = _events_by_file(event)
    deadline = monotonic() + timeout
    replies: list[Reply] = []
    for part in events:
        left = deadline - monotonic()
        if left <= 0:
            return Reply(Outcome.TIMED_OUT, message=f"not done with {len(events)} files after {timeout:g}s")
        reply = call(handler, part, left if replies else timeout)
        denied = verdict(reply.result).decision == "deny" and not handler.background
        if reply.outcome is not Outcome.OK or denied:
            return reply
        replies.append(reply)
    if handler.background:  # also where it is waited for: its agent would not read the answer
        return replace(replies[-1], result={})
    combined = replies[0] if len(replies) == 1 else _combined(handler, replies)
    return _without_added_path(combined) if events[0] is not event else combined


def _events_by_file(event: Event) -> Sequence[Event]:
    if not isinstance(event, PreAbilityCall | PostAbilityCall):
        return [event]
    inputs = inputs_by_file(event.ability_id, event.tool_input)
    if inputs[0] is event.tool_input:
        return [event]
    return [replace(event, tool_input=tool_input) for tool_input in inputs]


def _combined(handler: Handler, replies: Sequence[Reply]) -> Reply:
    """One reply for several files. A rewrite for one of them would lose the others."""
    rewrite = next((key for key in ("tool_input", "tool_output") for reply in replies if key in reply.result), "")
    if rewrite:
        why = f"its `{rewrite}` is for one of {len(replies)} files that one call changes"
        return Reply(Outcome.BAD_OUTPUT, message=why)
    results = [HandlerResult(handler.name, handler.origin, reply.result) for reply in replies]
    stderr = "".join(reply.stderr for reply in replies)
    return Reply(Outcome.OK, merge(results), stderr=stderr, size=sum(reply.size for reply in replies))


def _without_added_path(reply: Reply) -> Reply:
    """The reply without the path that the call itself did not have."""
    rewritten = reply.result.get("tool_input")
    if not isinstance(rewritten, dict):
        return reply
    tool_input = {key: value for key, value in rewritten.items() if key != PATH}
    return replace(reply, result={**reply.result, "tool_input": tool_input})
