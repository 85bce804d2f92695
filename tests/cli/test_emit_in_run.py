"""The bridge of a run asks about the run's own project, or is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.clients.client_reading import capture, read

from samuel.clients.dialect.protocol import ClientAnswer


def test_a_call_of_a_run_is_denied_where_its_project_is_no_longer_found(
    samuel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMUEL_PINNED", "agreed:0")
    monkeypatch.setenv("SAMUEL_PROJECT_ROOT", str(tmp_path / "project-without-markers"))
    ran = samuel("emit", "--as", "claude", "PreToolUse", stdin=json.dumps(capture("claude", "PreToolUse")))
    reading = read("claude", "PreToolUse", ClientAnswer(ran.out, ran.err, ran.code))
    assert reading.decision == "deny"
    assert "the run is about" in reading.reason
