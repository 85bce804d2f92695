"""The page about events: each with its payload, its result and an example, as the catalogue has it."""

from __future__ import annotations

import inspect
import re
from typing import Any

import msgspec
from msgspec import inspect as types
from msgspec.structs import fields
from page import NOTE, table
from shapes import Shapes, as_json

from samuel.config import format_duration
from samuel.events import EVENTS, Event, EventType, LoopEvent, Plugin
from samuel.events.names import KODELET, RESERVED_PREFIXES
from samuel.events.schema import own_fields, sample
from samuel.events.session import HookResult

FAMILIES = {
    "lifecycle": "Lifecycle events",
    "loop": "Loop events",
    "session": "Session events",
}

COMPOSES = {
    "all-ok": "Every handler must be ok. A missing `ok` means true. Reasons are kept in chain order, as "
    "`reasons`.",
    "all-ok + concatenate": "Every handler must be ok, and lists are joined in chain order. `failures` without an "
    "`ok` mean not ok.",
    "concatenate": "Lists are joined in chain order.",
    "chained blob": "Each handler sees the blob so far in `previous`. The last one that returned a blob wins; one "
    "that returns none leaves it as it is.",
    "transform chain": "The fields a handler returns replace those that the next one sees. The result has all of "
    "them.",
    "replace": "Only the last handler of the chain runs, and a warning names those it replaces. If it fails, no "
    "other handler runs instead. In that case `agent.invoke` is stopped, as it is without a handler. The loop "
    "continues without a handler of `iteration.gate`, and after a fault of one with `strict = false`.",
    "candidates": "Handlers run at the same time. The result has each answer by itself, in chain order, as "
    "`candidates`, with the name of its `handler`; the program that fired the event chooses one.",
    "merge": "Handlers run at the same time. Lists are joined in chain order; for each suggested ability, the "
    "highest confidence is kept; the first `error` is kept, and all are listed in `errors`; other keys take "
    "the last value.",
    "merge; may deny": "Like *merge*, and a verdict `deny` stops the event. The strictest verdict wins: deny, "
    "ask, allow, no opinion.",
    "rewrite, then guard": "One after another: a handler that returns `tool_input` rewrites what the next one "
    "sees. Handlers that ran before the last rewrite are called again with "
    '`phase: "guard"` and the final input. The strictest '
    "verdict wins: deny, ask, allow, no opinion.",
    "transform, then merge": "One after another: a handler that returns `tool_output` replaces what the next one "
    "sees. The other keys are merged.",
}

RESULTS: dict[str, dict[str, Any]] = {
    "init.before": {"ok": False, "reason": "this directory is read-only by agreement"},
    "init.after": {"ok": True},
    "sync.before": {"ok": True, "skip": True},
    "sync.after": {"ok": True},
    "tasks.read": {
        "format": "todo",
        "tasks": [{"id": "1", "title": "store prices", "line": 1}],
        "left_out": [{"line": 2, "what": "it does not begin with TODO"}],
    },
    "before:loop": {"ok": False, "reason": "the working tree is not clean"},
    "before:iteration": {"ok": True, "data": {"Branch": "main"}},
    "iteration.gate": {"continue": True, "mode": "implementation"},
    "context.snapshot": {"toon_blob": "languages[1]: python"},
    "context.progress": {"md_blob": "## Learned\n- The tests need a database."},
    "context.task": {"toon_blob": "owner: payments"},
    "context.extra": {
        "extras": [{"name": "python.md", "content": "Use the environment in .venv."}],
        "data": {"Venv": ".venv"},
    },
    "before:agent.invoke": {"env": {"API_KEY": "$API_KEY"}, "sandbox": {"kind": "host", "network": False}},
    "agent.invoke": {"exit_code": 0, "stdout": "Done.", "stderr": ""},
    "after:agent.invoke": {"ok": True},
    "quality.check": {
        "ok": False,
        "failures": [{"source": "secrets", "message": "a key in config.py", "output_tail": "config.py:3"}],
    },
    "before:land": {"ok": False, "reason": "the schema changes; a person has to review the migration"},
    "after:land": {"ok": True},
    "after:iteration": {"ok": True},
    "after:loop": {"ok": True},
    "SessionStart": {"suggested_documents": [{"path": "docs/style.md", "stage": "plan"}]},
    "UserPromptSubmit": {"decision": "deny", "reason": "the message holds a password"},
    "PreAbilityCall": {"decision": "deny", "reason": "`rm -rf` outside of the project"},
    "PostAbilityCall": {"tool_output": {"text": "the key was left out"}, "usage_recorded": True},
    "TurnEnd": {"logs": [{"level": "info", "message": "turn 1 done"}]},
    "SessionStop": {"follow_up_messages": ["Run the tests before you stop."]},
    "SessionEnd": {"messages_to_user": ["3 files changed."]},
    "SubagentStop": {"follow_up_messages": ["Name the files that you read."]},
    "Notification": {"logs": [{"level": "info", "message": "the agent waits for a permission"}]},
    "PreCompact": {"decision": "deny", "reason": "write the plan to docs/plan.md first"},
    "ConfigChange": {"decision": "deny", "reason": "the settings of this project change by review only"},
}


