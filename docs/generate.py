"""Writes the pages of the reference that the code knows best.

    python docs/generate.py            rewrite them
    python docs/generate.py --check    say which are out of date, and fail

Each page is a pure function of the catalogue, the commands or the records. What a type says of itself is shown;
what it does not say stands in a table here, and a name that is missing there is an error.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
import msgspec
from ability_pages import abilities_page
from knowledge_pages import knowledge_page
from msgspec import inspect as types
from msgspec.structs import FieldInfo, fields
from page import NOTE, table
from plugin_pages import manifest_page, oci_page, wasm_page
from session_pages import sessions_page
from shapes import Shapes, as_json, description
from yaml_pages import yaml_hooks_page

from samuel.cli.lazy import LazyGroup
from samuel.cli.root import samuel
from samuel.config import format_duration
from samuel.events import EVENTS, Event, EventType, LoopEvent, Plugin
from samuel.events.schema import own_fields, sample
from samuel.events.session import HookResult
from samuel.hooks.handler import Origin
from samuel.journal.records import CallRecord, EndRecord, EventRecord
from samuel.prompts.context import PromptContext

REFERENCE = Path(__file__).parent / "reference"


# events.md

FAMILIES = {
    "lifecycle": "Lifecycle events",
    "loop": "Loop events",
    "session": "Session events",
}

COMPOSES = {
    "all-ok": "Every handler must be ok. A missing `ok` means true. Reasons are kept in chain order, as "
    "`reasons`.",
    "all-ok + concatenate": "Every handler must be ok, and lists join in chain order. `failures` without an `ok` "
    "are a no.",
    "concatenate": "Lists join in chain order.",
    "chained blob": "Each handler sees the blob so far in `previous`. The last one that returned a blob wins; one "
    "that returns none leaves it as it is.",
    "transform chain": "The fields a handler returns replace those that the next one sees. The result has all of "
    "them.",
    "replace": "Only the last handler of the chain runs, and a warning names those it replaces. If it fails, "
    "nobody stands in for it: the event is stopped.",
    "merge": "Handlers run at the same time. Lists join in chain order; of each suggested ability the highest "
    "confidence is kept; the first `error` is kept, and all are listed in `errors`; other keys take the last "
    "value.",
    "merge; may deny": "As *merge*, and a verdict `deny` stops the event. The strongest verdict holds: deny, ask, "
    "allow, no opinion.",
    "rewrite, then guard": "One after another: a handler that returns `tool_input` rewrites what the next one "
    "sees. Those who ran before the last rewrite are called again with "
    '`phase: "guard"` and the final input. The strongest '
    "verdict holds: deny, ask, allow, no opinion.",
    "transform, then merge": "One after another: a handler that returns `tool_output` replaces what the next one "
    "sees. The other keys merge.",
}

RESULTS: dict[str, dict[str, Any]] = {
    "init.before": {"ok": False, "reason": "this directory is read-only by agreement"},
    "init.after": {"ok": True},
    "sync.before": {"ok": True, "skip": True},
    "sync.after": {"ok": True},
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
    "after:iteration": {"ok": True},
    "after:loop": {"ok": True},
    "SessionStart": {"suggested_documents": [{"path": "docs/style.md", "stage": "plan"}]},
    "UserPromptSubmit": {"decision": "deny", "reason": "the message holds a password"},
    "PreAbilityCall": {"decision": "deny", "reason": "`rm -rf` outside of the project"},
    "PostAbilityCall": {"tool_output": {"text": "the key was left out"}, "usage_recorded": True},
    "TurnEnd": {"logs": [{"level": "info", "message": "turn 1 done"}]},
    "SessionStop": {"follow_up_messages": ["Run the tests before you stop."]},
    "SessionEnd": {"messages_to_user": ["3 files changed."]},
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
        "A name may be written in any spelling: `before:loop`, `before_loop` and `BeforeLoop` are one event.\n",
        "`samuel init` fires the `init` events and `samuel sync` the `sync` events. `samuel run start` and "
        "`samuel run pilot` fire the loop events and, around each agent process, the session events "
        "`SessionStart`, `UserPromptSubmit`, `TurnEnd`, `SessionStop` and `SessionEnd`; [the "
        "loop](../explanation/the-loop.md) says when. `samuel recipe run` fires the session events and those of "
        "one agent process. `samuel session` fires the events of a [session](sessions.md) one by one, and `samuel "
        "ability run` `PreAbilityCall` and `PostAbilityCall`. Every event can be fired with `samuel hooks fire`, "
        "by any program with [`samuel emit`](../how-to/emit-from-an-agent.md), and from Python with "
        "[`app.fire`](../how-to/embed.md).\n",
        table(("event", "composes by", "built-in default", "strict", "timeout"), rows),
        "`strict` and `timeout` are what holds unless the hook or [samuel.toml](config.md) says otherwise. The "
        "timeout holds per handler; in `quality.check` the built-in gives it to each command, and in "
        "`agent.invoke` the methodology's `agent_timeout` is the built-in's.\n",
        "## What every payload has\n",
        "A payload is one flat JSON object: these fields, and the event's own beside them. Samuel fills these in; "
        "whoever fires an event gives only its own. A handler ignores fields it does not know, and Samuel keeps "
        "result keys it does not know. `null` is the same as leaving a field out.\n",
        "| field | type | if left out | what it is |\n| --- | --- | --- | --- |\n"
        "| `event` | string | **must be there** | The event's name, as in the table above. |\n"
        + shapes.table(fields(Event)).split("\n", 2)[2],
        "Loop events have these too:\n",
        shapes.table(info for info in fields(LoopEvent) if info.name not in Event.__struct_fields__),
        "The fields of `context` are on [a page of their own](context.md); the examples below leave it empty. "
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
        *(["- **Irreversible:** `samuel hooks fire` wants `--really`."] if event.irreversible else []),
        "\nPayload, besides the common fields:\n" if own else "\nThe payload has only the common fields.\n",
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


# cli.md

# What exit code 1 means for a command, where that needs a word.
SAYS_NO = {
    "samuel init": "samuel.toml exists already, or a strict hook stopped it",
    "samuel run init": "there are tasks already, and no `--force`",
    "samuel run start": "it ended on failures, or could not begin: no tasks, another run, a missing agent or "
    "sandbox, something not trusted",
    "samuel run pilot": "it ended on failures, or could not begin, as with `run start`",
    "samuel run status": "there are no tasks yet",
    "samuel run tasks": "there are no tasks yet",
    "samuel run done": "the task is not one that can be done now; inside a run, it is not the current one",
    "samuel run skip": "the task is completed or skipped already; inside a run, it is not the current one",
    "samuel run block": "the task is not open; inside a run, it is not the current one",
    "samuel run reset": "this is inside a run",
    "samuel run enqueue": "there are no tasks yet, or this discovery has found its most",
    "samuel sync": "a strict hook stopped it, or a file is a link",
    "samuel plugin add": "nobody agreed, it is there already, or it cannot be fetched, used or made to run",
    "samuel plugin install": "nobody agreed, or something is not what samuel.lock says; nothing is installed then",
    "samuel plugin update": "nobody agreed to what a newer version wants, or it cannot be fetched or used",
    "samuel plugin remove": "another plugin requires it, and no `--force`",
    "samuel plugin new": "the directory is there and not empty",
    "samuel plugin validate": "there is at least one problem",
    "samuel recipe show": "the recipe is broken",
    "samuel recipe run": "the agent or a hook said no, or it could not begin: a missing agent or plugin, "
    "something not trusted",
    "samuel skill show": "the skill is broken",
    "samuel hooks new": "a hook of that name exists already",
    "samuel hooks fire": "the event was not ok: somebody denied it, or a check or a strict handler failed",
    "samuel hooks validate": "a YAML hook is broken",
    "samuel hooks enable": "its file cannot be changed by a program, or two hooks have that id",
    "samuel hooks disable": "its file cannot be changed by a program, or two hooks have that id",
    "samuel session start": "the session has begun already",
    "samuel session prompt": "a hook denied the prompt, or no session is open",
    "samuel session stop": "a blocking hook failed, or no session is open",
    "samuel session end": "a blocking hook failed, or no session is open",
    "samuel session do": "something failed, or still waits",
    "samuel session show": "there has been no session yet",
    "samuel ability lint": "there is at least one problem",
    "samuel ability create": "it is `unavailable`: no such ability, another environment, an input that does not "
    "fit, something not trusted",
    "samuel ability run": "it failed, a hook said no, or it has run already",
    "samuel ability call": "it is `unavailable`, it failed, or a hook said no",
    "samuel ability delete": "it is running",
    "samuel knowledge route": "there is no ROUTING.md",
    "samuel knowledge lint": "there is at least one problem, or no ROUTING.md",
    "samuel trust": "something still waits for your word",
    "samuel doctor": "there is at least one finding of the level `error`",
}

INTERRUPTED = (
    "samuel run start",
    "samuel run pilot",
    "samuel recipe run",
    "samuel ability run",
    "samuel ability call",
)

# What agents' own hooks understand: these codes mean something else than everywhere.
EMIT = "Exit codes: 0 go on, 2 stop, 1 something was wrong on an event that cannot be denied.\n"


def cli_page() -> str:
    parts = [
        NOTE,
        "# Command line\n\nThe help of every command, as `--help` prints it.\n",
        "Every command takes `--json`; its answer is described under [JSON output](json-output.md). [Exit "
        "codes](exit-codes.md) are the same everywhere: 0 ok, 1 the answer is no or it failed, 2 usage or "
        "configuration, 3 a bug in Samuel.\n",
    ]
    for name, command, ctx in commands(samuel, "samuel", None):
        parts.append(f"## {name}\n\n```text\n{command.get_help(ctx)}\n```\n")
        if name == "samuel emit":
            parts.append(EMIT)
        elif not isinstance(command, click.Group):
            no = f", 1 {SAYS_NO[name]}" if name in SAYS_NO else ""
            stopped = ", 130 interrupted" if name in INTERRUPTED else ""
            parts.append(f"Exit codes: 0 ok{no}, 2 usage or configuration{stopped}.\n")
    return "\n".join(parts)


def commands(
    command: click.Command, name: str, parent: click.Context | None
) -> Iterable[tuple[str, click.Command, click.Context]]:
    settings = {**command.context_settings, "terminal_width": 90}
    ctx = click.Context(command, info_name=name.split()[-1], parent=parent, **settings)
    yield name, command, ctx
    if isinstance(command, LazyGroup):
        for inner in command.list_commands(ctx):
            found = command.get_command(ctx, inner)
            assert found is not None
            yield from commands(found, f"{name} {inner}", ctx)


# context.md

# What the free mappings hold: (name, type, what it is). how-to/custom-prompt.md prints all the names there are.
FREE: dict[str, list[tuple[str, str, str]]] = {
    "Config": [
        ("agent", "string", "The agent of the methodology."),
        ("quality_checks", "array of string", "The checks."),
        ("max_iterations", "integer", "The cap in samuel.toml; this run's own is `Iteration.Max`."),
        ("max_task_attempts", "integer", "After so many failed attempts a task is blocked."),
        ("commit", "boolean", "Does each completed task get a commit?"),
        ("pilot", "boolean", "Does the agent look for tasks, too?"),
        ("focus", "string", "What discovery looks at above all; empty if nothing was said."),
        ("max_discovery_tasks", "integer", "The most tasks that one discovery may add."),
    ],
    "State": [
        (
            "Task",
            "string",
            "TOON: the task at hand, or in discovery all tasks at a glance. Result of `context.task`.",
        ),
        ("Progress", "string", "Markdown: learnings, completions, areas. Result of `context.progress`."),
        ("Snapshot", "string", "TOON: the project at a glance. Result of `context.snapshot`."),
        ("Extras", "array of object", "`{name, content}`, from `context.extra`."),
        ("Skills", "array of object", "`{Name, Description, Path}` of each [skill](../how-to/skills.md)."),
        ("RunId", "string", "The id of the run."),
        ("Agent", "string", "The agent of this run."),
        ("ConsecutiveFailures", "integer", "Failed iterations in a row so far."),
        ("EmptyDiscoveries", "integer", "Discoveries in a row that added nothing."),
        ("Usage", "object", "Tokens and cost of the run so far, for agents that report them."),
    ],
}


def context_page() -> str:
    parts = [
        NOTE,
        "# PromptContext\n\nWhat prompt templates see, and what handlers of loop events read as `context`.\n",
        "The names are capitalised because they are the template's names. In a template, `{{ Project.Name }}` and "
        "Go's "
        '`{{.Project.Name}}` are the same; in a handler it is `event.context["Project"]["Name"]`.\n',
        "A handler reads all of it and writes one place: what it returns as `data` is merged into `Plugins` under "
        "its own name, for every later handler and for the prompt. The `data` of a handler that was not ok is "
        "dropped.\n",
    ]
    top, inside = [], []
    for name in fields(PromptContext):
        kind = types.type_info(name.type)
        inner = kind.type if isinstance(kind, types.Metadata) else kind
        if isinstance(inner, types.StructType):
            top.append((f"[`{name.name}`](#{name.name.lower()})", "object", description(name.type)))
            rows = [
                (f"`{name.name}.{one.name}`", type_name(one), description(one.type)) for one in fields(inner.cls)
            ]
            inside += [f"## {name.name}\n", table(("name", "type", "what it is"), rows)]
        elif name.name in FREE:
            top.append((f"[`{name.name}`](#{name.name.lower()})", "object", description(name.type)))
            rows = [(f"`{name.name}.{key}`", kind, what) for key, kind, what in FREE[name.name]]
            inside += [f"## {name.name}\n", table(("name", "type", "what it is"), rows)]
        else:
            top.append((f"`{name.name}`", type_name(name), description(name.type)))
    end = (
        "`State.Task`, `State.Progress`, `State.Snapshot` and `State.Extras` are filled for `before:agent.invoke` "
        "and its templates, and empty in every other event; `State.Skills` is always filled. The names from "
        "`State.RunId` on are there only inside a run. "
        "[A prompt of your own](../how-to/custom-prompt.md) shows them in use.\n"
    )
    return "\n".join([*parts, table(("name", "type", "what it is"), top), *inside, end])


def type_name(info: FieldInfo) -> str:
    return Shapes().name(types.type_info(info.type))


# journal.md

RECORDS: list[tuple[str, str, type[msgspec.Struct], dict[str, str]]] = [
    (
        "event",
        "Written when an event is fired, before anybody is called.",
        EventRecord,
        {
            "event_id": "Unique to this firing.",
            "event": "The event's name.",
            "at": "When, in seconds since the epoch.",
            "run_id": "The run it belongs to, if any.",
            "session_id": "The session it belongs to, if any.",
            "parent_id": "The event during which this one was fired: a hook that calls Samuel.",
            "context": "A digest of the context, which would otherwise repeat in every record.",
            "payload": "The payload: secrets as `[secret]`, long values cut to 2 KiB, with their size and digest.",
        },
    ),
    (
        "call",
        "Written for each call of a handler. `samuel hooks log` shows these.",
        CallRecord,
        {
            "call_id": "The event's id, the position, and `g` in the guard phase.",
            "event_id": "The event it answers to.",
            "event": "That event's name.",
            "at": "When the call ended, in seconds since the epoch.",
            "handler": "The handler's name.",
            "origin": f"Where it was found: {', '.join(f'`{origin.label}`' for origin in Origin)}.",
            "runtime": "How it ran: `inline`, `python`, `exec`, `wasm` or `oci`.",
            "position": "Its place in the chain, from 1.",
            "outcome": "One of the [outcomes](outcomes.md).",
            "duration_ms": "How long it took.",
            "digest": "The digest of its file, for those that are one.",
            "phase": "`guard` when it was shown the final input of a rewritten call.",
            "strict": "Did a fault of it stop the event?",
            "message": "What went wrong, or what was cut.",
            "result": "What it returned, with secrets left out and long values cut.",
            "stderr": "The last 64 KiB of what it wrote there.",
        },
    ),
    (
        "end",
        "Written when the event is judged.",
        EndRecord,
        {
            "event_id": "The event.",
            "event": "Its name.",
            "at": "When, in seconds since the epoch.",
            "ok": "Was it a yes?",
            "duration_ms": "How long the whole took.",
            "stopped": "A denial or a strict failure: what fired the event must not go on.",
            "reason": "Why it was stopped.",
            "result": "The composed result, with secrets left out and long values cut.",
            "warnings": "What the person was warned of.",
        },
    ),
]


def journal_page() -> str:
    parts = [
        NOTE,
        "# Journal\n\nWhat happened, as JSON lines in `.samuel/run/journal/`. `samuel hooks log` reads it; so can "
        "`jq`.\n",
        "- All processes add to the newest file, readable while it is written. Directory and files are yours "
        "alone (mode 0700 and 0600).\n"
        "- `samuel emit` may answer an event that nobody is called for without a line: nothing was decided.\n"
        "- A torn line is passed over, and so is a line that is not Samuel's.\n"
        "- A file ends at 8 MiB; when all of them together pass 64 MiB, the oldest go.\n"
        "- A journal that cannot be written costs one warning, never the event.\n"
        "- `.samuel/run/` is ignored by git: what a run leaves behind is nobody's to commit.\n",
        "Each line has a `kind`. Fields that have their default are left out.\n",
    ]
    for kind, what, struct, about in RECORDS:
        parts += [f'## `"kind": "{kind}"` {{ #{kind} }}\n\n{what}\n', Shapes().table(fields(struct), about)]
    return "\n".join(parts)


PAGES: dict[str, Callable[[], str]] = {
    "events.md": events_page,
    "cli.md": cli_page,
    "context.md": context_page,
    "journal.md": journal_page,
    "plugin-manifest.md": manifest_page,
    "wasm-abi.md": wasm_page,
    "oci-protocol.md": oci_page,
    "yaml-hooks.md": yaml_hooks_page,
    "sessions.md": sessions_page,
    "abilities.md": abilities_page,
    "knowledge.md": knowledge_page,
}


def main(arguments: list[str]) -> int:
    stale = []
    for name, page in PAGES.items():
        file, text = REFERENCE / name, page()
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in arguments:
                file.write_text(text, encoding="utf-8")
    verb = "out of date; run `python docs/generate.py`" if "--check" in arguments else "rewritten"
    for name in stale:
        print(f"docs/reference/{name}: {verb}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
