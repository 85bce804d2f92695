"""The page about knowledge routing: the keys of its files, asked of their readers."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from page import MUST, NOTE, UNKNOWN, keys_table, table

from samuel.errors import Problem
from samuel.knowledge import indexes, routes
from samuel.knowledge import route as knowledge
from samuel.knowledge.model import FILE as ROUTING
from samuel.knowledge.model import STAGES, DocumentHeader

INDEX = {
    "scope": (
        "text",
        MUST,
        "Where it belongs, like `execution.quality_gates`. Asking for `execution` finds it too.",
    ),
    "topic": ("text", MUST, "What it is about."),
    "summary": ("text", MUST, "In a sentence; it is found by its words."),
    "route_file": ("path", MUST, "Its routes. By custom `/routes/<scope>.<topic>.yaml`."),
}

HEAD = {
    "scope": ("text", "-", "As in ROUTING.md, which decides; `lint` says if they differ."),
    "topic": ("text", "-", "Likewise."),
    "id": ("text", "-", "For people and other tools."),
    "doc_type": ("text", "-", "Likewise."),
    "summary": ("text", "-", "Likewise."),
}

ROUTE = {
    "when_to_use": ("text", MUST, "The situation, in the words of those who will be in it."),
    "related_docs": ("list of tables", MUST, "What helps then."),
}

RELATED = {
    "path": ("path", MUST, "The document."),
    "stage": ("list", "the document's `stages`", f"When it is of use: {', '.join(f'`{one}`' for one in STAGES)}."),
    "doc_usage": ("text", "-", "What for; shown with the document."),
}

DOCUMENT = {
    "id": "For people and other tools.",
    "doc_type": "What kind it is. A document that has one and that no route leads to is an orphan for `lint`.",
    "scope": "`lint` says if it is not that of a route to it.",
    "topics": "Likewise.",
    "stages": "When it is of use, where the route does not say.",
    "summary": "For people.",
}

KNOWLEDGE_HEAD = f"""\
# Knowledge

Which documents to read for what is wanted. `{ROUTING}` names topics, a route file says which documents help in
which situation. [How to write them](../how-to/route-knowledge.md).

`{ROUTING}` is in the project's root, in `knowledge/` or in `docs/`; the first that is there counts, and its
directory is the **routing root**. Paths are from there, with or without a leading `/`. A path with `..`, and a
link on its way, is refused.

## {ROUTING} {{ #routing-md }}

`{indexes.KEY}` is a list in its front matter, or in a block fenced with `yaml`. The rest of the file is for
people, and other keys of the front matter belong to whoever else reads it.
"""

KNOWLEDGE_END = f"""\
## Intent {"{ #intent }"}

What `--intent` takes, and what a hook returns as `new_intent`: `intent` must be there; `scope`, `topic`, `stage`
and `signals` may be. The whole HookResult with `new_intent` in it will do too.

## How documents are chosen {"{ #routing }"}

1. By the scope and the topic of the intent. One that is not there is told, and the nearest taken. A topic that
   is elsewhere is found there.
2. Without them, by how well the words fit the topic, its summary and the situations of its routes. The words are
   the text, the intent and `signals.user_raw_input`. Topics that fit too little are left out.
3. Within a topic, by how well the words fit `when_to_use`, and `doc_usage`.
4. A document of the intent's `stage` is preferred, and so is one that a session's hooks suggest. A suggested
   document is offered even if no route leads to it, as long as it is there.

One to {knowledge.MOST} documents, the best first, each with its reasons; what is far from the best is left out.
If nothing fits it says so, and exits with 0. The same files and the same question give the same answer.

## Limits

{indexes.MOST} topics, {routes.MOST} routes a file, {routes.MOST_DOCS} documents a route;
{indexes.LARGEST // 1024} KiB for {ROUTING}, {routes.LARGEST // 1024} KiB for a route file. An entry that is
wrong is told of and left out; the others count.
"""


def knowledge_page() -> str:
    index, head, one, related = _knowledge()
    fields = [name for name in DocumentHeader._fields if name not in ("path", "readable", "problems", "lines")]
    assert list(DOCUMENT) == fields, fields
    parts = [NOTE, KNOWLEDGE_HEAD, f"Each entry of `{indexes.KEY}`:\n", keys_table(INDEX, index)]
    parts += [
        "## Route files { #routes }\n",
        "YAML: a document for people, then `---` and `routes:`. One document with all of it will do.\n",
    ]
    parts += [keys_table(HEAD, head), "Each entry of `routes`:\n", keys_table(ROUTE, one)]
    parts += ["Each entry of `related_docs`:\n", keys_table(RELATED, related)]
    parts += [
        "## Documents { #documents }\n",
        "Any file. What the front matter of a Markdown file may have; all of it is optional:\n",
    ]
    return "\n".join(
        [
            *parts,
            table(("key", "what it is"), [(f"`{key}`", what) for key, what in DOCUMENT.items()]),
            KNOWLEDGE_END,
        ]
    )


def _knowledge() -> tuple[list[str], ...]:
    """The keys of an index, of the head of a route file, of a route, and of a document of it."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        root.joinpath(ROUTING).write_text(f"---\n{indexes.KEY}: [{{{UNKNOWN}: 1}}]\n---\n")
        root.joinpath("r.yaml").write_text(
            f"{UNKNOWN}: 1\n---\nroutes:\n- {UNKNOWN}: 1\n  related_docs:\n  - {UNKNOWN}: 1\n"
        )
        found = [*indexes.read_base(root).problems, *routes.read_routes(root, "r.yaml").problems]
    return tuple(_named(problem) for problem in found if UNKNOWN in problem.what)


def _named(problem: Problem) -> list[str]:
    return re.findall(r"`([^`]+)`", problem.hint)
