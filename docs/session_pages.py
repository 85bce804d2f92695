"""The page about sessions: what a hook gets, what each part of its answer does, and what is stored."""

from __future__ import annotations

from msgspec import inspect as types
from msgspec.structs import FieldInfo, fields
from page import NOTE, table
from shapes import Shapes

from samuel.base.paths import SYSTEM
from samuel.events import EVENTS, EventType
from samuel.events.schema import own_fields
from samuel.events.session import HookResult
from samuel.files.log import MOST_BYTES
from samuel.journal.hooks_log import NAME as HOOKS_LOG
from samuel.journal.hooks_log import Line
from samuel.sessions.session import FollowUp, Session
from samuel.sessions.store import MOST_SESSIONS

SESSIONS_HEAD = """\
# Sessions

A session is a piece of work with an agent: prompts, calls of abilities, an end. Each step fires an event, and the
answers of the hooks are stored for the next step. `samuel session`, `samuel ability` and [`samuel
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
`stage` (`understand`, `plan`, `act` or `review`) if the caller sets it. The event's own fields are beside them,
and so is the rest of [what every payload has](events.md#what-every-payload-has). A function gets the same as an
object: `event.ability_id`.

`user_message` is what a person wrote; in a run or a recipe it is the whole prompt that the agent gets, with
names of the project's files in it. A hook that compares words may use `match: {stage: ...}`, or check `run_id`
first.

A caller may leave out every field that is not *required*; `null` is the same as leaving it out. Unknown keys reach
the hooks under their own names.
"""

BECOMES = {
    "ok": "`false` is a failure of the hook: a warning, or with `blocking` a stop.",
    "reason": "The reason of a verdict or a failure; printed with it.",
    "decision": "On `UserPromptSubmit` and `PreAbilityCall` the strictest wins: deny, ask, allow, no opinion. "
    "`ask` puts `reason` to the person at the terminal; without a terminal it denies.",
    "blocked": "`true` is `decision: deny`.",
    "error": "An error that begins with `blocked` is `decision: deny`. Any other is a failure of the hook.",
    "logs": f"Written to `{SYSTEM}/logs/{HOOKS_LOG}` and to the journal.",
    "messages_to_user": "Printed on stderr, and stored in the session.",
    "suggested_abilities": "Stored until the next prompt. `ability route --session` uses them. An ability that is "
    "not in the registry is reported and never offered.",
    "suggested_documents": "Stored until the next prompt. `knowledge route --session` ranks them higher, and "
    "offers them if they exist.",
    "new_intent": "Stored until the next prompt. `knowledge route --session` uses it.",
    "follow_up_actions": "Queued and shown; see [below](#follow-up-actions).",
    "usage_recorded": "Passed on to the caller.",
    "data": "Recorded in the journal only: session events have no context that it could be merged into.",
}

VERDICTS = """\
If several hooks answer, lists are joined in the order of the chain; of each suggested ability the highest
confidence is kept, of `error` the first (`errors` has all), and of other keys the last value. Unknown keys stay
in the result. `PreAbilityCall` may also have `tool_input`, which replaces the input; `PostAbilityCall` may have
`tool_output`, and `SessionStop` may have `follow_up_messages`, which are printed like `messages_to_user`.

Only `UserPromptSubmit` and `PreAbilityCall` can be denied. On any other event a verdict is a fault of the hook: a
warning, or exit code 2 if the hook is `blocking`. On these two, an unknown key that looks like a
[misspelt verdict](outcomes.md#verdicts) is a warning, and a denial if the hook is `blocking` or a guard.

**Nothing that a hook returns is executed by default.**
"""

FOLLOW_UPS = """\
## Follow-up actions { #follow-up-actions }

The fields of an action are below `payload`, or beside `kind`. Both of these are valid:

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
        "It goes to [the task queue](files.md#prdtoon), like `run enqueue`, unless there is a task with that "
        "title, done or not. It waits while there is no task file.",
    ),
    ("`open_file`", "`path`, optionally `line`", "It is listed, for an editor that can open files."),
    (
        "`run_command`",
        "`command`: text, or a list of words",
        "It runs if [`allow_commands`](config.md#session) has exactly this command and you "
        "[agreed](../how-to/trust.md) to that list, or if the person at the terminal agrees. Otherwise it "
        "waits. It runs without a shell, for five minutes at most, in the project's root.",
    ),
]

ALONE = """\
An action that waits stays `queued` until `samuel session do` carries it out or drops it. [How
to](../how-to/follow-up-actions.md). If it is proposed again, it is stored once.

