"""Everything Samuel raises on purpose.

    SamuelError                    exit 1: the command failed or was denied
    ├── UsageError                 exit 2: the command line or an argument is wrong
    │   └── UnknownEvent           a name that is not an event, with the nearest one
    ├── ConfigError                exit 2: samuel.toml (or another file) has problems, all of them at once
    ├── UnsafePath                 exit 2: a path that leads out of its directory
    └── Locked                     exit 1: another process holds the lock

Any other exception that reaches the command line is a bug: exit 3.
"""

# Annotations are not postponed here: NamedTuple would compile the text of each.

from collections.abc import Iterable
from typing import NamedTuple


class Problem(NamedTuple):
    """One thing wrong with one place in a file, and what to do about it."""

    what: str
    file: str = ""
    line: int = 0
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.file and self.line else f"{self.file}: " if self.file else ""
        return f"{where}{self.what}" + (f" ({self.hint})" if self.hint else "")


class SamuelError(Exception):
    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(SamuelError):
    exit_code = 2


class UnknownEvent(UsageError):
    pass


class ConfigError(SamuelError):
    exit_code = 2

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UnsafePath(SamuelError):
    exit_code = 2


class Locked(SamuelError):
    pass
