"""Cuts what one handler adds to the prompt to its byte budget, with a message about the cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from samuel.runtimes.base import Reply

BLOBS = ("toon_blob", "md_blob")


def keep(reply: Reply, previous: Mapping[str, Any] | None, budget: float) -> Reply:
    """`reply`, where what it adds to the prompt is cut to `budget` bytes."""
    limit = int(budget)
    result = reply.result
    cut = {**_cut_blobs(result, previous or {}, limit), **_cut_extras(result.get("extras") or (), limit)}
    if not cut:
        return reply
    note = f"{', '.join(cut)} cut to {limit} bytes; `handler_prompt_bytes` under [limits] sets the limit"
    return replace(reply, result={**result, **cut}, message=note)


def _cut_blobs(result: Mapping[str, Any], previous: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """The blobs that must be cut. The text of earlier handlers does not count against the limit."""
    cut = {}
    for name in BLOBS:
        if blob := result.get(name):
            allowed = limit + len((previous.get(name) or "").encode())
            if len(blob.encode()) > allowed:
                cut[name] = _shorten(blob, allowed)
    return cut


def _cut_extras(extras: Sequence[Mapping[str, Any]], limit: int) -> dict[str, Any]:
    """The extras, cut so that they have `limit` bytes together; {} if they are short enough."""
    shortened, left = [], limit
    for extra in extras:
        content = _shorten(extra["content"], left)
        left -= len(content.encode())
        shortened.append({**extra, "content": content})
    return {} if shortened == list(extras) else {"extras": shortened}


def _shorten(text: str, allowed: int) -> str:
    """The first `allowed` bytes of the text, without a partial character at the end."""
    return text.encode()[: max(allowed, 0)].decode("utf-8", "ignore")
