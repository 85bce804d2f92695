"""Fetch and push by way of a git directory of Samuel's own: refs are only created, and `.git` runs nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.base.errors import SamuelError
from samuel.git.git import Git
from samuel.git.transport import (
    PushRefused,
    RefMissing,
    RemoteRepository,
    TransferFailed,
    remote_of,
    without_password,
)
from samuel.process import environment

RunGit = Callable[..., str]


@pytest.fixture
def work(tmp_path: Path, git: RunGit) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q", "-b", "main")
    git(work, "commit", "-q", "--allow-empty", "-m", "one")
    git(work, "commit", "-q", "--allow-empty", "-m", "two")
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    return work


@pytest.fixture
def remote(tmp_path: Path, work: Path) -> RemoteRepository:
    return RemoteRepository(Git(work, environment.clean()), tmp_path / "own", str(tmp_path / "bare.git"))


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://me:secret@host/x.git", "https://me@host/x.git"),
        ("https://ghp_0123456789012345678901234567890123456789@host/x.git", "https://host/x.git"),
        ("https://me@host/x.git", "https://me@host/x.git"),
        ("ssh://git@host/x.git", "ssh://git@host/x.git"),
        ("git@host:x.git", "git@host:x.git"),
        ("/srv/x@y.git", "/srv/x@y.git"),
    ],
)
def test_url_is_without_its_password(url: str, clean: str) -> None:
    assert without_password(url) == clean


def test_ref_is_created_once_and_never_replaced(work: Path, git: RunGit, remote: RemoteRepository) -> None:
    first, second = git(work, "rev-parse", "HEAD~1", "HEAD").split()
    remote.create({"refs/samuel/r/work/1/1-1": first})
    remote.create({"refs/samuel/r/work/1/1-1": first})  # a push whose answer was lost is repeated
    with pytest.raises(PushRefused):
        remote.create({"refs/samuel/r/work/1/1-1": second})
    assert remote.refs("refs/samuel/*") == {"refs/samuel/r/work/1/1-1": first}


def test_fetched_ref_is_in_the_repository_and_a_missing_one_is_named(
    tmp_path: Path, work: Path, git: RunGit, remote: RemoteRepository
) -> None:
    commit = git(work, "rev-parse", "HEAD").strip()
    remote.push([f"{commit}:refs/samuel/r/base"])
    git(tmp_path, "init", "-q", "other")
    other = RemoteRepository(
        Git(tmp_path / "other", environment.clean()), tmp_path / "own2", str(tmp_path / "bare.git")
    )
    assert other.fetched("refs/samuel/r/base") == commit
    assert git(tmp_path / "other", "cat-file", "-t", commit) == "commit\n"
    with pytest.raises(RefMissing):
        other.fetched("refs/samuel/r/none")


def test_remote_that_is_away_is_a_failed_transfer(tmp_path: Path, work: Path) -> None:
    away = RemoteRepository(Git(work, environment.clean()), tmp_path / "own", str(tmp_path / "away.git"))
    with pytest.raises(TransferFailed, match=r"away\.git"):
        away.refs("refs/samuel/*")


def test_hooks_and_settings_of_the_repository_run_nothing(
    tmp_path: Path, work: Path, git: RunGit, remote: RemoteRepository
) -> None:
    mark = tmp_path / "mark"
    for name in ("pre-push", "reference-transaction"):
        hook = work / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
    git(work, "config", "core.sshCommand", f"touch {mark}; false")
    git(work, "config", "core.fsmonitor", f"touch {mark}")
    git(work, "config", f"url.{tmp_path}/elsewhere.git.insteadOf", str(tmp_path / "bare.git"))
    commit = git(work, "rev-parse", "HEAD").strip()
    remote.create({"refs/samuel/r/base": commit})
    assert remote.fetched("refs/samuel/r/base") == commit
    assert not mark.exists()


def test_remote_with_a_password_and_a_missing_one_are_refused(work: Path, git: RunGit) -> None:
    repository = Git(work, environment.clean())
    with pytest.raises(SamuelError, match="has no remote `origin`"):
        remote_of(repository, "origin")
    git(work, "remote", "add", "origin", "https://me:hunter2@example.invalid/x.git")
    with pytest.raises(SamuelError, match="holds a password") as refused:
        remote_of(repository, "origin")
    assert "hunter2" not in str(refused.value)
