"""What the errors of LiteLLM mean, by which several agents reach their models."""

from __future__ import annotations

from samuel.clients.adapter.ending import AgentEnding
from samuel.clients.adapter.trouble import reported

_STATUSES = {
    **dict.fromkeys(("AuthenticationError", "PermissionDeniedError"), 401),
    "RateLimitError": 429,
    **dict.fromkeys(("InternalServerError", "ServiceUnavailableError", "BadGatewayError"), 503),
}
_UNREACHABLE = {"APIConnectionError": "connection error", "Timeout": "connection timed out"}


def litellm_problem(error: str, message: object, now: float) -> AgentEnding:
    """The ending by the name of an error and its message."""
    code = _UNREACHABLE.get(error, error)
    return reported(message, now, status=_STATUSES.get(error, 0), code=code)
