"""The page about sessions: what a hook gets, what becomes of each part of its answer, and what is kept."""

from __future__ import annotations

from msgspec import inspect as types
from msgspec.structs import FieldInfo, fields
from page import NOTE, table
from shapes import Shapes

from samuel.events import EVENTS, EventType
from samuel.events.schema import own_fields
from samuel.events.session import HookResult
from samuel.files.log import MOST_BYTES
from samuel.journal.hooks_log import NAME as HOOKS_LOG
from samuel.journal.hooks_log import Line
from samuel.paths import SYSTEM
from samuel.sessions.session import FollowUp, Session
from samuel.sessions.store import MOST_SESSIONS

SESSIONS_HEAD = """\
# Sessions

A session is some work with an agent: prompts, calls of abilities, an end. Hooks are told of each step, and what
they say is kept here for the next one. `samuel session`, `samuel ability` and [`samuel
emit`](../how-to/emit-from-an-agent.md) fire these events, and so do the loop, recipes and abilities of the kind
`agent`, around each agent process.

## Contexts { #contexts }

What a YAML hook of the kind `script` gets on stdin, and what `samuel emit` takes: one flat JSON object.

```json
{
  "event_type": "PostAbilityCall",
  "session_id": "sess-123",
  "ability_id": "billing_regression",
  "operation_key": "workflow.billing.regression",
  "status": "success",
  "duration_ms": 187000,
  "input_summary": "Run regression tests against non-prod billing",
  "output_summary": "All 42 test cases passed",
  "tool_call_path": ".system/implement/call-123/tool_call.md",
  "timestamp": "2025-01-15T10:23:45Z"
}
```

Every context has `event_type`, `session_id` (empty outside of a session), `timestamp` and `repository_root`, and
`stage` (`understand`, `plan`, `act` or `review`) where the caller says it. The event's own fields are beside
them, and so is the rest of [what every payload has](events.md#what-every-payload-has). A function gets the same
as an object: `event.ability_id`.

`user_message` is what somebody said; in a run or a recipe, the whole prompt that the agent gets, with the names of
the project's files in it. A hook that goes by words may want `match: {stage: ...}`, or to look at `run_id` first.

A caller may leave out what is not *must be there*; `null` is the same as leaving it out. Keys that no event has
reach the hooks under their own names.
"""

BECOMES = {
    "ok": "`false` is a failure of the hook: a warning, or with `blocking` a stop.",
    "reason": "Told with a verdict or a failure.",
    "decision": "On `UserPromptSubmit` and `PreAbilityCall` the strongest holds: deny, ask, allow, no opinion. "
    "`ask` puts `reason` to the person at the terminal; with nobody to ask it is a deny.",
    "blocked": "`true` is `decision: deny`.",
    "error": "One that begins with `blocked` is `decision: deny`. Any other is a failure of the hook.",
    "logs": f"`{SYSTEM}/logs/{HOOKS_LOG}`, and the journal.",
    "messages_to_user": "Told on stderr, and kept in the session.",
    "suggested_abilities": "Kept until the next prompt. `ability route --session` weighs them. One that is not in "
    "the registry is reported and never offered.",
    "suggested_documents": "Kept until the next prompt. `knowledge route --session` ranks them higher, and offers "
    "them if they are there.",
    "new_intent": "Kept until the next prompt. `knowledge route --session` goes by it.",
    "follow_up_actions": "Queued and shown; see [below](#follow-up-actions).",
    "usage_recorded": "Passed on to the caller.",
    "data": "In the journal, and nowhere else: only events of the loop have a context that it could go into.",
}

VERDICTS = """\
Of several hooks, lists join in the order of the chain; of each suggested ability the highest confidence is kept,
of `error` the first (`errors` has all); of other keys the last value. Keys that Samuel does not know stay in the
result. `PreAbilityCall` may also have `tool_input`, which replaces the input; `PostAbilityCall` `tool_output`,
and `SessionStop` `follow_up_messages`, which are told like `messages_to_user`.

Only `UserPromptSubmit` and `PreAbilityCall` can be denied. On any other event a verdict is a fault of the hook: a
warning, or, if it is `blocking`, an end with exit code 2.

**Nothing that a hook returns is executed by default.**
"""

FOLLOW_UPS = """\
## Follow-up actions { #follow-up-actions }

What an action is about stands below `payload`, or beside `kind`. Both of these are right:

```json
[
  {"kind": "open_file", "payload": {"path": "services/auth/src/login.ts", "line": 58}},
  {"kind": "open_file", "path": "services/billing/src/invoice.ts"}
]
```
"""

