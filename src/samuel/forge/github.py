"""GitHub, and GitHub Enterprise Server, by `gh`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from samuel.base.clock import Clock
from samuel.base.decoding import convert
from samuel.base.errors import SamuelError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.base.printable import listed, shell_word, shorten
from samuel.forge.forge import (
    WRITE_ROLES,
    ForgeRepository,
    ForgeUnavailable,
    FoundIssues,
    Issue,
    IssueComment,
    IssueQuery,
)
from samuel.forge.gh_command import TIMEOUT, GhCommand

MOST_SEARCHED = 1000
"""A search on GitHub gives no more."""

_VIEW = "nameWithOwner,url,viewerPermission,hasIssuesEnabled,isFork,parent"
T = TypeVar("T")


class _Login(msgspec.Struct):
    login: str


class _Named(msgspec.Struct):
    name: str | None = None
    title: str | None = None


class _Blockers(msgspec.Struct):
    total_blocked_by: int = 0
    blocked_by: int = 0


class _Children(msgspec.Struct):
    total: int = 0


class _IssueAnswer(msgspec.Struct):
    number: int
    title: str
    state: str
    body: str | None = None
    user: _Login | None = None
    labels: list[_Named | str] = []
    milestone: _Named | None = None
    assignees: list[_Login] | None = None
    html_url: str = ""
    comments: int = 0
    pull_request: dict[str, Any] | None = None
    repository_url: str = ""
    issue_dependencies_summary: _Blockers | None = None
    sub_issues_summary: _Children | None = None


class _CommentAnswer(msgspec.Struct):
    body: str | None = None
    user: _Login | None = None
    created_at: str = ""


class _SearchAnswer(msgspec.Struct):
    items: list[_IssueAnswer]
    total_count: int = 0
    incomplete_results: bool = False


class _RoleAnswer(msgspec.Struct):
    permission: str


class _MilestoneAnswer(msgspec.Struct):
    number: int
    title: str


class _Parent(msgspec.Struct):
    name: str
    owner: _Login


class _RepositoryAnswer(msgspec.Struct, rename="camel"):
    name_with_owner: str
    url: str
    viewer_permission: str | None
    has_issues_enabled: bool
    is_fork: bool = False
    parent: _Parent | None = None


class GitHub:
    """A Forge."""

    def __init__(
        self, root: Path, repository: str = "", clock: Clock | None = None, timeout: float = TIMEOUT
    ) -> None:
        """`repository` is `host/owner/name`; "" is the one that `gh` finds by the git remotes of `root`.

        Raises SamuelError unless its issues can be read by a user who may write to it.
        """
        self._gh = GhCommand(root, clock, timeout)
        view = _read(
            self._gh.json("repo", "view", *filter(None, [repository]), "--json", _VIEW), _RepositoryAnswer
        )
        host = urlsplit(view.url).hostname or "github.com"
        _refuse(view)
        user = self._gh.value(host, "user", absent=(403, 404))  # the login of an automation is no user
        login = _read(user, _Login).login if user is not None else ""
        self.repository = ForgeRepository(host=host, name=view.name_with_owner, user=login)
        self._path = "repos/" + "/".join(quote(part, safe="") for part in view.name_with_owner.split("/"))
        self._roles: dict[str, bool] = {}

    def issues(self, query: IssueQuery) -> FoundIssues:
        if query.search:
            return self._search(query)
        parameters: dict[str, object] = {"state": "open", "sort": "created", "direction": "asc"}
        if query.labels:
            parameters["labels"] = ",".join(query.labels)
        if query.milestone:
            parameters["milestone"] = self._milestone(query.milestone)
        pages = self._pages("issues", parameters)
        answers = [answer for page in pages for answer in _read(page, list[_IssueAnswer])]
        return FoundIssues(tuple(self._own(answers)))

    def issue(self, number: int) -> Issue | None:
        value = self._gh.value(self.repository.host, f"{self._path}/issues/{number}")
        answers = [] if value is None else [_read(value, _IssueAnswer)]
        return next((issue for issue in self._own(answers) if issue.number == number), None)

    def comments(self, issue: Issue) -> Sequence[IssueComment]:
        if not issue.comments:
            return ()
        pages = self._pages(f"issues/{issue.number}/comments", {})
        return tuple(
            IssueComment(author=_login(answer.user), body=answer.body or "", created=answer.created_at)
            for page in pages
            for answer in _read(page, list[_CommentAnswer])
        )

    def blockers(self, issue: Issue) -> Sequence[int]:
        return self._numbers(f"issues/{issue.number}/dependencies/blocked_by") if issue.has_blockers else ()

    def children(self, issue: Issue) -> Sequence[int]:
        return self._numbers(f"issues/{issue.number}/sub_issues") if issue.has_children else ()

    def may_write(self, login: str) -> bool:
        if not login:
            return False
        if login not in self._roles:
            path = f"{self._path}/collaborators/{quote(login, safe='')}/permission"
            value = self._gh.value(self.repository.host, path)  # None: an app, or an account that was deleted
            self._roles[login] = value is not None and _read(value, _RoleAnswer).permission in WRITE_ROLES
        return self._roles[login]

    def _pages(self, path: str, parameters: Mapping[str, object]) -> Iterator[Any]:
        return self._gh.pages(self.repository.host, f"{self._path}/{path}", parameters)

    def _numbers(self, path: str) -> tuple[int, ...]:
        answers = [answer for page in self._pages(path, {}) for answer in _read(page, list[_IssueAnswer])]
        return tuple(issue.number for issue in self._own(answers))

    def _search(self, query: IssueQuery) -> FoundIssues:
        words = [
            *(f"repo:{self.repository.name}", "is:issue", "is:open"),
            *(f'label:"{label}"' for label in query.labels),
            *([f'milestone:"{query.milestone}"'] if query.milestone else []),
            query.search,
        ]
        parameters = {"q": " ".join(words), "sort": "created", "order": "asc"}
        answers: list[_IssueAnswer] = []
        notes: dict[str, None] = {}
        for page in self._gh.pages(self.repository.host, "search/issues", parameters):
            result = _read(page, _SearchAnswer)
            answers += result.items
            if result.total_count > MOST_SEARCHED:
                notes[f"GitHub gives the first {MOST_SEARCHED} of {result.total_count} issues of a search"] = None
            if result.incomplete_results:
                notes["GitHub stopped this search early: there may be more issues"] = None
        # A search can name another repository, or closed issues.
        issues = [issue for issue in self._own(answers) if issue.state == "open"]
        return FoundIssues(tuple(issues), tuple(notes))

    def _milestone(self, title: str) -> int:
        pages = self._pages("milestones", {"state": "open"})
        numbers = {answer.title: answer.number for page in pages for answer in _read(page, list[_MilestoneAnswer])}
        if title not in numbers:
            titles = listed([f"`{shorten(name)}`" for name in numbers], 5) or "none"
            hint = did_you_mean(title, numbers, f"its open milestones: {titles}")
            raise UsageError(f"`{self.repository.label}` has no open milestone `{title}`", hint)
        return numbers[title]

    def _own(self, answers: Sequence[_IssueAnswer]) -> Iterator[Issue]:
        """The issues of this repository among them, without its pull requests."""
        own = f"/{self._path}".lower()
        for answer in answers:
            elsewhere = answer.repository_url and not answer.repository_url.lower().endswith(own)
            if answer.pull_request is None and not elsewhere and answer.number > 0:
                yield _issue(answer)


def _issue(answer: _IssueAnswer) -> Issue:
    blockers, children = answer.issue_dependencies_summary, answer.sub_issues_summary
    return Issue(
        number=answer.number,
        title=answer.title,
        body=answer.body or "",
        author=_login(answer.user),
        state="closed" if answer.state == "closed" else "open",
        labels=tuple(filter(None, map(_name, answer.labels))),
        milestone=_name(answer.milestone),
        assignees=tuple(assignee.login for assignee in answer.assignees or ()),
        url=answer.html_url,
        comments=answer.comments,
        has_blockers=blockers is not None and max(blockers.total_blocked_by, blockers.blocked_by) > 0,
        has_children=children is not None and children.total > 0,
    )


def _refuse(view: _RepositoryAnswer) -> None:
    """Raise SamuelError where the user could not work with the issues."""
    name = view.name_with_owner
    if not view.has_issues_enabled:
        parent = f"{view.parent.owner.login}/{view.parent.name}" if view.is_fork and view.parent else ""
        if parent:
            hint = f"`gh repo set-default {shell_word(parent)}` chooses the repository that it was forked from"
            raise SamuelError(f"`{name}` is a fork without issues", hint)
        raise SamuelError(f"issues are switched off in `{name}`", "switch them on in its settings")
    role = (view.viewer_permission or "no").lower()
    if role not in WRITE_ROLES:
        hint = (
            "Samuel asks GitHub who may write to it, and GitHub tells only users who may; ask its owner for access"
        )
        raise SamuelError(f"you have {role} access to `{name}`, and need write access", hint)


def _read(value: Any, kind: type[T]) -> T:
    try:
        return convert(value, kind)
    except msgspec.ValidationError as error:
        raise ForgeUnavailable(f"cannot read the answer of GitHub: {error}", "try again later") from None


def _login(user: _Login | None) -> str:
    return user.login if user else ""


def _name(value: _Named | str | None) -> str:
    if isinstance(value, _Named):
        return value.name or value.title or ""
    return value or ""
