"""`samuel emit` for events that no hook handles, answered before the engine is loaded.

Agents call `samuel emit` at every step, and most steps match no hook. The filters of all hooks are cached for as
long as every file that decides about them stays the same. If none of them matches, the empty result is printed in
a fraction of the time, and nothing is recorded. In any doubt the engine decides.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from samuel.base.project_root import project_root
from samuel.emit import filter_cache
from samuel.emit.call import LARGEST_STDIN, STDOUT, EmitArguments
from samuel.process.passed import PINNED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samuel.clients.dialect.client import Client

BEGIN = "SessionStart"
TURNS = (BEGIN, "UserPromptSubmit", "SessionStop", "SessionEnd")


def print_without_engine(command: EmitArguments) -> int | None:
    """Print the empty result if no hook handles the event; the exit code, or None if a hook may handle it."""
    answer = answer_without_engine(command)
    if answer is None:
        return None
    try:
        os.write(STDOUT, f"{answer}\n".encode() if answer else b"")
    except OSError:
        return 1  # the reader of the answer is gone: end as any command would
    return 0


def answer_without_engine(command: EmitArguments) -> str | None:
    """What to print if no hook handles the event; None if one may, and then stdin is as it was."""
    if os.environ.get(PINNED):  # a run asks: it checks what it pinned, and counts what was judged
        return None
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home) or not os.path.isdir(home):
        return None
    try:
        root = project_root(os.getcwd())
        cached = filter_cache.load(root, home, command.environment)
        if cached is None:
            return None
        client = client_module(command.client) if command.client else None
        data = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(LARGEST_STDIN + 1)
    except (OSError, TypeError, KeyError, ImportError, AttributeError):  # not ours, or no client
        return None
    if data is None:  # a stdin that does not block, and has nothing yet
        return None
    answer = answer_unmatched(data, command, client, cached, root) if len(data) <= LARGEST_STDIN else None
    if answer is None:
        import io  # only for what is left to the engine

        sys.stdin = io.TextIOWrapper(io.BytesIO(data))  # for the engine, as if it had not been read
    return answer


def answer_unmatched(
    data: bytes, command: EmitArguments, client: Client | None, cached: Mapping[str, Any], root: str
) -> str | None:
    """What is printed if no hook handles the event; None if one may."""
    event, session = command.event, command.session or os.environ.get("SAMUEL_SESSION_ID", "")
    known_name = cached["names"].get(client.events.get(event) if client else event)
    if known_name is not None and known_name not in cached["events"]:  # a handler takes every event of this name
        return None
    context = parsed(data)
    try:
        if client is not None:
            event, context = client_event(client, event, context)
            if not context:
                return ""
        name = cached["names"][client.events[event] if client else event]
        row = cached["events"][name]
    except (TypeError, KeyError, ValueError):  # not about this event, or not a payload of the client
        return None
    named = client is not None or b"session_id" in data or b"\\u00" in data  # or written with escapes
    recipe = os.environ.get("SAMUEL_RECIPE", "")
    if _changes_a_session(name, named or bool(session), root):
        return None
    if not unmatched(context, name, row, cached["names"], root, recipe):
        return None
    if client is None:
        return str(row["empty"])
    from samuel.clients.dialect.protocol import SILENT  # only for the hooks of clients

    return str(client.answer(event, SILENT).stdout)


def _changes_a_session(name: str, in_session: bool, root: str) -> bool:
    """Does this event change the stored session, whether hooks handle it or not?"""
    return in_session and name in TURNS and (name == BEGIN or os.path.exists(f"{root}/.samuel/run/sessions"))


def client_module(name: str) -> Client:
    """The dialect of the client with this name, without the table, which needs more than all of this."""
    client: Client = __import__(f"samuel.clients.{name}.dialect", fromlist=["CLIENT"]).CLIENT
    return client


def client_event(client: Client, event: str, payload: Any) -> tuple[str, Any]:
    """The event that a client's payload is about, and its context: {} if there is nothing to fire."""
    if not isinstance(payload, dict):
        raise TypeError(type(payload))
    native_event = client.event_of(event, payload)
    if native_event not in client.events:
        if event not in client.groups:  # a mistyped name: the engine says so, and denies
            raise KeyError(event)
        return native_event, {}
    return native_event, client.translate(native_event, payload)


def parsed(data: bytes) -> Any:
    """The JSON value on stdin, {} for none; None if the engine has to look at it."""
    if b"\\ud" in data.lower():  # maybe half of a character, which the engine refuses
        return None
    import json  # slow to import, and the engine does without it

    try:
        return json.loads(data.decode() or "{}", parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return None


def unmatched(
    context: Any, name: str, row: Mapping[str, Any], names: Mapping[str, str], root: str, recipe: str = ""
) -> bool:
    """Is this a valid context of the event that no filter matches? `recipe` is used if the context names none."""
    if not isinstance(context, dict) or not _typed(context, row["fields"], row["needed"]):
        return False
    for key in ("event_type", "event"):
        if not isinstance(context.get(key, name), str) or names.get(context.get(key, name)) != name:
            return False
    if context.get("recipe_name") is None and recipe:
        context["recipe_name"] = recipe
    if not row["matches"]:
        return True
    from samuel.hooks.match import holds  # with regular expressions

    fields = {**context, "project_root": root, "extra": {**(context.get("extra") or {}), **context}}
    return not any(holds(match, fields.get) for match in row["matches"])


def _typed(context: Mapping[str, Any], fields: Mapping[str, Any], needed: list[str]) -> bool:
    typed_fields = {key: value for key, value in context.items() if key in fields and value is not None}
    return all(key in typed_fields for key in needed) and all(
        _is(value, fields[key]) for key, value in typed_fields.items()
    )


def _is(value: Any, kind: Any) -> bool:
    """`kind` is the name of a type, or the values that are allowed."""
    name = type(value).__name__
    return name == kind or (name, kind) == ("int", "float") if isinstance(kind, str) else value in kind


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")) or number != number:
        raise ValueError(text)
    return number
