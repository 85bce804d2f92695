"""Whose fault a failed agent is: what services and clients say when they cannot work, sorted by kind."""

from __future__ import annotations

import re
from typing import NamedTuple

from samuel.base.printable import shorten
from samuel.clients.adapter.counts import table
from samuel.clients.adapter.ending import AgentEnding, EndingKind
from samuel.clients.adapter.reset_time import reset_time
from samuel.clients.adapter.stream import PlainStream, records

LONGEST_REASON = 300
_LONGEST_TEXT = 4000  # of an error message; what follows is a stack trace or a whole page

_LIMITED = re.compile(
    r"usage limit reached|hit your (?:\w+ ){0,2}limit|usage[ _]limit[ _](?:has been )?(?:reached|exceeded)"
    r"|usageLimitExceeded"
    r"|insufficient_quota|exceeded your current quota|quota[ _](?:has been )?(?:exceeded|exhausted|reached)"
    r"|exhausted your (?:\w+ ){0,3}(?:quota|capacity)|credit balance is too low|out of (?:\w+ )?credits"
    r"|(?:session|weekly|daily|monthly) (?:usage )?limit|billing_error|billing_hard_limit",
    re.IGNORECASE,
)
_UNAUTHORISED = re.compile(
    r"authentication[ _](?:failed|error)|authentication_required|invalid[ _](?:x-)?api[ _-]?key|incorrect api key"
    r"|api key (?:not valid|is invalid|not found|expired)|not logged in|(?:please )?run /login|log ?in required"
    r"|please (?:log|sign) ?in|\bunauthori[sz]ed\b|oauth token has expired"
    r"|token (?:is|has) (?:expired|been revoked)"
    r"|permission_error|UNAUTHENTICATED|no (?:api key|auth(?:entication)?(?: information)?) (?:was )?found"
    r"|missing (?:api key|environment variable: `?\w*API_KEY)|Invalid auth method",
    re.IGNORECASE,
)
_UNREACHABLE = re.compile(
    r"ECONNREFUSED|ENOTFOUND|ECONNRESET|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPIPE|connection ?refused"
    r"|connection (?:error|reset|closed|timed out)|network (?:is )?(?:unreachable|error)|could not resolve"
    r"|getaddrinfo|fetch failed|failed to fetch|unable to connect|error sending request|stream disconnected"
    r"|socket hang up|no internet|unable to reach|name resolution",
    re.IGNORECASE,
)
_OVERLOADED = re.compile(
    r"overloaded|rate[ _]limit|too many requests|internal server error|internal_server_error|server_error"
    r"|service[ _]unavailable|bad gateway|gateway timeout|at capacity|CAPACITY_EXHAUSTED|RESOURCE_EXHAUSTED"
    r"|exceeded retry limit",
    re.IGNORECASE,
)
# Not any number of three digits: `line 401` says nothing.
_STATUS = re.compile(
    r"(?:^|\b(?:error|status|status code|http|code|last status)\b[\s:(=]*)([45]\d\d)\b", re.IGNORECASE
)
_STATUS_KINDS = {401: EndingKind.UNAUTHORISED, 403: EndingKind.UNAUTHORISED, 402: EndingKind.LIMITED}
_LITELLM_STATUSES = {
    **dict.fromkeys(("AuthenticationError", "PermissionDeniedError"), 401),
    "RateLimitError": 429,
    **dict.fromkeys(("InternalServerError", "ServiceUnavailableError", "BadGatewayError"), 503),
}
_LITELLM_UNREACHABLE = {"APIConnectionError": "connection error", "Timeout": "connection timed out"}

_STACK = re.compile(r"^(?:at |\.\.\. |File \"|Traceback|node:|\^|[{}\[\]()]|Node\.js v)")
_WARNING = re.compile(r"^\W*(?:warn|warning|info|debug|note|notice|deprecat)", re.IGNORECASE)
_FAILURE = re.compile(
    r"error|fatal|fail|cannot|can't|denied|refus|not found|invalid|limit|unable|missing|no such|exception",
    re.IGNORECASE,
)


def trouble(
    text: str, now: float, *, status: object = 0, code: object = "", details: object = None
) -> AgentEnding | None:
    """What a client's own error message means; None if it names none of the kinds of trouble.

    `status` is that of HTTP, `code` a name that came with the message, `details` an object that came with it. Only
    for what the client itself reports as an error: text of a model, of a tool or of a file says nothing.
    """
    text = text[:_LONGEST_TEXT]
    embedded = _embedded(text)
    code = code if isinstance(code, str) else ""
    words = f"{code}\n{text}"
    resets_at = reset_time(text, [details, embedded], now)
    kind = _kind(words, _http_status(status, text, embedded), resets_at)
    return AgentEnding(kind, reason_line(text, embedded) or code, resets_at) if kind else None


def reported(
    text: object, now: float, *, status: object = 0, code: object = "", details: object = None
) -> AgentEnding:
    """What a client reported as an error: one of the kinds of trouble, or a crash."""
    message = text if isinstance(text, str) else ""
    crash = AgentEnding(EndingKind.CRASHED, reason_line(message, _embedded(message)) or str(code or ""))
    return trouble(message, now, status=status, code=code, details=details) or crash


def litellm_problem(error: str, message: object, now: float) -> AgentEnding:
    """The ending by an error of LiteLLM, by which several agents reach their models: its name and its message."""
    code = _LITELLM_UNREACHABLE.get(error, error)
    return reported(message, now, status=_LITELLM_STATUSES.get(error, 0), code=code)


