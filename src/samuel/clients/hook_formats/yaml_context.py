"""The protocol of YAML hooks: a flat context object on stdin, a HookResult on stdout.

A context has `event_type`, `session_id`, `timestamp`, `repository_root`, `stage` and the event's own fields. It
has the other fields of Samuel's payload too, so that a YAML hook can handle any of the 31 events, and the further
fields that a caller gave to `emit`, under their own names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from samuel.base.decoding import convert
from samuel.base.errors import UsageError
from samuel.events import Event, EventType, canonical
from samuel.events.explain import explained

NAME = "yaml-context"

# The dispatcher sets these; values in a caller's context are ignored.
SET_BY_DISPATCHER = frozenset(
    (
        *("protocol", "event", "event_type", "project_root", "repository_root", "deadline_ms", "plugin"),
        *("previous", "phase", "idempotency_key"),
    )
)


def translate_payload(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Samuel's payload as a context: with its base fields, and with the fields in `extra` beside the others."""
    base = {
        "event_type": payload["event"],
        "session_id": "",
        "repository_root": payload.get("project_root", ""),
    }
    extra = payload.get("extra", {})
    return {**extra, **base, **{key: value for key, value in payload.items() if key != "extra"}}


def translate_result(event: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """The same result: a HookResult needs no translation."""
    return dict(result)


def event_from_context(kind: EventType, context: object) -> Event:
    """The event that a context, or a payload of Samuel's, describes; UsageError where it is invalid."""
    hint = f"see `samuel hooks schema {kind.name}`"
    if not isinstance(context, dict):
        raise UsageError("the context must be a JSON object", hint)
    for key in ("event_type", "event"):
        name = context.get(key, kind.name)
        if not isinstance(name, str) or canonical(name) != kind.name:
            raise UsageError(f"the context is for `{name}`, not for `{kind.name}`", f"correct its `{key}`")
    # Samuel sets `environment` itself; the caller's value goes to `extra`.
    payload_fields = set(kind.payload.__struct_encode_fields__) - {"environment"}
    # Null means that a field is left out, and an empty session id that there is no session.
    pairs = ((key, value) for key, value in context.items() if (key, value) != ("session_id", ""))
    values = {key: value for key, value in pairs if key not in SET_BY_DISPATCHER and value is not None}
    fields = {key: value for key, value in values.items() if key in payload_fields}
    extra = {key: value for key, value in values.items() if key not in payload_fields}
    if extra:
        fields["extra"] = {**_extra(fields), **extra}
    try:
        return convert({**fields, "event": kind.name}, kind.payload)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"the context of `{kind.name}` is wrong: {explained(error, kind.payload)}", hint
        ) from None


def _extra(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The `extra` of a payload of Samuel's that is used as a context."""
    extra = fields.get("extra", {})
    return extra if isinstance(extra, Mapping) else {}
