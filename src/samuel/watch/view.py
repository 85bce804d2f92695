"""The view of a run in a terminal: it looks at the run twice a second, and its keys steer the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Static

from samuel.base.errors import SamuelError
from samuel.base.wording import block, line
from samuel.display.now.model import QuestionNow, RunNow
from samuel.display.now.task_texts import TaskText, agent_output, task_diff
from samuel.display.now.watcher import RunWatcher
from samuel.watch.board_lines import BoardState, board_lines, selected_index, selected_task, shown_attempt
from samuel.watch.guarded_terminal import TerminalGuard
from samuel.watch.run_actions import ActionResult, RunActions
from samuel.watch.text_screens import LineScreen, TextScreen, WrittenLine

EVERY = 0.5  # seconds between two looks at the run
GUARD_EVERY = 0.1
PAGE = 10  # tasks

HELP = """\
p         pause: the attempts under way finish, none begins
p again   resume
s         say something to the next attempt;
          Tab: to all attempts at the selected task
a         answer a question; Tab: the next question
x         stop when the attempts under way have finished
d         what the selected task changed, also so far
l         what the agent of the selected task wrote
Tab       the next lane
Up, Down  select a task; also PageUp, PageDown, Home, End
Esc       select the task of the lane that is shown
?         this page
q         leave the view; the run goes on

Enter sends a line that you write, Esc does not.

* is a task with an attempt under way, > the selected one.
The words of completed tasks are their grades: `proven`,
`checked`, `unverified`, ...
`samuel run show TASK` says more about a task,
`samuel hooks log` about hooks.
""".splitlines()


class BoardScreen(Screen[None]):
    """The board. Tab is a key of this screen: that of every other screen is its own."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "app.next_lane", "lane", priority=True)]

    def __init__(self, picture: Callable[[Size], Text]) -> None:
        super().__init__()
        self._picture = picture

    def compose(self) -> ComposeResult:
        yield Static(id="board", markup=False)

    def on_mount(self) -> None:
        self.draw()

    def on_resize(self) -> None:
        self.draw()

    def draw(self) -> None:
        for board in self.query("#board").results(Static):  # none before it is composed
            board.update(self._picture(self.app.size))


