"""The dialect of YAML session hooks: one flat JSON object on stdin, a HookResult on stdout.

A context has `event_type`, `session_id`, `timestamp`, `repository_root`, `stage` and the event's own fields. The
rest of Samuel's payload goes along, so a hook in this dialect can answer to any of the 24 events. What a caller's
context has besides reaches the hook under its own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from samuel.decoding import convert
from samuel.errors import UsageError
from samuel.events import Event, EventType, canonical
from samuel.events.explain import explained

NAME = "repo"

# Whoever calls the handlers says these, not the caller's context.
STAMPED = frozenset(
    (
        *("protocol", "event", "event_type", "project_root", "repository_root", "deadline_ms", "plugin"),
        *("previous", "phase", "idempotency_key"),
    )
)


def to_theirs(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Our payload with the base fields of a context, and without the box around what the caller said besides."""
    base = {
        "event_type": payload["event"],
        "session_id": "",
        "repository_root": payload.get("project_root", ""),
    }
    besides = payload.get("extra", {})
    return {**besides, **base, **{key: value for key, value in payload.items() if key != "extra"}}


def from_theirs(event: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """A HookResult is ours as it is; keys that nobody knows stay."""
    return dict(result)


def event_of(kind: EventType, context: object) -> Event:
    """The payload for a flat context or for one of Samuel's own payloads; UsageError where it is wrong."""
    hint = f"see `samuel hooks schema {kind.name}`"
    if not isinstance(context, dict):
        raise UsageError("the context must be a JSON object", hint)
    for key in ("event_type", "event"):
        said = context.get(key, kind.name)
        if not isinstance(said, str) or canonical(said) != kind.name:
            raise UsageError(f"the context is one of `{said}`, not of `{kind.name}`", "name the event it is of")
    # The environment of the payload is Samuel's own; what the caller says of one is kept beside it.
    known = set(kind.payload.__struct_encode_fields__) - {"environment"}
    # What is null is not said, and the empty session is none.
    pairs = ((key, value) for key, value in context.items() if (key, value) != ("session_id", ""))
    given = {key: value for key, value in pairs if key not in STAMPED and value is not None}
    fields = {key: value for key, value in given.items() if key in known}
    besides = {key: value for key, value in given.items() if key not in known}
    if besides:
        fields["extra"] = {**_boxed(fields), **besides}
    try:
        return convert({**fields, "event": kind.name}, kind.payload)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"the context of `{kind.name}` is wrong: {explained(error, kind.payload)}", hint
        ) from None


def _boxed(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an earlier box held: a payload of ours may come back."""
    box = fields.get("extra", {})
    return box if isinstance(box, Mapping) else {}
