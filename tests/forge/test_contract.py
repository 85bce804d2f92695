"""What every forge must do, each with the program that the user has for it and a server of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from samuel.base.errors import SamuelError
from samuel.forge.forge import Forge, ForgeUnavailable, IssueQuery
from samuel.forge.table import FORGES

from .github_server import Fault, GitHubServer

READY = IssueQuery(labels=("ready",))


@pytest.fixture(params=list(FORGES))
def server(request: pytest.FixtureRequest) -> GitHubServer:
    """The server of a forge, by its name."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def forge(server: GitHubServer, clone: Path, request: pytest.FixtureRequest) -> Forge:
    name = request.node.callspec.params["server"]
    return FORGES[name](clone, "")


def test_the_repository_of_the_git_remote_is_opened_as_the_user(forge):
    assert (forge.repository.label, forge.repository.user) == ("github.localhost/octo/demo", "me")


def test_a_named_repository_is_opened_without_a_git_remote(server, tmp_path, request):
    forge = FORGES[request.node.callspec.params["server"]](tmp_path, "github.localhost/octo/demo")
    assert forge.repository.name == "octo/demo"


def test_issues_of_all_pages_are_read_without_pull_requests(server, forge):
    server.page_size = 2
    for number in range(1, 8):
        server.issue(number, f"Issue {number}", labels=["ready"])
    server.issues[3]["pull_request"] = {"url": "x"}
    server.issue(8, "Closed", labels=["ready"], state="closed")
    server.issue(9, "Other", labels=["later"])
    assert [issue.number for issue in forge.issues(READY).issues] == [1, 2, 4, 5, 6, 7]


def test_all_labels_of_a_query_must_be_on_an_issue(server, forge):
    server.issue(1, "One", labels=["ready"])
    server.issue(2, "Both", labels=["ready", "good"])
    assert [issue.number for issue in forge.issues(IssueQuery(labels=("ready", "good"))).issues] == [2]


def test_a_milestone_is_found_by_its_title(server, forge):
    server.milestones = {"v1": 3, "v2": 4}
    server.issue(1, "Now", milestone={"title": "v1", "number": 3})
    server.issue(2, "Later", milestone={"title": "v2", "number": 4})
    issues = forge.issues(IssueQuery(milestone="v1")).issues
    assert [(issue.number, issue.milestone) for issue in issues] == [(1, "v1")]
    with pytest.raises(SamuelError, match="has no open milestone `v3`"):
        forge.issues(IssueQuery(milestone="v3"))


def test_a_search_gives_open_issues_of_this_repository_only(server, forge):
    server.page_size = 1
    server.issue(1, "fix a crash")
    server.issue(2, "another crash", state="closed")
    server.issue(3, "a crash elsewhere", repository_url="http://api.github.localhost/repos/evil/demo")
    server.issue(4, "one more crash")
    assert [issue.number for issue in forge.issues(IssueQuery(search="crash")).issues] == [1, 4]


def test_an_issue_that_does_not_exist_or_is_a_pull_request_is_none(server, forge):
    server.issue(1, "Pull", pull_request={"url": "x"})
    server.issue(2, "Moved", repository_url="http://api.github.localhost/repos/octo/other")
    server.issue(3, "Here")
    assert [forge.issue(number) is None for number in (1, 2, 3, 4)] == [True, True, False, True]


def test_surprising_fields_of_an_issue_are_read(server, forge):
    server.issue(1, "", body=None, author="", labels=["ready"], unknown={"deep": [1]})
    (issue,) = forge.issues(READY).issues
    assert (issue.title, issue.body, issue.author, issue.assignees) == ("", "", "", ())


def test_all_comments_are_read_the_oldest_first(server, forge):
    server.page_size = 2
    server.issue(1, "One")
    for text in ("a", "b", "c", "d", "e"):
        server.comment(1, "alice", text)
    server.comment(1, None, "gone")
    comments = forge.comments(forge.issue(1))
    assert [comment.body for comment in comments] == ["a", "b", "c", "d", "e", "gone"]
    assert comments[-1].author == ""


def test_blockers_and_parts_are_asked_for_only_where_there_are_some(server, forge):
    server.page_size = 1
    for number in (1, 2, 3, 4):
        server.issue(number, f"Issue {number}")
    server.block(1, 2, 3)
    server.parts(4, 1, 2)
    first, last = forge.issue(1), forge.issue(4)
    assert (forge.blockers(first), forge.children(first)) == ((2, 3), ())
    assert (forge.blockers(last), forge.children(last)) == ((), (1, 2))
    assert not any("issues/1/sub_issues" in path or "issues/4/dep" in path for path in server.paths())


def test_rights_are_asked_for_once_for_each_user(server, forge):
    answers = [forge.may_write(login) for login in ("alice", "reader", "stranger", "a/../b{owner}", "alice", "")]
    assert answers == [True, False, False, False, True, False]
    assert sum("collaborators/alice/" in path for path in server.paths()) == 1


@pytest.mark.parametrize(
    ("role", "expected"), [("write", True), ("maintain", True), ("admin", True), ("triage", False)]
)
def test_only_a_role_that_may_write_has_rights(server, forge, role, expected):
    server.roles["bob"] = role
    assert forge.may_write("bob") is expected


def test_text_in_an_answer_that_is_not_json_is_a_failure_to_try_again(server, forge):
    server.faults = [Fault("issues", 200, body=b"<html>")]
    with pytest.raises(ForgeUnavailable, match="is not JSON"):
        forge.issues(READY)


@pytest.mark.parametrize("body", [b"null", b"{}", b'[{"number": "1"}]', b'[{"number": 1, "title": []}]'])
def test_an_answer_of_another_shape_is_a_failure_to_try_again(server, forge, body):
    server.faults = [Fault("issues", 200, body=body)]
    with pytest.raises(ForgeUnavailable, match="cannot read the answer of GitHub"):
        forge.issues(READY)
