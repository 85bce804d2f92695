"""The denial of a tool call or a prompt in each client's own words, for when Samuel itself cannot answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

# The client's event and a reason -> a denial for stdout; {}: exit code 2 and the reason on stderr.
Denial = Callable[[str, str], dict[str, object]]


def denial(client: str, event: str, reason: str) -> dict[str, object]:
    """The denial for stdout; {} where exit code 2 and the reason on stderr are enough."""
    return _DENIALS[client](event, reason) if client in _DENIALS else {}


def _copilot(event: str, reason: str) -> dict[str, object]:
    """An exit code of 2 would deny, too, but the model would not be told why."""
    if event != "preToolUse":
        return {}
    return {"permissionDecision": "deny", "permissionDecisionReason": reason}


def _cursor(event: str, reason: str) -> dict[str, object]:
    if event == "beforeSubmitPrompt":
        return {"continue": False, "user_message": reason}
    return {"permission": "deny", "user_message": reason, "agent_message": reason}


def _agy(event: str, reason: str) -> dict[str, object]:
    return {"decision": "deny", "reason": reason}


def _cline(event: str, reason: str) -> dict[str, object]:
    return {"cancel": True, "errorMessage": reason}


_DENIALS: Mapping[str, Denial] = {"copilot": _copilot, "cursor": _cursor, "agy": _agy, "cline": _cline}
