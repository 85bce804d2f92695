"""The page about PromptContext: what templates see."""

from __future__ import annotations

from msgspec import inspect as types
from msgspec.structs import FieldInfo, fields
from page import NOTE, table
from shapes import Shapes, description

from samuel.prompts.prompt_context import PromptContext

ANY_OF_RUN = ("`before:loop`", "`after:loop`")
ITERATION = ("`before:iteration`", "`after:iteration`, `after:land`")


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
        "ok is dropped. Changes that a handler makes to `event.context` itself stay with that handler.\n",
        "Plugins should only read their own namespace in `Plugins`. Samuel does not enforce this: what a plugin "
        "puts there can be read by every later handler and by the prompt's template, so do not "
        "put secrets there. A plugin that needs another one's data should say so in its documentation, and work "
        "without it.\n",
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
        else:
            top.append((f"`{name.name}`", type_name(name), description(name.type)))
    end = "\n".join(
        [
            "### When each name of `State` is filled\n",
            table(
                ("names", "from", "until"),
                [
                    ("`Skills`", "always", ""),
                    ("`RunId`, `Agent`, `ConsecutiveFailures`, `EmptyDiscoveries`, `Usage`", *ANY_OF_RUN),
                    (
                        "`TaskId`, `Attempt`, `LastFailure`, `Continues`, `NeedsChange`, `ClaimsByExit`, "
                        "`Background`, `Documents`",
                        *ITERATION,
                    ),
                    ("`LastDiff`, `LastFiles`", "`context.snapshot`", "`quality.check`"),
                    ("`Snapshot`", "`context.progress`", "`quality.check`"),
                    ("`Progress`", "`context.task`", "`quality.check`"),
                    ("`Task`", "`context.extra`", "`quality.check`"),
                    ("`Extras`", "`before:agent.invoke`", "`quality.check`"),
                ],
            ),
            "So every event of an iteration knows its task. `before:iteration` and `iteration.gate` have the task "
            "that is next; if the gate chooses a discovery, there is none from then on. `after:iteration` says "
            "what the attempt was worked on with: `LastFailure` is about the attempt before it, and its own "
            "failure is `task.last_failure` of the payload. In `before:loop`, in `after:loop` and in the "
            "`quality.check` before the first agent there is no task: `TaskId` is empty and `Attempt` is 0. Where "
            "several tasks land together, `quality.check` and `after:land` have the first of them.\n",
            "[A prompt of your own](../how-to/custom-prompt.md) shows them in use.\n",
        ]
    )
    return "\n".join([*parts, table(("name", "type", "what it is"), top), *inside, end])


def type_name(info: FieldInfo) -> str:
    return Shapes().name(types.type_info(info.type))
