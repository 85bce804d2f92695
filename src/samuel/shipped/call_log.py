"""`.system/logs/tool_call.md`: every call of an ability, for people to read."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import UnsetType

from samuel.events import PostAbilityCall
from samuel.files.inside import make_dirs_inside
from samuel.paths import SYSTEM
from samuel.shipped.told import given, line

NAME = "tool_call.md"
FILE = f"{SYSTEM}/logs/{NAME}"
MOST_BYTES = 8 * 1024 * 1024  # then it begins anew, and the old one is kept as tool_call.md.1


def append(root: Path, event: PostAbilityCall) -> None:
    directory = make_dirs_inside(root, SYSTEM, "logs", mode=0o755)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        fd = os.open(NAME, flags, 0o644, dir_fd=directory)
        try:
            # One write: records of two calls at the same time stand one after the other.
            os.write(fd, entry(event).encode(errors="replace"))
            if os.fstat(fd).st_size > MOST_BYTES:
                os.replace(NAME, f"{NAME}.1", src_dir_fd=directory, dst_dir_fd=directory)
        finally:
            os.close(fd)
    finally:
        os.close(directory)


def entry(event: PostAbilityCall) -> str:
    took = None if isinstance(event.duration_ms, UnsetType) else f"{event.duration_ms:g} ms"
    said = {
        "operation": given(event.operation_key),
        "session": given(event.session_id),
        "duration": took or "",
        "input": given(event.input_summary),
        "output": given(event.output_summary),
        "record": given(event.tool_call_path),
    }
    lines = [f"- {key}: {line(value)}" for key, value in said.items() if value.strip()]
    head = f"## {line(event.timestamp)} {line(event.ability_id, 100)}: {event.status}"
    return "\n".join([head, "", *lines, "", ""])
