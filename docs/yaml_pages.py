"""The page about YAML hooks.

The keys of a hook come from its reader, whose error about an unknown key lists the valid ones. Which filter is for
which event comes from the types.
"""

from __future__ import annotations

from page import MUST, NOTE, UNKNOWN, keys_by_table, keys_table, table

from samuel.base.paths import YAML_HOOKS
from samuel.events import EVENTS
from samuel.events.compose import Arrange
from samuel.files import yaml
from samuel.hooks.handler import DEFAULT_ORDER
from samuel.hooks.match import FIELDS
from samuel.shipped.table import SHIPPED_HOOKS, definition
from samuel.sources.yaml_file import KINDS, LONGEST_NAME, STAGES, STATUSES, read_hook

KEYS = {
    "id": ("name", MUST, f"Letters, digits, `.`, `-`, `_`; at most {LONGEST_NAME}. Its name in samuel.toml."),
    "event_type": ("event, or a list", MUST, "What it handles: any of the [events](events.md), in any spelling."),
    "enabled": (
        "boolean",
        "`true`",
        "Whether it is active. `samuel hooks enable` and `disable` change this line.",
    ),
    "environments": ("name, or a list", "everywhere", "[Where it is active](#environments)."),
    "summary": ("text", "-", "What it is for, in a sentence or two."),
    "match": ("table", "every event", "[Which of these events it handles](#match)."),
    "handler": ("table", MUST, "[What it runs](#handler)."),
    "config": (
        "table",
        "-",
        "Settings for the handler, in `plugin.config` of its events. [Shipped hooks](#config).",
    ),
    "blocking": (
        "boolean",
        "`false`",
        "Whether a crash, a timeout, bad output or an `error` stops what fired the event; otherwise they "
        "cause a warning. An explicit verdict always denies, and so does a fault in a hook whose `role` is "
        "`guard`. A hook that rewrites an input to make it safe should be blocking: otherwise a call continues "
        "without it if it fails.",
    ),
    "role": ("string", "-", "`rewrite`, `guard` or `observe`, as with [a call](../how-to/guard-a-call.md)."),
    "mode": (
        "string",
        "`enforce`",
        "`observe`: what it decides is only recorded, see [Try a guard](../how-to/observe-a-guard.md).",
    ),
    "order": ("integer", f"{DEFAULT_ORDER}", "Its [place in the chain](../how-to/order-handlers.md)."),
    "timeout": (
        "duration",
        "the event's",
        "Then it is ended, with all its processes. Like `30s`.",
    ),
    "serial": (
        "boolean",
        "`false`",
        "`true`: it never runs in two [lanes](../how-to/lanes.md#hooks-in-several-lanes) at once.",
    ),
    "background": (
        "boolean",
        "`false`",
        "`true`: it runs [in the background](../how-to/background.md). Only for observers of what has "
        "already happened.",
    ),
    "effects": ("anything", "-", "A description for people and models. Samuel ignores it."),
}

HANDLER = {
    "script": {
        "kind": ("string", MUST, "`script`: a program. The event on stdin, a result on stdout."),
        "command": (
            "text, or a list of words",
            MUST,
            "The program and its arguments, from the project's root. Text is split into words; there is no shell. "
            "Any exit code other than 0 is a crash, including 2: a denial is in the answer.",
        ),
        "shell": ("boolean", "`false`", "Whether to pass the text to `sh -c`."),
        "protocol": (
            "text",
            "-",
            "`agent/event`, like `claude/PreToolUse`: the script was written for this event of this agent, and "
            "reads and answers [in its format](hook-sources.md#formats).",
        ),
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
        "kind": ("string", MUST, "`builtin`: a hook that comes with Samuel."),
        "name": ("name", MUST, ", ".join(f"`{name}`" for name in SHIPPED_HOOKS) + "."),
    },
}

FILTERS = {
    "ability_id": ("globs", "The name of the ability, or of the tool, matches."),
    "ability_scope": (
        "globs",
        "One of the scopes that the registry gives the ability matches; a caller passes them as `ability_scope`. "
        "Without them: its id, its operation key, or a prefix of that (`billing`, `billing.tests`).",
    ),
    "operation_key": ("globs", "The operation key matches."),
    "min_duration_ms": ("number", "It took at least this long. An event without a duration took 0."),
    "only_if_changed_paths": (
        "patterns",
        "One of the changed files matches, by patterns as in a .gitignore: the last pattern that matches decides, "
        "and `!` excludes.",
    ),
    "status": ("words", " or ".join(f"`{status}`" for status in STATUSES) + "."),
    "stage": ("words", " or ".join(f"`{stage}`" for stage in STAGES) + "."),
    "recipe_name": ("globs", "It happens in a [recipe](../how-to/run-a-recipe.md) of this name."),
}

