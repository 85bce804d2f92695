"""The document with what people asked of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.base.errors import ConfigError
from samuel.files.atomic import Disk
from samuel.history.steering import Pause, Rejection, Steering, SteeringFile

REJECTION = Rejection(task="1", commit="abc", why="no", who="ada", at="2026-01-01T00:00:00.000Z")
CHANGES: dict[str, Callable[[Steering], Steering]] = {
    "say": lambda steering: steering.say("hurry", who="ada", at="now"),
    "pause": lambda steering: Steering(guidance=steering.guidance, pause=Pause(who="ada", at="now")),
    "reject": lambda steering: steering.reject(REJECTION),
    "retry": lambda steering: Steering(guidance=steering.guidance, agents={"1": "other"}),
}


class FailingDisk(Disk):
    """Fails at one of its operations, and at all that follow, as if the process had been killed there."""

    def __init__(self, operation: int) -> None:
        self._left = operation

    def __getattribute__(self, name: str) -> object:
        if name in ("create", "chmod", "write", "fsync", "replace", "remove"):
            left = object.__getattribute__(self, "_left") - 1
            object.__setattr__(self, "_left", left)
            if left <= 0:
                raise OSError(5, "killed")
        return object.__getattribute__(self, name)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_that_is_cut_off_at_any_write_happened_or_did_not(
    tmp_path: Path, change: Callable[[Steering], Steering]
) -> None:
    before = SteeringFile(tmp_path).change(lambda steering: steering.say("first", who="ada", at="now"))
    for operation in range(1, 12):
        try:
            SteeringFile(tmp_path, FailingDisk(operation)).change(change)
        except OSError:
            assert SteeringFile(tmp_path).load() in (before, change(before))
    assert SteeringFile(tmp_path).load() != before


def test_the_next_attempt_of_any_task_gets_a_general_text_once() -> None:
    [entry] = Steering().say("hurry", who="ada", at="now").guidance
    assert entry.is_for("1", held=(), unfinished=("1", "2"))
    assert not entry.is_for("2", held=(entry.id,), unfinished=("1", "2"))
    [delivered] = Steering(guidance=(entry,)).deliver([entry], "1").deliver([entry], "1").guidance
    assert delivered.delivered == ("1",)
    assert not delivered.is_for("2", held=(), unfinished=("2",))


def test_a_text_that_restarts_attempts_is_for_these_tasks_while_they_can_be_worked_on() -> None:
    [entry] = Steering().say("hurry", who="ada", at="now", restarts=("1", "2")).guidance
    assert [entry.is_for(task, (entry.id,), ("1", "2", "3")) for task in ("1", "2", "3")] == [True, True, False]
    assert entry.is_for("3", held=(), unfinished=("3",)), "both were completed before they could end"


def test_only_the_newest_delivered_texts_stay_in_the_document() -> None:
    steering = Steering()
    for number in range(150):
        steering = steering.say(str(number), who="ada", at="now")
        steering = steering.deliver(steering.guidance[-1:], "1")
    assert len(steering.guidance) == 100
    assert steering.say("next", who="ada", at="now").guidance[-1].id == "g151"


def test_a_document_of_another_shape_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "steering.json").write_text('{"guidance": [{"id": "x", "text": "", "who": "", "at": ""}]}')
    with pytest.raises(ConfigError, match=r"steering\.json"):
        SteeringFile(tmp_path).load()
