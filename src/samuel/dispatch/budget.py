"""How much one handler may add to the prompt. More is cut, and said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samuel.hooks.handler import Handler, Origin
from samuel.runtimes.base import Reply

BLOBS = ("toon_blob", "md_blob")


def keep(reply: Reply, previous: Mapping[str, Any], handler: Handler, limit: int) -> Reply:
    """The reply with what it adds to the prompt cut to `limit` bytes. Built-ins keep themselves short."""
    if handler.origin is Origin.BUILT_IN:
        return reply
    cut: dict[str, Any] = {}
    for name in BLOBS:
        if blob := reply.result.get(name):
            allowed = limit + len(str(previous.get(name) or "").encode())
            if len(blob.encode()) > allowed:
                cut[name] = _shorten(blob, allowed)
    left = limit
    extras = reply.result.get("extras") or ()
    if sum(len(extra["content"].encode()) for extra in extras) > limit:
        kept = []
        for extra in extras:
            content = _shorten(extra["content"], left)
            left -= len(content.encode())
            kept.append({**extra, "content": content})
        cut["extras"] = kept
    if not cut:
        return reply
    note = f"{', '.join(cut)} cut to {limit} bytes; `handler_prompt_bytes` under [limits] sets the limit"
    return reply._replace(result={**reply.result, **cut}, message=note)


def _shorten(text: str, allowed: int) -> str:
    """The first `allowed` bytes, never half a character."""
    return text.encode()[: max(allowed, 0)].decode("utf-8", "ignore")
