"""`gh` that is missing, not logged in or without rights, and a GitHub that fails, stalls or limits."""

from __future__ import annotations

import pytest

from samuel.base.clock import FakeClock
from samuel.base.errors import SamuelError
from samuel.forge.forge import ForgeUnavailable, IssueQuery
from samuel.forge.github import GitHub

from .github_server import Fault, write_login

READY = IssueQuery(labels=("ready",))


@pytest.fixture
def clock():
    return FakeClock()


def test_a_missing_gh_is_named(clone, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SamuelError, match="`gh` is not installed") as raised:
        GitHub(clone)
    assert "gh auth login" in raised.value.hint


def test_without_a_login_nothing_is_asked(github, gh_settings, clone):
    write_login(gh_settings, gh_settings / "no-socket", token="")
    with pytest.raises(SamuelError, match="`gh` is not logged in") as raised:
        GitHub(clone)
    assert not isinstance(raised.value, ForgeUnavailable)
    assert github.requests == []


def test_a_login_that_is_not_valid_any_more_is_named(github, gh_settings, clone):
    settings = (gh_settings / "hosts.yml").read_text()
    (gh_settings / "hosts.yml").write_text(settings.replace("token-of-the-user", "old-token"))
    with pytest.raises(SamuelError, match=r"`gh` is not logged in.*401") as raised:
        GitHub(clone)
    assert not isinstance(raised.value, ForgeUnavailable)


def test_a_login_that_ends_meanwhile_is_named(github, clone, clock):
    forge = GitHub(clone, clock=clock)
    github.faults = [Fault("issues", 401, body=b'{"message": "Bad credentials"}')]
    with pytest.raises(SamuelError, match=r"`gh` is not logged in to `github.localhost`: Bad credentials"):
        forge.issues(READY)


@pytest.mark.parametrize("permission", ["READ", "TRIAGE", "", None])
def test_a_user_who_may_not_write_is_refused(github, clone, permission):
    github.view["viewerPermission"] = permission
    with pytest.raises(SamuelError, match="access to `octo/demo`, and need write access"):
        GitHub(clone)


def test_a_fork_without_issues_names_the_repository_that_it_was_forked_from(github, clone):
    github.view |= {
        "hasIssuesEnabled": False,
        "isFork": True,
        "parent": {"id": "1", "name": "demo", "owner": {"id": "2", "login": "upstream"}},
    }
    with pytest.raises(SamuelError, match="`octo/demo` is a fork without issues") as raised:
        GitHub(clone)
    assert "gh repo set-default upstream/demo" in raised.value.hint


def test_a_repository_without_issues_is_refused(github, clone):
    github.view["hasIssuesEnabled"] = False
    with pytest.raises(SamuelError, match="issues are switched off in `octo/demo`"):
        GitHub(clone)


def test_a_directory_without_a_remote_says_what_gh_said(github, tmp_path, git):
    git(tmp_path, "init", "-q")
    with pytest.raises(SamuelError, match="`gh` failed: no git remotes found"):
        GitHub(tmp_path)


def test_a_repository_that_the_user_cannot_see_says_what_gh_said(github, clone, git):
    git(clone, "remote", "set-url", "origin", "http://github.localhost/octo/secret.git")
    with pytest.raises(SamuelError, match="Could not resolve to a Repository") as raised:
        GitHub(clone)
    assert not isinstance(raised.value, ForgeUnavailable)


def test_a_forge_that_cannot_be_reached_is_unavailable(github, gh_settings, clone, clock):
    write_login(gh_settings, gh_settings / "no-socket")
    with pytest.raises(ForgeUnavailable, match="cannot reach GitHub"):
        GitHub(clone, clock=clock)
    assert clock.slept == [1, 2]


@pytest.mark.parametrize("fault", [Fault("issues", 502), Fault("issues")])
def test_a_failure_that_passes_is_tried_again(github, clone, clock, fault):
    github.issue(1, "One", labels=["ready"])
    forge = GitHub(clone, clock=clock)
    github.faults = [fault._replace(times=2)]
    assert [issue.number for issue in forge.issues(READY).issues] == [1]
    assert clock.slept == [1, 2]


