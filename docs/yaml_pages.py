"""The page about YAML hooks.

Which keys a hook has is asked of its reader, which names them when it meets one that it does not know. Which
filter is for which event is in the types.
"""

from __future__ import annotations

from page import MUST, NOTE, UNKNOWN, keys_table, known_keys, table

from samuel.events import EVENTS
from samuel.events.compose import Arrange
from samuel.files import yaml
from samuel.hooks.handler import DEFAULT_ORDER
from samuel.hooks.match import FIELDS
from samuel.paths import YAML_HOOKS
from samuel.shipped.definition import definition
from samuel.shipped.table import SHIPPED_HOOKS
from samuel.sources.yaml_file import KINDS, LONGEST_NAME, STAGES, STATUSES, read_hook

KEYS = {
    "id": ("name", MUST, f"Letters, digits, `.`, `-`, `_`; at most {LONGEST_NAME}. What samuel.toml calls it by."),
    "event_type": ("event, or a list", MUST, "What it is for: any of the [events](events.md), in any spelling."),
    "enabled": ("boolean", "`true`", "Does it take part? `samuel hooks enable` and `disable` change this line."),
    "environments": ("name, or a list", "everywhere", "[Where it takes part](#environments)."),
    "summary": ("text", "-", "What it is for, in a sentence or two."),
    "match": ("table", "every event", "[Which of these events it wants to see](#match)."),
    "handler": ("table", MUST, "[What it runs](#handler)."),
    "config": (
        "table",
        "-",
        "What the handler is told, as `plugin.config` of its events. [Shipped hooks](#config).",
    ),
    "blocking": (
        "boolean",
        "`false`",
        "A crash, a timeout, bad output or an `error` of it stops what fired the event. Otherwise they warn. An "
        "explicit verdict always denies, and a fault of a hook whose `role` is `guard` does so too. A hook that "
        "rewrites an input to make it safe should be blocking: else a call goes on without it where it fails.",
    ),
    "role": ("string", "-", "`rewrite`, `guard` or `observe`, as with [a call](../how-to/guard-a-call.md)."),
    "order": ("integer", f"{DEFAULT_ORDER}", "Its [place in the chain](../how-to/order-handlers.md)."),
    "timeout": ("duration", "the event's", "After that it is ended, with everything it started. Like `30s`."),
    "effects": ("anything", "-", "Words for people and models. Nothing comes of them."),
}

HANDLER = {
    "script": {
        "kind": ("string", MUST, "`script`: a program. The event on stdin, a result on stdout."),
        "command": (
            "text, or a list of words",
            MUST,
            "The program and its arguments, from the project's root. Text is split into words; there is no shell. "
            "Any exit code but 0 is a crash, 2 too: a no is said in the answer.",
        ),
        "shell": ("boolean", "`false`", "Give the text to `sh -c`."),
    },
    "python": {
        "kind": ("string", MUST, "`python`: a function of one argument, the event. It runs in a worker."),
        "function": (
            "text",
            MUST,
            "`module:function`, `path/to/file.py:function`, or with `file` its name alone.",
        ),
        "file": ("path", "-", "The `.py` file, from the project's root."),
    },
    "builtin": {
        "kind": ("string", MUST, "`builtin`: one of those that come with Samuel."),
        "name": ("name", MUST, ", ".join(f"`{name}`" for name in SHIPPED_HOOKS) + "."),
    },
}

FILTERS = {
    "ability_id": ("globs", "The ability, or the tool, is called so."),
    "ability_scope": (
        "globs",
        "One of the scopes that the registry gives the ability; a caller says them as `ability_scope`. Where "
        "nobody does: its id, its operation key, or what that begins with (`billing`, `billing.tests`).",
    ),
    "operation_key": ("globs", "The operation is called so."),
    "min_duration_ms": ("number", "It took at least so long. An event that does not say took 0."),
    "only_if_changed_paths": (
        "patterns",
        "One of the changed files is chosen by patterns as in a .gitignore: the last that fits decides, `!` takes "
        "out.",
    ),
    "status": ("words", " or ".join(f"`{one}`" for one in STATUSES) + "."),
    "stage": ("words", " or ".join(f"`{one}`" for one in STAGES) + "."),
    "recipe_name": ("globs", "It happens in a [recipe](../how-to/run-a-recipe.md) of this name."),
}

