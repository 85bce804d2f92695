"""All 24 events: the one table that everything else is derived from.

Validation, the JSON Schemas, `hooks list`, the scaffolds and the reference page all read it. A new event is a
payload class and a row.
"""

from __future__ import annotations

from typing import Final

from samuel.events import compose, lifecycle, loop, names, session
from samuel.events.compose import Arrange, Composition
from samuel.events.event import Event, EventType

# the composition rules, with what the dispatcher must know of each

ALL_OK = Composition("all-ok", Arrange.IN_TURN, compose.all_ok, empty={"ok": True}, keeps_failed=True)
ALL_OK_LISTS = Composition(
    "all-ok + concatenate",
    Arrange.IN_TURN,
    compose.all_ok,
    empty={"ok": True, "failures": []},
    keeps_failed=True,
)
CONCATENATE = Composition("concatenate", Arrange.IN_TURN, compose.concatenate, empty={"extras": []})
BLOB = Composition("chained blob", Arrange.IN_TURN, compose.last_given)
TRANSFORM = Composition(
    "transform chain",
    Arrange.IN_TURN,
    compose.last_given,
    rewrites=("agent", "prompt", "env", "sandbox"),
    completes=True,
)
# With nobody to ask, the loop goes on. An agent has to be run by somebody.
GATE = Composition("replace", Arrange.LAST_ONLY, compose.last_given, empty={"continue": True})
REPLACE = Composition("replace", Arrange.LAST_ONLY, compose.last_given, needs_answer=True)
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

QUICK = 30.0  # a handler is meant to take less than 50 ms; half a minute is a fault
PER_COMMAND = 300.0  # a test suite may take its time
AGENT = 1800.0  # the methodology's agent_timeout, where it has one, wins

# fmt: off
_ROWS = (
    # name                      payload                    result                   composes by      built-in default                    strict timeout
    (names.INIT_BEFORE,         lifecycle.InitBefore,      lifecycle.Verdict,       ALL_OK,          "",                                 False, QUICK),
    (names.INIT_AFTER,          lifecycle.InitAfter,       lifecycle.Verdict,       ALL_OK,          "",                                 False, QUICK),
    (names.SYNC_BEFORE,         lifecycle.SyncBefore,      lifecycle.SyncVerdict,   ALL_OK,          "",                                 False, QUICK),
    (names.SYNC_AFTER,          lifecycle.SyncAfter,       lifecycle.Verdict,       ALL_OK,          "",                                 False, QUICK),
    (names.BEFORE_LOOP,         loop.BeforeLoop,           lifecycle.Verdict,       ALL_OK,          "check the PRD's sense"           , True,  QUICK),
    (names.BEFORE_ITERATION,    loop.BeforeIteration,      lifecycle.Verdict,       ALL_OK,          "wait the pause",                   False, QUICK),
    (names.ITERATION_GATE,      loop.IterationGate,        loop.GateResult,         GATE,            "implementation or discovery",      True,  QUICK),
    (names.CONTEXT_SNAPSHOT,    loop.ContextSnapshot,      loop.ToonBlob,           BLOB,            "project snapshot",                 False, QUICK),
    (names.CONTEXT_PROGRESS,    loop.ContextProgress,      loop.MarkdownBlob,       BLOB,            "progress context, rotation",       False, QUICK),
    (names.CONTEXT_TASK,        loop.ContextTask,          loop.ToonBlob,           BLOB,            "task context",                     False, QUICK),
    (names.CONTEXT_EXTRA,       loop.ContextExtra,         loop.Extras,             CONCATENATE,     "",                                 False, QUICK),
    (names.BEFORE_AGENT_INVOKE, loop.BeforeAgentInvoke,    loop.Invocation,         TRANSFORM,       "render the prompt",                False, QUICK),
    (names.AGENT_INVOKE,        loop.AgentInvoke,          loop.AgentResult,        REPLACE,         "run the agent's adapter",          False, AGENT),
    (names.AFTER_AGENT_INVOKE,  loop.AfterAgentInvoke,     lifecycle.Verdict,       ALL_OK,          "log timing, keep output",          False, QUICK),
    (names.QUALITY_CHECK,       loop.QualityCheck,         loop.QualityResult,      ALL_OK_LISTS,    "run the commands in order",        True,  PER_COMMAND),
    (names.AFTER_ITERATION,     loop.AfterIteration,       lifecycle.Verdict,       ALL_OK,          "append progress.md",               False, QUICK),
    (names.AFTER_LOOP,          loop.AfterLoop,            lifecycle.Verdict,       ALL_OK,          "write the summary",                False, QUICK),
    (names.SESSION_START,       session.SessionStart,      session.HookResult,      MERGE,           "",                                 False, QUICK),
    (names.USER_PROMPT_SUBMIT,  session.UserPromptSubmit,  session.HookResult,      MERGE_OR_DENY,   "",                                 False, QUICK),
    (names.PRE_ABILITY_CALL,    session.PreAbilityCall,    session.RewritingResult, GUARD,           "",                                 False, QUICK),
    (names.POST_ABILITY_CALL,   session.PostAbilityCall,   session.OutputResult,    TRANSFORM_MERGE, "",                                 False, QUICK),
    (names.TURN_END,            session.TurnEnd,           session.HookResult,      MERGE,           "",                                 False, QUICK),
    (names.SESSION_STOP,        session.SessionStop,       session.StopResult,      MERGE,           "",                                 False, QUICK),
    (names.SESSION_END,         session.SessionEnd,        session.HookResult,      MERGE,           "",                                 False, QUICK),
)
# fmt: on

EVENTS: Final = tuple(EventType(*row) for row in _ROWS)
BY_NAME: Final = {event.name: event for event in EVENTS}
BY_PAYLOAD: Final[dict[type[Event], EventType]] = {event.payload: event for event in EVENTS}


def event_type(name: str) -> EventType:
    """The row of an event, in any spelling of its name."""
    return BY_NAME[names.canonical(name)]
