"""What the keys of the view ask of a run: the use cases of the commands, with their results as one line."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from samuel.base.clock import SystemClock, iso
from samuel.base.errors import SamuelError
from samuel.display.now.model import RunNow
from samuel.setup import steering
from samuel.setup.run_state import change_tasks
from samuel.tasks.changes import find_question
from samuel.tasks.rights import Asker
from samuel.tasks.task import Task, Tasks


class ActionResult(NamedTuple):
    words: str
    is_error: bool = False


class RunActions:
    """Each method does what its command does, and says how that ended."""

    def __init__(self, root: Path, methodology: str = "") -> None:
        self._root = root
        self._methodology = methodology

    def pause_or_resume(self, now: RunNow) -> ActionResult:
        try:
            if now.paused:
                steering.resume(self._root, methodology=self._methodology)
                return ActionResult("resumed: attempts begin again")
            steering.pause(self._root, methodology=self._methodology)
            return ActionResult("paused: the attempts under way finish, and none begins")
        except SamuelError as error:
            return _failed(error)

    def say(self, text: str, task: str) -> ActionResult:
        try:
            steering.say(self._root, text, task=task, methodology=self._methodology)
        except SamuelError as error:
            return _failed(error)
        return ActionResult(f"said to {f'the attempts at task {task}' if task else 'the next attempt'}: {text}")

    def stop(self) -> ActionResult:
        try:
            steering.stop(self._root, methodology=self._methodology)
        except SamuelError as error:
            return _failed(error)
        return ActionResult("stopping: the attempts under way finish")

    def answer(self, question_id: str, text: str) -> ActionResult:
        at = iso(SystemClock().now())

        def change(who: Asker, tasks: Tasks) -> tuple[Task, ...]:
            return who.answer(tasks, question_id, text=text, at=at)

        try:
            task, question = find_question(change_tasks(self._root, change, self._methodology), question_id)
        except SamuelError as error:
            return _failed(error)
        return ActionResult(f"{question.id} is answered: {question.answer}; task {task.id} is {task.status}")


def _failed(error: SamuelError) -> ActionResult:
    return ActionResult(f"{error.message}; {error.hint}" if error.hint else error.message, is_error=True)
