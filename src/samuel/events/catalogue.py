"""All 31 events: the one table that everything else is derived from.

Validation, the JSON Schemas, `hooks list`, the scaffolds and the reference page all read it. To add an event:

1. its name in `names.py`, as a constant and in `LIFECYCLE`, `LOOP` or `SESSION`;
2. its payload class in `lifecycle.py`, `loop.py` or `session.py`, tagged with that name, and exported by `__init__.py`;
3. a row here, with the class of its result: an existing one, or a new one beside the payload.
"""

from __future__ import annotations

from typing import Final

from samuel.events import compose, lifecycle, loop, names, session
from samuel.events.compose import Arrange, Composition
from samuel.events.event import Event, EventType

# the composition rules, with what the dispatcher must know about each

ALL_OK = Composition("all-ok", Arrange.IN_TURN, compose.all_ok, empty={"ok": True}, keeps_failed=True)
ALL_OK_LISTS = Composition(
    "all-ok + concatenate",
    Arrange.IN_TURN,
    compose.all_ok,
    empty={"ok": True, "failures": []},
    keeps_failed=True,
)
CONCATENATE = Composition("concatenate", Arrange.IN_TURN, compose.concatenate, empty={"extras": []})
BLOB = Composition("chained blob", Arrange.IN_TURN, compose.last_value)
TRANSFORM = Composition(
    "transform chain",
    Arrange.IN_TURN,
    compose.last_value,
    rewrites=("agent", "prompt", "env", "sandbox"),
    completes=True,
)
CANDIDATES = Composition("candidates", Arrange.TOGETHER, over_all=compose.candidates, empty={"candidates": []})
# Without a handler for the gate the loop continues; without one for the agent it cannot.
GATE = Composition("replace", Arrange.LAST_ONLY, compose.last_value, empty={"continue": True})
REPLACE = Composition("replace", Arrange.LAST_ONLY, compose.last_value, needs_answer=True)
MERGE = Composition("merge", Arrange.TOGETHER, over_all=compose.merge, keeps_failed=True)
MERGE_OR_DENY = Composition(
    "merge; may deny", Arrange.TOGETHER, over_all=compose.merge, can_deny=True, keeps_failed=True
)
GUARD = Composition(
    "rewrite, then guard",
    Arrange.REWRITE_THEN_GUARD,
    over_all=compose.merge,
    rewrites=("tool_input",),
    can_deny=True,
    keeps_failed=True,
)
TRANSFORM_MERGE = Composition(
    "transform, then merge", Arrange.IN_TURN, over_all=compose.merge, rewrites=("tool_output",), keeps_failed=True
)

# the events

# timeouts in seconds
QUICK = 30.0  # a handler should take less than 50 ms; half a minute is a fault
PER_COMMAND = 300.0  # a test suite may take minutes
AGENT = 1800.0  # replaced by the methodology's agent_timeout, if it has one

# fmt: off
_ROWS = (
    # payload                   result                   composes by      built-in default                    strict timeout
    (lifecycle.InitBefore,      lifecycle.Verdict,       ALL_OK,          "",                                 False, QUICK),
    (lifecycle.InitAfter,       lifecycle.Verdict,       ALL_OK,          "",                                 False, QUICK),
    (lifecycle.SyncBefore,      lifecycle.SyncVerdict,   ALL_OK,          "",                                 False, QUICK),
    (lifecycle.SyncAfter,       lifecycle.Verdict,       ALL_OK,          "",                                 False, QUICK),
    (lifecycle.TasksRead,       lifecycle.TaskReading,   CANDIDATES,      "",                                 False, QUICK),
    (loop.BeforeLoop,           lifecycle.Verdict,       ALL_OK,          "check that the PRD makes sense",   True,  QUICK),
    (loop.BeforeIteration,      lifecycle.Verdict,       ALL_OK,          "wait the pause",                   False, QUICK),
    (loop.IterationGate,        loop.GateResult,         GATE,            "implementation or discovery",      True,  QUICK),
    (loop.ContextSnapshot,      loop.ToonBlob,           BLOB,            "project snapshot",                 False, QUICK),
    (loop.ContextProgress,      loop.MarkdownBlob,       BLOB,            "progress context, rotation",       False, QUICK),
    (loop.ContextTask,          loop.ToonBlob,           BLOB,            "task context",                     False, QUICK),
    (loop.ContextExtra,         loop.Extras,             CONCATENATE,     "",                                 False, QUICK),
    (loop.BeforeAgentInvoke,    loop.Invocation,         TRANSFORM,       "render the prompt",                False, QUICK),
    (loop.AgentInvoke,          loop.AgentResult,        REPLACE,         "run the agent's adapter",          False, AGENT),
    (loop.AfterAgentInvoke,     lifecycle.Verdict,       ALL_OK,          "log timing, keep output",          False, QUICK),
    (loop.QualityCheck,         loop.QualityResult,      ALL_OK_LISTS,    "run the commands in order",        True,  PER_COMMAND),
    (loop.BeforeLand,           lifecycle.Verdict,       ALL_OK,          "",                                 True,  QUICK),
    (loop.AfterLand,            lifecycle.Verdict,       ALL_OK,          "",                                 False, QUICK),
    (loop.AfterIteration,       lifecycle.Verdict,       ALL_OK,          "append progress.md",               False, QUICK),
    (loop.AfterLoop,            lifecycle.Verdict,       ALL_OK,          "write the summary",                False, QUICK),
    (session.SessionStart,      session.HookResult,      MERGE,           "",                                 False, QUICK),
    (session.UserPromptSubmit,  session.HookResult,      MERGE_OR_DENY,   "",                                 False, QUICK),
    (session.PreAbilityCall,    session.RewritingResult, GUARD,           "",                                 False, QUICK),
    (session.PostAbilityCall,   session.OutputResult,    TRANSFORM_MERGE, "",                                 False, QUICK),
    (session.TurnEnd,           session.HookResult,      MERGE,           "",                                 False, QUICK),
    (session.SessionStop,       session.StopResult,      MERGE,           "",                                 False, QUICK),
    (session.SessionEnd,        session.HookResult,      MERGE,           "",                                 False, QUICK),
    (session.SubagentStop,      session.StopResult,      MERGE,           "",                                 False, QUICK),
    (session.Notification,      session.HookResult,      MERGE,           "",                                 False, QUICK),
    (session.PreCompact,        session.HookResult,      MERGE_OR_DENY,   "",                                 False, QUICK),
    (session.ConfigChange,      session.HookResult,      MERGE_OR_DENY,   "",                                 False, QUICK),
)
# fmt: on

EVENTS: Final = tuple(EventType(str(row[0].__struct_config__.tag), *row) for row in _ROWS)
BY_NAME: Final = {event.name: event for event in EVENTS}
BY_PAYLOAD: Final[dict[type[Event], EventType]] = {event.payload: event for event in EVENTS}


def event_type(name: str) -> EventType:
    """The event with this name, in any spelling."""
    return BY_NAME[names.canonical(name)]