# By shipped hook: the keys of its `config`, and of each entry of the list there.
CONFIGS: dict[str, dict[str, dict[str, tuple[str, str, str]]]] = {
    "skill_activation_prompt": {
        "": {"limit": ("integer", "`3`", "The most abilities that are suggested at once.")}
    },
    "post_tool_use_tracker": {
        "": {"frequent": ("integer", "`5`", "From so many successful calls on, it returns matcher suggestions.")}
    },
    "session_stop_build_check": {
        "": {"builds": ("list of tables", "none", "Which command checks which files.")},
        "builds": {
            "paths": ("patterns", MUST, "As in a .gitignore. `{name}` stands for one whole directory."),
            "command": ("text, or a list of words", MUST, "Without a shell. `{name}` is filled in."),
            "directory": ("path", "the root", "Where it runs."),
            "timeout": ("duration", "the hook's", "How long this one has."),
        },
    },
    "policy_guard": {
        "": {"rules": ("list of tables", "none", "The first that fits decides.")},
        "rules": {
            "decision": ("string", MUST, "`deny`, `ask` or `allow`."),
            "reason": ("text", "the rule's number", "What the person is told."),
            "ability_id": ("globs", "any", "The ability, or the tool."),
            "ability_scope": ("globs", "any", "As below `match`."),
            "operation_key": ("globs", "any", "The operation."),
            "environment": ("globs", "any", "Samuel's, or the one that the input names."),
            "path": ("patterns", "any", "Any path that the input names. Not with `allow`."),
        },
    },
    "knowledge_trigger": {
        "": {"intents": ("list of tables", "none", "The first that fits decides.")},
        "intents": {
            "when": ("regular expressions", MUST, "One of them is found in the message or the last command."),
            "intent": ("text", MUST, "What is wanted."),
            "scope": ("text", "-", "Where to look."),
            "topic": ("text", "-", "What for."),
            "stage": ("string", "the prompt's", "Where the work stands."),
        },
    },
}

HOW_TO = {
    "skill_activation_prompt": "suggest-abilities.md",
    "post_tool_use_tracker": "track-ability-use.md",
    "session_stop_build_check": "build-check-at-session-stop.md",
    "policy_guard": "guard-by-policy.md",
    "knowledge_trigger": "documents-by-intent.md",
}

YAML_HEAD = f"""\
# YAML hooks

`{YAML_HOOKS}/*.yaml` (or `.yml`), one hook a file. `samuel hooks validate` says everything that is wrong with
them at once, with line and nearest valid name, and runs nothing. A file with a problem is left out, and the
others work; one that took part before keeps its place and is refused there.

```yaml title="{YAML_HOOKS}/slow_calls.yaml"
id: slow_calls
event_type: PostAbilityCall
enabled: true

summary: >
  Tell me of calls that took long.

match:
  ability_scope: ["billing.*", stock]
  min_duration_ms: 5000

handler:
  kind: script
  command: ./scripts/hooks/slow_calls.sh --verbose

environments: [dev, staging]
timeout: 5s
```

Before it runs somebody [agrees](../how-to/trust.md) to the file and to the script, with all that lies beside the
script. A script in the project's root is agreed to alone; a program of the machine's, like `python3` or `npm`,
is yours, and what counts are the project's files that it is given.
"""

