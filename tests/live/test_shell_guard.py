"""shell_guard in real clients: what it stops, and that it disturbs nothing else."""

from __future__ import annotations

import re

import pytest
from tests.length import at_length
from tests.live.conftest import LiveProject, Played
from tests.live.everyday_work import DANGEROUS, EVERYDAY, everyday_project, losses, save
from tests.live.trust import trust_hooks

GUARDED = at_length(["codex"], ["claude", "codex"])
RULE = re.compile(r"\(rule `([a-z-]+)` of shell_guard\)")
FAILED = re.compile(r"(?i)exit(?:ed with)? code:? [1-9]|` rejected: ")
SETTINGS = """
[methodology.ralph]
agent = "{client}"
pause = "0s"
max_iterations = 1
commit = false
quality_checks = ["test -f README.md"]
"""
COMMANDS = (*EVERYDAY, *DANGEROUS)


def stopped(played: Played) -> dict[str, str]:
    """The rule that stopped each command, for those that were stopped."""
    assert len(played.results) >= len(COMMANDS), played
    pairs = zip(COMMANDS, played.results, strict=False)
    return {command: match[1] for command, result in pairs if (match := RULE.search(result.text))}


def assert_guarded(live: LiveProject, played: Played) -> None:
    assert stopped(played) == DANGEROUS, played
    failed = [
        (command, result.text)
        for command, result in zip(EVERYDAY, played.results, strict=False)
        if FAILED.search(result.text)
    ]
    assert not failed, failed
    assert "SECRET-KEY" not in played.results_text
    assert not losses(live), played


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("client", GUARDED, indirect=True)
def test_a_session_by_the_bridge_loses_nothing_and_is_not_disturbed(live: LiveProject, client: str) -> None:
    everyday_project(live)
    live.samuel("bridge", "add", client)
    trust_hooks(live, client)
    save(live)
    assert_guarded(live, live.play(client, *COMMANDS))


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("client", GUARDED, indirect=True)
def test_a_run_loses_nothing_and_is_not_disturbed(live: LiveProject, client: str) -> None:
    live.write("samuel.toml", SETTINGS.format(client=client))
    live.write("prd.md", "# Plan\n\n- [ ] 1.1 Write the file `rewritten`\n")
    everyday_project(live)
    live.samuel("trust", "--yes")
    live.samuel("run", "init", "--prd", "prd.md", "--yes", "--no-commit")
    save(live)
    assert_guarded(live, live.loop(client, *COMMANDS))