def events_page() -> str:
    shapes = Shapes()
    rows = [
        (
            f"[`{event.name}`](#{anchor(event.name)})",
            event.composition.name,
            does(event),
            "**yes**" if event.strict else "no",
            format_duration(event.timeout),
        )
        for event in EVENTS
    ]
    parts = [
        NOTE,
        f"# Events\n\nAll {len(EVENTS)} events, from the catalogue that Samuel itself uses. The same as JSON "
        "Schema: `samuel hooks schema EVENT`.\n",
        "A name may be written in any spelling: `before:loop`, `before_loop` and `BeforeLoop` are one event. "
        "The names of [Kodelet's protocol](../how-to/use-kodelet-hooks.md) are accepted too: "
        + ", ".join(f"`{theirs}` is `{ours}`" for theirs, ours in KODELET.items())
        + ". Names that begin with "
        + " or ".join(f"`{prefix}`" for prefix in RESERVED_PREFIXES)
        + " are reserved for later and refused.\n",
        "`samuel init` fires the `init` events and `samuel sync` the `sync` events. `samuel run init --from`, "
        "`run convert`, `run enqueue --from` and `run sync` fire `tasks.read`, and only for tasks in a format "
        "that is [not built in](../how-to/bring-your-tasks.md#a-format-of-your-own). `samuel run start` and "
        "`samuel run pilot` fire the loop events and, around each agent process, the session events "
        "`SessionStart`, `UserPromptSubmit`, `TurnEnd`, `SessionStop` and `SessionEnd`; [the "
        "loop](../explanation/the-loop.md) describes when. `samuel recipe run` fires the session events and "
        "those of one agent process. `samuel session` fires the events of a [session](sessions.md) one by one, "
        "and `samuel ability run` `PreAbilityCall` and `PostAbilityCall`. `SubagentStop`, `Notification`, "
        "`PreCompact` and `ConfigChange` come from [agents that have them](agents.md). Every event can be "
        "fired with `samuel hooks fire`, by any program with [`samuel emit`](../how-to/emit-from-an-agent.md), "
        "and from Python with [`app.fire`](../how-to/embed.md).\n",
        table(("event", "composes by", "built-in default", "strict", "timeout"), rows),
        "`strict` and `timeout` are the defaults; the hook or [samuel.toml](config.md) can change them. The "
        "timeout applies to each handler; in `quality.check` the built-in applies it to each command, and in "
        "`agent.invoke` the built-in uses the methodology's `agent_timeout`.\n",
        "## What every payload has\n",
        "A payload is one flat JSON object: these fields, and the event's own beside them. Samuel fills these "
        "in; a program that fires an event passes only the event's own. A handler ignores fields it does not "
        "know, and Samuel keeps result keys it does not know. `null` is the same as leaving a field out.\n",
        "A Python handler reads them as attributes: `event.event`, `event.project_root`. The names that the "
        "context of a YAML hook has for these two, `event_type` and `repository_root`, work there too.\n",
        "| field | type | default | what it is |\n| --- | --- | --- | --- |\n"
        "| `event` | string | **required** | The event's name, as in the table above. |\n"
        + shapes.table(fields(Event)).split("\n", 2)[2],
        "Loop events have these too:\n",
        shapes.table(info for info in fields(LoopEvent) if info.name not in Event.__struct_fields__),
        "The fields of `context` are on [a separate page](context.md); the examples below leave it empty. "
        "`previous` is absent for the first handler, for events that compose by *replace*, and where handlers run "
        "at the same time.\n",
    ]
    for family, title in FAMILIES.items():
        parts.append(f"## {title}\n")
        parts += [event_part(event, shapes) for event in EVENTS if event.family == family]
    parts += ["## Records\n\nThe records that the tables above link to.\n", shapes.listed()]
    return "\n".join(parts)


def event_part(event: EventType, shapes: Shapes) -> str:
    own = own_fields(event.payload)
    result = RESULTS[event.name]
    msgspec.convert(result, event.result)  # an example that is none would be worse than nothing
    lines = [
        f"### `{event.name}` {{ #{anchor(event.name)} }}\n",
        f"{inspect.getdoc(event.payload)}\n",
        f"- **Composes by** *{event.composition.name}*: {COMPOSES[event.composition.name]}",
        f"- **Built-in default:** {does(event)}",
        f"- **Strict:** {'yes' if event.strict else 'no'}. **Timeout:** {format_duration(event.timeout)}.",
        *(["- **Irreversible:** `samuel hooks fire` needs `--really`."] if event.irreversible else []),
        "\nPayload, in addition to the common fields:\n" if own else "\nThe payload has only the common fields.\n",
        *([shapes.table(own)] if own else []),
        "A handler gets:\n",
        as_json(example(event)),
        *result_part(event, shapes),
        "For example:\n",
        as_json(result),
    ]
    return "\n".join(lines)


def result_part(event: EventType, shapes: Shapes) -> list[str]:
    if not issubclass(event.result, HookResult):
        return ["Result:\n", shapes.table(fields(event.result))]
    shapes.name(types.type_info(HookResult))
    own = [info for info in fields(event.result) if info.name not in HookResult.__struct_fields__]
    if not own:
        return ["Result: a [HookResult](#hookresult).\n"]
    return ["Result: a [HookResult](#hookresult), and\n", shapes.table(own)]


def does(event: EventType) -> str:
    return event.default or "none"


def example(event: EventType) -> dict[str, Any]:
    """What a project hook named `mine` would get on stdin."""
    common = {
        "event_id": "evt-019c2b5e4f1a2b3c4d000001",
        "idempotency_key": "evt-019c2b5e4f1a2b3c4d000001/mine",
        "timestamp": "2026-01-15T10:23:45.123Z",
        "project_root": "/home/you/shop",
        "deadline_ms": int(event.timeout * 1000),
        "methodology": "ralph",
        "plugin": Plugin("mine", {}, "/home/you/shop/.samuel/run/plugins/mine"),
    }
    plain = msgspec.to_builtins({"event": event.name, **sample(event), **common})
    return msgspec.to_builtins(msgspec.convert(plain, event.payload))  # type: ignore[no-any-return]


def anchor(name: str) -> str:
    return re.sub(r"[^a-z]+", "-", name.lower())