# By shipped hook: the keys of its `config`, and of each entry of the list there.
CONFIGS: dict[str, dict[str, dict[str, tuple[str, str, str]]]] = {
    "skill_activation_prompt": {"": {"limit": ("integer", "`3`", "How many abilities are suggested at once.")}},
    "post_tool_use_tracker": {
        "": {"frequent": ("integer", "`5`", "From this many successful calls on, it returns matcher suggestions.")}
    },
    "session_stop_build_check": {
        "": {"builds": ("list of tables", "none", "Which command checks which files.")},
        "builds": {
            "paths": ("patterns", MUST, "As in a .gitignore. `{name}` stands for one whole directory."),
            "command": ("text, or a list of words", MUST, "Without a shell. `{name}` is filled in."),
            "directory": ("path", "the root", "Where it runs."),
            "timeout": ("duration", "the hook's", "The time limit of this build."),
        },
    },
    "notify": {
        "": {
            "desktop": (
                "bool",
                "`true`",
                "Notify on this desktop, by `notify-send` or `osascript` if there is one.",
            ),
            "webhook": (
                "URL",
                "none",
                "Where to POST the message as JSON; or `$SAMUEL_...`, a variable with the URL.",
            ),
            "template": (
                "string",
                "none",
                "`ntfy`, `slack` or `discord`: the form in which the webhook gets the message.",
            ),
            "command": (
                "text, or a list of words",
                "none",
                "The message is its last argument, the JSON its stdin.",
            ),
        }
    },
    "policy_guard": {
        "": {
            "rules": ("list of tables", "none", "The first rule that matches decides."),
            "opaque": ("string", "`ask`", "`deny`, `ask` or `allow`: about commands that cannot be read."),
        },
        "rules": {
            "decision": ("string", MUST, "`deny`, `ask` or `allow`."),
            "reason": ("text", "the rule's number", "The message to the person."),
            "ability_id": ("globs", "any", "The ability, or the tool."),
            "ability_scope": ("globs", "any", "As below `match`."),
            "operation_key": ("globs", "any", "The operation."),
            "environment": ("globs", "any", "Samuel's, or the one that the input names."),
            "path": ("patterns", "any", "Any path that the input names. Not with `allow`."),
            "program": ("globs", "any", "The program of one of the commands that a shell would run."),
            "arguments": ("globs", "any", "Its arguments. An entry with several words needs all of them."),
            "paths": ("patterns", "any", "Its paths, in arguments and redirects. Not with `allow`."),
        },
    },
    "shell_guard": {
        "": {
            "off": (
                "list of ids",
                "none",
                "Rules that do not apply; `samuel hooks rules shell_guard` lists them.",
            ),
            "rules": ("list of tables", "none", "As those of `policy_guard`. They are looked at first."),
            "opaque": ("string", "`allow`", "As that of `policy_guard`, for `rules` only."),
        },
    },
    "knowledge_trigger": {
        "": {"intents": ("list of tables", "none", "The first entry that matches decides.")},
        "intents": {
            "when": ("regular expressions", MUST, "One of them matches the message or the last command."),
            "intent": ("text", MUST, "What is wanted."),
            "scope": ("text", "-", "Where to look."),
            "topic": ("text", "-", "What to look for."),
            "stage": ("string", "the prompt's", "The stage of the work."),
        },
    },
}

HOW_TO = {
    "skill_activation_prompt": "suggest-abilities.md",
    "post_tool_use_tracker": "track-ability-use.md",
    "session_stop_build_check": "build-check-at-session-stop.md",
    "policy_guard": "guard-by-policy.md",
    "shell_guard": "guard-shell-commands.md",
    "notify": "notify.md",
    "knowledge_trigger": "documents-by-intent.md",
}

YAML_HEAD = f"""\
# YAML hooks

A YAML hook is a file `{YAML_HOOKS}/*.yaml` (or `.yml`) that names the event, the program or function, and filters.
`samuel hooks validate` reports all problems of all files at once, with line and nearest valid name, and runs
nothing. A file with a problem is left out, and the others work; a hook that was active before keeps its place
and is refused there.

```yaml title="{YAML_HOOKS}/slow_calls.yaml"
id: slow_calls
event_type: PostAbilityCall
enabled: true

summary: >
  Report calls that took long.

match:
  ability_scope: ["billing.*", stock]
  min_duration_ms: 5000

handler:
  kind: script
  command: ./scripts/hooks/slow_calls.sh --verbose

environments: [dev, staging]
timeout: 5s
```

Before it runs, you have to [agree](../how-to/trust.md) to the file and to the script, with all files beside the
script. A script in the project's root is agreed to alone. A program of the machine, like `python3` or `npm`,
needs no agreement, but the project's files in its arguments do.
"""

