"""Times, durations, costs and outcomes in words, and text that agents and checks wrote made safe to show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from samuel.base.printable import safe
from samuel.events.endings import IterationOutcome
from samuel.history.attempt_record import AttemptRecord
from samuel.tasks.task import Task

UNKNOWN = "unknown"
LONGEST_TAIL = 8 * 1024
"""Characters of a check's output in a report."""

_ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor movements
    r"|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # titles and links
)

NOTHING_GREEN = "the checks failed before it, and it turned nothing green"
"""Why a task is unverified although checks ran."""

OUTCOMES: Mapping[IterationOutcome, tuple[str, str]] = {
    IterationOutcome.COMPLETED: ("completed", "good"),
    IterationOutcome.INCOMPLETE: ("not finished", "warn"),
    IterationOutcome.QUALITY_FAILED: ("checks failed", "bad"),
    IterationOutcome.AGENT_FAILED: ("agent failed", "bad"),
    IterationOutcome.LIMITED: ("usage limit", "wait"),
    IterationOutcome.UNAVAILABLE: ("agent unavailable", "wait"),
    IterationOutcome.OVER_BUDGET: ("over budget", "wait"),
    IterationOutcome.ASKED: ("asked a question", "ask"),
    IterationOutcome.STALLED: ("nothing changed", "warn"),
    IterationOutcome.CONFLICT: ("conflict", "warn"),
    IterationOutcome.ABORTED: ("aborted", "idle"),
    IterationOutcome.GATED: ("ended by the gate", "idle"),
}
"""Each outcome in words, and how good it is; a stylesheet has a colour for each."""


DECIDED: Mapping[str, tuple[str, str]] = {
    "skipped": ("skipped by the agent", "idle"),
    "blocked": ("blocked by the agent", "bad"),
}
"""The same for an attempt whose agent decided not to do its task."""


def outcome_words(attempt: AttemptRecord) -> str:
    return DECIDED.get(attempt.decided, OUTCOMES[attempt.outcome])[0]


def outcome_tone(attempt: AttemptRecord) -> str:
    return DECIDED.get(attempt.decided, OUTCOMES[attempt.outcome])[1]


def status_words(task: Task) -> str:
    """The status of a task as a person reads it: a completed task is verified or not."""
    if task.status != "completed":
        return task.status.replace("_", " ")
    return {"checks": "verified", "none": "unverified", "person": "done by a person"}.get(
        task.verified, "completed"
    )


class CostSummary(msgspec.Struct, frozen=True):
    """What agents used, as far as it is known."""

    usd: float | None = None
    tokens: int | None = None
    unknown: int = 0
    """Agents that did not report what they used."""

    @classmethod
    def of(cls, usages: Iterable[Mapping[str, Any]]) -> CostSummary:
        """The sum of these usages; an empty one is unknown."""
        usd: float | None = None
        tokens: int | None = None
        unknown = 0
        for usage in usages:
            cost = _number(usage.get("cost_usd"))
            counts = [_number(usage.get(name)) for name in ("input_tokens", "output_tokens")]
            if cost is not None:
                usd = (usd or 0.0) + cost
            if counts != [None, None]:
                tokens = (tokens or 0) + int(sum(count or 0 for count in counts))
            unknown += cost is None and counts == [None, None]
        return cls(usd, tokens, unknown)

    @property
    def words(self) -> str:
        """`$1.20, 45,000 tokens`. What is not known is called unknown, and is never zero."""
        return f"{self.price}, {self.detail}" if self.detail else self.price

    @property
    def price(self) -> str:
        """`$1.20` or `at least $1.20`; the tokens where the price is not known."""
        if self.usd is None:
            return UNKNOWN if self.tokens is None else f"{self._least}{self.tokens:,} tokens"
        return f"{self._least}${self.usd:.2f}"

    @property
    def detail(self) -> str:
        """What `price` leaves out: the tokens, and how many attempts did not report what they used."""
        parts = [f"{self.tokens:,} tokens"] if self.usd is not None and self.tokens is not None else []
        if self.unknown and (self.usd is not None or self.tokens is not None):
            parts.append(f"{plural(self.unknown, 'attempt')} unknown")
        return ", ".join(parts)

    @property
    def _least(self) -> str:
        return "at least " if self.unknown else ""

    @property
    def short(self) -> str:
        """`$1.20`, or the tokens where the price is not known."""
        if self.usd is None and self.tokens is None:
            return UNKNOWN
        more = "+" if self.unknown else ""
        return f"${self.usd:.2f}{more}" if self.usd is not None else f"{self.tokens:,} tok{more}"


def span(seconds: float) -> str:
    """`0.4s`, `12s`, `3m 05s`, `1h 02m`."""
    if seconds < 9.95:
        return f"{max(seconds, 0):.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes:02}m"
    return f"{minutes}m {rest:02}s" if minutes else f"{rest}s"


def moment(seconds: float) -> str:
    """`2026-03-09 22:15`, in the time zone of this machine."""
    return f"{_local(seconds):%Y-%m-%d %H:%M}"


def moment_with_zone(seconds: float) -> str:
    """`2026-03-09 22:15 UTC`: for files that are read on another machine."""
    return f"{_local(seconds):%Y-%m-%d %H:%M %Z}"


def clock_time(seconds: float) -> str:
    return f"{_local(seconds):%H:%M}"


def plural(count: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def line(text: str, longest: int = 500) -> str:
    """The text on one line, without what a terminal or a browser might act on."""
    text = safe(" ".join(_plain(text[: 4 * longest]).split()), keep="")
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def headline(text: str, longest: int = 500) -> str:
    """The first line of a text that says something, on one line."""
    return line(_split(text)[0], longest)


def details(text: str, longest: int = LONGEST_TAIL) -> str:
    """What comes after the first line of a text, with its lines as they are: a traceback, say; "" for nothing."""
    return block(_split(text)[1], longest)


def _split(text: str) -> tuple[str, str]:
    first, _, rest = _plain(text).strip("\n").partition("\n")
    return first, rest


def block(text: str, longest: int = LONGEST_TAIL) -> str:
    """The end of a text of several lines, without what a terminal or a browser might act on."""
    cut = text[-longest:] if len(text) > longest else text
    return ("…" if len(text) > longest else "") + safe(_plain(cut)).strip("\n")


def _plain(text: str) -> str:
    return _ESCAPE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")


def _local(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds).astimezone()


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
