"""How much one handler may add to the prompt. More is cut, and said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from samuel.runtimes.base import Reply

BLOBS = ("toon_blob", "md_blob")


def keep(reply: Reply, previous: Mapping[str, Any] | None, budget: float) -> Reply:
    """The reply with what it adds to the prompt cut to `budget` bytes."""
    limit = int(budget)
    result = reply.result
    cut = {**_cut_blobs(result, previous or {}, limit), **_cut_extras(result.get("extras") or (), limit)}
    if not cut:
        return reply
    note = f"{', '.join(cut)} cut to {limit} bytes; `handler_prompt_bytes` under [limits] sets the limit"
    return replace(reply, result={**result, **cut}, message=note)


def _cut_blobs(result: Mapping[str, Any], previous: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """A blob may keep all that was there before, and add to it."""
    cut = {}
    for name in BLOBS:
        if blob := result.get(name):
            allowed = limit + len((previous.get(name) or "").encode())
            if len(blob.encode()) > allowed:
                cut[name] = _shorten(blob, allowed)
    return cut


def _cut_extras(extras: Sequence[Mapping[str, Any]], limit: int) -> dict[str, Any]:
    kept, left = [], limit
    for extra in extras:
        content = _shorten(extra["content"], left)
        left -= len(content.encode())
        kept.append({**extra, "content": content})
    return {} if kept == list(extras) else {"extras": kept}


def _shorten(text: str, allowed: int) -> str:
    """The first `allowed` bytes, never half a character."""
    return text.encode()[: max(allowed, 0)].decode("utf-8", "ignore")
