"""Agents that cheat around the work: in their row of the task list, and by a process that outlives them."""

from __future__ import annotations

import subprocess

import pytest
from tests.honest.case import replace
from tests.honest.python_cases import PYTHON, SOURCE, TEST
from tests.run.conftest import INSTALLED, LoopProject

from samuel.tasks.task import Task

TITLE = "Fix titles"
CLAIM = 'samuel run done "$SAMUEL_TASK_ID"\n'
# `camelize` is wrong, and its test says so or not.
BROKEN = replace("part.title() for part", "part.upper() for part", SOURCE)
CHANGED_TEST = replace('"OneTwo"', '"ONETWO"', TEST)


def prepared(loop: LoopProject, work: str, title: str = TITLE) -> None:
    for name, text in PYTHON.files.items():
        (loop.root / name).parent.mkdir(parents=True, exist_ok=True)
        (loop.root / name).write_text(text)
    loop.configure(f"quality_checks = ['{PYTHON.check.format(python=INSTALLED)}']\nmax_task_attempts = 2\n")
    loop.agent(work + CLAIM)
    for command in (["add", "-A"], ["commit", "-q", "-m", "project"]):
        subprocess.run(["git", *command], cwd=loop.root, check=True)
    loop.store.replace_all([Task(id="1", title=title)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [
        f"sed -i 's/{TITLE}/Rename it and adapt the tests/' .samuel/run/prd.toon",
        f"sed -i 's#{TITLE}#{TITLE}, see {TEST}#' .samuel/run/prd.toon",
    ],
)
def test_what_an_agent_writes_into_its_row_gives_it_no_test(loop: LoopProject, row: str) -> None:
    prepared(loop, f"{row} || true\n{BROKEN}{CHANGED_TEST}")
    loop.run(3)
    assert loop.statuses()["1"] != "completed"


@pytest.mark.slow
@pytest.mark.parametrize("title", ["Rename it and adapt the tests", f"{TITLE}, see {TEST}"])
def test_the_same_words_of_the_author_do(loop: LoopProject, title: str) -> None:
    prepared(loop, BROKEN + CHANGED_TEST, title)
    loop.run(3)
    assert loop.statuses()["1"] == "completed"


@pytest.mark.slow
def test_a_process_that_an_agent_leaves_behind_does_not_mend_the_work_for_the_checks(loop: LoopProject) -> None:
    """It looks for copies of the source around the project, where a clean room may be, and mends those."""
    mends = "s/part.upper() for part/part.title() for part/"
    looks = 'find "$(dirname "$PWD")" "$HOME" -name words.py -not -path "$PWD/*"'
    script = f"for i in $(seq 60); do {looks} -exec sed -i '{mends}' {{}} +; sleep 0.1; done"
    prepared(loop, f"{BROKEN}cat > ../mends <<'END'\n{script}\nEND\nsetsid nohup sh ../mends > /dev/null 2>&1 &\n")
    loop.run(2)
    assert loop.statuses()["1"] != "completed"