class RunView(App[str]):
    """The board, with the screens above it. It returns why it ended; "" if its user left it."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { background: ansi_default; color: ansi_default; layout: vertical; overflow: hidden; }
    Static { background: ansi_default; color: ansi_default; width: 100%; }
    #board { height: 100%; }
    .title, .keys { height: 1; }
    .description { height: auto; max-height: 70%; }
    TextLines { height: 1fr; background: ansi_default; color: ansi_default; scrollbar-size: 0 0; }
    Input { border: none; height: 1; padding: 0; background: ansi_default; color: ansi_default; }
    Input:focus { border: none; background: ansi_default; text-style: underline; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave", "quit"),
        Binding("ctrl+c", "leave", "quit", priority=True),
        Binding("ctrl+z", "suspend_process", "suspend", priority=True),
        Binding("p", "pause", "pause"),
        Binding("s", "say", "say"),
        Binding("a", "answer", "answer"),
        Binding("x", "stop", "stop"),
        Binding("d", "show_diff", "diff"),
        Binding("l", "show_log", "log"),
        Binding("question_mark", "show_help", "help"),
        Binding("up", "select(-1)", "select"),
        Binding("down", "select(1)", "select"),
        Binding("pageup", f"select(-{PAGE})", "select"),
        Binding("pagedown", f"select({PAGE})", "select"),
        Binding("home", "select(-1000000)", "select"),
        Binding("end", "select(1000000)", "select"),
        Binding("escape", "follow", "follow"),
    ]

    def __init__(self, watcher: RunWatcher, actions: RunActions, guard: TerminalGuard) -> None:
        super().__init__(ansi_color=True)
        self._watcher = watcher
        self._actions = actions
        self._guard = guard
        self._now = watcher.look_or_say_why()
        self._state = BoardState()
        self._is_looking = False
        self._log_task = ""

    # Drawing

    def get_default_screen(self) -> BoardScreen:
        self._board = BoardScreen(self._picture)
        return self._board

    def on_mount(self) -> None:
        self._guard.modes_set()
        self.set_interval(EVERY, self._look)
        self.set_interval(GUARD_EVERY, self._check_guard)

    def _picture(self, size: Size) -> Text:
        return Text("\n").join(board_lines(self._now, self._state, size.width, size.height))

    def _look(self) -> None:
        if not self._is_looking:  # a slow disk must not queue looks
            self._is_looking = True
            self.run_worker(self._look_in_thread, thread=True, exit_on_error=True)

    def _look_in_thread(self) -> None:
        try:
            now = self._watcher.look_or_say_why()
            log = _text_or_why(agent_output, self._watcher, self._log_task) if self._log_task else None
        finally:
            self._is_looking = False
        self.call_from_thread(self._show, now, log)

    def _show(self, now: RunNow, log: TaskText | None) -> None:
        self._now = now
        self._board.draw()
        if log is not None and isinstance(self.screen, TextScreen) and self._log_task:
            self.screen.put(log.lines)

    def _check_guard(self) -> None:
        """Without its guard, the view could leave the terminal in disorder when it is killed: so it leaves now."""
        if not self._guard.is_alive:
            self.exit("the process that guards the terminal was killed, so the view has ended")

    # Keys

    def action_leave(self) -> None:
        self.exit("")

    def action_next_lane(self) -> None:
        if self._now.attempts:
            self._change(lane=(self._state.lane + 1) % len(self._now.attempts), task=-1)

    def action_select(self, step: int) -> None:
        last = len(self._now.tasks) - 1
        if last >= 0:
            self._change(task=min(max(selected_index(self._now, self._state) + step, 0), last))

    def action_follow(self) -> None:
        self._change(task=-1)

    def action_pause(self) -> None:
        self._act(lambda: self._actions.pause_or_resume(self._now))

    def action_stop(self) -> None:
        self._act(self._actions.stop)

    def action_say(self) -> None:
        task = selected_task(self._now, self._state)
        targets = ["", *([task.id] if task else [])]

        def send(written_line: WrittenLine | None) -> None:
            if written_line is not None:
                self._act(lambda: self._actions.say(written_line.text, written_line.target))

        self.push_screen(LineScreen(targets, _target_of_words, ""), send)

    def action_answer(self) -> None:
        questions = {question.id: question for question in self._now.questions}
        if not questions:
            self._change(note="no question waits for an answer", is_error=False)
            return
        task = selected_task(self._now, self._state)
        of_task = [question.id for question in questions.values() if task and question.task == task.id]

        def send(written_line: WrittenLine | None) -> None:
            if written_line is not None:
                self._act(lambda: self._actions.answer(written_line.target, written_line.text))

        first = next(iter(of_task), next(iter(questions)))
        self.push_screen(LineScreen([*questions], lambda id: _question_lines(questions[id]), first), send)

    def action_show_diff(self) -> None:
        self._show_text(task_diff, is_diff=True)

    def action_show_log(self) -> None:
        self._show_text(agent_output, is_diff=False)

    def action_show_help(self) -> None:
        self._open(TextScreen("keys", HELP))

    def _show_text(self, read: Callable[[RunWatcher, str], TaskText], *, is_diff: bool) -> None:
        task = selected_task(self._now, self._state)
        attempt = shown_attempt(self._now, self._state)
        if task is None and attempt is None:
            self._change(note="there is no task yet", is_error=False)
            return
        task_id = task.id if task is not None else ""

        def show() -> None:
            try:
                text = read(self._watcher, task_id)
            except SamuelError as error:
                self.call_from_thread(self._change, note=error.message, is_error=True)
            else:
                screen = TextScreen(text.title, text.lines, is_diff=is_diff, at_end=not is_diff)
                self.call_from_thread(self._open, screen, "" if is_diff else task_id)

        self.run_worker(show, thread=True)

    def _open(self, screen: TextScreen, log_task: str = "") -> None:
        """Show a text, in place of the one that is shown."""
        if isinstance(self.screen, TextScreen):
            self.pop_screen()
        self._log_task = log_task

        def closed(result: None) -> None:
            if self.screen is self.screen_stack[0]:
                self._log_task = ""

        self.push_screen(screen, closed)

    def _act(self, action: Callable[[], ActionResult]) -> None:
        """Do what a key asks, outside of the loop that draws, and look at the run at once."""

        def work() -> None:
            result = action()
            self.call_from_thread(self._change, note=result.words, is_error=result.is_error)
            self.call_from_thread(self._look)

        self.run_worker(work, thread=True)

    def _change(self, **fields: object) -> None:
        self._state = self._state._replace(**fields)  # type: ignore[arg-type]
        self._board.draw()

    def _fatal_error(self) -> None:
        """End without Textual's own traceback: the command's edge says what happened, as for every command."""
        self._close_messages_no_wait()

    @property
    def failure(self) -> Exception | None:
        """What ended the view, if that was a bug."""
        return self._exception


def _text_or_why(read: Callable[[RunWatcher, str], TaskText], watcher: RunWatcher, task_id: str) -> TaskText:
    try:
        return read(watcher, task_id)
    except SamuelError as error:
        return TaskText("", [line(error.message)])


def _target_of_words(task_id: str) -> list[str]:
    if task_id:
        return [f"say to all attempts at task {task_id}:"]
    return ["say to the next attempt:"]


def _question_lines(question: QuestionNow) -> list[str]:
    lines = [f"{question.id}, task {question.task} {question.title}", *block(question.text).splitlines()]
    lines += [f"  {number}. {line(option)}" for number, option in enumerate(question.options, start=1)]
    return [*lines, "answer with the number of an option, or any text:" if question.options else "answer:"]
