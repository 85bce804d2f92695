"""A client: an agent that calls `samuel emit --as NAME EVENT` from its own hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from samuel.clients.dialect.answers import blocked, settled
from samuel.clients.dialect.events import DENIABLE, POST, PRE, PROMPT
from samuel.clients.dialect.limits import Limits
from samuel.clients.dialect.payload import COMMON, check_event, common_fields, duration_ms, text, tool_call
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, Payload
from samuel.clients.dialect.tools import Tools, mcp_with_underscores


class Client(NamedTuple):
    """One client's dialect: tables, and a function where the client differs from Claude Code.

    `native_event` is the client's name of an event, `event` Samuel's. Functions that read a payload raise
    `PayloadError` where it cannot be read.
    """

    name: str
    title: str
    events: Mapping[str, str]
    """native_event -> event."""
    tools: Tools
    limits: Limits
    form: Callable[[str, str, ClientReply], ClientAnswer]
    """native_event, event and the reply -> the answer."""

    # Reading a payload
    fires: Callable[[str, Payload], bool] = lambda native_event, payload: True
    """native_event and the payload -> whether there is something to fire."""
    fields: Mapping[str, str] = COMMON
    """A field of the payload -> that of the context."""
    prompt: Callable[[Payload], str | None] = lambda payload: text(payload, "prompt")
    """What the user said; None where there is nothing to fire."""
    call: Callable[[str, Payload], tuple[str, Any]] = lambda native_event, payload: (
        text(payload, "tool_name"),
        payload.get("tool_input"),
    )
    """native_event and the payload -> the tool and its input."""
    result: Callable[[str, Payload], dict[str, Any]] = lambda native_event, payload: {}
    """native_event and the payload -> the fields `status` and `tool_output` of a call that has ended."""
    failure: str = ""
    """The native_event that is told in place of the usual one after a call that failed, with its `error`."""
    more: Callable[[str, Payload], dict[str, Any]] = lambda event, payload: {}
    """event and the payload -> further fields of the context."""
    context: Callable[[str, str, Payload], dict[str, Any] | None] | None = None
    """native_event, event and a payload of another shape -> all fields of the context; None: nothing to fire."""
    names_event: bool = True
    """Whether a payload has the native_event in `hook_event_name`."""
    mcp: Callable[[str], str] = mcp_with_underscores
    """The client's name of a tool -> `mcp:server/tool`; "" for a tool that is not of an MCP server."""
    groups: tuple[str, ...] = ()
    """Names under which the client tells several events."""
    event_of: Callable[[str, Payload], str] = lambda native_event, payload: native_event
    """The name that was told and the payload -> the native_event."""

    # Answering
    asks: tuple[str, ...] = ()
    """The native_events on which a hook can have a person asked; on others a question becomes a denial."""
    exit_code_denies: tuple[str, ...] = DENIABLE
    """The events on which a denial is exit code 2, with the reason on stderr."""
    output: Callable[[str, Any], Any] = lambda tool_name, tool_output: tool_output
    """The client's tool and a rewritten output -> the output in the client's shape."""

    documented: bool = False
    """Whether this was written from the client's documentation, and never run with it here."""
    checked: str = ""
    """The version that its hooks were run with, for a client that Samuel does not run as an agent."""
    repeated: tuple[str, ...] = ()
    """The native_events that are told through others, too, so that a call would be judged twice."""

    @property
    def registered_events(self) -> tuple[str, ...]:
        """The native_events that `bridge add` writes entries for."""
        return tuple(event for event in self.events if event not in self.repeated)

    def translate(self, native_event: str, payload: Payload) -> dict[str, Any]:
        """The payload as a context for `event_from_context`; {} where there is nothing to fire."""
        if self.names_event:
            check_event(native_event, payload)
        if not self.fires(native_event, payload):
            return {}
        fields = (self.context or self._context)(native_event, self.events[native_event], payload)
        return {} if fields is None else {"client": self.name, "client_event": native_event, **fields}

    def _context(self, native_event: str, event: str, payload: Payload) -> dict[str, Any] | None:
        context = common_fields(payload, self.fields)
        if event == PROMPT:
            message = self.prompt(payload)
            return None if message is None else {**context, "user_message": message}
        if event in (PRE, POST):
            context |= tool_call(self.tools, *self.call(native_event, payload), self.mcp)
        if event == POST:
            context |= duration_ms(payload, "duration_ms")
            context |= (
                {"status": "failure", "tool_output": payload.get("error", "")}
                if native_event == self.failure
                else self.result(native_event, payload)
            )
        return {**context, **self.more(event, payload)}

    def answer(self, native_event: str, reply: ClientReply) -> ClientAnswer:
        """What the hook command gives back for Samuel's reply."""
        event = self.events[native_event]
        reply = settled(self.title, reply, can_ask=native_event in self.asks)
        if reply.decision == "deny" and event in self.exit_code_denies:
            return blocked(reply.reason)
        return self.form(native_event, event, reply)
