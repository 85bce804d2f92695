"""The page about the journal: its records, field by field."""

from __future__ import annotations

import msgspec
from msgspec.structs import fields
from page import NOTE
from shapes import Shapes

from samuel.hooks.handler import Origin
from samuel.journal.records import CallRecord, EndRecord, EventRecord
from samuel.journal.redact import MAX_REPLAYED_BYTES, MAX_VALUE_BYTES

RECORDS: list[tuple[str, str, type[msgspec.Struct], dict[str, str]]] = [
    (
        "event",
        "Written when an event is fired, before a handler is called.",
        EventRecord,
        {
            "event_id": "Unique to this firing.",
            "event": "The event's name.",
            "at": "When, in seconds since the epoch.",
            "run_id": "The run it belongs to, if any.",
            "session_id": "The session it belongs to, if any.",
            "parent_id": "The event during which this one was fired: a hook that calls Samuel.",
            "context": "A digest of the context, which would otherwise repeat in every record.",
            "payload": "The payload: secrets as `[secret]`, long values cut, with their size and digest: to "
            f"{MAX_REPLAYED_BYTES // 1024} KiB on events that can be denied, so that `hooks replay` can use them, "
            f"and to {MAX_VALUE_BYTES // 1024} KiB on others.",
        },
    ),
    (
        "call",
        "Written for each call of a handler. `samuel hooks log` shows these.",
        CallRecord,
        {
            "call_id": "The event's id, the position, and `g` in the guard phase.",
            "event_id": "The event it answers to.",
            "event": "That event's name.",
            "at": "When the call ended, in seconds since the epoch.",
            "handler": "The handler's name.",
            "origin": f"Where it was found: {', '.join(f'`{origin.label}`' for origin in Origin)}.",
            "runtime": "How it ran: `inline`, `python`, `exec`, `wasm` or `oci`.",
            "position": "Its place in the chain, from 1.",
            "outcome": "One of the [outcomes](outcomes.md).",
            "duration_ms": "How long it took.",
            "digest": "The digest of its file, if it is a file.",
            "phase": "`guard` if it got the final input of a rewritten call.",
            "strict": "True if a fault of it stops the event.",
            "message": "What went wrong, or what was cut.",
            "result": "What it returned, with secrets left out and long values cut.",
            "stderr": "The last 64 KiB of its stderr.",
            "would": "What an [observed](../how-to/observe-a-guard.md) handler would have done; "
            "left out for others.",
            "background": "True if it ran [in the background](../how-to/background.md): it may have ended after "
            "its event.",
        },
    ),
    (
        "end",
        "Written when the event is judged.",
        EndRecord,
        {
            "event_id": "The event.",
            "event": "Its name.",
            "at": "When, in seconds since the epoch.",
            "ok": "True if the event was ok.",
            "duration_ms": "How long the whole event took.",
            "stopped": "True after a denial or a strict failure: what fired the event must not continue.",
            "reason": "Why it was stopped.",
            "result": "The composed result, with secrets left out and long values cut.",
            "warnings": "The warnings to the person.",
        },
    ),
]


def journal_page() -> str:
    parts = [
        NOTE,
        "# Journal\n\nThe journal records every event and every call of a handler, as JSON lines in "
        "`.samuel/run/journal/`. `samuel hooks log` reads it, and so can `jq`.\n",
        "- All processes append to the newest file, which can be read while it is written. Only you can read the "
        "directory and the files (mode 0700 and 0600).\n"
        "- `samuel emit` may leave no line for an event without a matching hook.\n"
        "- An incomplete line is skipped, and so is a line that is not Samuel's.\n"
        "- A new file begins at 8 MiB; when all files together exceed 64 MiB, the oldest are deleted.\n"
        "- Files are numbered in the order in which they were created, so setting the clock back has no effect.\n"
        "- If the journal cannot be written, there is one warning, and the event continues.\n"
        "- Git ignores `.samuel/run/`.\n",
        "Each line has a `kind`. Fields that have their default are left out.\n",
    ]
    shapes = Shapes()
    for kind, what, struct, about in RECORDS:
        parts += [f'## `"kind": "{kind}"` {{ #{kind} }}\n\n{what}\n', shapes.table(fields(struct), about)]
    parts.append(shapes.listed())
    return "\n".join(parts)