class ExitFacts(NamedTuple):
    """How the process of an agent ended, apart from what it reported."""

    exit_code: int
    stdout_tail: str
    stderr_tail: str
    sandbox: str = "host"
    exit_kind: EndingKind | None = None
    """What the exit code alone means for this client."""
    timed_out: float = 0
    """`agent_timeout` in seconds, if that ended it."""
    idle: float = 0
    """`idle_timeout` in seconds, if that ended it."""
    over_budget: str = ""
    """Why a budget ended it."""
    restarted: str = ""
    """Why a person ended it, so that it starts again."""


def ending_of(stream: PlainStream, facts: ExitFacts) -> AgentEnding:
    """How the agent ended, by what it reported in a typed form and how its process ended.

    Trouble that it never got over explains a timeout: some clients retry a wrong key until they are ended.
    """
    if facts.restarted:
        return AgentEnding(EndingKind.RESTARTED, shorten(facts.restarted, LONGEST_REASON))
    if facts.over_budget:
        return AgentEnding(EndingKind.OVER_BUDGET, shorten(facts.over_budget, LONGEST_REASON))
    problem = stream.problem
    if problem is not None and problem.kind is not EndingKind.CRASHED:
        return problem
    if facts.idle:
        return AgentEnding(EndingKind.IDLE, f"no sign of work for {facts.idle:g}s (idle_timeout)")
    if facts.timed_out:
        return AgentEnding(EndingKind.TIMED_OUT, f"ended after {facts.timed_out:g}s (agent_timeout)")
    if facts.exit_code == 0:
        return AgentEnding()
    if why := _sandbox_failure(facts):
        return AgentEnding(EndingKind.UNREACHABLE, why)
    crash = problem if problem is not None and problem.reason else None
    reason = crash.reason if crash else failure_reason(facts)
    return AgentEnding(facts.exit_kind or EndingKind.CRASHED, reason)


def prose_ending(stdout_tail: str, stderr_tail: str, now: float) -> AgentEnding | None:
    """What the last words of an agent that reports nothing in a typed form mean; None if they name no trouble.

    Only for a process that failed and changed no file: anybody can write these words. On stdout they may be a
    model's, so there only a usage limit and a missing login count, and only on the last line.
    """
    if any(record.keys() & {"type", "role"} for line in stdout_tail.splitlines() for record in _typed(line)):
        return None
    last = [line.strip() for line in stdout_tail.splitlines() if line.strip()][-1:]
    for line in last:
        ending = trouble(line, now) if len(line) <= LONGEST_REASON else None
        if ending and ending.kind in (EndingKind.LIMITED, EndingKind.UNAUTHORISED):
            return ending
    errors = [line.strip() for line in stderr_tail.splitlines() if line.strip()][-5:]
    endings = (trouble(line, now) for line in reversed(errors) if not _STACK.match(line))
    return next((ending for ending in endings if ending), None)


def failure_reason(facts: ExitFacts) -> str:
    """The line of the output that best says why the process failed: the last that names a failure."""
    for text in (facts.stderr_tail, facts.stdout_tail):
        lines = [" ".join(line.split()) for line in text.splitlines()]
        lines = [line for line in lines if line and not _STACK.match(line) and not _WARNING.match(line)]
        failures = [line for line in lines if _FAILURE.search(line)]
        if chosen := (failures or lines)[-1:]:
            return shorten(chosen[0], LONGEST_REASON)
    return f"exit code {facts.exit_code}"


def reason_line(text: str, embedded: object = None) -> str:
    """An error message on one printable line: its own words where they are inside of JSON."""
    error = table(table(embedded).get("error")) or table(embedded)
    message = error.get("message")
    if isinstance(message, str) and message.strip():
        head = text.partition("{")[0].strip(" :[(")
        text = f"{head}: {message}" if head else message
    lines = [" ".join(line.split()) for line in text.splitlines()]
    line = next((line for line in lines if line and not _STACK.match(line)), "")
    return shorten(re.sub(r"\|\d{10,13}\b", "", line), LONGEST_REASON)


def _kind(words: str, status: int, resets_at: float | None) -> EndingKind | None:
    if _LIMITED.search(words) or (status == 429 and resets_at is not None):
        return EndingKind.LIMITED
    if status in _STATUS_KINDS:
        return _STATUS_KINDS[status]
    if status == 429 or status >= 500:
        return EndingKind.OVERLOADED
    if _UNAUTHORISED.search(words):
        return EndingKind.UNAUTHORISED
    if _UNREACHABLE.search(words):
        return EndingKind.UNREACHABLE
    return EndingKind.OVERLOADED if _OVERLOADED.search(words) else None


def _http_status(status: object, text: str, embedded: object) -> int:
    fields = table(embedded)
    error = table(fields.get("error"))
    in_text = _STATUS.search(text)
    candidates = (status, fields.get("status_code"), error.get("code"), error.get("status"), fields.get("status"))
    for value in (*candidates, in_text[1] if in_text else 0):
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    return 0


def _embedded(text: str) -> dict[str, object]:
    """The JSON object inside of a message such as `API Error: 429 {...}`."""
    start, end = text.find("{"), text.rfind("}")
    return next(iter(records(text[start : end + 1].encode())), {}) if 0 <= start < end else {}


def _typed(line: str) -> list[dict[str, object]]:
    return records(line.encode()) if line.lstrip().startswith("{") else []


def _sandbox_failure(facts: ExitFacts) -> str:
    """Why the sandbox did not start, which is the machine's trouble; "" if it did."""
    first = next(iter(facts.stderr_tail.splitlines()), "").strip()
    if facts.sandbox == "bwrap" and facts.exit_code == 1 and first.startswith("bwrap: ") and not facts.stdout_tail:
        return shorten(first, LONGEST_REASON)
    if facts.sandbox == "oci" and facts.exit_code == 125 and not facts.stdout_tail:  # the engine's own failure
        return failure_reason(facts)
    return ""
