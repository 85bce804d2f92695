"""`samuel session`: start, prompt, stop, end, show, and what becomes of what hooks propose."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import answering

PRD = "# A\n\n- [ ] 1 First task\n"


@pytest.fixture
def hook(yaml_hook: Callable[..., None]) -> Callable[..., None]:
    """A hook that answers with this; its input goes to seen.json."""

    def write(event: str, answer: dict[str, Any], id: str = "h") -> None:
        yaml_hook(id, event, answering(json.dumps(answer)))

    return write


def recorded_context(project: Path) -> dict[str, Any]:
    context: dict[str, Any] = json.loads((project / "seen.json").read_text())
    return context


def test_a_session_from_start_to_end(samuel, hook, project: Path) -> None:
    hook("SessionStart", {"messages_to_user": ["welcome"]}, "start")
    hook(
        "UserPromptSubmit",
        {
            "suggested_abilities": [{"id": "billing", "reason": "it fits", "confidence": 0.9}],
            "suggested_documents": [{"path": "/docs/a.md", "reason": "read it"}],
            "new_intent": {"intent": "test_billing", "stage": "plan"},
        },
        "prompt",
    )
    hook("SessionStop", {"follow_up_actions": [{"kind": "open_file", "payload": {"path": "a.ts"}}]}, "stop")
    hook("SessionEnd", {}, "end")

    assert samuel("session", "start", "--id", "s1") == (0, "session `s1` has begun\n", "welcome\n")
    assert samuel("session", "prompt", "test billing", "--stage", "plan") == (
        0,
        "ability `billing`: it fits\ndocument `/docs/a.md`: read it\nintent `test_billing`\n",
        "",
    )
    assert recorded_context(project)["user_message"] == "test billing"
    assert (recorded_context(project)["session_id"], recorded_context(project)["stage"]) == ("s1", "plan")
    assert samuel("session", "stop", "--changed", "a.ts", "b.ts") == (
        0,
        "session `s1` has stopped\n",
        "follow-up 1, open_file `a.ts`: listed\n",
    )
    assert recorded_context(project)["changed_files"] == ["a.ts", "b.ts"]
    assert samuel("session", "end") == (0, "session `s1` has ended\n", "")
    assert recorded_context(project)["event_type"] == "SessionEnd"

    assert samuel("session", "show").out == (
        "session `s1`, ended, began WHEN\n"
        "ability `billing`: it fits\n"
        "document `/docs/a.md`: read it\n"
        "intent `test_billing`\n"
        "follow-up 1, open_file `a.ts`: listed\n"
        "TIME                      EVENT         MESSAGE\n"
        "WHEN  SessionStart  welcome\n"
    )
    data = samuel("session", "show", "--id", "s1", "--json").json["data"]
    assert (data["id"], data["state"]) == ("s1", "ended")
    assert data["suggestions"] == [{"id": "billing", "reason": "it fits", "confidence": 0.9}]
    assert "tree" not in data


def test_a_session_works_without_any_hook(samuel) -> None:
    assert samuel("session", "start", "--id", "s").code == 0
    assert samuel("session", "prompt", "hello") == (0, "the hooks suggest nothing\n", "")
    assert samuel("session", "stop").code == 0
    assert samuel("session", "end").code == 0


def test_session_start_makes_an_id(samuel) -> None:
    id = samuel("session", "start", "--json").json["data"]["session"]
    assert samuel("session", "show", "--json").json["data"]["id"] == id


def test_session_commands_find_the_session_by_option_variable_or_latest(
    samuel, monkeypatch: pytest.MonkeyPatch
) -> None:
    samuel("session", "start", "--id", "a")
    samuel("session", "start", "--id", "b")
    assert samuel("session", "end", "--json").json["data"]["session"] == "b"
    assert samuel("session", "prompt", "x", "--json").json["data"]["session"] == "a"
    monkeypatch.setenv("SAMUEL_SESSION_ID", "b")
    assert samuel("session", "show", "--json").json["data"]["id"] == "b"
    assert samuel("session", "prompt", "x", "--id", "a", "--json").json["data"]["session"] == "a"


def test_session_commands_refuse_wrong_ids(samuel) -> None:
    assert samuel("session", "prompt", "x") == (
        1,
        "",
        "error: no session is open\n`samuel session start` begins one\n",
    )
    assert samuel("session", "show").code == 1
    assert samuel("session", "end", "--id", "x").code == 2
    samuel("session", "start", "--id", "x")
    assert samuel("session", "start", "--id", "x").err.startswith("error: the session `x` has already begun\n")
    assert samuel("session", "prompt").code == 2


def test_a_denied_prompt_is_exit_code_1(samuel, hook) -> None:
    hook("UserPromptSubmit", {"decision": "deny", "reason": "no secrets"})
    samuel("session", "start")
    ran = samuel("session", "prompt", "my password is x")
    assert ran.code == 1
    assert ran.out == "stopped: no secrets\n"


def test_session_prompt_reads_the_text_from_stdin(samuel, hook, project: Path) -> None:
    hook("UserPromptSubmit", {})
    samuel("session", "start")
    samuel("session", "prompt", "-", stdin="long " * 1000)
    assert recorded_context(project)["user_message"] == "long " * 1000


def test_session_stop_reports_files_that_git_says_were_changed(samuel, hook, put, project: Path, git) -> None:
    git(project, "init", "-q")
    for name in ("kept", "edited", "dirty"):
        put(name, "1")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "x")
    put("dirty", "2")  # before the session, and left alone in it
    hook("SessionStop", {})
    put(".gitignore", "seen.json\n.system/\n.samuel/\nscripts/\n")
    samuel("session", "start")
    put("edited", "2")
    put("new", "1")
    samuel("session", "stop")
    assert recorded_context(project)["changed_files"] == ["edited", "new"]


class TestFollowUps:
    def propose(self, samuel, hook, *actions: dict[str, Any]) -> list[dict[str, Any]]:
        hook("SessionStop", {"follow_up_actions": list(actions)})
        samuel("session", "start")
        follow_ups: list[dict[str, Any]] = samuel("session", "stop", "--json").json["data"]["follow_ups"]
        return follow_ups

    def test_a_proposed_task_goes_to_the_queue(self, samuel, hook, put) -> None:
        put("prd.md", PRD)
        samuel("run", "init", "--prd", "prd.md")
        (action,) = self.propose(samuel, hook, {"kind": "create_task", "payload": {"title": "Fix the build"}})
        assert (action["state"], action["note"]) == ("done", "task `2`")
        assert "Fix the build" in samuel("run", "tasks").out

    def test_a_task_without_a_queue_waits(self, samuel, hook) -> None:
        (action,) = self.propose(samuel, hook, {"kind": "create_task", "payload": {"title": "Fix"}})
        assert "there are no tasks yet" in action["note"]

    def test_nothing_is_executed_by_default(self, samuel, hook) -> None:
        self.propose(samuel, hook, {"kind": "run_command", "payload": {"command": "touch hacked"}})
        assert not Path("hacked").exists()
        assert "run_command `touch hacked`: queued: it waits" in samuel("session", "show").out

    def test_a_command_that_samuel_toml_allows_and_its_owner_agreed_to(self, samuel, hook, put) -> None:
        put("samuel.toml", '[session]\nallow_commands = ["touch allowed"]\n')
        actions = [
            {"kind": "run_command", "payload": {"command": f"touch {name}"}} for name in ("allowed", "other")
        ]
        first, second = self.propose(samuel, hook, *actions)
        assert (first["state"], first["note"]) == ("done", "exit code 0: it printed nothing")
        assert second["state"] == "queued"
        assert Path("allowed").exists()
        assert not Path("other").exists()

    def test_a_list_that_came_with_the_clone_allows_nothing(self, samuel, hook, put) -> None:
        hook("SessionStop", {"follow_up_actions": [{"kind": "run_command", "payload": {"command": "touch x"}}]})
        put("samuel.toml", '[session]\nallow_commands = ["touch x"]\n')
        assert "session:commands" in samuel("trust", "--list").out
        samuel("session", "start")
        samuel("session", "stop")
        assert not Path("x").exists()
        samuel("trust", "--yes")
        samuel("session", "stop")
        assert Path("x").exists()

    def test_a_proposed_command_that_fails_is_reported(self, samuel, hook, put) -> None:
        put("samuel.toml", '[session]\nallow_commands = ["false", "no-such-program"]\n')
        actions = [{"kind": "run_command", "payload": {"command": name}} for name in ("false", "no-such-program")]
        first, second = self.propose(samuel, hook, *actions)
        assert (first["state"], first["note"]) == ("failed", "exit code 1: it printed nothing")
        assert second["state"] == "failed"
        assert "was not found on PATH" in second["note"]

    @pytest.mark.slow
    def test_the_user_is_asked_before_a_proposed_command_runs(self, samuel, hook, on_terminal) -> None:
        hook(
            "SessionStop", {"follow_up_actions": [{"kind": "run_command", "payload": {"command": "touch asked"}}]}
        )
        samuel("session", "start")
        code, screen = on_terminal("session", "stop", typed="n\n")
        assert code == 0
        assert "A hook proposes to run: touch asked" in screen
        assert not Path("asked").exists()
        on_terminal("session", "stop", typed="y\n")
        assert Path("asked").exists()


class TestDo:
    """What waits is done when a person says so."""

    @pytest.fixture
    def waiting(self, samuel, hook) -> None:
        commands = [{"kind": "run_command", "payload": {"command": f"touch {name}"}} for name in ("a", "b")]
        hook("SessionStop", {"follow_up_actions": [*commands, {"kind": "create_task", "payload": {"title": "T"}}]})
        samuel("session", "start", "--id", "s")
        samuel("session", "stop")
        samuel("session", "end")

    def test_session_do_carries_out_one_action_by_its_number(self, samuel, waiting) -> None:
        ran = samuel("session", "do", "2", "--yes")
        assert ran == (0, "follow-up 2, run_command `touch b`: done: exit code 0: it printed nothing\n", "")
        assert (Path("a").exists(), Path("b").exists()) == (False, True)
        assert samuel("session", "do", "2", "--yes").code == 2

    def test_session_do_without_a_terminal_runs_no_command(self, samuel, waiting) -> None:
        ran = samuel("session", "do", "1")
        assert (ran.code, ran.out.startswith("follow-up 1, run_command `touch a`: queued: it waits")) == (1, True)
        assert not Path("a").exists()

    def test_session_do_asks_on_a_terminal(self, waiting, on_terminal) -> None:
        assert on_terminal("session", "do", "1", typed="y\n")[0] == 0
        assert Path("a").exists()

    def test_a_task_as_soon_as_there_is_a_queue(self, samuel, put, waiting) -> None:
        put("prd.md", PRD)
        samuel("run", "init", "--prd", "prd.md")
        assert samuel("session", "do", "3").out == "follow-up 3, create_task `T`: done: task `2`\n"

    def test_session_do_drop_forgets_the_actions(self, samuel, waiting) -> None:
        assert samuel("session", "do", "--drop", "1").out == "follow-up 1, run_command `touch a`: dropped\n"
        assert samuel("session", "do", "--drop").out.count("dropped") == 2
        assert samuel("session", "do") == (0, "no follow-up action is pending\n", "")

    def test_session_do_is_refused_inside_a_run(self, samuel, waiting, monkeypatch) -> None:
        monkeypatch.setenv("SAMUEL_RUN_ID", "run-7")
        assert samuel("session", "do", "--yes").code != 0
        assert not Path("a").exists()


def test_a_task_that_waits_is_not_added_twice(samuel, hook, put) -> None:
    put("prd.md", PRD)
    samuel("run", "init", "--prd", "prd.md")
    hook("SessionStop", {"follow_up_actions": [{"kind": "create_task", "payload": {"title": "Fix it"}}]})
    for id in ("s1", "s2"):
        samuel("session", "start", "--id", id)
        samuel("session", "stop", "--id", id)
    assert samuel("run", "tasks").out.count("Fix it") == 1


def test_a_session_that_emit_began_knows_what_it_changed(samuel, hook, project: Path, git, put) -> None:
    git(project, "init", "-q")
    hook("SessionStop", {})
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "begin")
    samuel("emit", "SessionStart", stdin='{"session_id": "s"}')
    put("edited", "1")
    samuel("emit", "SessionStop", stdin='{"session_id": "s"}')
    assert recorded_context(project)["changed_files"] == ["edited"]


def test_session_list_shows_all_sessions(samuel, hook) -> None:
    assert samuel("session", "list").out == "there has been no session yet\n"
    hook("SessionStop", {"follow_up_actions": [{"kind": "run_command", "payload": {"command": "touch x"}}]})
    for id in ("s1", "s2"):
        samuel("session", "start", "--id", id)
    samuel("session", "stop", "--id", "s1")
    listed = samuel("session", "list", "--json").json["data"]
    assert [(session["id"], session["state"], session["waiting"]) for session in listed] == [
        ("s1", "stopped", 1),
        ("s2", "open", 0),
    ]


def test_one_that_has_ended_takes_no_more(samuel) -> None:
    samuel("session", "start", "--id", "s1")
    samuel("session", "end", "--id", "s1")
    for command in (["prompt", "hi"], ["stop"], ["end"]):
        ran = samuel("session", *command, "--id", "s1")
        assert (ran.code, ran.err.splitlines()[0]) == (1, "error: the session `s1` has ended")
    assert samuel("session", "show", "--id", "s1").code == 0


def test_a_file_that_is_not_a_session_is_ignored(samuel, put) -> None:
    samuel("session", "start", "--id", "s1")
    put(".samuel/run/sessions/other.json", "{")
    assert samuel("session", "prompt", "hi").code == 0
    assert samuel("session", "show", "--id", "other").code == 2


def test_files_that_samuel_writes_are_not_reported_as_changed(samuel, hook, project: Path, git) -> None:
    git(project, "init", "-q")
    hook("SessionStop", {})
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "begin")
    samuel("session", "start")
    samuel("session", "prompt", "hi")
    samuel("session", "stop")
    samuel("session", "stop")
    assert recorded_context(project)["changed_files"] == ["seen.json"]
    assert ".system/logs" not in git(project, "status", "--porcelain")


def test_a_task_that_is_done_is_not_added_again(samuel, hook, put) -> None:
    put("prd.md", "# A\n\n- [x] 1 Fix it\n- [ ] 2 Other\n")
    samuel("run", "init", "--prd", "prd.md")
    hook("SessionStop", {"follow_up_actions": [{"kind": "create_task", "payload": {"title": "Fix it"}}]})
    samuel("session", "start")
    assert "done: task `1`" in samuel("session", "stop").err


def test_what_was_said_no_to_has_no_consequences(samuel, hook, put) -> None:
    put("samuel.toml", '[session]\nallow_commands = ["touch x"]\n')
    hook("UserPromptSubmit", {"decision": "deny", "reason": "no"}, "no")
    hook(
        "UserPromptSubmit",
        {"follow_up_actions": [{"kind": "run_command", "payload": {"command": "touch x"}}]},
        "do",
    )
    samuel("session", "start")
    assert samuel("session", "prompt", "hi").code == 1
    assert not Path("x").exists()
    assert samuel("session", "show", "--json").json["data"]["follow_ups"][0]["state"] == "queued"


def test_a_session_remembers_where_the_work_stands(samuel, hook, project: Path) -> None:
    hook("SessionStop", {})
    samuel("session", "start")
    samuel("session", "prompt", "look", "--stage", "review")
    samuel("session", "stop")
    assert recorded_context(project)["stage"] == "review"


def test_allowed_commands_that_are_not_trusted_are_named(samuel, hook, put) -> None:
    hook("SessionStop", {"follow_up_actions": [{"kind": "run_command", "payload": {"command": "touch x"}}]})
    put("samuel.toml", '[session]\nallow_commands = ["touch x"]\n')
    samuel("session", "start")
    assert "not run: not trusted: `session:commands` has not been agreed to yet" in samuel("session", "stop").err


def test_emit_keeps_what_hooks_say_for_routing(samuel, hook) -> None:
    hook("UserPromptSubmit", {"suggested_abilities": [{"id": "a", "reason": "r"}]})
    samuel("emit", "UserPromptSubmit", stdin='{"session_id": "sess-1", "user_message": "x"}')
    data = samuel("session", "show", "--id", "sess-1", "--json").json["data"]
    assert data["suggestions"] == [{"id": "a", "reason": "r"}]
    samuel("emit", "UserPromptSubmit", "--session", "other", stdin='{"session_id": "x", "user_message": "x"}')
    assert samuel("session", "show", "--id", "other").code == 0
    assert samuel("session", "show", "--id", "x").code == 2


def test_a_session_that_nothing_is_known_of_is_not_made(samuel, project: Path) -> None:
    samuel("emit", "TurnEnd", stdin='{"session_id": "s", "response": "x", "turn_number": 1}')
    assert not (project / ".samuel/run/sessions").exists()
    samuel("emit", "SessionStart", stdin='{"session_id": "s"}')  # but this begins one
    assert samuel("session", "show", "--id", "s", "--json").json["data"]["state"] == "open"


@pytest.fixture
def stopped_until_ready(put: Callable[..., Path], samuel: Any) -> None:
    """A hook that stops sessions at their start, until there is a file `ready`."""
    handler = "handler:\n  kind: script\n  command: ./scripts/hooks/h.sh\n"
    put(".system/hooks/h.yaml", f"id: h\nevent_type: SessionStart\nblocking: true\n{handler}")
    put("scripts/hooks/h.sh", "#!/bin/sh\ncat > /dev/null\ntest -e ready\n", 0o755)
    samuel("trust", "--yes")


@pytest.mark.usefixtures("stopped_until_ready")
def test_a_session_that_a_hook_stops_at_its_start_is_over(samuel) -> None:
    assert samuel("session", "start", "--id", "s1").code == 1
    assert samuel("session", "show", "--id", "s1", "--json").json["data"]["state"] == "ended"
    ran = samuel("session", "prompt", "hello")
    assert (ran.code, "no session is open" in ran.err) == (1, True)
    assert samuel("session", "prompt", "hello", "--id", "s1").code == 1


@pytest.mark.usefixtures("stopped_until_ready")
def test_a_session_that_was_stopped_at_its_start_may_begin_again(samuel, put) -> None:
    assert samuel("emit", "SessionStart", "--session", "s1", stdin="{}").code == 2
    put("ready", "")
    assert samuel("session", "start", "--id", "s1").code == 0
    assert samuel("session", "prompt", "hello").code == 0
    assert samuel("session", "start", "--id", "s1").code == 1
