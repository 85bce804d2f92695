"""One call of `samuel emit`: what was asked, and what is answered."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False  # `typing` is slow to import for an `emit` without hooks; type checkers know this name
if TYPE_CHECKING:
    from collections.abc import Sequence

STDOUT, STDERR = 1, 2

# What agents' own hooks understand: 2 stops them, any other fault is told and passed over.
DENY, FAULT = 2, 1

_OPTIONS = {"--as": "client", "--session": "session", "--env": "environment"}


class EmitArguments(
    namedtuple("EmitArguments", ("event", "client", "session", "environment"), defaults=("", "", "", ""))
):
    """The command line. `client` is the agent whose own event this is, "" for an event of Samuel's."""

    __slots__ = ()
    event: str
    client: str
    session: str
    environment: str

    @classmethod
    def plain(cls, words: Sequence[str]) -> EmitArguments | None:
        """The arguments of a plain command line; None for anything else, which the full parser has to read."""
        values: dict[str, str] = {}
        words = iter(words)  # type: ignore[assignment]
        for word in words:
            name = _OPTIONS.get(word, "event")
            value = next(words, "") if word in _OPTIONS else word  # type: ignore[call-overload]
            if not value or value.startswith("-") or name in values:
                return None
            values[name] = value
        return cls(**values) if "event" in values else None


class EmitAnswer(namedtuple("EmitAnswer", ("exit_code", "output", "failure"), defaults=((), None))):
    """What the caller gets: its exit code, and what is written to its stdout and stderr, in this order."""

    __slots__ = ()
    exit_code: int
    output: tuple[tuple[int, str], ...]
    failure: int | None  # the exit code if the output cannot be written; None: that of any other command
