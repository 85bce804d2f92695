"""The model of what a run does now: seen from another process than that of the run."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable

import pytest

from samuel.display.now.model import RunNow
from samuel.setup.watched_run import run_watcher
from samuel.tasks.task import Task

from .conftest import CONFIG, GOOD

# The agent of task 1 reports like claude does, and then waits.
TOOL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make all"}}
MESSAGE = {"content": [TOOL], "usage": {"input_tokens": 100, "output_tokens": 20}}
WAITS = 'touch "begun-$SAMUEL_TASK_ID"\nwhile [ ! -f go ]; do sleep 0.02; done\n'
REPORTS = f"echo '{json.dumps({'type': 'assistant', 'message': MESSAGE})}'\n{WAITS}"
CLAUDE = """\
[methodology.ralph]
agent = "mine"
pause = "0s"
quality_checks = ["test ! -f wrong"]
max_cost_usd = 3.5

[agents.mine]
command = ["./agent.sh"]
prompt = "stdin"
stream = "claude"
"""


def until(look: Callable[[], RunNow], is_so: Callable[[RunNow], bool]) -> RunNow:
    deadline = time.monotonic() + 120
    while not is_so(moment := look()):
        assert time.monotonic() < deadline, moment
        time.sleep(0.02)
    return moment


def counts_of_status(samuel) -> dict[str, int]:
    return json.loads(samuel("run", "status", "--json").out)["data"]["counts"]


def test_a_project_without_a_run_has_tasks_and_says_how_to_start(workshop):
    moment = run_watcher(workshop.root).look()
    assert (moment.phase, moment.counts, [task.id for task in moment.tasks]) == (
        "none",
        {"pending": 2},
        ["1", "2"],
    )
    assert "samuel run start" in moment.headline


def test_what_an_agent_does_its_check_and_its_end_are_seen_from_outside(workshop, samuel):
    workshop.configure(CLAUDE)
    workshop.agent(REPORTS + GOOD)
    watcher = run_watcher(workshop.root)
    process = workshop.start("--yes")
    try:
        workshop.wait_for("begun-1")
        moment = until(watcher.look, lambda moment: bool(moment.attempts and moment.attempts[0].actions))
        (attempt,) = moment.attempts
        assert (moment.phase, attempt.task, attempt.title, attempt.attempt) == ("at work", "1", "One", 1)
        assert (attempt.doing, attempt.actions[-1].words) == ("runs make all", "runs make all")
        assert attempt.cost.tokens == moment.cost.tokens == 120
        assert [(budget.name, budget.limit) for budget in moment.budgets] == [("max_cost_usd", 3.5)]
        assert moment.counts == counts_of_status(samuel) == {"in_progress": 1, "pending": 1}
    finally:
        (workshop.root / "go").touch()
        process.communicate(timeout=300)
    moment = watcher.look()
    assert (moment.phase, moment.exit_reason, moment.attempts) == ("ended", "queue_empty", ())
    assert moment.counts == counts_of_status(samuel) == {"completed": 2}
    assert moment.words == {"checked": 2}
    assert moment.report is not None
    assert moment.report.counts["checked"] == 2
    assert moment == run_watcher(workshop.root).look() or moment.tasks == run_watcher(workshop.root).look().tasks


def test_the_last_check_and_its_output_are_seen_while_the_next_attempt_works(workshop):
    workshop.configure(CONFIG.replace("test ! -f wrong", "echo sad news; test ! -f wrong"))
    workshop.agent("touch wrong\n" + GOOD + 'if [ "$(ls begun* 2>/dev/null)" ]; then :; fi\n')
    watcher = run_watcher(workshop.root)
    process = workshop.start("--yes", "--iterations", "1")
    process.communicate(timeout=300)
    moment = watcher.look()
    assert moment.tasks[0].attempts == 1
    assert "sad news" in moment.tasks[0].why


def test_a_killed_run_is_cut_off_and_goes_on_where_it_is_resumed(workshop):
    workshop.agent(WAITS + GOOD)
    watcher = run_watcher(workshop.root)
    process = workshop.start("--yes")
    workshop.wait_for("begun-1")
    assert until(watcher.look, lambda moment: bool(moment.attempts)).is_live
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=300)
    moment = until(watcher.look, lambda moment: not moment.is_live)
    assert (moment.phase, moment.attempts) == ("cut off", ())
    assert "samuel run start" in moment.headline
    (workshop.root / "go").touch()
    workshop.start("--yes").communicate(timeout=300)
    assert (watcher.look().phase, watcher.look().counts) == ("ended", {"completed": 2})


def test_a_denied_call_is_seen_with_the_hook_and_its_reason(workshop):
    hooks = workshop.root / ".system/hooks"
    hooks.mkdir(parents=True)
    (hooks / "no_push.yaml").write_text(
        "id: no_push\nevent_type: PreAbilityCall\nrole: guard\n"
        "handler:\n  kind: python\n  function: scripts/no_push.py:no_push\n"
    )
    (workshop.root / "scripts").mkdir()
    (workshop.root / "scripts/no_push.py").write_text(
        "def no_push(event):\n    return {'decision': 'deny', 'reason': 'not from here'}\n"
    )
    payload = json.dumps({"ability_id": "Bash", "tool_input": {"command": "git push"}})
    workshop.agent(f"echo '{payload}' | samuel emit PreAbilityCall > emitted-out 2>&1 || true\n" + GOOD)
    workshop.start("--yes", "--iterations", "1", "--accept-unguarded").communicate(timeout=300)
    moment = run_watcher(workshop.root).look()
    (denial,) = moment.denials
    assert (denial.subject, denial.verdict, denial.iteration) == ("runs git push", "denied", 1)
    assert "not from here" in denial.why
    assert [call.handler for call in denial.calls if call.outcome == "denied"]


def test_a_task_file_that_cannot_be_read_is_said_and_nothing_is_raised(workshop):
    (workshop.root / ".samuel/run/prd.toon").write_text("tasks[1]{id}:\n  broken, row, with, cells\n")
    assert run_watcher(workshop.root).look_or_say_why().problem


@pytest.mark.slow
def test_ten_thousand_tasks_and_a_long_journal_are_read_once(workshop, monkeypatch):
    from samuel.tasks.task import Task

    workshop.store.replace_all([Task(id=str(number), title=f"Task {number}") for number in range(1, 10_001)])
    workshop.start("--yes", "--iterations", "1").communicate(timeout=600)
    watcher = run_watcher(workshop.root)
    assert watcher.look().counts == {"completed": 1, "pending": 9_999}
    read: list[int] = []
    monkeypatch.setattr("samuel.display.now.watcher.build_report", lambda *a, **k: read.append(1))
    for _ in range(5):
        assert watcher.look().counts == {"completed": 1, "pending": 9_999}
    assert read == []


def test_a_look_at_tasks_that_did_not_change_makes_no_rows_again(workshop):
    workshop.store.replace_all([Task(id=str(number), title="One of many") for number in range(10_000)])
    watcher = run_watcher(workshop.root)
    rows = watcher.look().tasks
    assert len(rows) == 10_000
    assert watcher.look().tasks is rows
    workshop.store.replace_all([Task(id="1", title="The only one")])
    assert [row.title for row in watcher.look().tasks] == ["The only one"]
