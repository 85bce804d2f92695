from __future__ import annotations

from collections.abc import Iterator

import click

from samuel.base import paths
from samuel.base.errors import SamuelError, UsageError
from samuel.cli.command_context import CommandContext, command
from samuel.cli.json_input import json_input_option, read_json, read_text
from samuel.cli.session.options import session_of, session_option
from samuel.routing.knowledge.model import KnowledgeBase
from samuel.routing.knowledge.reading import PLACES, find_root, read_base
from samuel.routing.knowledge.route import KnowledgeRouting
from samuel.routing.knowledge.route import route as find


@command()
@click.argument("text", required=False, default="")
@json_input_option("--intent", "intent_json", help="An intent, as hooks return it in `new_intent`.")
@session_option
def route(here: CommandContext, text: str, intent_json: str, session: str) -> int:
    """Find the documents that fit a text or an intent, with the reasons.

    Give a text, an intent, or both. With a session, the intent and the documents that its hooks suggest count
    too. `-` reads from stdin.

    \b
        samuel knowledge route "which checks run before a commit?"
    """
    if text == "-" and intent_json == "-":
        raise UsageError("the text and the intent cannot both come from stdin", "put one of them into a file")
    knowledge_base = knowledge_of(here)
    within = session_of(here, session)
    intent = read_json(intent_json, "--intent", here.directory) if intent_json else within.intent
    cache = paths.User.from_environment().cache
    routed = find(knowledge_base, text=read_text(text), intent=intent, suggested=within.documents, cache=cache)
    place = str(knowledge_base.root.relative_to(here.root))
    data = {
        "root": place,
        "documents": [
            {**document._asdict(), "reasons": list(document.reasons), "stage": list(document.stage)}
            for document in routed.documents
        ],
        "nothing": routed.nothing,
    }
    return here.out.answer(data, "\n".join(_lines(routed, place)), warnings=routed.reported)


def _lines(routed: KnowledgeRouting, place: str) -> Iterator[str]:
    if routed.nothing:
        yield f"nothing: {routed.nothing}"
    for document in routed.documents:
        yield f"{document.score:.2f}  {document.path if place == '.' else f'{place}/{document.path}'}"
        if document.doc_usage:
            yield f"      {document.doc_usage}"
        yield from (f"      {reason}" for reason in document.reasons)


def knowledge_of(here: CommandContext) -> KnowledgeBase:
    root = find_root(here.root)
    if root is None:
        places = ", ".join(f"`{place}/`" for place in PLACES if place)
        raise SamuelError("there is no ROUTING.md here", f"write one, in the project's root or in {places}")
    return read_base(root)
