"""The page about abilities: the keys of their files, asked of the reader, and what a call leaves."""

from __future__ import annotations

from collections.abc import Iterable

from page import MUST, NOTE, UNKNOWN, keys_table, known_keys, table

from samuel.abilities import registry, route, usage
from samuel.abilities.definition import TYPES, read_ability
from samuel.abilities.execution import call_store as folder
from samuel.abilities.execution import nesting as family
from samuel.abilities.execution.call import AbilityCall, CallStatus
from samuel.abilities.execution.program import SECONDS
from samuel.abilities.model import KINDS, Level
from samuel.abilities.tables import COLUMNS
from samuel.abilities.tables import FILE as TABLES
from samuel.config import format_duration

TOP = {
    "id": ("name", "high-level: **must be there**", "What it goes by. A low-level one goes by its operation key."),
    "operation_key": (
        "name",
        "low-level: **must be there**",
        "Like `billing.suite.run`. Another name for a high-level one.",
    ),
    "type": ("string", "high-level: **must be there**", " or ".join(f"`{one}`" for one in TYPES) + "."),
    "version": ("number or text", "-", "For people."),
    "summary": ("text", MUST, "What it does, in a sentence."),
    "scope": ("table", "everywhere", "[Where it is for](#scope)."),
    "routing_hints": ("table", "-", "[How it is found](#routing_hints)."),
    "calls": ("list of names", "nothing", "What a high-level one may call: operation keys, or ids."),
    "input_schema": (
        "JSON Schema",
        "not checked",
        "What its input must be. Draft 2020-12 unless it says another.",
    ),
    "output_schema": ("JSON Schema", "not checked", "What its output must be."),
    "implementation": ("table", "it cannot be called", "[How it runs](#implementation)."),
}

SCOPE = {
    "modules": ("list of text", "all", "The parts of the repository: `billing`, `services/auth`, globs."),
    "environments": ("list of names", "all", "It is called in these only, and not where no environment is set."),
}

HINTS = {
    "keywords": ("list of text", "-", "Words and phrases that people ask with."),
    "negative_keywords": ("list of text", "-", "A text that has one of these does not mean this ability."),
    "scopes": ("list of text", "-", "As `modules`, for finding."),
    "notes": ("text", "-", "For people and models."),
}

COMMON = {
    "timeout": (
        "duration",
        f"`{format_duration(SECONDS)}`",
        "After that it is ended, with everything it started.",
    ),
    "env": (
        "table, or a list of names",
        "-",
        'Variables besides the [clean set](../authoring.md#environment). `"$NAME"` is the value outside, and so '
        "is a name in a list.",
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
        "prompt": ("text", MUST, "What the project's agent is told, with [placeholders](#placeholders)."),
        **COMMON,
        "timeout": ("duration", "`agent_timeout` of the methodology", COMMON["timeout"][2]),
    },
}

RUNS = {
    "script": "A program. The input comes as JSON on stdin; its output is JSON on stdout, and none is `null`. "
    "Exit code 0 is success. What it writes to stderr is kept in the record.",
    "python": "A function that is given the input and returns the output, in a process of its own.",
    "agent": "A prompt to [the project's agent](../how-to/use-your-agent.md). With an `output_schema` the agent "
    "is told to write its result to `output.json` in the call's folder; without one, the output is "
    "`{response, changed_files}`.",
}

ABILITIES_HEAD = f"""\
# Abilities

What can be done in a repository: files in `{registry.FOLDER}/`, and what `{TABLES}` says of them. `samuel
ability lint` finds what is wrong; a file with a problem is left out, and the others work.

| place | what is in it |
|---|---|
| `{registry.FOLDER}/high-level/*.yaml` | workflows and agents: a piece of work, which may call others |
| `{registry.FOLDER}/low-level/*.yaml` | single operations |
| `{registry.CONFIG}/*.yaml` | `implementation` of an ability whose own file has none, by `id` or `operation_key` |
| `{TABLES}` | two tables for people and routing; see [below](#tables) |

One ability a file, in [the same YAML as hooks](yaml-hooks.md#what-yaml-there-may-be). Ids and operation keys
share one name space. [How to write one](../how-to/write-an-ability.md).
"""

PLACEHOLDERS = """\
## Placeholders { #placeholders }

`{name}` in `args_template` and in a prompt is the value of that name in the input, or its `default` in the
schema: text as it is, anything else as JSON. A template is split into words before values are filled in, so a
value is always one argument, or a part of one. One that begins with `-` would be taken for an option, and is
refused; write `--name={name}`, or put `--` before it. A value that is missing makes the call `unavailable`. What
of the input a prompt does not name follows it as JSON.
"""

TABLES_TEXT = f"""\
## {TABLES} {{ #tables }}

Columns are known by their names, in any order; further columns and other tables are somebody else's. *When to
use* (or the summary) and the scope count for routing. Every row needs a file and, if there are tables at all,
every file a row; `lint` says where that is not so.
"""

