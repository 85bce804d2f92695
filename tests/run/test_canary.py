"""A canary: the person's command that makes the checks fail, for a runner that Samuel can plant nothing for."""

from __future__ import annotations

import subprocess

import pytest

from samuel.history.attempt_record import AttemptRecord
from samuel.history.history import History
from samuel.tasks.task import Task

from .conftest import LoopProject

CHECK = 'quality_checks = ["./verify"]'
# A runner of the project's own: it compares answers of the program with those that are expected.
VERIFY = """\
#!/bin/sh
. ./lib.sh
for case in cases/*; do
    expect "$case" || exit 1
done
"""
LIB = 'expect() { [ "$(sh program.sh < "$1/in")" = "$(cat "$1/out")" ]; }\n'
DISARMED = "expect() { true; }\n"
CLAIM = 'samuel run done "$SAMUEL_TASK_ID"\n'
CANARY = 'canary = "echo something else > cases/one/out"'


@pytest.fixture
def project(loop: LoopProject) -> LoopProject:
    (loop.root / "cases/one").mkdir(parents=True)
    (loop.root / "cases/one/in").write_text("hello\n")
    (loop.root / "cases/one/out").write_text("hello\n")
    (loop.root / "program.sh").write_text("cat\n")
    (loop.root / "lib.sh").write_text(LIB)
    (loop.root / "verify").write_text(VERIFY)
    (loop.root / "verify").chmod(0o755)
    loop.configure(f"{CHECK}\n{CANARY}")
    for command in (["add", "-A"], ["commit", "-q", "-m", "project"]):
        subprocess.run(["git", *command], cwd=loop.root, check=True)
    loop.store.replace_all([Task(id="1", title="Tidy the program", kind="refactor")])
    return loop


def judged(loop: LoopProject, script: str) -> AttemptRecord:
    loop.agent(script + CLAIM)
    run = loop.run(1)
    with loop.open() as app:
        state = loop.root / ".samuel/run"
        (record,) = History.of(state, app.user.record(state)).load(run.run_id).attempts
    return record


def test_check_that_turns_red_after_the_canary_is_shown_to_fail(project: LoopProject) -> None:
    record = judged(project, "echo '# tidy' >> program.sh\n")
    assert record.outcome == "completed"
    assert record.evidence is not None
    assert record.evidence.shown_to_fail == "yes"
    assert [(check.corner, check.passed) for check in record.checks] == [("own", True), ("planted", False)]
    assert (project.root / "cases/one/out").read_text() == "hello\n"


def test_check_that_stays_green_after_the_canary_was_disarmed(project: LoopProject) -> None:
    record = judged(project, f"cat > lib.sh <<'END'\n{DISARMED}END\necho 'echo wrong' > program.sh\n")
    assert record.outcome == "quality_failed"
    assert record.why.startswith(
        "the checks cannot fail any more with this work: `./verify`: the check stayed green"
    )
    assert "the canary `echo something else > cases/one/out`" in record.why


def test_agent_that_disarms_a_canary_of_the_project_is_refused(project: LoopProject) -> None:
    (project.root / "canary.sh").write_text("echo something else > cases/one/out\n")
    project.configure(f'{CHECK}\ncanary = "sh canary.sh"')
    for command in (["add", "-A"], ["commit", "-q", "-m", "canary"]):
        subprocess.run(["git", *command], cwd=project.root, check=True)
    record = judged(project, "echo true > canary.sh\n")
    assert record.outcome == "quality_failed"
    assert "although the same failure turns the check red on the verified tree" in record.why


def test_canary_that_fails_shows_nothing_and_refuses_nothing(project: LoopProject) -> None:
    project.configure(f'{CHECK}\ncanary = "exit 3"')
    record = judged(project, "echo '# tidy' >> program.sh\n")
    assert record.outcome == "completed"
    assert record.evidence is not None
    assert record.evidence.shown_to_fail == "the canary `exit 3` ended with exit code 3"


def test_canary_that_the_check_does_not_notice_refuses_nothing(project: LoopProject) -> None:
    project.configure(f'{CHECK}\ncanary = "touch elsewhere"')
    record = judged(project, "echo '# tidy' >> program.sh\n")
    assert record.outcome == "completed"
    assert record.evidence is not None
    assert "and on the verified tree too: the check does not run it" in record.evidence.shown_to_fail
