"""A plugin that is the agent: it knows its run, and its answer may claim, skip or block its task."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from samuel.history.notices import IterationSettled, LoopWarning
from samuel.testing import Recorder

from .conftest import LoopProject

DONE = {"exit_code": 0, "stdout": "", "stderr": ""}
MANIFEST = """\
name = "robot"
version = "1.0.0"
kind = "skill"

[capabilities]
exec = true

[hooks]
"agent.invoke" = "work"
"""
# Confined to its own files: it can neither write the task file nor find a `samuel` that could.
WORK = """\
#!/bin/sh
cat > /dev/null
printf '{"exit_code": 0, "stdout": "%s", "stderr": "", "claimed": true}' "$(env | grep ^SAMUEL_ | tr '\\n' ' ')"
"""


def agent(**answer: Any) -> Recorder:
    return Recorder("agent.invoke", returns={**DONE, **answer})


def outcomes(loop: LoopProject) -> list[str]:
    return [report.outcome for report in loop.reports if isinstance(report, IterationSettled)]


def warnings(loop: LoopProject) -> list[str]:
    return [report.text for report in loop.reports if isinstance(report, LoopWarning)]


def test_a_claim_in_the_answer_completes_the_task_when_the_checks_pass(loop: LoopProject) -> None:
    loop.configure('quality_checks = ["true"]')
    loop.tasks("1", "2", no_change=True)
    run = loop.run(handlers=[agent(claimed=True)])
    assert (run.exit_reason, outcomes(loop)) == ("queue_empty", ["completed", "completed"])
    assert loop.statuses() == {"1": "completed", "2": "completed"}


def test_the_checks_decide_what_the_claim_is_worth(loop: LoopProject) -> None:
    loop.configure('quality_checks = ["test -z $SAMUEL_TASK_ID"]')
    loop.tasks("1", no_change=True)
    loop.run(1, handlers=[agent(claimed=True)])
    assert (outcomes(loop), loop.statuses()) == (["quality_failed"], {"1": "pending"})


def test_a_claim_of_an_agent_that_failed_is_worth_nothing(loop: LoopProject) -> None:
    loop.tasks("1")
    loop.run(1, handlers=[agent(exit_code=3, claimed=True)])
    assert (outcomes(loop), loop.statuses()) == (["agent_failed"], {"1": "pending"})
    assert not loop.store.load()[0].claimed


@pytest.mark.parametrize("status", ["skipped", "blocked"])
def test_the_task_is_skipped_or_blocked_with_the_reason(loop: LoopProject, status: str) -> None:
    loop.tasks("1")
    loop.run(1, handlers=[agent(**{status: True, "reason": "no such printer"})])
    task = loop.store.load()[0]
    assert (task.status, task.last_failure) == (status, "no such printer")
    assert outcomes(loop) == ["incomplete"]


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        ({"skipped": True}, "has `skipped`: "),
        ({"blocked": True, "reason": " "}, "has `blocked`: "),
        (
            {"claimed": True, "skipped": True, "reason": "x"},
            "has `claimed` and `skipped`; only one of them can hold",
        ),
    ],
)
def test_a_claim_that_the_command_would_refuse_is_refused(loop: LoopProject, answer: Any, refusal: str) -> None:
    loop.tasks("1")
    loop.run(1, handlers=[agent(**answer)])
    assert loop.statuses() == {"1": "pending"}
    assert any(refusal in warning for warning in warnings(loop))


def test_a_discovery_has_no_task_to_claim(loop: LoopProject) -> None:
    loop.configure(more="[methodology.ralph.pilot]\nenabled = true\n")
    loop.tasks("1", "2", "3")
    loop.run(1, handlers=[agent(claimed=True)])
    assert "the answer of `agent.invoke` has `claimed`, but this iteration works on no task" in warnings(loop)
    assert set(loop.statuses().values()) == {"pending"}


@pytest.mark.parametrize("answer", [{}, {"claimed": False}, {"claimed": None}])
def test_without_a_claim_the_task_is_not_completed(loop: LoopProject, answer: Any) -> None:
    loop.tasks("1")
    loop.run(1, handlers=[agent(**answer)])
    assert loop.statuses() == {"1": "pending"}


def test_a_confined_plugin_has_the_runs_variables_and_completes_its_task(
    loop: LoopProject, tmp_path: Path
) -> None:
    source = tmp_path / "robot"
    source.mkdir()
    (source / "samuel-plugin.toml").write_text(MANIFEST)
    (source / "work").write_text(WORK)
    (source / "work").chmod(0o755)
    loop.project.plugin(source)
    loop.tasks("7", no_change=True)
    recorder = Recorder("after:agent.invoke")
    run = loop.run(1, handlers=[recorder])
    assert loop.statuses() == {"7": "completed"}
    variables = dict(pair.split("=", 1) for pair in recorder.events[0].stdout.split())
    assert (variables["SAMUEL_RUN_ID"], variables["SAMUEL_TASK_ID"]) == (run.run_id, "7")
    assert (variables["SAMUEL_ITERATION"], variables["SAMUEL_MODE"]) == ("1", "implementation")
    assert variables["SAMUEL_SESSION_ID"] == f"{run.run_id}-1"


@pytest.mark.slow
def test_a_hook_that_is_the_agent_may_use_the_command(loop: LoopProject) -> None:
    loop.project.hook(
        "robot",
        '#!/bin/sh\nif [ "$1" = hook ]; then echo agent.invoke; exit; fi\ncat > /dev/null; touch work\n'
        f'{sys.executable} -m samuel run done "$SAMUEL_TASK_ID" >&2\n'
        'echo \'{"exit_code": 0, "stdout": "", "stderr": ""}\'\n',
    )
    loop.tasks("1")
    loop.run(1)
    assert loop.statuses() == {"1": "completed"}


def test_other_hooks_do_not_get_the_runs_variables(loop: LoopProject) -> None:
    loop.project.hook(
        "watcher",
        '#!/bin/sh\nif [ "$1" = hook ]; then echo after:agent.invoke; else env > env-hook.txt; fi\n',
    )
    loop.tasks("1")
    loop.run(1)
    assert "SAMUEL_TASK_ID" not in (loop.root / "env-hook.txt").read_text()


def test_a_question_in_the_answer_parks_the_task(loop: LoopProject) -> None:
    loop.tasks("1")
    loop.run(1, handlers=[agent(question="Which format?", options=["json", "toon"])])
    assert loop.statuses() == {"1": "waiting"}
    (question,) = loop.store.load()[0].questions
    assert (question.id, question.text, question.options) == ("q1", "Which format?", ("json", "toon"))


def test_a_question_and_a_claim_exclude_each_other(loop: LoopProject) -> None:
    loop.tasks("1")
    loop.run(1, handlers=[agent(question="Which format?", claimed=True)])
    assert "the answer of `agent.invoke` has `claimed` and `question`; only one of them can hold" in warnings(loop)
