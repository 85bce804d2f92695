"""What a view in another process sees of a run with lanes."""

from __future__ import annotations

import pytest
from tests.workspaces.lanes.project import LaneProject

from samuel.display.now.model import RunNow
from samuel.setup.watched_run import run_watcher


def test_each_lane_is_an_attempt_with_what_its_agent_does(lanes: LaneProject, monkeypatch: pytest.MonkeyPatch):
    lanes.prepare(2)
    lanes.task("any", f'while [ ! -e "{lanes.outside}/go" ]; do sleep 0.02; done; echo x > "w-$SAMUEL_TASK_ID"')
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, lanes.env[name])
    watcher = run_watcher(lanes.root)
    moments: list[RunNow] = []

    def both_at_work() -> bool:
        moments.append(watcher.look())
        return [attempt.doing for attempt in moments[-1].attempts] == ["agent at work"] * 2

    with lanes.running(lanes=2) as process:
        lanes.wait_for(both_at_work, process)
        assert moments[-1].counts == {"in_progress": 2}
        assert [(attempt.task, attempt.name) for attempt in moments[-1].attempts] == [
            ("1", "lane 1"),
            ("2", "lane 2"),
        ]
        (lanes.outside / "go").touch()
        assert process.wait(timeout=600) == 0, lanes.screen
    assert (watcher.look().phase, watcher.look().counts) == ("ended", {"completed": 2})
