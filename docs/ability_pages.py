"""The page about abilities: the keys of their files, as the reader accepts them, and the record of a call."""

from __future__ import annotations

from collections.abc import Iterable

from page import MUST, NOTE, UNKNOWN, keys_by_table, keys_table, table

from samuel.config import format_duration
from samuel.routing.abilities import registry, route, usage
from samuel.routing.abilities.definition import TYPES, read_ability
from samuel.routing.abilities.execution import call_store, nesting
from samuel.routing.abilities.execution.call import AbilityCall, CallStatus
from samuel.routing.abilities.execution.perform import SECONDS
from samuel.routing.abilities.model import KINDS, Level
from samuel.routing.abilities.tables import COLUMNS
from samuel.routing.abilities.tables import FILE as TABLES

TOP = {
    "id": ("name", f"high-level: {MUST}", "Its name. A low-level ability is named by its operation key."),
    "operation_key": (
        "name",
        f"low-level: {MUST}",
        "Like `billing.suite.run`. A second name for a high-level ability.",
    ),
    "type": ("string", f"high-level: {MUST}", " or ".join(f"`{kind}`" for kind in TYPES) + "."),
    "version": ("number or text", "-", "For people."),
    "summary": ("text", MUST, "What it does, in a sentence."),
    "scope": ("table", "everywhere", "[Where it is for](#scope)."),
    "routing_hints": ("table", "-", "[How it is found](#routing_hints)."),
    "calls": ("list of names", "none", "What a high-level ability may call: operation keys, or ids."),
    "input_schema": (
        "JSON Schema",
        "not checked",
        "What its input must be. Draft 2020-12 unless `$schema` names another.",
    ),
    "output_schema": ("JSON Schema", "not checked", "What its output must be."),
    "implementation": ("table", "it cannot be called", "[How it runs](#implementation)."),
}

SCOPE = {
    "modules": ("list of text", "all", "The parts of the repository: `billing`, `services/auth`, globs."),
    "environments": ("list of names", "all", "It can be called only in these, and not where none is set."),
}

HINTS = {
    "keywords": ("list of text", "-", "Words and phrases that people use when they ask for it."),
    "negative_keywords": ("list of text", "-", "A request with one of these does not mean this ability."),
    "scopes": ("list of text", "-", "Like `modules`, but only for routing."),
    "notes": ("text", "-", "For people and models."),
}

COMMON = {
    "timeout": (
        "duration",
        f"`{format_duration(SECONDS)}`",
        "After this time it is ended, with every process it started.",
    ),
    "env": (
        "table, or a list of names",
        "-",
        'Variables in addition to the [clean set](../authoring.md#environment). `"$NAME"`, or a name in a list, '
        "takes the value from outside.",
    ),
}

IMPLEMENTATION = {
    "script": {
        "path": ("path", MUST, "An executable of the project, from its root."),
        "args_template": (
            "text, or a list of words",
            "no arguments",
            "Arguments with [placeholders](#placeholders).",
        ),
        **COMMON,
    },
    "python": {
        "function": ("text", MUST, "`path/to/file.py:function`, or `module:function`."),
        **COMMON,
    },
    "agent": {
        "prompt": ("text", MUST, "The prompt for the project's agent, with [placeholders](#placeholders)."),
        **COMMON,
        "timeout": ("duration", "`agent_timeout` of the methodology", COMMON["timeout"][2]),
    },
}

RUNS = {
    "script": "A program. The input comes as JSON on stdin; its output is JSON on stdout, and no output means "
    "`null`. Exit code 0 is success. What it writes to stderr is kept in the record.",
    "python": "A function that gets the input and returns the output, in a separate process.",
    "agent": "A prompt to [the project's agent](../how-to/use-your-agent.md). With an `output_schema`, the prompt "
    "asks the agent to write its result to `output.json` in the call's folder; without one, the output is "
    "`{response, changed_files}`.",
}

