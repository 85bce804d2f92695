"""One call of `samuel emit`: what was asked, and what is answered.

Plain classes: `collections` and `typing` would take as long to import as all the rest of a client in Python.
"""

from __future__ import annotations

from collections.abc import Sequence

STDOUT, STDERR = 1, 2
LARGEST_STDIN = 16 * 1024 * 1024  # bytes; of more than that, one byte too many is read, and the engine says so

# What agents' own hooks understand: 2 stops them, any other fault is told and passed over.
DENY, FAULT = 2, 1

_OPTIONS = {"--as": "client", "--session": "session", "--env": "environment"}


class EmitArguments:
    """The command line. `client` is the agent whose own event this is, "" for an event of Samuel's."""

    __slots__ = ("client", "environment", "event", "session")

    def __init__(self, event: str, client: str = "", session: str = "", environment: str = "") -> None:
        self.event = event
        self.client = client
        self.session = session
        self.environment = environment

    @classmethod
    def plain(cls, words: Sequence[str]) -> EmitArguments | None:
        """The arguments of a plain command line; None for anything else, which the full parser has to read."""
        values: dict[str, str] = {}
        rest = iter(words)
        for word in rest:
            name = _OPTIONS.get(word, "event")
            value = next(rest, "") if word in _OPTIONS else word
            if not value or value.startswith("-") or name in values:
                return None
            values[name] = value
        return cls(**values) if "event" in values else None


class EmitAnswer:
    """What the caller gets: its exit code, and what is written to its stdout and stderr, in this order."""

    __slots__ = ("exit_code", "failure", "output")

    def __init__(
        self, exit_code: int, output: tuple[tuple[int, str], ...] = (), failure: int | None = None
    ) -> None:
        """`failure` is the exit code if the output cannot be written; None: that of any other command."""
        self.exit_code = exit_code
        self.output = output
        self.failure = failure