ENVIRONMENTS = """\
## environments

What says which environment this is, nearest word first: `--env NAME`, `SAMUEL_ENV`, `environment` in
[`~/.samuel/config.toml`](config.md#personal) (this machine), `environment` in
[samuel.toml](config.md#at-the-top) (machines that do not say). Names compare without case.

A hook with `environments` takes part in these and in no other, also not where no environment is set. A guard
is the exception: it is in force wherever it is not certain that this is another place, that is where no
environment is set, or where no hook, ability or setting has that name. A guard here is a hook with
`role: guard` or `blocking: true`, and any hook on an event that can be denied unless it has `role: rewrite` or
`role: observe`. `samuel doctor` says how many hooks and abilities wait for an environment.

Every payload has the environment as `environment`, and processes have it as `SAMUEL_ENV`.
"""

FORM = f"""\
## What YAML there may be

Text, numbers, `true`, `false`, `null`, lists and tables, in UTF-8 and at most {yaml.LARGEST // 1024**2} MiB.
Tabs, anchors and aliases, tags, a key that is given twice, a second document and nesting deeper than
{yaml.DEEPEST} are refused. Dates and words like `no` stay text. An unknown key is an error; an id that another
file has too makes the later one broken.
"""


def yaml_hooks_page() -> str:
    parts = [NOTE, YAML_HEAD, "## At the top\n", keys_table(KEYS, _known("script", "")[""])]
    parts += ["## handler\n"]
    for kind in KINDS:
        parts.append(keys_table(HANDLER[kind], _known(kind, "")["handler"]))
    parts += [
        "## match\n",
        "All filters must hold. Globs, patterns and words: one, or a list of them.\n",
        _filters(),
    ]
    parts += [
        "A filter on a field that an event does not have is an error. An event that one handler alone answers to "
        f"({', '.join(f'`{one.name}`' for one in EVENTS if one.composition.arrange is Arrange.LAST_ONLY)}) takes "
        "none.\n",
        ENVIRONMENTS,
        "## `config` of the shipped hooks { #config }\n",
        "`samuel hooks list --shipped` shows them; `samuel hooks enable NAME` brings one here, with the file "
        "below. To other handlers `config` is whatever they like: it reaches them as `plugin.config`.\n",
    ]
    for name, shipped in SHIPPED_HOOKS.items():
        parts += [f"### {name}\n", f"For `{shipped.event}`. [How to use it](../how-to/{HOW_TO[name]}).\n"]
        known = _known("builtin", name)
        for key, said in CONFIGS[name].items():
            where = f"config.{key}[0]" if key else "config"
            parts += [*([f"Each entry of `{key}`:\n"] if key else []), keys_table(said, known[where])]
        text = definition(name).decode()
        parts.append(f"```yaml\n{text}```\n")
    return "\n".join([*parts, FORM])


def _known(kind: str, name: str) -> dict[str, list[str]]:
    event = SHIPPED_HOOKS[name].event if name else "PostAbilityCall"
    entries = "".join(f", {key}: [{{{UNKNOWN}: 1}}]" for key in CONFIGS.get(name, {}) if key)
    more = f", name: {name}" if name else ""
    text = f"""
{UNKNOWN}: 1
event_type: {event}
match: {{{UNKNOWN}: 1}}
handler: {{kind: {kind}, {UNKNOWN}: 1{more}}}
config: {{{UNKNOWN}: 1{entries}}}
"""
    return known_keys(lambda: read_hook(text.encode(), "asked.yaml", SHIPPED_HOOKS))


def _filters() -> str:
    known = _known("script", "")["match"]
    assert set(FILTERS) == set(known) == set(FIELDS), set(FILTERS) ^ set(known)
    rows = [(f"`{name}`", kind, what, _events_with(FIELDS[name])) for name, (kind, what) in FILTERS.items()]
    return table(("filter", "type", "holds if", "on which events"), rows)


def _events_with(field: str) -> str:
    filtered = [event for event in EVENTS if event.composition.arrange is not Arrange.LAST_ONLY]
    having = [event.name for event in filtered if field in event.payload.__struct_fields__]
    return "all" if len(having) == len(filtered) else ", ".join(f"`{name}`" for name in having)