ABILITIES_HEAD = f"""\
# Abilities

An ability is an operation of a repository that agents and people can find and call. Abilities are files in
`{registry.FOLDER}/`, with a table in `{TABLES}`. `samuel ability lint` reports what is wrong; a file with a
problem is left out, and the others work. [Ability, knowledge, skill or
recipe?](../explanation/which-of-the-four.md) tells the four apart.

| place | what is in it |
|---|---|
| `{registry.FOLDER}/high-level/*.yaml` | workflows and agents: a piece of work, which may call others |
| `{registry.FOLDER}/low-level/*.yaml` | single operations |
| `{registry.CONFIG}/*.yaml` | `implementation` of an ability whose own file has none, by `id` or `operation_key` |
| `{TABLES}` | two tables for people and routing; see [below](#tables) |

Each file has one ability, in [the same YAML as hooks](yaml-hooks.md#which-yaml-is-accepted). Ids and operation
keys share one name space. [How to write one](../how-to/write-an-ability.md).
"""

PLACEHOLDERS = """\
## Placeholders { #placeholders }

`{name}` in `args_template` and in a prompt is the value of that name in the input, or its `default` in the
schema: text as it is, anything else as JSON. A template is split into words before values are filled in, so a
value is always one argument, or a part of one. A value that begins with `-` would be taken for an option and is
refused; write `--name={name}`, or put `--` before it. If a value is missing, the call is `unavailable`. The
parts of the input that a prompt does not name follow it as JSON.
"""

TABLES_TEXT = f"""\
## {TABLES} {{ #tables }}

Columns are recognised by their names, in any order; other columns and other tables are ignored. *When to use* (or
the summary) and the scope are used for routing. Every row needs a file and, if there are tables at all, every file
needs a row; `lint` reports what is missing.
"""

ROUTING_TEXT = f"""\
## Routing {{ #routing }}

`samuel ability route TEXT` ranks high-level abilities first, then low-level ones, and explains each score, 0 to
1:

- The score measures how much of the request is in the ability's name, keywords, when-to-use, summary and scope,
  each word weighted by how rare it is. Words are compared by their stems. An ability below a threshold is not
  offered, and neither is one far from the best.
- A negative keyword, another environment (`--env`, `SAMUEL_ENV`, samuel.toml) or another part of the repository
  (`--scope`) excludes an ability; it is listed as left out, with the reason.
- What a session's hooks suggest (`--session`) adds up to {route.SUGGESTED:.0%} of what an ability lacks to 1, by
  their confidence, and frequent use ([`{usage.FILE}`](../how-to/track-ability-use.md)) up to {route.USED:.0%}. A
  suggested ability is offered even if its words fit too little, but never one that is not in the registry.

If nothing fits, the answer names the nearest ability, and the exit code is 0.
"""

CALL_TEXT = f"""\
## A call {"{ #call }"}

`samuel ability create` checks the input against the schema, the environment, the caller and your
[agreement](../how-to/trust.md) to `ability:<id>` and to the file that it runs. It prints one of

```json
{{"status": "available", "call_key": "call-20250115T102345-0123456789abcdef", "warnings": []}}
```

```json
{{"status": "unavailable", "reason": "`x` is for `dev`, and this is `prod`", "suggestion": "..."}}
```

and only the first creates a folder. `samuel ability run KEY` then fires `PreAbilityCall`, runs the ability, writes
the record and fires `PostAbilityCall`. If hooks changed the input, the changed input is checked again and used.
`samuel ability call` does both. A call within a call has the environment of the outer one.

| exit code | |
|---|---|
| 0 | it succeeded |
| 1 | `unavailable`, failed, or denied by a hook (`skipped`); a blocking hook failed; it has run already |
| 2 | no call with this key, or an input that is not JSON |
| 130 | interrupted: the record says `killed`, and `PostAbilityCall` is fired with `failure` |

The output goes to stdout, everything else to stderr.

### Nested calls

A program that an ability runs has the key of its call in `{nesting.VARIABLE}`, and calls others with `samuel
ability call`. It may call what `calls` lists, at most {nesting.DEEPEST} deep, and never an ability that is
already running further up. A program of the same user could get around this limit.

It also has `SAMUEL_ABILITY_ID`, `SAMUEL_PROJECT_ROOT`, `SAMUEL_RUN_ID` and `SAMUEL_EVENT_ID`, and
`SAMUEL_SESSION_ID` and `SAMUEL_ENV` if there is a session or an environment.
"""

