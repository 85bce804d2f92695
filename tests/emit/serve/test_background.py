"""Handlers in the background of a server: the caller is answered, and they go on when the server is stopped."""

from __future__ import annotations

import json

import pytest

from .served_project import ServedProject, eventually, wait_for_end, yaml_hook

TURN = json.dumps({"response": "r", "turn_number": 1}).encode()
WAITS = "cat > /dev/null; touch began; while [ ! -e go ]; do sleep 0.02; done; touch done"


@pytest.mark.slow
def test_handler_in_the_background_goes_on_when_its_server_is_stopped(served: ServedProject) -> None:
    yaml_hook(served.root, "late", "TurnEnd", WAITS, "background: true\n")
    served.files.trust()
    pid = served.start()
    cold = served.cold("TurnEnd", stdin=TURN)
    assert served.warm("TurnEnd", stdin=TURN) == cold
    assert (cold.code, cold.out, served.answered()) == (0, b"{}\n", 1)
    eventually((served.root / "began").exists, "the handler was not started")
    served.samuel("serve", "stop")
    wait_for_end(pid)
    assert not (served.root / "done").exists()
    (served.root / "go").touch()
    eventually(lambda: len(_recorded(served)) == 2, "the calls are not in the journal")
    assert [call["outcome"] for call in _recorded(served)] == ["ok", "ok"]


def _recorded(served: ServedProject) -> list[dict[str, object]]:
    """The background calls in the journal."""
    lines = [
        json.loads(line)
        for segment in (served.root / ".samuel/run/journal").iterdir()
        for line in segment.read_text().splitlines()
    ]
    return [line for line in lines if line.get("background")]
