"""`--require-proof` and `canary`: which of task, option and file counts, and what has to be agreed to."""

from __future__ import annotations

import pytest

from samuel.tasks.task import Task

from .conftest import CONFIG

OFF = CONFIG.replace("pause", 'proof = "off"\nmax_task_attempts = 1\npause')
REQUIRED = OFF.replace('"off"', '"require"')


@pytest.mark.parametrize(
    ("config", "options", "line", "status"),
    [
        (OFF, (), "", "completed"),
        (OFF, ("--require-proof",), "", "blocked"),
        (OFF, ("--require-proof",), "none", "completed"),
        (REQUIRED, (), "none", "completed"),
        (OFF, (), "require", "blocked"),
    ],
    ids=["file", "option beats file", "task beats option", "task beats file", "task requires it"],
)
def test_line_of_a_task_beats_the_option_which_beats_the_file(samuel, workshop, config, options, line, status):
    workshop.configure(config)
    workshop.store.replace_all([Task(id="1", title="One", proof=line)])
    ran = samuel("run", "start", "--yes", *options)
    assert workshop.statuses == [status], ran
    assert ran.code == (0 if status == "completed" else 1)


def test_required_proof_names_what_is_missing(samuel, workshop):
    workshop.configure(OFF)
    samuel("run", "start", "--yes", "--require-proof", "--iterations", "1")
    assert workshop.store.load()[0].last_failure.startswith("unproven: no test shows the change")


def test_canary_is_agreed_to_like_a_check(samuel, workshop):
    assert samuel("trust", "--yes").code == 0
    workshop.configure(CONFIG.replace("pause", 'canary = "touch wrong"\npause'))
    ran = samuel("run", "start")
    assert (ran.code, "`canary:ralph`" in ran.err) == (1, True), ran
    assert workshop.statuses == ["pending", "pending"]
    assert samuel("run", "start", "--yes").code == 0


def test_canary_needs_the_clean_room(samuel, workshop):
    workshop.configure(CONFIG.replace("pause", 'canary = "touch wrong"\nevidence = "in place"\npause'))
    ran = samuel("run", "start", "--yes")
    assert ran.code == 2, ran
    assert "`canary` needs the clean room" in ran.err
    assert 'remove `evidence = "in place"`, or `canary`' in ran.err
