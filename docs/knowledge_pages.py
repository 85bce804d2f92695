"""The page about knowledge routing: the keys of its files, as their readers accept them."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from page import MUST, NOTE, UNKNOWN, keys_table, table

from samuel.base.errors import Problem
from samuel.routing.knowledge import reading
from samuel.routing.knowledge import route as knowledge
from samuel.routing.knowledge.model import FILE as ROUTING
from samuel.routing.knowledge.model import STAGES, DocumentHeader

INDEX = {
    "scope": (
        "text",
        MUST,
        "The area, like `execution.quality_gates`. A request for `execution` finds it, too.",
    ),
    "topic": ("text", MUST, "What it is about."),
    "summary": ("text", MUST, "One sentence; its words are used to find the topic."),
    "route_file": ("path", MUST, "Its routes. By convention `/routes/<scope>.<topic>.yaml`."),
}

HEAD = {
    "scope": ("text", "-", "As in ROUTING.md, which decides; `lint` reports a difference."),
    "topic": ("text", "-", "Likewise."),
    "id": ("text", "-", "For people and other tools."),
    "doc_type": ("text", "-", "Likewise."),
    "summary": ("text", "-", "Likewise."),
}

ROUTE = {
    "when_to_use": ("text", MUST, "The situation, in the words of the people who will ask."),
    "related_docs": ("list of tables", MUST, "The documents that help then."),
}

RELATED = {
    "path": ("path", MUST, "The document."),
    "stage": ("list", "the document's `stages`", f"When it helps: {', '.join(f'`{stage}`' for stage in STAGES)}."),
    "doc_usage": ("text", "-", "What it is used for; shown with the document."),
}

DOCUMENT = {
    "id": "For people and other tools.",
    "doc_type": "What kind it is. `lint` reports a document with a kind that no route leads to as an orphan.",
    "scope": "`lint` reports it if it is not the scope of a route to it.",
    "topics": "Likewise.",
    "stages": "When it helps, if the route has no `stage`.",
    "summary": "For people.",
}

BASE_KIB, ROUTES_KIB = reading.LARGEST_BASE // 1024, reading.LARGEST_ROUTES // 1024

KNOWLEDGE_HEAD = f"""\
# Knowledge

Knowledge routing finds the documents to read for a request. `{ROUTING}` names topics, and a route file says which
documents help in which situation. [How to write them](../how-to/route-knowledge.md). [Ability, knowledge, skill or
recipe?](../explanation/which-of-the-four.md) tells the four apart.

`{ROUTING}` is in the project's root, in `knowledge/` or in `docs/`; the first that exists is used, and its
directory is the **routing root**. Paths are relative to it, with or without a leading `/`. A path with `..` or
through a symbolic link is refused.

## {ROUTING} {{ #routing-md }}

`{reading.KEY}` is a list in its front matter, or in a block fenced with `yaml`. The rest of the file is for
people; other keys of the front matter are ignored.
"""

KNOWLEDGE_END = f"""\
## Intent {"{ #intent }"}

What `--intent` takes, and what a hook returns as `new_intent`: `intent` is required; `scope`, `topic`, `stage` and
`signals` are optional. A whole HookResult that contains `new_intent` works, too.

## How documents are chosen {"{ #routing }"}

1. By the scope and the topic of the intent. If one does not exist, the nearest is used, with a warning. A topic
   that is in another scope is found there.
2. Without them, by how well the words fit the topic, its summary and the situations of its routes. The words are
   the text, the intent and `signals.user_raw_input`. Topics that fit too little are left out.
3. Within a topic, by how well the words fit `when_to_use`, and `doc_usage`.
4. A document of the intent's `stage` is preferred, and so is one that a session's hooks suggest. A suggested
   document is offered even if no route leads to it, as long as it exists.

The answer has one to {knowledge.MOST} documents, the best first, each with its reasons; documents far from the
best are left out. If nothing fits, the answer says so, and the exit code is 0. The same files and the same
request give the same answer.

## Limits

{reading.MOST_TOPICS} topics, {reading.MOST_ROUTES} routes in a file, {reading.MOST_DOCS} documents in a route;
{BASE_KIB} KiB for {ROUTING}, {ROUTES_KIB} KiB for a route file. An entry with an
error is reported and left out; the others are used.
"""


def knowledge_page() -> str:
    index, head, route, related = _knowledge()
    fields = [name for name in DocumentHeader._fields if name not in ("path", "readable", "problems", "lines")]
    assert list(DOCUMENT) == fields, fields
    parts = [NOTE, KNOWLEDGE_HEAD, f"Each entry of `{reading.KEY}`:\n", keys_table(INDEX, index)]
    parts += [
        "## Route files { #routes }\n",
        "YAML: a document for people, then `---` and `routes:`. A single document with both works, too.\n",
    ]
    parts += [keys_table(HEAD, head), "Each entry of `routes`:\n", keys_table(ROUTE, route)]
    parts += ["Each entry of `related_docs`:\n", keys_table(RELATED, related)]
    parts += [
        "## Documents { #documents }\n",
        "A document can be any file. The front matter of a Markdown file may have these keys, all optional:\n",
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
        root.joinpath(ROUTING).write_text(f"---\n{reading.KEY}: [{{{UNKNOWN}: 1}}]\n---\n")
        root.joinpath("r.yaml").write_text(
            f"{UNKNOWN}: 1\n---\nroutes:\n- {UNKNOWN}: 1\n  related_docs:\n  - {UNKNOWN}: 1\n"
        )
        problems = [*reading.read_base(root).problems, *reading.read_routes(root, "r.yaml").problems]
    return tuple(_named(problem) for problem in problems if UNKNOWN in problem.what)


def _named(problem: Problem) -> list[str]:
    return re.findall(r"`([^`]+)`", problem.hint)
