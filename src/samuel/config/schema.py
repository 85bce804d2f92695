"""JSON Schema for samuel.toml, derived by running the loader itself.

`project_file.py` reads sample tables here that record which keys it takes, of which kind and with which default.
So a key that the loader learns is in the schema too. What the schema cannot say stays with the loader: rules
between keys, and that 25.0 is not an integer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from samuel.clients.table import HOOK_FORMATS
from samuel.config import kinds
from samuel.config.duration import format_duration
from samuel.config.project_file import read_config
from samuel.config.reader import ConfigTable, DefaultT, ProblemReport, Value, table_values
from samuel.events import names
from samuel.files.toml.lines import KeyLines, KeyPath

Schema = dict[str, Any]
Kind = Callable[[object], object]
TablePath = tuple[str, ...]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
ANY_KEY, ITEM = "*", "[]"  # in a TablePath: a key that the user chooses, an item of an array
_KEY, _EVENT = "sample-key", "before:loop"  # such keys, in the sample tables

_HOOKS = {_EVENT: {"handlers": [{}], "order": {_KEY: 1}}}
_SAMPLES: tuple[dict[str, object], ...] = (
    {
        "hooks": _HOOKS,
        "methodology": {_KEY: {"hooks": _HOOKS, "sandbox": {}}},
        "agents": {_KEY: {"unguarded": "refuse"}},
        "plugins": {_KEY: {_KEY: 1}},
        "guardrails": {_KEY: 1},
    },
    {"methodology": {_KEY: {"sandbox": "host"}}},
)
"""Together they make the loader read each table, and each value that has two forms in both."""

_IDENTIFIED = (("methodology",), ("agents",))  # tables whose keys become names of directories and the like

_DURATION = r"[0-9]+(\.[0-9]+)?(ms|s|m|h)"
_NAME = {"type": "string", "pattern": r"\S"}
_SCALAR = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]

_KINDS: Mapping[Kind, Schema | None] = {
    kinds.flag: {"type": "boolean"},
    kinds.integer: {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
    kinds.positive: {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
    kinds.timeout: {"type": "string", "pattern": f"^{_DURATION}$"},
    kinds.pause: {"type": "string", "pattern": f"^{_DURATION}$"},
    kinds.timeout_or_none: {"type": "string", "pattern": f"^(none|{_DURATION})$"},
    kinds.text: {"type": "string"},
    kinds.name: _NAME,
    kinds.program: {**_NAME, "not": {"pattern": "^-"}},
    kinds.identifier: {"type": "string", "pattern": f"^{kinds.IDENTIFIER.pattern}$"},
    kinds.identifiers: {
        "type": "array",
        "items": {"type": "string", "pattern": f"^{kinds.IDENTIFIER.pattern}$"},
        "minItems": 1,
        "uniqueItems": True,
    },
    kinds.amount: {"type": "number", "exclusiveMinimum": 0},
    kinds.patterns: {"anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1}]},
    kinds.any_patterns: {"anyOf": [_NAME, {"type": "array", "items": _NAME}]},
    kinds.names: {"type": "array", "items": _NAME, "uniqueItems": True},
    kinds.hook_sources: {
        "type": "array",
        "items": {"anyOf": [{"enum": list(HOOK_FORMATS)}, {"type": "string", "pattern": r"^(\.|.*/.*)$"}]},
        "uniqueItems": True,
    },
    kinds.variables: {
        "type": "array",
        "items": {"type": "string", "pattern": f"^{kinds.VARIABLE.pattern}$"},
        "uniqueItems": True,
    },
    kinds.commands: {"type": "array", "items": _NAME},
    kinds.lenses: {"type": "array", "items": {"enum": list(kinds.LENSES)}, "uniqueItems": True},
    kinds.plain: {"anyOf": [*_SCALAR, {"type": "array", "items": {"anyOf": _SCALAR}}]},
    kinds.data: {},
    # These look at a value before its kind is known: the form that follows is recorded as well.
    kinds.text_or_table: None,
    kinds.array: None,
    table_values: None,
}

DESCRIPTIONS: Mapping[str, str] = {
    "default_methodology": "The methodology that runs unless `--methodology` names another.",
    "environment": "Where this is: dev, prod, …. SAMUEL_ENV, `--env` and ~/.samuel/config.toml override it.",
    "distributions": "Installed Python distributions whose `samuel.hooks` entry points take part.",
    "import_hooks": "Agents (claude, codex, cursor) whose hook files in the project are used as hooks here too.",
    "pass_env": "Environment variables of this machine that hooks and checks receive on top of the clean set.",
    "serve": "The background process that answers `samuel emit`.",
    "serve.idle": "It ends after so long without a call; ~/.samuel/config.toml overrides it.",
    "hooks": "Settings by event.",
    "hooks.*": "Settings of one event.",
    "hooks.*.strict": "Does a fault of a handler stop what fired the event?",
    "hooks.*.timeout": "How long each handler has, like `60s`.",
    "hooks.*.handlers": "The whole chain, in this order. `default` is the built-in, `...` stands for all others.",
    "hooks.*.handlers.[].use": "The handler: `default`, a hook, a plugin, `plugin/hook`, or `...`.",
    "hooks.*.handlers.[].strict": "Does a fault of this handler stop what fired the event?",
    "hooks.*.handlers.[].timeout": "How long this handler has, like `60s`.",
    "hooks.*.handlers.[].serial": "Must this handler never run in two lanes at once?",
    "hooks.*.handlers.[].background": "Run it without waiting for its answer? Only for observers, after the fact.",
    "hooks.*.handlers.[].mode": "`observe`: what this handler decides is only recorded. `enforce`: it counts.",
    "hooks.*.order": "Order numbers by handler; the built-in has 100, everything else 200.",
    "hooks.*.order.*": "The order number of this handler.",
    "methodology": "Settings of the loop, by methodology.",
    "methodology.*": "How the loop works in this methodology.",
    "methodology.*.hooks": "Settings by event while this methodology runs; they win over [hooks].",
    "methodology.*.agent": "The agent: one that `samuel agents` lists, or one of [agents].",
    "methodology.*.agents": "Instead of `agent`, in order of preference: the next takes over at a usage limit.",
    "methodology.*.max_wait": "How long a run waits for an agent whose usage limit is reached.",
    "methodology.*.idle_timeout": "An agent that shows no sign of work for so long is ended; `none`: never.",
    "methodology.*.require_checks": "Refuse to start a run without `quality_checks`.",
    "methodology.*.baseline": "Checks that fail before the first agent: `refuse` the run, or `accept` them.",
    "methodology.*.protect": "Patterns of files that only a task which names them may change.",
    "methodology.*.protect_existing": "Like protect, for files that are there already; new ones may be added.",
    "methodology.*.acceptance": "Who writes tests for a task before the work on it starts: an `agent`, or `none`.",
    "methodology.*.acceptance_visible": "`false`: the agent that does the work sees only half of these tests.",
    "methodology.*.review": "A second agent that reviews the work before a task is completed.",
    "methodology.*.review.agent": "The agent that reviews: one that `samuel agents` lists, or one of [agents].",
    "methodology.*.review.rounds": "How often it may refuse the work on a task, before a person decides.",
    "methodology.*.review.timeout": "How long one reading may take; without it, as long as `agent_timeout`.",
    "methodology.*.review.lenses": "Further readings, each by a process of its own: `security`, `tests`.",
    "methodology.*.proof": "Whether a claim needs a test that fails without the work: `ask`, `require` or `off`.",
    "methodology.*.evidence": "Where the checks run that decide: in a `clean room`, or `in place`.",
    "methodology.*.prepare": "A command that makes in the clean room what checks need, such as `npm ci`.",
    "methodology.*.sealed_checks": "Programs outside of the project that judge a claim, hidden from the agent.",
    "methodology.*.canary": "A command that makes the checks fail in the clean room: they must turn red then.",
    "methodology.*.retry": "After a failed attempt: `continue` with its files, or start `fresh`.",
    "methodology.*.branch": "Commit on a branch of the run's own, which `samuel run finish` merges?",
    "methodology.*.coverage": "A tool call that no hook judged: `report` it, or fail the iteration if `required`.",
    "methodology.*.max_cost_usd": "The most that the agents of one run may cost.",
    "methodology.*.max_tokens": "The most tokens that the agents of one run may use.",
    "methodology.*.max_task_cost_usd": "The most that the attempts at one task may cost in one run.",
    "methodology.*.max_task_tokens": "The most tokens that the attempts at one task may use in one run.",
    "methodology.*.max_day_cost_usd": "The most that the agents of this project may cost on one day.",
    "methodology.*.max_day_tokens": "The most tokens that the agents of this project may use on one day.",
    "methodology.*.quality_checks": "Shell commands that must all exit with 0 before a task is completed.",
    "methodology.*.max_iterations": "The most iterations of one run.",
    "methodology.*.max_consecutive_failures": "The run ends after this many tasks in a row that failed.",
    "methodology.*.max_task_attempts": "A task is blocked after this many failed attempts.",
    "methodology.*.pause": "The pause before each iteration but the first.",
    "methodology.*.agent_timeout": "How long the agent may work in one iteration.",
    "methodology.*.max_duration": "No iteration begins after this time; `none` for no limit.",
    "methodology.*.commit": "Make a git commit for each completed task.",
    "methodology.*.commit_hooks": "Run the repository's git hooks for these commits, once they are trusted.",
    "methodology.*.sandbox": "Where the agent and the checks run: `host`, `bwrap`, or a container (`oci`).",
    "methodology.*.sandbox.kind": "`host`, `bwrap`, or `oci` for a container.",
    "methodology.*.sandbox.image": "The container image; required for `oci`.",
    "methodology.*.sandbox.network": "May it reach the network?",
    "methodology.*.sandbox.volumes": "Further directories, as `from[:to][:ro]`.",
    "methodology.*.pilot": "Pilot mode: the agent looks for tasks as well.",
    "methodology.*.pilot.enabled": "Every `samuel run start` is a pilot.",
    "methodology.*.pilot.discover_interval": "Look for tasks every so many iterations.",
    "methodology.*.pilot.max_discovery_tasks": "The most tasks that one discovery may add.",
    "methodology.*.pilot.focus": "What to look for first.",
    "guardrails": "Your own keys; prompts and hooks see them.",
    "guardrails.*": "A string, a number, a boolean, or an array of these.",
    "limits": "What handlers may use, and how long parts of the prompt may be.",
    "limits.handler_output_bytes": "The most that one call of a handler may print.",
    "limits.handler_prompt_bytes": "The most that one handler may add to the prompt.",
    "limits.prd_prompt_bytes": "How much of the PRD's text outside of its tasks is in the prompt.",
    "limits.handler_memory_bytes": "The memory of one call of a WebAssembly module or a container.",
    "limits.script_memory_bytes": "The memory of the processes of a plugin's script or Python function.",
    "limits.script_processes": "The most processes and threads of a plugin's script or Python function.",
    "lanes": "What each lane of `samuel run start --parallel` needs beside the files of the repository.",
    "lanes.setup": "A command that makes a lane ready; run again when its inputs change.",
    "lanes.inputs": "The files that `setup` depends on; without any, the usual lock files.",
    "lanes.copy": "Files that git does not have and that each lane needs, like `.env`.",
    "fleet": "The machines on which `samuel run start` lets agents work.",
    "fleet.places": "`local:SLOTS`, `ssh:HOST:SLOTS[:DIRECTORY]` or `ray:ADDRESS`; `--place` overrides it.",
    "fleet.remote": "The git remote through which the machines exchange commits.",
    "fleet.program": "The `samuel` on the other machines, if it is not on their PATH.",
    "fleet.silence": "A machine from which nothing is heard for this long counts as lost.",
    "fleet.patience": "How long a transfer is repeated while the remote cannot be reached.",
    "fleet.retry": "When a machine that was lost is tried again; twice as late each time.",
    "forge": "How the issues of a forge become tasks.",
    "forge.authors": "Whose comments are read: of `collaborators`, who may write to the repository, or of `all`.",
    "forge.labels": "The names of the labels that Samuel knows.",
    "forge.labels.working": "The label of an issue that a run works on: another project leaves it alone.",
    "abilities": "How `samuel ability route` ranks abilities.",
    "abilities.ranker": "`words` ranks by full text; `agent` lets the agent choose among what the words find.",
    "abilities.ranker_candidates": "How many abilities the agent is shown.",
    "abilities.ranker_timeout": "How long the agent may take; then the ranking by words counts.",
    "agents": "Programs that can be used as agents, by name.",
    "agents.*": "A program as an agent.",
    "agents.*.command": "The words of the command; `{prompt_file}`, `{prompt}` and `{python}` are filled in.",
    "agents.*.prompt": "How the agent gets the prompt.",
    "agents.*.stream": "The form of its output; without it, that of the agent of this name, else plain text.",
    "agents.*.hooks": "The client that the command runs: its tool calls are put to this project's hooks.",
    "agents.*.unguarded": "A guard that this agent cannot honour: `refuse` the run, or `accept` it.",
    "agents.*.claim": "`exit`: a clean exit with changed files is the claim, for a program without a shell.",
    "agents.*.env": "Environment variables of this machine that the agent receives on top of the clean set.",
    "session": "Sessions of agents that are not run by the loop.",
    "session.allow_commands": "Commands, word for word, that a hook's `run_command` may run without asking.",
    "plugins": "Settings by plugin.",
    "plugins.*": "The plugin's own settings, over the defaults of its manifest.",
    "plugins.*.enabled": "Do the hooks of this plugin run in this project?",
    "plugins.*.*": "A setting of the plugin.",
}


def config_schema() -> Schema:
    """The JSON Schema (draft 2020-12) of samuel.toml."""
    report = _RecordingReport()
    for sample in _SAMPLES:
        read_config(Path(), report.read(sample))
    recorded = report.tables
    return {
        "$schema": DIALECT,
        "title": "samuel.toml",
        "description": "What Samuel does in a project. `samuel doctor` checks more than this schema can.",
        **_object(recorded, ()),
        "$defs": {
            "hooks": _hooks(),
            "event": {"description": DESCRIPTIONS["hooks.*"], **_object(recorded, ("hooks", ANY_KEY))},
        },
    }


class _Recorded:
    """What the loader took from one table."""

    def __init__(self) -> None:
        self.keys: dict[str, list[tuple[Kind, object]]] = {}  # by key, the kinds with their defaults
        self.required: dict[str, None] = {}


class _RecordingReport(ProblemReport):
    def __init__(self) -> None:
        super().__init__(Path("samuel.toml"), KeyLines({}))
        self.tables: dict[TablePath, _Recorded] = {}

    def read(self, values: dict[str, object], path: KeyPath = ()) -> ConfigTable:
        recorded = self.tables.setdefault(_general(path), _Recorded())
        return _RecordingTable(self, values, path, recorded)


class _RecordingTable(ConfigTable):
    def __init__(
        self, report: ProblemReport, values: dict[str, object], path: KeyPath, recorded: _Recorded
    ) -> None:
        super().__init__(report, values, path)
        self._recorded = recorded

    def __iter__(self) -> Iterator[str]:
        self._recorded.keys.setdefault(ANY_KEY, [])
        return super().__iter__()

    def take(self, key: str, kind: Callable[[object], Value], default: DefaultT) -> Value | DefaultT:
        general = _general((key,))[0]
        self._recorded.keys.setdefault(general, []).append((kind, default))
        return super().take(key, kind, default)

    def refuse(self, key: str, what: str, hint: str = "") -> None:
        if key not in self:  # refused because it is absent
            self._recorded.required[key] = None


def _general(path: KeyPath) -> TablePath:
    """A path with what the user chooses left open."""
    return tuple(ITEM if isinstance(key, int) else ANY_KEY if key in (_KEY, _EVENT) else key for key in path)


def _object(recorded: Mapping[TablePath, _Recorded], path: TablePath) -> Schema:
    table = recorded[path]
    properties = {key: _property(recorded, path, key) for key in table.keys if key != ANY_KEY}
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if ANY_KEY in table.keys:
        schema["additionalProperties"] = _property(recorded, path, ANY_KEY)
    if path in _IDENTIFIED:
        schema["propertyNames"] = _KINDS[kinds.identifier]
    if table.required:
        schema["required"] = list(table.required)
    return schema


def _hooks() -> Schema:
    """Tables by event; the usual spellings are listed, so that editors offer them."""
    event = {"$ref": "#/$defs/event"}
    return {
        "type": "object",
        "properties": dict.fromkeys(names.ALL, event),
        "patternProperties": {_event_spellings(): event},
        "additionalProperties": False,
    }


def _property(recorded: Mapping[TablePath, _Recorded], path: TablePath, key: str) -> Schema:
    takes = recorded[path].keys[key]
    forms = [{"enum": list(kind.words)} if isinstance(kind, kinds.OneOf) else _KINDS[kind] for kind, _ in takes]
    schemas = [form for form in forms if form is not None]
    schemas = [form for at, form in enumerate(schemas) if form not in schemas[:at]]
    if key == "hooks":
        schemas.append({"$ref": "#/$defs/hooks"})
    elif (*path, key) in recorded:
        schemas.append(_object(recorded, (*path, key)))
    if (*path, key, ITEM) in recorded:
        item = _object(recorded, (*path, key, ITEM))
        schemas.append({"type": "array", "items": {"anyOf": [{"type": "string"}, item]}})
    if not schemas:
        raise NotImplementedError(f"no sample makes the loader read `{'.'.join((*path, key))}`")
    schema = {
        "description": DESCRIPTIONS[_described(path, key)],
        **(schemas[0] if len(schemas) == 1 else {"anyOf": schemas}),
    }
    defaults = [default for default in (_default(*take) for take in takes) if default is not None]
    optional = key != ANY_KEY and key not in recorded[path].required
    return {**schema, "default": defaults[0]} if defaults and optional else schema


def _described(path: TablePath, key: str) -> str:
    """The key of DESCRIPTIONS: the events of a methodology have the settings of all events."""
    whole = (*path, key)
    if whole[:3] == ("methodology", ANY_KEY, "hooks") and len(whole) > 3:
        whole = whole[2:]
    return ".".join(whole)


def _default(kind: Kind, value: object) -> object:
    """A default as samuel.toml would spell it; None if it could not."""
    if kind in (kinds.timeout, kinds.pause, kinds.timeout_or_none):
        return format_duration(value) if isinstance(value, float) else None
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, (bool, int)) or (isinstance(value, str) and value) else None


def _event_spellings() -> str:
    """A pattern for the other spellings of events: `before_loop`, `before-loop`, `BeforeLoop`, `BEFORE_LOOP`."""
    spellings = {names.spellings(name)[1] for name in names.ALL} | set(names.KODELET)
    patterns = []
    for spelling in sorted(spellings):
        words = spelling.split("_")
        patterns.append("[:._-]?".join(f"[{word[0].upper()}{word[0]}]{word[1:]}" for word in words))
        patterns.append("[:._-]".join(word.upper() for word in words))
    return f"^({'|'.join(patterns)})$"
