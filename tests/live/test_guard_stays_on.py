"""A program that the agent runs tries to switch shell_guard off; then the agent deletes what git does not have.

tests/bridges/test_guard_stays_on.py has all the attempts, with an agent that is scripted. Here a few of them show
what the real clients do when their files change while they work.
"""

from __future__ import annotations

import pytest
from tests.bridges.test_guard_stays_on import PRELUDE, SCRIPTS
from tests.length import at_length
from tests.live.conftest import LiveProject
from tests.live.everyday_work import PRECIOUS, everyday_project, save
from tests.live.test_shell_guard import GUARDED, SETTINGS
from tests.live.trust import trust_hooks

HOOKS_OF_CODEX = {"empties the settings": "open('.codex/hooks.json', 'w').write('{}')"}
ATTEMPTS = at_length(
    ["changes the guard's file"],
    [
        "changes the guard's file",
        "removes all of .system",
        "disables it with samuel",
        "empties the settings",
        "switches all hooks off",
    ],
)
# SECURITY.md names what is lost by itself: Claude Code reads its settings again when they change, Codex does not.
LOST_BY_ITSELF = {
    "claude": {"disables it with samuel", "empties the settings", "switches all hooks off"},
    "codex": {"disables it with samuel"},
}


def add_tool(live: LiveProject, client: str, attempt: str) -> None:
    """The program that the agent will run."""
    scripts = {**SCRIPTS, **(HOOKS_OF_CODEX if client == "codex" else {})}
    live.write("tool.py", PRELUDE + scripts[attempt])


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("attempt", ATTEMPTS)
@pytest.mark.parametrize("client", GUARDED, indirect=True)
def test_a_session_by_the_bridge_keeps_its_guard(live: LiveProject, client: str, attempt: str) -> None:
    everyday_project(live)
    add_tool(live, client, attempt)
    live.samuel("bridge", "add", client)
    trust_hooks(live, client)
    save(live)
    played = live.play(client, f"PATH={live.env['PATH']} python3 tool.py", "sleep 3", f"rm {PRECIOUS}")
    is_kept = (live.root / PRECIOUS).exists()
    assert is_kept is (attempt not in LOST_BY_ITSELF[client]), played.results


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("attempt", ATTEMPTS)
@pytest.mark.parametrize("client", GUARDED, indirect=True)
def test_a_run_keeps_its_guard(live: LiveProject, client: str, attempt: str) -> None:
    live.write("samuel.toml", SETTINGS.format(client=client))
    live.write("prd.md", "# Plan\n\n- [ ] 1.1 Write the file `rewritten`\n")
    everyday_project(live)
    add_tool(live, client, attempt)
    live.samuel("bridge", "add", client)
    live.samuel("trust", "--yes")
    live.samuel("run", "init", "--prd", "prd.md", "--yes", "--no-commit")
    save(live)
    played = live.loop(client, "python3 tool.py", "sleep 3", f"rm {PRECIOUS}")
    assert (live.root / PRECIOUS).exists(), played.results
    assert len(played.results) >= 3, played
