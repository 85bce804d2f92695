"""`.system/logs/hooks.log`: a line a call, where there is a `.system/`, and never at the cost of the event."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from samuel.files.log import MOST_BYTES
from samuel.hooks.decorator import hook
from samuel.testing import FakeClock, Recorder, SamuelProject

LOG = ".system/logs/hooks.log"


@pytest.fixture
def system(samuel_project: SamuelProject) -> Path:
    directory = samuel_project.root / ".system"
    directory.mkdir()
    return directory


def fire(project: SamuelProject, *handlers: Any, **fields: Any) -> list[str]:
    """Fire an event; gives the warnings."""
    with project.open(handlers=handlers, clock=FakeClock()) as app:
        app.fire("TurnEnd", response="x", turn_number=1, **fields)
    return app.warnings


def lines(project: SamuelProject) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.root / LOG).read_text().splitlines()]


def test_hooks_log_has_one_line_per_call(samuel_project: SamuelProject, system: Path) -> None:
    @hook("TurnEnd")
    def broken(event: Any) -> Any:
        raise RuntimeError("why")

    careful = Recorder("TurnEnd", name="a", returns={"logs": [{"level": "warn", "message": "careful", "more": 1}]})
    assert fire(samuel_project, careful, broken, session_id="s") == []
    assert sorted(lines(samuel_project), key=lambda line: line["hook"]) == [
        {
            "timestamp": "2025-06-15T15:06:40.000Z",
            "hook": "a",
            "event": "TurnEnd",
            "status": "ok",
            "duration_ms": 0.0,
            "session_id": "s",
            "logs": [{"level": "warn", "message": "careful"}],
        },
        {
            "timestamp": "2025-06-15T15:06:40.000Z",
            "hook": "broken",
            "event": "TurnEnd",
            "status": "crashed",
            "duration_ms": 0.0,
            "session_id": "s",
            "message": "RuntimeError: why",
        },
    ]


def test_hooks_log_has_no_lines_of_built_in_handlers(samuel_project: SamuelProject, system: Path) -> None:
    samuel_project.fire("quality.check", commands=[])
    assert not (system / "logs").exists()


def test_a_long_hooks_log_is_rotated(samuel_project: SamuelProject, system: Path) -> None:
    (system / "logs").mkdir()
    (samuel_project.root / LOG).write_bytes(b"x" * (MOST_BYTES + 1))
    for _ in range(2):
        fire(samuel_project, Recorder("TurnEnd"))
    assert (system / "logs/hooks.log.1").stat().st_size > MOST_BYTES
    assert len(lines(samuel_project)) == 1


@pytest.mark.parametrize("what", ["logs", "logs/hooks.log"])
def test_hooks_log_is_not_written_through_links(
    samuel_project: SamuelProject, system: Path, tmp_path: Path, what: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (system / what).parent.mkdir(exist_ok=True)
    (system / what).symlink_to(elsewhere if what == "logs" else elsewhere / "file")
    (warning,) = fire(samuel_project, Recorder("TurnEnd"))
    assert warning.startswith("`.system/logs/hooks.log` cannot be written")
    assert os.listdir(elsewhere) == []


def test_a_pipe_in_place_of_hooks_log_does_not_block(samuel_project: SamuelProject, system: Path) -> None:
    (system / "logs").mkdir()
    os.mkfifo(samuel_project.root / LOG)
    assert len(fire(samuel_project, Recorder("TurnEnd"))) == 1


def test_hooks_log_says_what_an_observed_hook_would_have_done(samuel_project: SamuelProject, system: Path) -> None:
    logs = [{"level": "info", "message": "looked"}]
    returns = {"decision": "deny", "reason": "not now", "logs": logs}
    with samuel_project.open(handlers=[Recorder("PreAbilityCall", mode="observe", returns=returns)]) as app:
        assert app.fire("PreAbilityCall", ability_id="x").ok
    (line,) = lines(samuel_project)
    assert (line["status"], line["message"], line["logs"]) == ("ok", "would deny: not now", logs)