FILES = {
    call_store.INPUT: "The input that was asked for.",
    call_store.RECORD: "The record; its fields are below.",
    call_store.READABLE: "The same for people: time, intent, what really ran, input, output or error, and whether "
    "that is what was asked for.",
    call_store.CHILDREN: "The keys of the calls that it made, one on each line.",
    "output.json": "The result, if an agent was asked to write it.",
}

STATUSES = {
    CallStatus.CREATED: "It has not run yet.",
    CallStatus.RUNNING: "It is running.",
    CallStatus.SUCCESS: "It succeeded, and its output matches the schema.",
    CallStatus.FAILURE: "It failed, was ended at its timeout, or its output does not match the schema.",
    CallStatus.SKIPPED: "A hook denied it; nothing ran.",
    CallStatus.KILLED: "It began, and its caller ended before it did. The next command finds it and ends its "
    "remaining processes.",
}

RECORD = {
    "key": "The key of the call.",
    "ability_id": "The ability.",
    "created": "When it was created.",
    "status": "See above.",
    "operation_key": "Its operation key.",
    "intent": "The purpose: `--intent`, or the summary.",
    "environment": "The environment in which it ran.",
    "session": "The session.",
    "parent": "The call that this one is part of.",
    "children": "The calls that are part of it.",
    "pid": "The process that ran it.",
    "started": "When it began.",
    "ended": "When it ended.",
    "duration_ms": "How long it took.",
    "ran": "What really ran, in one line.",
    "final_input": "The input that was used, if hooks changed it.",
    "output": "Its output.",
    "output_replaced": "True if hooks replaced the output.",
    "messages": "Messages to the person from the hooks that denied it.",
    "error": "Why it failed or was denied.",
    "stderr": "The end of its stderr.",
}


def abilities_page() -> str:
    keys_by_kind = {kind: _ability(kind) for kind in KINDS.values()}
    valid_keys = keys_by_kind["script"]
    parts = [NOTE, ABILITIES_HEAD, "## At the top\n", keys_table(TOP, valid_keys[""])]
    parts += ["## scope\n", keys_table(SCOPE, valid_keys["scope"])]
    parts += ["## routing_hints\n", keys_table(HINTS, valid_keys["routing_hints"])]
    parts += ["## implementation\n", "`kind` names one of these tables, which stands beside it.\n"]
    for kind, descriptions in IMPLEMENTATION.items():
        keys = keys_by_kind[kind][f"implementation.{kind}"]
        parts += [f"### {kind}\n", f"{RUNS[kind]}\n", keys_table(descriptions, keys)]
    parts += [PLACEHOLDERS, TABLES_TEXT]
    for level, columns in COLUMNS.items():
        heading = " | ".join(column.capitalize() for column in columns)
        parts.append(f"- {level}-level: `{heading}`")
    parts += [
        "",
        ROUTING_TEXT,
        CALL_TEXT,
        "## The record { #record }\n",
        f"`{call_store.PLACE}/<key>/`, for you alone:\n",
    ]
    parts += [_rows(("file", "what it is"), FILES), _rows(("status", "what it means"), STATUSES)]
    assert tuple(RECORD) == AbilityCall.__struct_fields__, set(RECORD) ^ set(AbilityCall.__struct_fields__)
    return "\n".join(
        [
            *parts,
            f"Fields of `{call_store.RECORD}`; empty ones are left out:\n",
            _rows(("field", "what it is"), RECORD),
        ]
    )


def _ability(kind: str) -> dict[str, list[str]]:
    text = f"""
{UNKNOWN}: 1
scope: {{{UNKNOWN}: 1}}
routing_hints: {{{UNKNOWN}: 1}}
implementation: {{kind: {kind}, {kind}: {{{UNKNOWN}: 1}}}}
"""
    return keys_by_table(lambda: read_ability(text.encode(), "unknown-keys.yaml", Level.HIGH))


def _rows(head: Iterable[str], rows: dict[str, str] | dict[CallStatus, str]) -> str:
    return table(head, [(f"`{name}`", what) for name, what in rows.items()])
