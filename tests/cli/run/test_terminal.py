"""What a run and its tables look like on a terminal."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess

import pytest

from samuel.display.line_display import FINISHING
from samuel.tasks.task import Task

from .conftest import CONFIG, GOOD, REAL, Workshop

BAR = "━"
WAITS = "touch begun; while [ ! -f go ]; do sleep 0.02; done\n"


# The check of the workshop fails until the first task is done.
ACCEPTED = CONFIG.replace("[methodology.ralph]\n", '[methodology.ralph]\nbaseline = "accept"\n')


def screen_lines(output: str) -> list[str]:
    """The lines that a terminal shows at the end of an output: text, line breaks, moving up and erasing."""
    rows, row, column = [""], 0, 0
    for text, arguments, action in re.findall(r"([^\x1b])|\x1b\[([?0-9;]*)([A-Za-z])", output):
        if text == "\r":
            column = 0
        elif text == "\n":
            row += 1
            rows += [""] * (row + 1 - len(rows))
        elif text:
            rows[row] = f"{rows[row][:column]:{column}}{text}{rows[row][column + 1 :]}"
            column += 1
        elif action == "A":
            row = max(0, row - int(arguments or 1))
        elif action == "K":
            rows[row] = ""
    return [line.rstrip() for line in rows]


class TerminalRun:
    """`samuel run start` on a terminal of its own."""

    def __init__(self, workshop: Workshop) -> None:
        self._ours, theirs = pty.openpty()
        env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
        command = [*REAL, "run", "start", "--yes"]
        self.process = subprocess.Popen(
            command, cwd=workshop.root, env=env, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        self.output = ""

    def read(self, until: str = "") -> str:
        """What was printed up to this text, or to the end."""
        while not until or until not in self.output:
            try:
                chunk = os.read(self._ours, 65536)
            except OSError:  # how Linux says that the last one on the other side has left
                break
            self.output += chunk.decode("utf-8", "replace")
        return self.output

    def end(self) -> list[str]:
        self.read()
        os.close(self._ours)
        self.process.wait(timeout=300)
        return screen_lines(self.output)


@pytest.mark.slow
@pytest.mark.parametrize("interrupts", [1, 2])
def test_ctrl_c_is_answered_at_once_and_the_live_picture_is_gone_at_the_end(workshop, interrupts):
    workshop.configure(ACCEPTED)
    workshop.agent(WAITS + GOOD)
    run = TerminalRun(workshop)
    try:
        run.read("agent at work")
        workshop.wait_for("begun")
        run.process.send_signal(signal.SIGINT)
        assert FINISHING in run.read(FINISHING)
        if interrupts == 2:
            run.process.send_signal(signal.SIGINT)
    finally:
        (workshop.root / "go").touch()  # no process is left behind, whatever fails
        lines = run.end()
    assert run.process.returncode == 130
    assert [line for line in lines if "1 One" in line] == ["iteration 1/25: 1 One"]
    assert not [line for line in lines if FINISHING in line or BAR in line or "agent at work" in line]


@pytest.mark.slow
def test_outcomes_are_coloured_on_a_terminal_and_not_with_no_color(on_terminal, workshop):
    workshop.configure(ACCEPTED)
    code, screen = on_terminal("run", "start", "--yes", "--iterations", "1")
    assert (code, "\x1b[32m  completed (checked): 1 of 2 tasks completed\x1b[0m\n" in screen) == (0, True)
    code, screen = on_terminal("run", "start", "--yes", NO_COLOR="1")
    assert (code, "  completed (checked): 2 of 2 tasks completed\n" in screen) == (0, True)
    assert not re.search(r"\x1b\[\d*m", screen)


def test_lines_in_a_pipe_have_no_colours(samuel, workshop):
    assert "\x1b" not in samuel("run", "start", "--yes").out


@pytest.mark.slow
def test_the_list_of_tasks_leaves_room_for_titles_at_80_columns(on_terminal, store):
    title = "Write an entry about the new function for the README"
    store.replace_all([Task(id=f"1.{number}", title=title) for number in range(3)])
    _, screen = on_terminal("run", "tasks", NO_COLOR="1", COLUMNS="80")
    assert screen.count(title) == 3
    assert "medium" not in screen
    store.replace_all(
        [
            Task(id="1", title=title, priority="high"),
            Task(id="2", title="x", status="completed", grade="unverified", last_failure="why it failed"),
        ]
    )
    _, screen = on_terminal("run", "tasks", NO_COLOR="1", COLUMNS="80")
    assert "priority" in screen
    assert "completed (unverified)" in screen
    assert "complexity" not in screen


def test_the_log_of_hooks_does_not_break_times_at_80_columns(on_terminal, journal):
    journal(
        ("before:agent.invoke", "a-hook-with-a-long-name", 12.5, "crashed", "exit code 3, and a long explanation"),
        ("quality.check", "default", 12345.6),
    )
    _, screen = on_terminal("hooks", "log", NO_COLOR="1", COLUMNS="80", TZ="UTC")
    assert re.findall(r"01-15 10:00:0\d", screen) == ["01-15 10:00:00", "01-15 10:00:01"]
    assert all(len(line) <= 80 for line in screen.splitlines())
    assert "12345.6" in screen
