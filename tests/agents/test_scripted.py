"""The shipped fake, run as the process it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from samuel.clients.adapter.agent import Agent
from samuel.clients.scripted.adapter import scripted


@pytest.fixture
def steps(desk: Any) -> Path:
    directory: Path = desk.root.parent / "steps"
    directory.mkdir()
    return directory


def step(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def run(desk: Any, steps: Path, task: str = "1.1", attempt: int = 1, **more: str) -> Any:
    names = {"SAMUEL_TASK_ID": task, "SAMUEL_ATTEMPT": str(attempt), **more}
    return desk.run(scripted(steps), "the prompt", variables=names)


def test_a_step_runs_in_the_project_with_the_prompt_and_its_code_is_the_agent_s(desk: Any, steps: Path) -> None:
    step(steps / "1.1", 'pwd; cat; echo; echo "task $SAMUEL_TASK_ID"; exit 3')
    done = run(desk, steps)
    assert done.exit_code == 3
    assert done.stdout_tail.splitlines() == [
        "[scripted] task 1.1, attempt 1: a prompt of 10 bytes, step 1.1",
        "[scripted] running 1.1",
        str(desk.root),
        "the prompt",
        "task 1.1",
        "[scripted] failed with exit code 3",
    ]


@pytest.mark.parametrize(
    ("present", "attempt", "chosen"),
    [
        (["1.1/1", "1.1/2", "1.1.1", "default"], 1, "1.1/1"),
        (["1.1/1", "1.1/2", "default"], 2, "1.1/2"),
        (["1.1/1", "1.1/2", "default"], 5, "1.1/2"),
        (["1.1/2", "default"], 1, "1.1/2"),
        (["1.1.2", "1.1", "default"], 2, "1.1.2"),
        (["1.1.2", "1.1", "default"], 1, "1.1"),
        (["1.1", "default"], 7, "1.1"),
        (["2", "default"], 1, "default"),
    ],
)
def test_the_nearest_step_is_taken(desk: Any, steps: Path, present: list[str], attempt: int, chosen: str) -> None:
    for name in present:
        step(steps / name, f"echo this is {name}")
    assert f"\nthis is {chosen}\n" in run(desk, steps, attempt=attempt).stdout_tail


def test_a_directory_is_copied_into_the_project_and_then_its_script_runs(desk: Any, steps: Path) -> None:
    folder = steps / "1.1"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "new.py").write_text("x = 1\n")
    step(folder / "tool", "echo tool")
    (folder / "run.sh").write_text("cat src/new.py; ./tool; exit 0\n")
    (folder / "usage.json").write_text(json.dumps({"input_tokens": 100, "output_tokens": 20, "cost_usd": 0.25}))
    done = run(desk, steps)
    assert done.exit_code == 0
    assert "[scripted] wrote src/new.py\n" in done.stdout_tail
    assert "x = 1\ntool\n" in done.stdout_tail
    assert not (desk.root / "run.sh").exists()
    assert not (desk.root / "usage.json").exists()
    assert done.usage == {"input_tokens": 100, "output_tokens": 20, "cost_usd": 0.25}


def test_usage_for_all_steps_lies_beside_them(desk: Any, steps: Path) -> None:
    step(steps / "default", "exit 1")
    (steps / "usage.json").write_text(json.dumps({"input_tokens": 1, "output_tokens": 2}))
    assert run(desk, steps).usage == {"input_tokens": 1, "output_tokens": 2}


def test_discovery_has_its_own_steps(desk: Any, steps: Path) -> None:
    step(steps / "default", "echo this is default")
    assert run(desk, steps, task="", SAMUEL_MODE="discovery").exit_code == 2
    step(steps / "discovery" / "1", "echo first look")
    step(steps / "discovery" / "2", "echo second look")
    assert "first look" in run(desk, steps, task="", SAMUEL_MODE="discovery").stdout_tail
    assert "second look" in run(desk, steps, task="", attempt=3, SAMUEL_MODE="discovery").stdout_tail


def test_an_ability_is_done_by_its_id(desk: Any, steps: Path) -> None:
    step(steps / "default", "echo this is default")
    step(steps / "review", "echo reviewing")
    names = {"SAMUEL_MODE": "discovery", "SAMUEL_RECIPE": "release"}  # that it may be called within
    assert "reviewing" in run(desk, steps, SAMUEL_ABILITY_ID="review", **names).stdout_tail
    assert "this is default" in run(desk, steps, task="", SAMUEL_ABILITY_ID="other").stdout_tail


@pytest.mark.parametrize("task", ["1.1", "", "../steps", ".."])
def test_without_a_step_it_fails_and_says_so(desk: Any, steps: Path, task: str) -> None:
    done = run(desk, steps, task=task)
    assert done.exit_code == 2
    assert done.stderr_tail == f"`{steps}` has no step for task {task}, attempt 1\n"


def test_the_prompt_may_come_in_a_file(desk: Any, steps: Path) -> None:
    step(steps / "default", "cat")
    agent = Agent("s", (*scripted(steps).command, "{prompt_file}"), prompt="file")
    assert "the prompt" in desk.run(agent, "the prompt", variables={"SAMUEL_TASK_ID": "1"}).stdout_tail


def test_a_step_that_cannot_be_run_is_said(desk: Any, steps: Path) -> None:
    step(steps / "default", "exit 0")
    (steps / "default").chmod(0o644)
    done = run(desk, steps)
    assert done.exit_code == 126
    assert done.stderr_tail.endswith(f"cannot be run: Permission denied; `chmod +x {steps / 'default'}`\n")