def test_a_failure_that_stays_is_unavailable(github, clone, clock):
    forge = GitHub(clone, clock=clock)
    github.faults = [Fault("issues", 503, times=9)]
    with pytest.raises(ForgeUnavailable, match=r"`github.localhost` answered 503"):
        forge.issues(READY)


def test_a_forge_that_stalls_is_unavailable(github, clone):
    forge = GitHub(clone, timeout=3)
    github.faults = [Fault("issues", stall=True)]
    with pytest.raises(ForgeUnavailable, match="`gh api` did not end within 3 seconds"):
        forge.issues(READY)


@pytest.mark.parametrize(
    ("status", "headers"),
    [(429, {"Retry-After": "7"}), (403, {"Retry-After": "7"}), (403, {"X-RateLimit-Remaining": "0"})],
)
def test_a_short_rate_limit_is_waited_for(github, clone, clock, status, headers):
    github.issue(1, "One", labels=["ready"])
    forge = GitHub(clone, clock=clock)
    if "Retry-After" not in headers:
        headers = {**headers, "X-RateLimit-Reset": str(int(clock.now()) + 7)}
    github.faults = [Fault("issues", status, headers)]
    assert len(forge.issues(READY).issues) == 1
    assert clock.slept == [7]


@pytest.mark.parametrize("word", ["inf", "nan", "soon", "-5", "9" * 400])
def test_a_rate_limit_of_no_clear_length_is_waited_for_as_long_as_any(github, clone, clock, word):
    forge = GitHub(clone, clock=clock)
    github.faults = [Fault("issues", 429, {"Retry-After": word})]
    assert forge.issues(READY).issues == ()
    assert clock.slept == [60]


def test_a_long_rate_limit_says_when_it_ends(github, clone, clock):
    forge = GitHub(clone, clock=clock)
    reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(clock.now()) + 3600)}
    github.faults = [Fault("issues", 403, reset)]
    with pytest.raises(
        ForgeUnavailable, match=r"rate limit of `github.localhost` is reached until 2025-06-15 16:06:40"
    ):
        forge.issues(READY)
    assert clock.slept == []


def test_a_refusal_without_a_limit_is_not_tried_again(github, clone, clock):
    forge = GitHub(clone, clock=clock)
    github.faults = [Fault("issues", 403, body=b'{"message": "Resource not accessible"}', times=9)]
    with pytest.raises(SamuelError, match=r"answered 403 .*: Resource not accessible") as raised:
        forge.issues(READY)
    assert not isinstance(raised.value, ForgeUnavailable)
    assert clock.slept == []


def test_a_link_to_the_next_page_leads_to_no_other_address(github, clone):
    forge = GitHub(clone)
    link = '<http://evil.example/repos/evil/demo/issues?state=open&per_page=100&after=c0>; rel="next"'
    github.issue(1, "One", labels=["ready"])
    github.faults = [Fault(r"issues\?(?!.*after)", 200, {"Link": link}, b"[]")]
    assert [issue.number for issue in forge.issues(READY).issues] == [1]


def test_pages_without_an_end_are_refused(github, clone):
    forge = GitHub(clone)
    link = '<http://api.github.localhost/x?state=open&per_page=100&after=c0>; rel="next"'
    github.faults = [Fault("issues", 200, {"Link": link}, b"[]", times=99)]
    with pytest.raises(SamuelError, match="gives no end of pages"):
        forge.issues(READY)


def test_an_automation_without_a_user_may_read(github, clone):
    github.faults = [Fault("/user", 403, body=b'{"message": "Resource not accessible by integration"}')]
    assert GitHub(clone).repository.user == ""


def test_gh_is_never_asked_for_a_token(github, clone):
    forge = GitHub(clone)
    forge.issues(READY)
    assert github.paths() == ["POST /graphql", "GET /user", "GET /repos/octo/demo/issues"]
