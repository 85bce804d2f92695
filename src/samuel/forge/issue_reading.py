"""Reading issues: which of them are taken, and who wrote their texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import msgspec

from samuel.base.errors import SamuelError
from samuel.base.printable import shorten
from samuel.config.model import ForgeSettings
from samuel.forge.forge import Forge, FoundIssues, Issue, IssueComment, IssueQuery
from samuel.forge.issue_text import IssueText, WrittenText

COLLABORATORS = "collaborators"


class ReadIssue(msgspec.Struct, frozen=True):
    """An issue with what must be asked for one by one."""

    issue: Issue
    text: IssueText
    blockers: tuple[int, ...] = ()
    children: tuple[int, ...] = ()

    @property
    def waits(self) -> tuple[int, ...]:
        """The issues that must be done before: as the forge has them, and as the text names them."""
        numbers = (*self.blockers, *self.text.waits())
        return tuple(number for number in dict.fromkeys(numbers) if number != self.issue.number)


class SkippedIssue(NamedTuple):
    number: int
    why: str
    """In words that follow "`#12` is skipped: "."""


class IssueSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What was read."""

    issues: tuple[ReadIssue, ...]
    skipped: tuple[SkippedIssue, ...] = ()
    open_elsewhere: tuple[int, ...] = ()
    """Open issues that some of these wait for, and that are not among them."""
    notes: tuple[str, ...] = ()


def read_issues(
    forge: Forge, query: IssueQuery, settings: ForgeSettings, own: Collection[int] = (), *, again: bool = False
) -> IssueSnapshot:
    """The issues that are taken. `own` are those that became tasks of this project before.

    With `again` these are read once more: one that was closed is taken as closed, also if the query does not mean
    it any more.
    """
    result = forge.issues(query) if not query.numbers else _numbered(forge, query.numbers, again=again)
    chosen = {issue.number: issue for issue in result.issues}
    for number in sorted(set(own) - chosen.keys()) if again else ():
        issue = forge.issue(number)
        if issue is not None and issue.state == "closed":
            chosen[number] = issue
    skipped, taken = list[SkippedIssue](), list[ReadIssue]()
    may_use = _author_rule(forge, query, settings)
    for number, issue in sorted(chosen.items()):
        why = _claim(issue, forge.repository.user, settings, is_own=number in own) or may_use(issue)
        if why:
            skipped.append(SkippedIssue(number, why))
        elif issue.state == "open" or (again and number in own):
            taken.append(_read(forge, issue, settings))
        else:
            skipped.append(SkippedIssue(number, "it is closed"))
    outside = _open_elsewhere(forge, taken, {read.issue.number for read in taken})
    return IssueSnapshot(issues=tuple(taken), skipped=tuple(skipped), open_elsewhere=outside, notes=result.notes)


def _numbered(forge: Forge, numbers: Iterable[int], *, again: bool) -> FoundIssues:
    """The issues with these numbers. Raises SamuelError for one that does not exist, unless it did before."""
    issues = []
    for number in dict.fromkeys(numbers):
        if (issue := forge.issue(number)) is not None:
            issues.append(issue)
        elif not again:
            hint = "a pull request is none, nor is an issue that was deleted or moved to another repository"
            raise SamuelError(f"`{forge.repository.label}` has no issue `#{number}`", hint)
    return FoundIssues(tuple(issues))


def _claim(issue: Issue, user: str, settings: ForgeSettings, *, is_own: bool) -> str:
    """Who works on the issue already, in words; "" if it is free."""
    others = [login for login in issue.assignees if login.lower() != user.lower()]
    if others and len(others) == len(issue.assignees):
        return f"it is assigned to @{shorten(others[0])}"
    labels = {label.lower() for label in issue.labels}
    if not is_own and settings.working_label.lower() in labels:
        return f"it has the label `{settings.working_label}`, so that another run works on it"
    return ""


def _author_rule(forge: Forge, query: IssueQuery, settings: ForgeSettings) -> Callable[[Issue], str]:
    """A function that says why the author of an issue forbids to use it; "" if not."""

    def why_not(issue: Issue) -> str:
        if query.is_vouched_for or settings.authors != COLLABORATORS or forge.may_write(issue.author):
            return ""
        who = f"@{shorten(issue.author)}" if issue.author else "its author"
        return (
            f"{who} may not write to the repository, and a search does not show that a person with rights chose it"
        )

    return why_not


def _read(forge: Forge, issue: Issue, settings: ForgeSettings) -> ReadIssue:
    comments = (_words(forge, comment) for comment in forge.comments(issue))
    used = (comment for comment in comments if comment.may_write or settings.authors != COLLABORATORS)
    body = WrittenText(issue.author, issue.body, forge.may_write(issue.author))
    text = IssueText(body, tuple(comment for comment in used if comment.text.strip()))
    return ReadIssue(issue, text, tuple(forge.blockers(issue)), tuple(forge.children(issue)))


def _words(forge: Forge, comment: IssueComment) -> WrittenText:
    return WrittenText(comment.author, comment.body, forge.may_write(comment.author))


def _open_elsewhere(forge: Forge, issues: Iterable[ReadIssue], taken: Collection[int]) -> tuple[int, ...]:
    states: Mapping[int, Issue | None] = {
        number: forge.issue(number)
        for number in sorted({number for read in issues if read.issue.state == "open" for number in read.waits})
        if number not in taken
    }
    return tuple(number for number, issue in states.items() if issue is not None and issue.state == "open")
