"""What the README shows works: its three commands run an agent through its tasks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .story import INSTALLED, ROOT, Machine, blocks

README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_WORDS = 1_300

# Stands in for Claude Code: it does the task that it is told about, in a file for each.
CLAUDE = """\
#!/bin/sh
test "$1" != --version || { echo "2.1.197 (Claude Code)"; exit 0; }
cat > /dev/null
echo "VALUE = 1" > "work_$SAMUEL_TASK_ID.py"
samuel run done "$SAMUEL_TASK_ID" > /dev/null
echo '{"type": "result", "subtype": "success", "is_error": false, "result": "done"}'
"""


@pytest.fixture
def machine(fast_samuel: Path, tmp_path: Path) -> Machine:
    """A computer with a stand-in for `claude` on its PATH, and a project that has a test."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "claude").write_text(CLAUDE)
    (programs / "claude").chmod(0o755)
    machine = Machine(tmp_path, fast_samuel)
    machine.env["PATH"] = f"{fast_samuel}:{programs}:{INSTALLED}:{machine.env['PATH']}"
    machine.write("Makefile", "test:\n\t@test -e Makefile\n")
    machine.type("git init --quiet && git add --all && git commit --quiet --message start")
    return machine


@pytest.mark.slow
def test_the_three_commands_complete_the_tasks_of_the_readme_and_merge_them(machine: Machine) -> None:
    tasks = next(block for block in blocks(README) if block.title)
    machine.write(tasks.title, tasks.text)
    commands = next(block.text for block in blocks(README) if "samuel run start" in block.text and not block.title)
    assert len(commands.splitlines()) == 3

    outputs = []
    for command in commands.splitlines():
        outputs.append(machine.type(command))
        assert machine.code == 0, outputs[-1]

    assert "2 completed" in outputs[1]
    subjects = machine.type("git log --format=%s main").splitlines()
    assert len(subjects) == 3, subjects
    assert subjects[-1] == "start"


def test_the_readme_is_short_enough_to_be_read() -> None:
    assert len(README.split()) <= MOST_WORDS


def test_the_readme_says_what_it_is_before_it_shows_or_explains_anything() -> None:
    first_paragraph = README.split("\n\n")[1]
    assert len(re.findall(r"\.(?:\s|$)", first_paragraph)) == 1, "one sentence"