ACTIONS = [
    (
        "`create_task`",
        "`title`",
        "It goes to [the task queue](files.md#prdtoon), as if somebody had typed `run enqueue`, unless there "
        "is a task of that title, done or not. It waits while there is no task file.",
    ),
    ("`open_file`", "`path`, perhaps `line`", "It is listed, for whoever can open files."),
    (
        "`run_command`",
        "`command`: text, or a list of words",
        "It runs if [`allow_commands`](config.md#session) has exactly this command and you "
        "[agreed](../how-to/trust.md) to that list, or if the person at the terminal says yes. It waits "
        "otherwise. No shell; five minutes at most; in the project's root.",
    ),
]

ALONE = """\
What waits stays `queued` until `samuel session do` does it, or drops it. [How
to](../how-to/follow-up-actions.md). Proposed again, it is kept once.

Actions outside of a session (`emit` without `--session` and without `session_id`) are in the result and nowhere
else.
"""

FILES = f"""\
## Files {{ #files }}

`.samuel/run/sessions/<id>.json`, changed by one process at a time, for you alone (mode 0600). The newest
{MOST_SESSIONS} sessions are kept. An id is whatever the caller calls it; `samuel session`, `emit` and `ability`
commands go by `--id` or `--session`, then by `SAMUEL_SESSION_ID`; `session` commands then by the latest session
that is open.
"""

SESSION_FIELDS = {
    "id": "Its name.",
    "started": "When.",
    "stopped": "When work stopped; empty after the next prompt.",
    "ended": "When it was over.",
    "refused": "Why a hook stopped it at its start. It is over then, and may be started again under the same id.",
    "stage": "Where the work stood when somebody last said so; later events of the session have it too.",
    "messages": "`{at, event, text}` of each message to the user; the newest 200.",
    "suggestions": "Abilities that hooks suggest, since the last prompt; at most 50.",
    "documents": "Documents, likewise.",
    "intent": "The last `new_intent`, likewise.",
    "follow_ups": "What hooks propose, with what became of it; the newest 200.",
    "tree": "The work tree when it began, by which `session stop` knows what was changed. Not in `session show`.",
}

FOLLOW_UP_FIELDS = {
    "number": "From 1, in this session.",
    "kind": "`open_file`, `run_command` or `create_task`.",
    "payload": "What it is about.",
    "at": "When it was proposed.",
    "event": "In answer to what.",
    "state": "`queued` (it waits), `listed`, `done`, `failed` or `dropped`.",
    "note": "What became of it, or what it waits for.",
}

LINE_FIELDS = {
    "timestamp": "When the event was over.",
    "hook": "Its id.",
    "event": "The event.",
    "status": "One of the [outcomes](outcomes.md).",
    "duration_ms": "How long it took.",
    "session_id": "The session, if there is one.",
    "message": "What went wrong, or the reason of a no.",
    "logs": "What the hook wants logged: `{level, message}`.",
}

LOG_HEAD = f"""\
## {HOOKS_LOG} {{ #hooks-log }}

`{SYSTEM}/logs/{HOOKS_LOG}`, a JSON line for each call of a hook, whatever kind of hook it is; written where
there is a `{SYSTEM}/`. It begins anew at {MOST_BYTES // 1024**2} MiB, and the old one is `{HOOKS_LOG}.1`.
`samuel hooks log` shows the [journal](journal.md), which knows more.
"""


def sessions_page() -> str:
    shapes = Shapes()
    parts = [NOTE, SESSIONS_HEAD]
    for event in EVENTS:
        if event.family == "session":
            parts += _context(event, shapes)
    parts += [
        "## HookResult { #hookresult }\n",
        "What a hook answers. Every key is optional, and no output at all is no opinion.\n",
        _results(shapes),
        VERDICTS,
        shapes.listed(),
        FOLLOW_UPS,
        table(("`kind`", "what it needs", "what becomes of it"), ACTIONS),
        ALONE,
        FILES,
        _plain_table(fields(Session), SESSION_FIELDS),
        "Each follow-up:\n",
        _plain_table(fields(FollowUp), FOLLOW_UP_FIELDS),
        LOG_HEAD,
        _plain_table(fields(Line), LINE_FIELDS),
    ]
    return "\n".join(parts)


def _context(event: EventType, shapes: Shapes) -> list[str]:
    own = own_fields(event.payload)
    told = shapes.table(own) if own else "It has only what every context has.\n"
    return [f"### {event.name}\n", told]


def _results(shapes: Shapes) -> str:
    assert set(BECOMES) == set(HookResult.__struct_fields__), set(BECOMES) ^ set(HookResult.__struct_fields__)
    rows = [
        (f"`{info.name}`", shapes.name(types.type_info(info.type)), BECOMES[info.name])
        for info in fields(HookResult)
    ]
    return table(("key", "type", "what becomes of it"), rows)


def _plain_table(infos: tuple[FieldInfo, ...], about: dict[str, str]) -> str:
    assert [info.name for info in infos] == list(about), about
    return table(("field", "what it is"), [(f"`{name}`", what) for name, what in about.items()])
