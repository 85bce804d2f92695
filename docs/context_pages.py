"""The page about PromptContext: what templates see."""

from __future__ import annotations

from msgspec import inspect as types
from msgspec.structs import FieldInfo, fields
from page import NOTE, table
from shapes import Shapes, description

from samuel.prompts.prompt_context import PromptContext

# What the free mappings hold: (name, type, what it is). how-to/custom-prompt.md prints all the names there are.
FREE: dict[str, list[tuple[str, str, str]]] = {
    "Config": [
        ("agent", "string", "The agent of the methodology."),
        ("quality_checks", "array of string", "The checks."),
        ("max_iterations", "integer", "The limit in samuel.toml; the limit of this run is `Iteration.Max`."),
        ("max_task_attempts", "integer", "After this many failed attempts a task is blocked."),
        ("commit", "boolean", "True if each completed task gets a commit."),
        ("pilot", "boolean", "True if the agent looks for tasks, too."),
        ("focus", "string", "What discovery looks for first; empty if it is not set."),
        ("max_discovery_tasks", "integer", "How many tasks one discovery may add."),
    ],
    "State": [
        (
            "Task",
            "string",
            "TOON: the current task, or in discovery an overview of all tasks. Result of `context.task`.",
        ),
        ("Progress", "string", "Markdown: learnings, completions, areas. Result of `context.progress`."),
        ("Snapshot", "string", "TOON: an overview of the project. Result of `context.snapshot`."),
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
        "# PromptContext\n\nAll names that a prompt template can use, and that handlers of loop events read as "
        "`context`. Values marked TOON are text in [Token-Oriented Object Notation](https://toonformat.dev), a "
        "compact table format.\n",
        "The names are capitalised because they are the template's names. In a template, `{{ Project.Name }}` and "
        "Go's "
        '`{{.Project.Name}}` are the same; in a handler it is `event.context["Project"]["Name"]`.\n',
        "A handler can read all of it and write one place: what it returns as `data` is merged into `Plugins` "
        "under its own name, for every later handler and for the prompt. The `data` of a handler that was not "
        "ok is dropped.\n",
    ]
    top, inside = [], []
    for name in fields(PromptContext):
        kind = types.type_info(name.type)
        inner = kind.type if isinstance(kind, types.Metadata) else kind
        if isinstance(inner, types.StructType):
            top.append((f"[`{name.name}`](#{name.name.lower()})", "object", description(name.type)))
            rows = [
                (f"`{name.name}.{field.name}`", type_name(field), description(field.type))
                for field in fields(inner.cls)
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
