"""`samuel run start`: checks that are required, checks of tasks, and what a red baseline means."""

from __future__ import annotations

import pytest

from samuel.tasks.task import Task

from .conftest import CONFIG

WITHOUT = CONFIG.replace('quality_checks = ["test ! -f wrong"]\n', "")
GREEN = CONFIG.replace("test ! -f wrong", "true")
REFUSED = (
    2,
    "",
    "error: checks are required, but the methodology `ralph` has none\n"
    'add `quality_checks = ["make test"]` or the like to samuel.toml, or leave out `--require-checks` and '
    "`require_checks`\n",
)


@pytest.mark.parametrize("command", ["start", "pilot"])
def test_required_checks_refuse_a_run_without_any_before_an_agent_starts(samuel, workshop, command):
    workshop.configure(WITHOUT)
    assert samuel("run", command, "--yes", "--require-checks") == REFUSED
    workshop.configure(WITHOUT.replace("pause", "require_checks = true\npause"))
    assert samuel("run", command, "--yes") == REFUSED
    assert workshop.statuses == ["pending", "pending"]
    assert not (workshop.root / "work-1").exists()


@pytest.mark.slow
def test_required_checks_let_a_run_with_checks_start(samuel, workshop):
    workshop.configure(GREEN)
    assert samuel("run", "start", "--yes", "--require-checks", "--iterations", "1").code == 0
    assert workshop.statuses == ["completed", "pending"]


def test_a_run_does_not_start_with_checks_of_tasks_that_are_not_trusted(samuel, workshop):
    workshop.configure(GREEN)
    assert samuel("trust", "--yes").code == 0
    workshop.store.replace_all([Task(id="1", title="One", checks=("touch own",))])
    ran = samuel("run", "start")
    assert ran == (
        1,
        "",
        "error: not trusted: `checks:ralph:tasks` has not been agreed to yet; run `samuel trust` to look at it "
        "and agree, or `samuel run start --yes`\n",
    )
    assert not (workshop.root / "work-1").exists()
    assert samuel("run", "start", "--yes").code == 0


def test_a_baseline_of_another_kind_is_a_usage_error(samuel, workshop):
    ran = samuel("run", "start", "--yes", "--baseline", "maybe")
    assert (ran.code, "refuse" in ran.err, "accept" in ran.err) == (2, True, True)
