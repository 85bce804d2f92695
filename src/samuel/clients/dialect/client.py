"""A client: an agent that calls `samuel emit --as NAME EVENT` from its own hooks."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from samuel.clients.dialect.limits import Limits
    from samuel.clients.dialect.tools import Tools

# Samuel's events, for which importing `samuel.events` would load the engine; a test compares them.
START, PROMPT, PRE, POST = "SessionStart", "UserPromptSubmit", "PreAbilityCall", "PostAbilityCall"
TURN_END, STOP, END = "TurnEnd", "SessionStop", "SessionEnd"
DENIABLE = (PROMPT, PRE)


class PayloadError(ValueError):
    """A payload that the client's dialect cannot read: a field is missing, renamed or of another type."""


class ClientAnswer(namedtuple("ClientAnswer", ("stdout", "stderr", "exit_code"), defaults=("", "", 0))):
    """What a hook command gives back to the client that called it."""

    __slots__ = ()
    stdout: str
    stderr: str
    exit_code: int


class ClientReply(namedtuple("ClientReply", ("result", "decision", "reason"), defaults=({}, "", ""))):
    """What Samuel composed for the event. A rewritten `tool_input` in it has the client's own names."""

    __slots__ = ()
    result: Mapping[str, Any]
    decision: str  # "", "allow", "ask" or "deny"
    reason: str


SILENT = ClientReply()


class Client:
    """One client's dialect."""

    def __init__(  # noqa: PLR0913  a record: each client is one call with keywords
        self,
        *,
        name: str,
        title: str,
        events: Mapping[str, str],
        translate: Callable[[str, Mapping[str, Any]], dict[str, Any]],
        answer: Callable[[str, ClientReply], ClientAnswer],
        tools: Tools,
        limits: Limits,
        groups: tuple[str, ...] = (),
        event_of: Callable[[str, Mapping[str, Any]], str] | None = None,
        output: Callable[[str, Any], Any] | None = None,
        documented: bool = False,
        repeated: tuple[str, ...] = (),
    ) -> None:
        """`events`: the client's event -> Samuel's.

        `translate`: the client's event and payload -> a context for `event_from_context`, with `PayloadError`
        where it cannot be read and `{}` where there is nothing to fire. `answer`: the client's event and Samuel's
        reply -> the answer. `groups`: names under which the client tells several events; `event_of`: which of them
        a payload is about. `output`: the client's tool and a rewritten output -> the output in the client's shape.
        `documented`: written from the client's documentation, never run with it here. `repeated`: events that the
        client tells through others, too, so that a call would be judged twice.
        """
        self.name = name
        self.title = title
        self.events = events
        self.translate = translate
        self.answer = answer
        self.tools = tools
        self.limits = limits
        self.groups = groups
        self.event_of = event_of or _same_event
        self.output = output or _same_output
        self.documented = documented
        self.registered_events = tuple(event for event in events if event not in repeated)
        """Those that `bridge add` writes entries for."""

    def __repr__(self) -> str:
        return f"Client({self.name!r})"


def _same_event(native_event: str, payload: Mapping[str, Any]) -> str:
    return native_event


def _same_output(tool_name: str, tool_output: Any) -> Any:
    return tool_output
