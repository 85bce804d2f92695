"""`claim = "exit"`: an agent that cannot run `samuel run done` claims by a clean exit with changed files."""

from __future__ import annotations

import pytest

from samuel.attempt.claims import without_own_files
from samuel.history.notices import IterationSettled, LoopWarning

from .conftest import LoopProject

EDITOR = '[agents.editor]\ncommand = ["./editor.sh", "{prompt_file}"]\nclaim = "exit"\n'
WORK = 'cp "$1" prompt.md\necho "$SAMUEL_TASK_ID" >> work.txt\n'


@pytest.fixture
def editor(loop: LoopProject) -> LoopProject:
    loop.agent(WORK, "editor")
    loop.configure('quality_checks = ["true"]', EDITOR)
    return loop


def outcomes(loop: LoopProject) -> list[str]:
    return [report.outcome for report in loop.reports if isinstance(report, IterationSettled)]


@pytest.mark.slow
def test_a_clean_exit_with_changes_completes_the_task_when_the_checks_pass(editor: LoopProject) -> None:
    editor.tasks("1", "2")
    run = editor.run(agent="editor")
    assert (run.exit_reason, outcomes(editor)) == ("queue_empty", ["completed", "completed"])
    assert editor.statuses() == {"1": "completed", "2": "completed"}
    assert not [report for report in editor.reports if isinstance(report, LoopWarning)]


def test_the_checks_decide_about_the_claim_of_an_exit(editor: LoopProject) -> None:
    editor.configure('quality_checks = ["! test -e work.txt"]', EDITOR)
    editor.tasks("1")
    editor.run(1, agent="editor")
    assert (outcomes(editor), editor.statuses()) == (["quality_failed"], {"1": "pending"})


def test_a_clean_exit_without_a_change_is_no_claim(editor: LoopProject) -> None:
    editor.agent("exit 0\n", "editor")
    editor.tasks("1", no_change=True)
    editor.run(1, agent="editor")
    assert (outcomes(editor), editor.statuses()) == (["stalled"], {"1": "pending"})


def test_changes_of_an_agent_that_failed_are_no_claim(editor: LoopProject) -> None:
    editor.agent(f"{WORK}exit 3\n", "editor")
    editor.tasks("1")
    editor.run(1, agent="editor")
    assert (outcomes(editor), editor.statuses()) == (["agent_failed"], {"1": "pending"})


def test_what_the_agent_reported_about_its_task_counts_instead(editor: LoopProject) -> None:
    editor.agent(f'{WORK}samuel run block "$SAMUEL_TASK_ID" --reason "no price list"\n', "editor")
    editor.tasks("1")
    editor.run(1, agent="editor")
    assert editor.statuses() == {"1": "blocked"}


def test_an_agent_without_the_setting_does_not_claim_by_its_exit(loop: LoopProject) -> None:
    loop.agent(WORK)
    loop.configure('quality_checks = ["true"]')
    loop.tasks("1")
    loop.run(1)
    assert (outcomes(loop), loop.statuses()) == (["incomplete"], {"1": "pending"})
    assert "run done 1" in (loop.root / "prompt.md").read_text()


def test_the_prompt_asks_for_no_command(editor: LoopProject) -> None:
    editor.tasks("1")
    editor.run(1, agent="editor")
    prompt = (editor.root / "prompt.md").read_text()
    assert "that you ended is your claim" in prompt
    assert not [command for command in ("run done", "run block", "run ask") if command in prompt]


def test_what_an_agent_keeps_for_itself_is_no_change() -> None:
    paths = [".aider.chat.history.md", ".aider.tags.cache.v4/cache.db", "src/.aider.py", "out.txt"]
    assert without_own_files(paths, (".aider*",)) == ["src/.aider.py", "out.txt"]
    assert without_own_files(paths, ()) == paths