Actions outside of a session (`emit` without `--session` and without `session_id`) are in the result only.
"""

FILES = f"""\
## Files {{ #files }}

A session is stored in `.samuel/run/sessions/<id>.json`, which only you can read (mode 0600) and one process at a
time changes. The newest {MOST_SESSIONS} sessions are kept. The caller chooses the id; `samuel session`, `emit` and
`ability` commands use `--id` or `--session`, then `SAMUEL_SESSION_ID`; `session` commands then use the latest open
session.
"""

SESSION_FIELDS = {
    "id": "Its name.",
    "started": "When it started.",
    "stopped": "When work stopped; empty after the next prompt.",
    "ended": "When it was over.",
    "refused": "Why a hook stopped it at its start. It is over then, and can be started again under the same id.",
    "stage": "The stage that a caller set last; later events of the session have it, too.",
    "messages": "`{at, event, text}` of each message to the user; the newest 200.",
    "suggestions": "Abilities that hooks suggest, since the last prompt; at most 50.",
    "documents": "Documents, likewise.",
    "intent": "The last `new_intent`, likewise.",
    "follow_ups": "What hooks propose, each with its state; the newest 200.",
    "tree": "The work tree when it began, from which `session stop` finds what changed. Not in `session show`.",
}

FOLLOW_UP_FIELDS = {
    "number": "From 1, in this session.",
    "kind": "`open_file`, `run_command` or `create_task`.",
    "payload": "Its fields.",
    "at": "When it was proposed.",
    "event": "The event for which it was proposed.",
    "state": "`queued` (it waits), `listed`, `done`, `failed` or `dropped`.",
    "note": "The result, or what it waits for.",
}

LINE_FIELDS = {
    "timestamp": "When the event was over.",
    "hook": "Its id.",
    "event": "The event.",
    "status": "One of the [outcomes](outcomes.md).",
    "duration_ms": "How long it took.",
    "session_id": "The session, if there is one.",
    "message": "What went wrong, or the reason of a denial.",
    "logs": "The log entries of the hook: `{level, message}`.",
}

LOG_HEAD = f"""\
## {HOOKS_LOG} {{ #hooks-log }}

`{SYSTEM}/logs/{HOOKS_LOG}` has a JSON line for each call of a hook of any kind; it is written if there is a
directory `{SYSTEM}/`. It is rotated at {MOST_BYTES // 1024**2} MiB; the old file is `{HOOKS_LOG}.1`. `samuel
hooks log` shows the [journal](journal.md), which has more details.
"""


def sessions_page() -> str:
    shapes = Shapes()
    parts = [NOTE, SESSIONS_HEAD]
    for event in EVENTS:
        if event.family == "session":
            parts += _context(event, shapes)
    parts += [
        "## HookResult { #hookresult }\n",
        "The answer of a hook. Every key is optional, and no output means no opinion.\n",
        _results(shapes),
        VERDICTS,
        shapes.listed(),
        FOLLOW_UPS,
        table(("`kind`", "what it needs", "what happens"), ACTIONS),
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
    fields_table = shapes.table(own) if own else "It has only what every context has.\n"
    return [f"### {event.name}\n", fields_table]


def _results(shapes: Shapes) -> str:
    assert set(BECOMES) == set(HookResult.__struct_fields__), set(BECOMES) ^ set(HookResult.__struct_fields__)
    rows = [
        (f"`{info.name}`", shapes.name(types.type_info(info.type)), BECOMES[info.name])
        for info in fields(HookResult)
    ]
    return table(("key", "type", "what it does"), rows)


def _plain_table(infos: tuple[FieldInfo, ...], about: dict[str, str]) -> str:
    assert [info.name for info in infos] == list(about), about
    return table(("field", "what it is"), [(f"`{name}`", what) for name, what in about.items()])
