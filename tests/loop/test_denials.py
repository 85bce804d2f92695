"""What hooks denied the agent of an attempt is in the attempt's record."""

from __future__ import annotations

from samuel.loop.history import History

from .conftest import GOOD, LoopProject

GUARD = """#!/bin/sh
if [ "$1" = hook ]; then echo PreAbilityCall; exit; fi
if grep -q force; then echo '{"decision": "deny", "reason": "no force push"}'; fi
"""
CALL = """echo '{"ability_id": "shell", "tool_input": {"command": "git push %s"}}' > call.json
samuel emit PreAbilityCall < call.json || true
"""


def test_denied_calls_of_an_agent_are_recorded_with_its_attempt(loop: LoopProject) -> None:
    guard = loop.root / ".samuel/hooks/guard"
    guard.parent.mkdir(parents=True, exist_ok=True)
    guard.write_text(GUARD)
    guard.chmod(0o755)
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
