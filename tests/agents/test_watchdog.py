"""An agent that is watched while it works: ended when it shows no work or a budget is used up, else left alone."""

from __future__ import annotations

import json
import os
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from samuel.agents.process_files import launcher
from samuel.agents.watchdog import newest_change
from samuel.clients.adapter.ending import AgentEnding, EndingKind
from samuel.clients.claude.adapter import ClaudeStream
from samuel.clients.copilot.adapter import AGENT as COPILOT
from samuel.confine import sandbox as sandboxes

IDLE = 1.5

SPIN = "while :; do :; done"
LIVES_ON = "exec sleep 600"


def message(number: int, tokens: int) -> str:
    usage = {"input_tokens": tokens, "output_tokens": 1}
    tool = {"type": "tool_use", "name": "Read", "input": {"file_path": f"{number}.py"}}
    return json.dumps({"type": "assistant", "message": {"id": f"m{number}", "content": [tool], "usage": usage}})


class TestAnIdleAgent:
    def test_is_ended(self, desk: Any) -> None:
        done = desk.run(desk.sh(LIVES_ON), idle_timeout=IDLE)
        assert done.ending == AgentEnding(EndingKind.IDLE, "no sign of work for 1.5s (idle_timeout)")
        assert (done.exit_code, done.timed_out) == (124, False)

    def test_is_ended_with_all_its_children_though_they_try_again_now_and_then(self, desk: Any) -> None:
        mark = uuid.uuid4().hex
        body = "(while :; do sleep 1; done) & wait"
        done = desk.run(desk.sh(body), idle_timeout=IDLE, variables={"SAMUEL_TEST_MARK": mark})
        assert done.ending.kind == EndingKind.IDLE
        assert not carriers(mark)

    def test_that_ends_with_0_when_it_is_asked_to_end_has_not_succeeded(self, desk: Any) -> None:
        done = desk.run(desk.sh("trap 'exit 0' TERM; sleep 600 & wait"), idle_timeout=IDLE)
        assert (done.exit_code, done.ending.kind) == (124, EndingKind.IDLE)

    def test_whose_client_reported_trouble_has_that_trouble(self, desk: Any, patiently: Any) -> None:
        retry = json.dumps({"type": "system", "subtype": "api_retry", "error_status": 401})
        agent = desk.sh(f"echo '{retry}'; {LIVES_ON}", stream=ClaudeStream)
        done = patiently(lambda idle: desk.run(agent, idle_timeout=idle), lambda done: done.stdout_tail)
        assert done.ending == AgentEnding(EndingKind.UNAUTHORISED, "API error 401")

    def test_in_a_sandbox_is_ended_too(self, desk: Any, box: Any, works_in: Any) -> None:
        works_in("bwrap")
        done = desk.run(desk.sh(LIVES_ON), idle_timeout=IDLE, sandbox=box("bwrap"))
        assert done.ending.kind == EndingKind.IDLE


class TestAnAgentAtWork:
    """It takes longer than the timeout, which it would not survive without the sign of work."""

    @pytest.mark.slow
    def test_that_computes_in_a_child_is_left_alone(self, desk: Any, patiently: Any) -> None:
        done = patiently(lambda idle: desk.run(desk.sh(computing(4 * idle)), idle_timeout=idle), worked)
        assert (done.exit_code, done.ending) == (0, AgentEnding())

    @pytest.mark.slow
    def test_that_computes_in_a_sandbox_is_left_alone(
        self, desk: Any, box: Any, works_in: Any, patiently: Any
    ) -> None:
        works_in("bwrap")
        sandbox = box("bwrap")
        done = patiently(
            lambda idle: desk.run(desk.sh(computing(4 * idle)), idle_timeout=idle, sandbox=sandbox), worked
        )
        assert (done.exit_code, done.ending) == (0, AgentEnding())

    def test_that_prints_is_left_alone(self, desk: Any, patiently: Any) -> None:
        done = patiently(lambda idle: desk.run(desk.sh(slowly("echo $n >&2", idle)), idle_timeout=idle), worked)
        assert done.ending == AgentEnding()

    def test_that_writes_files_is_left_alone(self, desk: Any, patiently: Any) -> None:
        (desk.root / "src/deep").mkdir(parents=True)
        body = "echo $n >> src/deep/notes"
        done = patiently(lambda idle: desk.run(desk.sh(slowly(body, idle)), idle_timeout=idle), worked)
        assert done.ending == AgentEnding()


def computing(seconds: float) -> str:
    return f"timeout {seconds} /bin/sh -c '{SPIN}'; exit 0"


def slowly(body: str, idle: float) -> str:
    """Twelve times, and twice as long as `idle` in all."""
    return f"for n in 1 2 3 4 5 6 7 8 9 10 11 12; do {body}; sleep {idle / 6}; done"


def worked(done: Any) -> bool:
    return bool(done.ending == AgentEnding())