ROUTING_TEXT = f"""\
## Routing {{ #routing }}

`samuel ability route TEXT` ranks high-level abilities first, then low-level ones, and explains each score, 0 to
1:

- How much of what was asked an ability has in its name, keywords, when-to-use, summary and scope, each word by
  how rare it is. Words are compared by their stems. What falls below a floor is not offered, and neither is what
  is far from the best.
- A negative keyword, another environment (`--env`, `SAMUEL_ENV`, samuel.toml) or another part of the repository
  (`--scope`) takes one out; it is listed as left out, with the reason.
- What a session's hooks suggest (`--session`) gives an ability up to {route.SUGGESTED:.0%} of what it lacks to
  1, by their confidence, and frequent use ([`{usage.FILE}`](../how-to/track-ability-use.md)) up to
  {route.USED:.0%}. A suggested ability is offered even if its words fit too little; one that is not in the
  registry never.

If nothing fits it says so, with the nearest, and exits with 0.
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

and only the first makes a folder. `samuel ability run KEY` then fires `PreAbilityCall`, runs the ability, writes
the record and fires `PostAbilityCall`. What hooks made of the input is what runs, and it is checked again.
`samuel ability call` is both in one. A call within a call stays in the environment of the outer one.

| exit code | |
|---|---|
| 0 | it succeeded |
| 1 | `unavailable`, failed, or denied by a hook (`skipped`); a blocking hook failed; it has run already |
| 2 | no call with this key, or an input that is not JSON |
| 130 | interrupted: the record says `killed`, and `PostAbilityCall` is fired with `failure` |

The output goes to stdout, everything else to stderr.

### Nested calls

A program that an ability runs has the key of its call in `{family.VARIABLE}`, and calls others with `samuel
ability call`. It may call what `calls` lists, at most {family.DEEPEST} deep, and never an ability that is
already running further up. It is an agreement with programs of the same user, not a wall.

Besides that it sees `SAMUEL_ABILITY_ID`, `SAMUEL_PROJECT_ROOT`, `SAMUEL_RUN_ID`, `SAMUEL_EVENT_ID`, and
`SAMUEL_SESSION_ID` and `SAMUEL_ENV` where there is a session or an environment.
"""

FILES = {
    folder.INPUT: "What was asked for.",
    folder.RECORD: "The record; its fields are below.",
    folder.WORDS: "The same for people: time, intent, what really ran, input, output or error, and whether "
    "that is what was asked for.",
    folder.CHILDREN: "The keys of the calls that it made, a line each.",
    "output.json": "Where an agent was told to write its result.",
}

STATUSES = {
    CallStatus.CREATED: "It has not run yet.",
    CallStatus.RUNNING: "It runs.",
    CallStatus.SUCCESS: "It ended well, and its output fits.",
    CallStatus.FAILURE: "It ended badly, was ended at its timeout, or its output does not fit.",
    CallStatus.SKIPPED: "A hook said no; nothing ran.",
    CallStatus.KILLED: "It began, and its caller was gone before it ended. The next command finds it and ends "
    "what is left of it.",
}

RECORD = {
    "key": "The key of the call.",
    "ability_id": "The ability.",
    "created": "When.",
    "status": "See above.",
    "operation_key": "Its operation key.",
    "intent": "What for: `--intent`, or the summary.",
    "environment": "Where it ran.",
    "session": "The session.",
    "parent": "The call that this one is part of.",
    "children": "The calls that are part of it.",
    "pid": "Who ran it.",
    "started": "When it began.",
    "ended": "When it ended.",
    "duration_ms": "How long it took.",
    "ran": "What really ran, in one line.",
    "final_input": "What it was given, where hooks changed what was asked for.",
    "output": "What it gave.",
    "output_replaced": "Hooks put another output in its place.",
    "messages": "What the hooks that denied it want the person to know.",
    "error": "Why it failed or was denied.",
    "stderr": "The end of what it wrote there.",
}


def abilities_page() -> str:
    asked = {kind: _ability(kind) for kind in KINDS.values()}
    known = asked["script"]
    parts = [NOTE, ABILITIES_HEAD, "## At the top\n", keys_table(TOP, known[""])]
    parts += ["## scope\n", keys_table(SCOPE, known["scope"])]
    parts += ["## routing_hints\n", keys_table(HINTS, known["routing_hints"])]
    parts += ["## implementation\n", "`kind` says which of these tables there is beside it.\n"]
    for kind, said in IMPLEMENTATION.items():
        parts += [f"### {kind}\n", f"{RUNS[kind]}\n", keys_table(said, asked[kind][f"implementation.{kind}"])]
    parts += [PLACEHOLDERS, TABLES_TEXT]
    for level, columns in COLUMNS.items():
        shown = " | ".join(column.capitalize() for column in columns)
        parts.append(f"- {level}-level: `{shown}`")
    parts += [
        "",
        ROUTING_TEXT,
        CALL_TEXT,
        "## The record { #record }\n",
        f"`{folder.PLACE}/<key>/`, for you alone:\n",
    ]
    parts += [_rows(("file", "what it is"), FILES), _rows(("status", "what it means"), STATUSES)]
    assert tuple(RECORD) == AbilityCall.__struct_fields__, set(RECORD) ^ set(AbilityCall.__struct_fields__)
    return "\n".join(
        [
            *parts,
            f"Fields of `{folder.RECORD}`; those that say nothing are left out:\n",
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
    return known_keys(lambda: read_ability(text.encode(), "asked.yaml", Level.HIGH))


def _rows(head: Iterable[str], rows: dict[str, str] | dict[CallStatus, str]) -> str:
    return table(head, [(f"`{name}`", what) for name, what in rows.items()])
