"""Clients that run the hooks of Claude Code, too: one guard holds, and each call counts once."""

from __future__ import annotations

import pytest
from tests.live.conftest import CLIENTS, LiveProject
from tests.live.guarded_project import fired, guard_project

TRUSTED = {"grok": {"GROK_FOLDER_TRUST": "0"}, "copilot": {}}


@pytest.fixture(params=list(TRUSTED))
def relaying(request: pytest.FixtureRequest) -> str:
    """The name of an installed client that runs the hooks of Claude Code."""
    name = str(request.param)
    if not (CLIENTS / "bin" / name).exists():
        pytest.skip(f"{name} is not in {CLIENTS}: `make agents` installs it")
    return name


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("others", [(), ("cursor",), ("own",)], ids=["claude", "cursor", "own"])
def test_a_guard_holds_through_the_hooks_of_claude_and_counts_once(
    live: LiveProject, relaying: str, others: tuple[str, ...]
) -> None:
    victim = guard_project(live)
    agents = ["claude", *(relaying if other == "own" else other for other in others)]
    live.samuel("bridge", "add", *agents)
    if relaying == "copilot":
        live.home.joinpath(".copilot").mkdir()
        live.home.joinpath(".copilot/config.json").write_text(f'{{"trustedFolders": ["{live.root}"]}}')

    played = live.play(relaying, "echo same", "echo same", "rm -rf victim", env=TRUSTED[relaying])

    assert victim.read_text() == "precious", played
    assert "the victim stays where it is" in played.results_text, played
    calls = fired(live, "PreAbilityCall")
    assert [call["ability_id"] for call in calls] == ["shell"] * 3, played
    assert len(fired(live, "UserPromptSubmit")) == 1, played