def test_a_change_is_seen_below_the_root_but_not_in_samuel_s_own_directory(tmp_path: Path) -> None:
    for name in (".samuel/run/logs", "src/deep", ".git"):
        (tmp_path / name).mkdir(parents=True)
    old = time.time() - 1000
    for path in tmp_path.rglob("*"):
        os.utime(path, (old, old))
    assert not newest_change(tmp_path, old + 1)
    assert newest_change(tmp_path, old - 1)
    log = tmp_path / ".samuel/run/logs/x.log"
    log.write_text("x")
    assert not newest_change(tmp_path, old + 1)
    future = tmp_path / "src/deep/future"
    future.write_text("x")
    os.utime(future, (old, time.time() + 9999))
    os.utime(future.parent, (old, old))
    assert not newest_change(tmp_path, old + 1)
    (tmp_path / "src/deep/new").write_text("x")
    assert newest_change(tmp_path, old + 1)


class TestTheBudget:
    def test_ends_the_agent_at_once_when_it_is_used_up(self, desk: Any) -> None:
        usages: list[dict[str, float]] = []

        def over(usage: dict[str, float]) -> str:
            usages.append(usage)
            return "max_tokens = 150 is reached" if usage["input_tokens"] > 150 else ""

        body = f"echo '{message(1, 100)}'; echo '{message(2, 100)}'; {LIVES_ON}"
        done = desk.run(desk.sh(body, stream=ClaudeStream), over_budget=over)
        assert done.ending == AgentEnding(EndingKind.OVER_BUDGET, "max_tokens = 150 is reached")
        assert done.exit_code == 124
        assert done.usage == {"input_tokens": 200, "output_tokens": 2}
        assert [usage["input_tokens"] for usage in usages] == [100, 200]

    def test_is_not_asked_of_an_agent_that_reports_no_usage(self, desk: Any) -> None:
        done = desk.run(desk.sh("echo hello"), over_budget=lambda usage: "no")
        assert (done.ending, done.usage) == (AgentEnding(), {})

    def test_that_a_finished_agent_used_up_does_not_undo_its_work(self, desk: Any) -> None:
        result = json.dumps(
            {"type": "result", "is_error": False, "usage": {"input_tokens": 9, "output_tokens": 9}}
        )
        done = desk.run(desk.sh(f"echo '{result}'", stream=ClaudeStream), over_budget=lambda usage: "too much")
        assert done.usage == {"input_tokens": 9, "output_tokens": 9}
        assert done.ending.kind in (EndingKind.OK, EndingKind.OVER_BUDGET)  # it may end before it is ended


def test_the_activity_is_told_while_the_agent_works_with_paths_below_the_project(desk: Any) -> None:
    marker = desk.root / "marker"
    tool = {"type": "tool_use", "name": "Read", "input": {"file_path": f"{desk.root}/src/app.py"}}
    record = json.dumps({"type": "assistant", "message": {"content": [tool]}})
    wait = f"n=0; until [ -e {marker} ]; do n=$((n + 1)); [ $n -lt 1000 ] || exit 1; sleep 0.1; done"
    reported: list[str] = []

    def hear(text: str, usage: dict[str, float]) -> None:
        reported.append(text)
        marker.touch()

    body = f"echo '{record}'; {wait}; printf 'last words'"
    assert desk.run(desk.sh(body, stream=ClaudeStream), on_activity=hear).exit_code == 0
    assert reported == ["reads src/app.py", "last words"]


def test_the_usage_file_of_copilot_is_read_and_a_link_there_is_not_followed(desk: Any) -> None:
    document = json.dumps({"modelMetrics": {"m": {"usage": {"inputTokens": 60, "outputTokens": 30}}}}, indent=2)
    write = 'for word; do case "$word" in --usage-output-file=*) file="${word#*=}";; esac; done\n'
    desk.program("copilot", f"#!/bin/sh\n{write}cat > \"$file\" <<'EOF'\n{document}\nEOF\n")
    assert desk.run(COPILOT).usage == {"input_tokens": 60, "output_tokens": 30}
    secret = desk.root.parent / "secret.json"
    secret.write_text(document)
    desk.program("copilot", f'#!/bin/sh\n{write}ln -sf {secret} "$file"\n')
    assert desk.run(COPILOT).usage == {}
    desk.program("copilot", "#!/bin/sh\n")
    assert desk.run(COPILOT).usage == {}


def test_the_launcher_is_samuel_whatever_the_shell_does_to_path(desk: Any) -> None:
    command = launcher(desk.state, "host")
    done = desk.run(desk.sh(f"PATH=/usr/bin:/bin; {command} --version"))
    assert done.stdout_tail.startswith("samuel ")
    assert launcher(Path("/a b"), "oci") == "'/a b/shim/samuel'"


def carriers(mark: str) -> list[int]:
    variable = f"SAMUEL_TEST_MARK={mark}".encode()
    pids = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if variable in environ.read_bytes():
                pids.append(int(environ.parent.name))
        except OSError:
            continue
    return pids


@pytest.fixture
def works_in(desk: Any, box: Any) -> Any:
    """Skips the test where a sandbox of this kind cannot start."""

    def check(kind: str) -> None:
        request: sandboxes.SandboxRequest = box(kind)
        if why := sandboxes.missing(request, sandboxes.Workspace(desk.root, desk.state, desk.host)):
            pytest.skip(why)

    return check
