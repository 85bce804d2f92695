"""The page about PromptContext: what templates see."""

from __future__ import annotations

from msgspec import inspect as types
from msgspec.structs import FieldInfo, fields
from page import NOTE, table
from shapes import Shapes, description

from samuel.prompts.prompt_context import PromptContext


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
        "ok is dropped. What a handler changes in `event.context` itself, nobody else sees.\n",
        "Plugins should only read their own namespace in `Plugins`. Samuel does not enforce this: what a plugin "
        "puts there can be read by every later handler and by the prompt's template, so it is no place for "
        "secrets. A plugin that needs another one's data should say so in its documentation and work without "
        "it.\n",
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
    end = (
        "`State.Task`, `State.Progress`, `State.Snapshot` and `State.Extras` are filled for `before:agent.invoke` "
        "and its templates, and empty in every other event; `State.Skills` is always filled. The names from "
        "`State.RunId` on are there only inside a run. "
        "[A prompt of your own](../how-to/custom-prompt.md) shows them in use.\n"
    )
    return "\n".join([*parts, table(("name", "type", "what it is"), top), *inside, end])


def type_name(info: FieldInfo) -> str:
    return Shapes().name(types.type_info(info.type))
