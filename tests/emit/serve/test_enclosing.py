"""A guard holds in the projects below the one that it belongs to, however these came to be."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.clients.client_reading import capture, client_events

from samuel.clients.dialect.events import PRE
from samuel.clients.entries.hook_command import ON_PATH, hook_script

from .served_project import ALLOWED, DENIED, GUARD, NATIVE, THIN, Answer, ServedProject

VENDORED = """
import samuel

@samuel.hook("PreAbilityCall", role="guard")
def vendored(event):
    if event.ability_id in ("publish", "deploy"):
        return {"decision": "deny", "reason": "the vendored project says no"}
"""
ASKING = """
import samuel

@samuel.hook("PreAbilityCall", role="guard")
def asking(event):
    if event.ability_id == "deploy":
        return {"decision": "ask", "reason": "is it urgent?"}
"""


def _git_init(directory: Path) -> None:
    subprocess.run(["git", "init", "-q", directory], check=True)


WAYS: dict[str, Callable[[Path], object]] = {
    "an empty samuel.toml": lambda directory: (directory / "samuel.toml").touch(),
    "git init": _git_init,
    "an empty .git": lambda directory: (directory / ".git").mkdir(),
    "a .git file": lambda directory: (directory / ".git").write_text("gitdir: /nowhere\n"),
}


def guarded(project: ServedProject, guard: str = GUARD) -> Path:
    """A directory in a trusted project with a guard."""
    project.files.config("")
    project.files.python_hook("guard", guard)
    project.files.trust()
    inner: Path = project.root / "pkg"
    inner.mkdir()
    return inner


def answers(project: ServedProject, cwd: Path, stdin: bytes, **more: str) -> list[Answer]:
    """Cold, by the native client and by the one in Python, each twice: the first call may start a server."""
    cold = [project.cold("PreAbilityCall", stdin=stdin, cwd=cwd, **more) for _ in range(2)]
    warm = [
        project.warm("PreAbilityCall", stdin=stdin, cwd=cwd, client=client, **more)
        for client in (NATIVE, THIN)
        for _ in range(2)
    ]
    return cold + warm


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("way", WAYS)
def test_guard_holds_after_a_nearer_project_is_made(served: ServedProject, way: str) -> None:
    inner = guarded(served)
    WAYS[way](inner)
    for answer in answers(served, inner, DENIED):
        assert answer.code == 2, answer
        assert f"not on a Friday (in the project around this one, `{served.root}`)" in answer.err.decode()
    assert {answer.code for answer in answers(served, inner, ALLOWED)} == {0}


@pytest.mark.parametrize("project", ["at the top of the repository", "below it"])
def test_guard_holds_after_the_repository_around_was_moved_away(served: ServedProject, project: str) -> None:
    repository = served.root if project == "at the top of the repository" else served.root.parent
    _git_init(repository)
    inner = guarded(served)
    assert served.cold("PreAbilityCall", stdin=DENIED, cwd=inner).code == 2
    (repository / ".git").rename(repository / "elsewhere")
    (inner / "samuel.toml").touch()
    for answer in answers(served, inner, DENIED):
        assert answer.code == 2, answer
        assert f"(in the project around this one, `{served.root}`)" in answer.err.decode()


@pytest.mark.slow
def test_guard_holds_three_projects_deep(served: ServedProject) -> None:
    inner = guarded(served)
    for way in ("git init", "an empty samuel.toml", "a .git file"):
        inner = inner / "deeper"
        inner.mkdir()
        WAYS[way](inner)
    assert {answer.code for answer in answers(served, inner, DENIED)} == {2}


def test_server_of_the_nearer_project_asks_the_guard_around_it(served: ServedProject) -> None:
    inner = guarded(served)
    (inner / "samuel.toml").touch()
    served.start(root=inner)
    for stdin in (DENIED, ALLOWED, DENIED):
        cold = served.cold("PreAbilityCall", stdin=stdin, cwd=inner)
        assert served.warm("PreAbilityCall", stdin=stdin, cwd=inner) == cold
    assert served.answered() == 3


def test_server_notices_that_a_project_around_became_trusted_or_changed(served: ServedProject) -> None:
    """The guard around is added, trusted, changed, and trust in it is taken back, while the server runs."""
    inner = guarded(served, GUARD.replace("deploy", "other"))
    (inner / "samuel.toml").touch()
    served.start(root=inner)
    assert served.warm("PreAbilityCall", stdin=DENIED, cwd=inner).code == 0
    (served.root / ".samuel/hooks/guard.py").write_text(GUARD)
    assert served.warm("PreAbilityCall", stdin=ALLOWED, cwd=inner).code == 2  # it is not what was agreed to
    served.files.trust()
    assert served.warm("PreAbilityCall", stdin=ALLOWED, cwd=inner).code == 0
    assert served.warm("PreAbilityCall", stdin=DENIED, cwd=inner).code == 2
    assert served.samuel("trust", "--revoke", "--yes").code == 0
    assert served.warm("PreAbilityCall", stdin=DENIED, cwd=inner).code == 0  # nothing is trusted there any more


@pytest.mark.slow
def test_nested_project_has_its_own_answer_and_the_guards_around_it(served: ServedProject) -> None:
    inner = guarded(served)
    (inner / "samuel.toml").touch()
    served.files.python_hook("vendored", VENDORED, inner / ".samuel/hooks")
    assert served.samuel("-C", str(inner), "trust", "--yes").code == 0
    publish = b'{"ability_id": "publish"}'
    for answer in answers(served, inner, publish):
        assert (answer.code, b"the vendored project says no" in answer.err) == (2, True)
        assert b"in the project around" not in answer.err
    for answer in answers(served, inner, DENIED):  # the nearest one denies first
        assert (answer.code, b"the vendored project says no" in answer.err) == (2, True)
    assert {answer.code for answer in answers(served, inner, ALLOWED)} == {0}
    # The outer project is not judged by the guards of the inner one.
    assert served.cold("PreAbilityCall", stdin=publish).code == 0


def test_question_of_a_guard_around_is_put_to_the_client(served: ServedProject) -> None:
    inner = guarded(served, ASKING)
    (inner / ".git").mkdir()
    payload = {"hook_event_name": "PreToolUse", "tool_name": "mcp__x__deploy", "tool_input": {}}
    stdin = json.dumps(payload).replace("mcp__x__deploy", "deploy").encode()
    for answer in (
        served.cold("--as", "claude", "PreToolUse", stdin=stdin, cwd=inner),
        served.warm("--as", "claude", "PreToolUse", stdin=stdin, cwd=inner),
    ):
        decision = json.loads(answer.out)["hookSpecificOutput"]
        assert decision["permissionDecision"] == "ask", answer
        assert f"is it urgent? (in the project around this one, `{served.root}`)" in json.dumps(decision)


@pytest.mark.slow
def test_events_that_cannot_be_denied_are_not_sent_to_the_projects_around(served: ServedProject) -> None:
    hook = GUARD.replace("PreAbilityCall", "PostAbilityCall").replace(', role="guard"', "")
    inner = guarded(served, hook)
    (inner / "samuel.toml").touch()
    done = b'{"ability_id": "deploy", "status": "success"}'
    for _ in range(2):
        assert served.cold("PostAbilityCall", stdin=done, cwd=inner).code == 0
        assert served.warm("PostAbilityCall", stdin=done, cwd=inner).code == 0
    assert served.calls_of_guard() == 0


def test_untrusted_project_around_is_not_asked(served: ServedProject) -> None:
    served.files.config("")
    served.files.python_hook("guard", GUARD)
    inner = served.root / "pkg"
    inner.mkdir()
    (inner / "samuel.toml").touch()
    assert served.samuel("trust", "--revoke", "--yes").code == 0
    assert {answer.code for answer in answers(served, inner, DENIED)} == {0}
    assert served.calls_of_guard() == 0


def test_guard_of_the_user_is_called_once(served: ServedProject) -> None:
    inner = guarded(served)
    (inner / "samuel.toml").touch()
    mine = GUARD.replace('open("called"', f"open({str(served.root / 'mine')!r}")
    served.files.python_hook("mine", mine, served.home / ".samuel/hooks")
    assert served.cold("PreAbilityCall", stdin=ALLOWED, cwd=inner).code == 0
    assert (served.root / "mine").read_text() == "x"


@pytest.mark.slow
@pytest.mark.parametrize("variable", [True, False], ids=["project variable", "working directory"])
def test_guard_holds_where_the_directory_was_moved_away_and_linked(served: ServedProject, variable: bool) -> None:
    inner = guarded(served)
    away = served.home / "away"
    inner.rename(away)
    inner.symlink_to(away)
    (away / "samuel.toml").touch()
    script = hook_script(ON_PATH, "claude", "PreToolUse")
    if not variable:
        script = f"cd {shlex.quote(str(inner))} && {script.replace('CLAUDE_PROJECT_DIR', 'X')}"
    payload = {"hook_event_name": "PreToolUse", "tool_name": "deploy", "tool_input": {}}
    for serve in ("off", "on"):
        answer = served.run(
            ("/bin/sh", "-c", script),
            stdin=json.dumps(payload).encode(),
            cwd=served.home,
            SAMUEL_SERVE=serve,
            CLAUDE_PROJECT_DIR=str(inner),
        )
        assert b"not on a Friday" in answer.out + answer.err, (serve, answer)


@pytest.mark.slow
def test_hook_commands_of_all_clients_ask_the_guard_around(served: ServedProject) -> None:
    inner = guarded(served, GUARD.replace('event.ability_id == "deploy"', "True"))
    (inner / "samuel.toml").touch()
    for client, event in client_events(PRE):
        payload = json.dumps(capture(client, event)).encode()
        script = hook_script(ON_PATH, client, event)
        for serve in ("off", "on"):
            answer = served.run(("/bin/sh", "-c", script), stdin=payload, cwd=inner, SAMUEL_SERVE=serve)
            assert b"not on a Friday (in the project around this one" in answer.out + answer.err, (client, answer)


@pytest.mark.slow
def test_library_and_other_commands_ask_the_guards_around(served: ServedProject) -> None:
    inner = guarded(served)
    (inner / "samuel.toml").touch()
    fired = served.samuel("-C", str(inner), "hooks", "fire", "PreAbilityCall", "--payload", "-", stdin=DENIED)
    assert (fired.code, b"not on a Friday" in fired.out) == (1, True), fired
    by_option = served.samuel("-C", str(inner), "emit", "PreAbilityCall", stdin=DENIED)
    assert by_option.code == 2, by_option


@pytest.mark.slow
def test_broken_settings_around_deny_and_say_where(served: ServedProject) -> None:
    inner = guarded(served)
    (inner / "samuel.toml").touch()
    served.files.config("nonsense = [")
    for answer in answers(served, inner, ALLOWED):
        assert answer.code == 2
        assert str(served.root / "samuel.toml") in answer.err.decode()
    assert served.cold("SessionStart", stdin=b"{}", cwd=inner).code == 0
