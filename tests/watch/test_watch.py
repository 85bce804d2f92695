"""`samuel run watch` on a real terminal, with real runs in other processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.watch.terminal import SAMUEL, Terminal, children
from tests.workspaces.lanes.project import INSTALLED, LaneProject

WATCH = f"{SAMUEL} run watch"
WORKS = 'echo "writing $SAMUEL_TASK_ID"; echo x > "work-$SAMUEL_TASK_ID.txt"\n'
WAITS = WORKS + 'while [ ! -e "$outside/go-$SAMUEL_TASK_ID" ]; do sleep 0.05; done\n'
# Everything in it is a sequence that a terminal acts on, or markup.
NASTY = r"\033]0;title\007\033[2J\033[31mred\033[0m [bold]markup[/bold] \302\233 31m \r"
ASKS = (
    'if [ ! -e "$outside/has-asked" ]; then touch "$outside/has-asked"\n'
    f'samuel run ask "$(printf "Which one? {NASTY}")" --option sqlite --option postgres; exit 0; fi\n' + WAITS
)
KEYS = "q quit"
ENDED = "ended: queue empty"


@contextmanager
def working(project: LaneProject, lanes: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    """A run whose agents work until `go` lets them end."""
    with project.running(lanes=lanes) as process:
        try:
            yield process
        finally:
            go(project, *"123456")


def go(project: LaneProject, *tasks: str) -> None:
    for task in tasks:
        (project.outside / f"go-{task}").touch()


def status(project: LaneProject) -> dict[str, object]:
    return json.loads(project.samuel("run", "status", "--json").out)["data"]


class TestKeys:
    def test_each_key_does_what_its_command_does_in_a_run_with_lanes(self, lane_project, terminal):
        project: LaneProject = lane_project
        project.prepare(4)
        project.task("any", WAITS)
        project.task("2", ASKS)
        with working(project, lanes=2):
            terminal.run(WATCH)
            screen = terminal.until(lambda screen: "? q1" in screen and "2 attempts" in screen)
            assert screen.index("needs you") < screen.index("── tasks") < screen.index("2 attempts")

            terminal.until(">[lane 1] 1 Task 1")
            terminal.press("Tab")
            terminal.until(lambda screen: ">[lane 2] 3" in screen and re.search(r">\*3 +in progress", screen))
            terminal.press("Tab")
            terminal.until(">[lane 1]")

            terminal.press("a")
            question = terminal.until("answer with the number of an option")
            assert "1. sqlite" in question
            terminal.type("2")
            terminal.press("Enter")
            terminal.until("q1 is answered: postgres")
            assert "postgres" in project.samuel("run", "questions", "--all").out

            terminal.press("p")
            terminal.until("p resume")
            assert status(project)["paused"]
            terminal.press("p")
            terminal.until("p pause")
            assert not status(project)["paused"]

            terminal.press("s")
            terminal.until("say to the next attempt")
            terminal.type("quit [red]please[/red]: q p x")  # the keys are letters here
            terminal.press("Enter")
            terminal.until("said to the next attempt: quit [red]please[/red]: q p x")

            terminal.press("s")
            terminal.press("Tab")
            terminal.until("say to all attempts at task 1")
            terminal.press("Escape")
            terminal.until(KEYS)

            terminal.press("d")
            assert "+x" in terminal.until("work-1.txt")
            terminal.press("l")
            terminal.until("writing 1")
            terminal.press("q")
            terminal.until("── tasks")
            terminal.press("?")
            terminal.until("the next lane")
            terminal.press("Escape")
            terminal.until("── tasks")

            terminal.press("x")
            terminal.until("stopping: the attempts under way finish")
            go(project, *"1234")
            terminal.until("ended: interrupted")
        terminal.press("q")
        assert terminal.until(lambda screen: screen.rstrip().endswith("$"))
        terminal.run(f"clear; {SAMUEL} run start --yes; echo exit code $?")
        terminal.until("exit code 0")
        prompts = [file.read_text() for file in (project.outside / "prompts").iterdir()]
        assert sum("quit [red]please[/red]: q p x" in prompt for prompt in prompts) == 1

    @pytest.mark.slow
    def test_a_selected_task_stays_selected_and_escape_follows_the_agent_again(self, lane_project, terminal):
        lane_project.prepare(3)
        lane_project.task("any", WAITS)
        with working(lane_project):
            terminal.run(WATCH)
            terminal.until(">*1 in progress")
            terminal.press("Down", "Down")
            terminal.until("> 3 pending")
            terminal.press("d")
            terminal.until("task `3` has no commit")
            terminal.press("Escape")
            terminal.until(">*1 in progress")
            terminal.press("End")
            terminal.until("> 3 pending")


@pytest.mark.slow
class TestScreens:
    def test_it_fits_a_small_and_a_wide_terminal_and_the_text_of_others_is_only_text(self, lane_project, terminal):
        lane_project.prepare(6)
        lane_project.task("any", f"printf '{NASTY}\\n'\n" + WAITS)
        lane_project.task("2", ASKS)
        go(lane_project, "1")
        with working(lane_project):
            terminal.run(WATCH)
            terminal.until(lambda screen: "? q1" in screen and ">*3" in screen)
            for width, height in ((60, 15), (200, 50), (60, 15), (20, 5), (80, 24)):
                terminal.resize(width, height)
                screen = terminal.until(lambda screen, height=height: len(screen.splitlines()) == height)
                terminal.until("q quit" if width >= 60 else "at work")
                assert max(map(len, screen.splitlines())) <= width
            screen = terminal.until(KEYS)
            assert "[bold]markup[/bold]" in screen
            terminal.press("l")
            terminal.until("[bold]markup[/bold]")

    def test_without_colours_no_colour_is_drawn(self, lane_project, terminal):
        lane_project.prepare(2)
        lane_project.samuel("run", "start", "--yes")
        terminal.run(f"NO_COLOR=1 {WATCH}")
        terminal.until(ENDED)
        assert not re.search(r"\x1b\[(?:[0-9]+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]", terminal.coloured_screen)
        terminal.press("q")
        terminal.until("$", without=KEYS)
        terminal.run(f"clear; {WATCH}")
        terminal.until(lambda screen: ENDED in screen and KEYS in screen)
        assert re.search(r"\x1b\[(?:[0-9]+;)*3[0-8][;m]", terminal.coloured_screen)

    def test_a_run_that_has_ended_can_be_looked_at(self, lane_project, terminal):
        lane_project.prepare(2, settings="commit = true")
        lane_project.task("any", WORKS)
        lane_project.samuel("run", "start", "--yes")
        terminal.run(WATCH)
        assert "2 checked" in terminal.until(ENDED)
        terminal.press("d")
        terminal.until("+x")
        terminal.press("l")
        terminal.until("writing 1")
        terminal.press("q", "x")
        terminal.until("no run is under way here")

    def test_a_project_without_tasks_says_what_is_missing(self, lane_project, terminal):
        lane_project.write("samuel.toml", "")
        terminal.run(WATCH)
        terminal.until(lambda screen: "no run yet" in screen and "no tasks" in screen)
        terminal.press("d", "a", "p", "Tab", "Up")
        terminal.press("q")
        terminal.until(lambda screen: screen.rstrip().endswith("$"))


class TestKilled:
    @pytest.fixture
    def watched(self, lane_project, terminal) -> Terminal:
        lane_project.prepare(1)
        lane_project.samuel("run", "start", "--yes")
        self.before, self.modes = terminal.stty(), terminal.modes
        terminal.run(WATCH)
        terminal.until(KEYS)
        assert terminal.modes["alternate_on"] == "1"
        return terminal

    def assert_restored(self, terminal: Terminal) -> None:
        terminal.until("$", without=KEYS)
        assert (terminal.modes, terminal.stty()) == (self.modes, self.before)

    @pytest.mark.parametrize(
        "number",
        [
            signal.SIGKILL,
            pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
            pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
        ],
    )
    def test_a_killed_view_leaves_the_terminal_as_it_was(self, watched, number):
        view = watched.program
        (guard,) = children(view)
        os.kill(view, number)
        self.assert_restored(watched)
        terminal_guard_ended(watched, guard)

    @pytest.mark.slow
    def test_a_killed_view_leaves_the_terminal_as_it_was_while_a_line_is_written(self, watched):
        watched.press("s")
        watched.until("say to the next attempt")
        os.kill(watched.program, signal.SIGKILL)
        watched.until("$", without="Enter sends")
        self.assert_restored(watched)

    def test_a_killed_guard_ends_the_view_which_leaves_the_terminal_as_it_was(self, watched):
        (guard,) = children(watched.program)
        os.kill(guard, signal.SIGKILL)
        watched.until("guards the terminal was killed")
        self.assert_restored(watched)

    @pytest.mark.slow
    def test_leaving_leaves_the_terminal_as_it_was_and_no_process(self, watched):
        (guard,) = children(watched.program)
        watched.press("q")
        self.assert_restored(watched)
        terminal_guard_ended(watched, guard)

    @pytest.mark.slow
    def test_a_suspended_view_comes_back(self, watched):
        watched.press("C-z")
        watched.until("Stopped")
        watched.run("fg")
        watched.until(KEYS)
        os.kill(watched.program, signal.SIGKILL)
        self.assert_restored(watched)


class TestStart:
    """`samuel run start --watch`."""

    START = f"{SAMUEL} run start --yes --watch"

    def test_a_run_goes_on_when_its_view_is_killed(self, lane_project, terminal):
        lane_project.prepare(2)
        lane_project.task("any", WAITS)
        terminal.run(self.START)
        terminal.until(">*1 in progress")
        (*_, run) = [pid for pid in children(terminal.program) if "--watch" in command_line(pid)]
        os.kill(terminal.program, signal.SIGKILL)
        terminal.until("$", without=KEYS)
        assert "--watch" in command_line(run)
        terminal.run(f"clear; {WATCH}")
        terminal.until(">*1 in progress")
        go(lane_project, "1", "2")
        assert "2 checked" in terminal.until(ENDED)

    @pytest.mark.slow
    def test_its_lines_follow_when_the_view_is_left_and_ctrl_c_stops_it(self, lane_project, terminal):
        lane_project.prepare(2)
        lane_project.task("any", WAITS)
        terminal.run(f"{self.START}; echo exit code $?")
        terminal.until(">*1 in progress")
        terminal.press("q")
        terminal.until("iteration 1/400: 1 Task 1")
        terminal.press("C-c")
        terminal.until("finishing this attempt")
        go(lane_project, "1", "2")
        screen = terminal.until("exit code 130")
        assert "ended: interrupted after 1 iteration" in screen

    @pytest.mark.slow
    def test_the_view_stays_when_the_run_has_ended_and_the_exit_code_is_that_of_the_run(
        self, lane_project, terminal
    ):
        lane_project.prepare(1)
        terminal.run(f"{self.START}; echo exit code $?")
        terminal.until(lambda screen: ENDED in screen and KEYS in screen)
        terminal.press("q")
        assert "ended: queue_empty" in terminal.until("exit code 0")

    @pytest.mark.slow
    def test_a_run_that_may_not_begin_says_why_and_shows_no_view(self, lane_project, terminal):
        lane_project.prepare(1)
        terminal.run(f"{SAMUEL} run start --yes --watch --agent absent; echo exit code $?")
        assert "absent" in terminal.until("exit code 2")
        assert terminal.modes["alternate_on"] == "0"

    @pytest.mark.slow
    def test_trust_is_asked_for_before_the_view(self, lane_project, terminal):
        lane_project.prepare(1)
        terminal.run(f"{SAMUEL} run start --watch; echo exit code $?")
        terminal.until("a(ll that follow)")
        terminal.run("a")
        terminal.until(lambda screen: ENDED in screen and KEYS in screen)

    def test_without_a_terminal_it_prints_its_lines(self, lane_project):
        lane_project.prepare(1)
        out = lane_project.samuel("run", "start", "--yes", "--watch").out
        assert "iteration 1/400: 1 Task 1" in out
        assert "\x1b" not in out

    @pytest.mark.parametrize("other", ["--json", "--dry-run"])
    def test_it_is_refused_with_options_that_leave_nothing_to_watch(self, lane_project, other):
        lane_project.prepare(1)
        ran = lane_project.samuel("run", "start", "--watch", other, code=2)
        assert f"`--watch` and `{other}` cannot both be given" in ran.err


def terminal_guard_ended(terminal: Terminal, guard: int) -> None:
    terminal.until(lambda screen: not Path(f"/proc/{guard}").exists())


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def test_without_a_terminal_it_prints_the_status(lane_project):
    lane_project.prepare(2)
    plain = lane_project.samuel("run", "watch")
    assert plain.out == lane_project.samuel("run", "status").out
    assert "pending" in plain.out


def test_json_names_the_command_that_has_the_data(lane_project):
    lane_project.prepare(1)
    assert "samuel run status --json" in lane_project.samuel("run", "watch", "--json", code=2).err


def test_without_the_library_it_names_the_extra(lane_project, terminal):
    lane_project.prepare(1)
    start = "import sys; sys.modules['textual'] = None; from samuel.__main__ import program; sys.exit(program())"
    for command in ("run watch", "run start --yes --watch"):
        terminal.run(f'clear; {INSTALLED[0]} -P -c "{start}" {command}; echo exit code $?')
        assert "samuel-loop[watch]" in terminal.until("exit code 1")
    assert status(lane_project)["counts"] == {"pending": 1}


@pytest.mark.slow
def test_in_an_agent_of_the_run_it_prints_the_status(lane_project):
    lane_project.prepare(1)
    lane_project.task("1", f'samuel run watch > "$outside/screen.txt"\n{WORKS}')
    lane_project.samuel("run", "start", "--yes")
    assert "in_progress" in (lane_project.outside / "screen.txt").read_text()
