"""What the keys of the view ask of a run: the use cases of the commands, with their results as one line."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import SamuelError
from samuel.display.now.model import RunNow
from samuel.setup import steering
from samuel.setup.decisions import answer_question


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
        try:
            task, question = answer_question(self._root, question_id, text, methodology=self._methodology)
        except SamuelError as error:
            return _failed(error)
        return ActionResult(f"{question.id} is answered: {question.answer}; task {task.id} is {task.status}")


def _failed(error: SamuelError) -> ActionResult:
    return ActionResult(f"{error.message}; {error.hint}" if error.hint else error.message, is_error=True)
