"""What Samuel asks of a forge, and the records that it answers with.

The next forge is one module with such a class, and a line in `table.py`. `tests/forge/test_contract.py` says what
each must do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from samuel.base.errors import SamuelError

WRITE_ROLES = frozenset(("write", "maintain", "admin"))


class ForgeUnavailable(SamuelError):
    """The forge cannot be reached, or does not answer now: trying later can help."""


class ForgeRepository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository on a forge, and what the user who is logged in there may do."""

    host: str
    name: str
    """`owner/name`."""
    user: str = ""
    """The login of the user."""

    @property
    def label(self) -> str:
        return f"{self.host}/{self.name}"


class IssueQuery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which open issues are meant: those that all of these are true of, or those with these numbers."""

    labels: tuple[str, ...] = ()
    milestone: str = ""
    search: str = ""
    """In the forge's own language of searches."""
    numbers: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self == IssueQuery()

    @property
    def is_vouched_for(self) -> bool:
        """Whether a person with rights chose these issues: by a label, a milestone, or by naming them here."""
        return bool(self.labels or self.milestone or self.numbers)

    def describe(self) -> str:
        """In words that follow "open issues"."""
        parts = [
            *(f"with the label `{label}`" for label in self.labels),
            *([f"in the milestone `{self.milestone}`"] if self.milestone else []),
            *([f"that the search `{self.search}` finds"] if self.search else []),
        ]
        return " ".join(parts)


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    title: str
    body: str = ""
    author: str = ""
    """A login; "" for an account that was deleted."""
    state: Literal["open", "closed"] = "open"
    labels: tuple[str, ...] = ()
    milestone: str = ""
    assignees: tuple[str, ...] = ()
    url: str = ""
    comments: int = 0
    """How many there are."""
    has_blockers: bool = False
    has_children: bool = False


class IssueComment(msgspec.Struct, frozen=True, kw_only=True):
    author: str = ""
    body: str = ""
    created: str = ""
    """As the forge writes a time."""


class FoundIssues(msgspec.Struct, frozen=True):
    issues: tuple[Issue, ...]
    notes: tuple[str, ...] = ()
    """What a person should know about them, such as that there are more."""


class Forge(Protocol):
    """One repository on a forge. Each call raises ForgeUnavailable, or SamuelError with what to do."""

    repository: ForgeRepository

    def issues(self, query: IssueQuery) -> FoundIssues:
        """All open issues that a query without numbers means, and no pull requests."""

    def issue(self, number: int) -> Issue | None:
        """One issue; None if the repository has none with this number, or if that is a pull request."""

    def comments(self, issue: Issue) -> Sequence[IssueComment]:
        """All of them, the oldest first."""

    def blockers(self, issue: Issue) -> Sequence[int]:
        """The issues of this repository that the forge says must be closed before this one."""

    def children(self, issue: Issue) -> Sequence[int]:
        """The issues of this repository that are parts of this one."""

    def may_write(self, login: str) -> bool:
        """Whether a user may write to the repository."""
