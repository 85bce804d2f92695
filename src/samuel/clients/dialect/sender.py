"""Which client sent a payload: some run the hooks of another one, too, and send them a payload of their own."""

from __future__ import annotations

from samuel.clients.dialect.client import Client
from samuel.clients.dialect.protocol import Payload
from samuel.clients.table import RELAYED_CLIENTS

_GROK_EVENTS = (
    *("session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "post_tool_use_failure"),
    *("stop", "session_end"),
)


def sender(client: Client, native_event: str, payload: Payload) -> tuple[Client, str]:
    """The client that sent this payload to a hook of `client`, and its own name of the event."""
    name = _sender_name(client.name, payload)
    if not name:
        return client, native_event
    relayed = RELAYED_CLIENTS[name]
    for own_event in (payload.get("hook_event_name"), native_event):
        if own_event in relayed.events:
            return relayed, str(own_event)
    event = client.events[native_event]
    return relayed, next(own_event for own_event, ours in relayed.events.items() if ours == event)


def _sender_name(client: str, payload: Payload) -> str:
    """The name of the other client that sent this payload; "" if it is of the client itself."""
    if client in ("claude", "cursor") and payload.get("hookEventName") in _GROK_EVENTS:
        return "grok"
    if client != "claude":
        return ""
    if "cursor_version" in payload:
        return "cursor"
    # No payload of Claude Code has the time.
    return "copilot" if "timestamp" in payload and "hookEventName" not in payload else ""
