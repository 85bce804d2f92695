"""The names of the 31 events, and `canonical`, which accepts every spelling of them."""

from __future__ import annotations

import re
from typing import Final

from samuel.base.errors import UnknownEvent
from samuel.base.nearest import hint, nearest_name

INIT_BEFORE: Final = "init.before"
INIT_AFTER: Final = "init.after"
SYNC_BEFORE: Final = "sync.before"
SYNC_AFTER: Final = "sync.after"
TASKS_READ: Final = "tasks.read"

BEFORE_LOOP: Final = "before:loop"
BEFORE_ITERATION: Final = "before:iteration"
ITERATION_GATE: Final = "iteration.gate"
CONTEXT_SNAPSHOT: Final = "context.snapshot"
CONTEXT_PROGRESS: Final = "context.progress"
CONTEXT_TASK: Final = "context.task"
CONTEXT_EXTRA: Final = "context.extra"
BEFORE_AGENT_INVOKE: Final = "before:agent.invoke"
AGENT_INVOKE: Final = "agent.invoke"
AFTER_AGENT_INVOKE: Final = "after:agent.invoke"
QUALITY_CHECK: Final = "quality.check"
BEFORE_LAND: Final = "before:land"
AFTER_LAND: Final = "after:land"
AFTER_ITERATION: Final = "after:iteration"
AFTER_LOOP: Final = "after:loop"

SESSION_START: Final = "SessionStart"
USER_PROMPT_SUBMIT: Final = "UserPromptSubmit"
PRE_ABILITY_CALL: Final = "PreAbilityCall"
POST_ABILITY_CALL: Final = "PostAbilityCall"
TURN_END: Final = "TurnEnd"
SESSION_STOP: Final = "SessionStop"
SESSION_END: Final = "SessionEnd"
SUBAGENT_STOP: Final = "SubagentStop"
NOTIFICATION: Final = "Notification"
PRE_COMPACT: Final = "PreCompact"
CONFIG_CHANGE: Final = "ConfigChange"

LIFECYCLE: Final = (INIT_BEFORE, INIT_AFTER, SYNC_BEFORE, SYNC_AFTER, TASKS_READ)
LOOP: Final = (
    BEFORE_LOOP,
    BEFORE_ITERATION,
    ITERATION_GATE,
    CONTEXT_SNAPSHOT,
    CONTEXT_PROGRESS,
    CONTEXT_TASK,
    CONTEXT_EXTRA,
    BEFORE_AGENT_INVOKE,
    AGENT_INVOKE,
    AFTER_AGENT_INVOKE,
    QUALITY_CHECK,
    BEFORE_LAND,
    AFTER_LAND,
    AFTER_ITERATION,
    AFTER_LOOP,
)
CONTEXT: Final = (CONTEXT_SNAPSHOT, CONTEXT_PROGRESS, CONTEXT_TASK, CONTEXT_EXTRA)
SESSION: Final = (
    SESSION_START,
    USER_PROMPT_SUBMIT,
    PRE_ABILITY_CALL,
    POST_ABILITY_CALL,
    TURN_END,
    SESSION_STOP,
    SESSION_END,
    SUBAGENT_STOP,
    NOTIFICATION,
    PRE_COMPACT,
    CONFIG_CHANGE,
)
INSIDE_AGENT: Final = (
    PRE_ABILITY_CALL,
    POST_ABILITY_CALL,
    SUBAGENT_STOP,
    NOTIFICATION,
    PRE_COMPACT,
    CONFIG_CHANGE,
)
"""Events of sessions that the loop does not fire: only the hooks of an agent report them, any number of times."""
AFTER_THE_FACT: Final = (
    INIT_AFTER,
    SYNC_AFTER,
    AFTER_AGENT_INVOKE,
    AFTER_LAND,
    AFTER_ITERATION,
    AFTER_LOOP,
    POST_ABILITY_CALL,
    TURN_END,
    SESSION_END,
    NOTIFICATION,
)
"""Events about what is over: an observer of them need not be waited for."""
ALL: Final = (*LIFECYCLE, *LOOP, *SESSION)

KODELET: Final = {
    "before_tool_call": PRE_ABILITY_CALL,
    "after_tool_call": POST_ABILITY_CALL,
    "user_message_send": USER_PROMPT_SUBMIT,
    "agent_stop": SESSION_STOP,
    "turn_end": TURN_END,
}
"""Kodelet's names of events: accepted wherever an event is named."""

RESERVED_PREFIXES: Final = ("extension.", "methodology.")


def canonical(name: str) -> str:
    """The catalogue's spelling of `name`: `before_loop`, `before:loop` and `BeforeLoop` are the same event."""
    event_name = _BY_SPELLING.get(name) or _BY_SPELLING.get(_words(name))
    if event_name is None:
        raise UnknownEvent(*_advice(name))
    return event_name


def spellings(name: str) -> tuple[str, ...]:
    """The usual spellings of an event's name; `canonical` accepts more."""
    return name, _words(name), *(theirs for theirs, ours in KODELET.items() if ours == name)


def nearest(name: str) -> str | None:
    """The event that `name` was probably meant to be."""
    return _BY_SPELLING.get(nearest_name(_words(name), _BY_WORDS, cutoff=0.5))


def _words(name: str) -> str:
    """`PreAbilityCall` -> `pre_ability_call`, `before:agent.invoke` -> `before_agent_invoke`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[:._\-]", "_", spaced).lower()


def _advice(name: str) -> tuple[str, str]:
    if name.startswith(RESERVED_PREFIXES):
        return (
            f"`{name}` is reserved for later",
            "names under `extension.` and `methodology.` cannot be used yet",
        )
    return f"`{name}` is not an event", hint(nearest(name) or "", "`samuel hooks schema` lists all events")


_BY_WORDS: Final = {**{_words(name): name for name in ALL}, **KODELET}
_BY_SPELLING: Final = {**_BY_WORDS, **{name: name for name in ALL}}