ENVIRONMENTS = """\
## environments

The environment is set by the first of these: `--env NAME`, `SAMUEL_ENV`, `environment` in
[`~/.samuel/config.toml`](config.md#personal) (this machine), `environment` in
[samuel.toml](config.md#at-the-top) (the default of the project). Names are not case-sensitive.

A hook with `environments` is active in these only, and not where no environment is set. A guard is the
exception: it is also active where it is not certain that this is another environment, that is where no environment
is set, or where no hook, ability or setting has that name. A guard here is a hook with `role: guard` or `blocking:
true`, and any hook on an event that can be denied unless it has `role: rewrite` or `role: observe`. `samuel
doctor` reports how many hooks and abilities are inactive because no environment is set.

Every payload has the environment as `environment`, and processes have it as `SAMUEL_ENV`.
"""

FORM = f"""\
## Which YAML is accepted

Text, numbers, `true`, `false`, `null`, lists and tables, in UTF-8 and at most {yaml.LARGEST // 1024**2} MiB.
Tabs, anchors and aliases, tags, duplicate keys, a second document and nesting deeper than {yaml.DEEPEST} are
refused. Dates and words like `no` stay text. An unknown key is an error; if two files have the same id, the
later one is broken.
"""


def yaml_hooks_page() -> str:
    parts = [NOTE, YAML_HEAD, "## At the top\n", keys_table(KEYS, _valid_keys("script", "")[""])]
    parts += ["## handler\n"]
    for kind in KINDS:
        parts.append(keys_table(HANDLER[kind], _valid_keys(kind, "")["handler"]))
    parts += [
        "## match\n",
        "All filters must match. Globs, patterns and words can be one value or a list.\n",
        _filters(),
    ]
    parts += [
        "A filter on a field that an event does not have is an error. Events for which only one handler runs "
        f"({', '.join(f'`{event.name}`' for event in EVENTS if event.composition.arrange is Arrange.LAST_ONLY)}) "
        "have no filters.\n",
        ENVIRONMENTS,
        "## `config` of the shipped hooks { #config }\n",
        "`samuel hooks list --shipped` lists them; `samuel hooks enable NAME` writes the file below into the "
        "project. Other handlers get `config` unchecked, as `plugin.config`.\n",
    ]
    for name, shipped in SHIPPED_HOOKS.items():
        events = " and ".join(f"`{event}`" for event in shipped.events)
        parts += [f"### {name}\n", f"For {events}. [How to use it](../how-to/{HOW_TO[name]}).\n"]
        valid_keys = _valid_keys("builtin", name)
        for key, descriptions in CONFIGS[name].items():
            where = f"config.{key}[0]" if key else "config"
            parts += [*([f"Each entry of `{key}`:\n"] if key else []), keys_table(descriptions, valid_keys[where])]
        text = definition(name).decode()
        parts.append(f"```yaml\n{text}```\n")
    return "\n".join([*parts, FORM])


def _valid_keys(kind: str, name: str) -> dict[str, list[str]]:
    event = SHIPPED_HOOKS[name].events[0] if name else "PostAbilityCall"
    entries = "".join(f", {key}: [{{{UNKNOWN}: 1}}]" for key in CONFIGS.get(name, {}) if key)
    more = f", name: {name}" if name else ""
    text = f"""
{UNKNOWN}: 1
event_type: {event}
match: {{{UNKNOWN}: 1}}
handler: {{kind: {kind}, {UNKNOWN}: 1{more}}}
config: {{{UNKNOWN}: 1{entries}}}
"""
    return keys_by_table(lambda: read_hook(text.encode(), "unknown-keys.yaml", SHIPPED_HOOKS))


def _filters() -> str:
    valid_keys = _valid_keys("script", "")["match"]
    assert set(FILTERS) == set(valid_keys) == set(FIELDS), set(FILTERS) ^ set(valid_keys)
    rows = [(f"`{name}`", kind, what, _events_with(FIELDS[name])) for name, (kind, what) in FILTERS.items()]
    return table(("filter", "type", "matches if", "on which events"), rows)


def _events_with(field: str) -> str:
    filtered = [event for event in EVENTS if event.composition.arrange is not Arrange.LAST_ONLY]
    having = [event.name for event in filtered if field in event.payload.__struct_fields__]
    return "all" if len(having) == len(filtered) else ", ".join(f"`{name}`" for name in having)
