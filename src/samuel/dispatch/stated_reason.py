"""The reason that a handler gives in its result. It is kept where the rest of the result cannot be used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FAILURE = frozenset(("ok", "reason", "error", "data"))
"""What a result needs that only says that the handler failed."""


def stated_reason(result: Mapping[str, Any]) -> str:
    """Why a handler failed or denied, in its own words; "" if it does not say."""
    for key in ("reason", "error"):
        if reason := str(result.get(key) or "").strip():
            return reason
    return ""


def with_reason(message: str, result: Mapping[str, Any]) -> str:
    """The message about a result that is not used, with the reason in it."""
    reason = stated_reason(result)
    return f"{message}; its reason: {reason}" if reason and reason not in message else message


def failure_of(result: Mapping[str, Any], wrong: str) -> tuple[str, dict[str, Any]]:
    """The message and the result of a handler that returned `ok: false`, whatever else is wrong with its result.

    A failure needs no other key, so `wrong`, what is wrong with the others, is named only if there are any.
    """
    reason = stated_reason(result) or "it returned `ok: false`"
    message = reason if result.keys() <= FAILURE else f"{reason} ({wrong})"
    return message, {"ok": False, "reason": reason}
