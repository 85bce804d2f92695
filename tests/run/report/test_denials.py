"""What hooks denied the agent of an attempt is in the attempt's record."""

from __future__ import annotations

import pytest
from tests.run.conftest import GOOD, LoopProject

from samuel.history.history import History

GUARD = """#!/bin/sh
if [ "$1" = hook ]; then echo PreAbilityCall; exit; fi
if grep -q force; then echo '{"decision": "deny", "reason": "no force push"}'; fi
"""
OBSERVED = """import samuel


@samuel.hook("PreAbilityCall", mode="observe")
def cautious(event):
    return {"decision": "deny", "reason": "no push at all"}
"""
CALL = """echo '{"ability_id": "shell", "tool_input": {"command": "git push %s"}}' > call.json
samuel emit PreAbilityCall < call.json || true
"""


@pytest.mark.slow
def test_denied_calls_of_an_agent_are_recorded_with_its_attempt(loop: LoopProject) -> None:
    guard = loop.root / ".samuel/hooks/guard"
    guard.parent.mkdir(parents=True, exist_ok=True)
    guard.write_text(GUARD)
    guard.chmod(0o755)
    cautious = loop.root / ".samuel/hooks/cautious.py"
    cautious.write_text(OBSERVED)
    loop.project.trust()
    settings = loop.root / "samuel.toml"
    settings.write_text(settings.read_text().replace("[agents.mine]\n", '[agents.mine]\nunguarded = "accept"\n'))
    loop.tasks("1", "2")
    loop.agent(f'if [ "$SAMUEL_TASK_ID" = 2 ]; then\n{CALL % "--force"}{CALL % "origin"}fi\n{GOOD}')
    run = loop.run()
    with loop.open() as app:
        history = History.of(app.workplace.state, app.workplace.record)
    denials = {attempt.task_id: attempt.denials for attempt in history.load(run.run_id).attempts}
    assert denials == {"1": (), "2": ("guard denied PreAbilityCall: no force push",)}
    would_denials = {attempt.task_id: attempt.would_denials for attempt in history.load(run.run_id).attempts}
    assert would_denials == {"1": (), "2": ("cautious would have denied PreAbilityCall: no push at all",) * 2}
    report = next(loop.root.rglob("report.md")).read_text()
    assert report.count("cautious would have denied PreAbilityCall: no push at all") == 1
