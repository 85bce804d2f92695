"""Claude Code with mods, which run inside of it, and with hooks of its settings that fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.length import at_length
from tests.live.conftest import LiveProject
from tests.live.guarded_project import fired, guard_project
from tests.live.test_in_the_loop import SETTINGS

ANSWERS_FIRST = 'export function register(on) { on("classic.PreToolUse", async ($, e, next) => ({})); }'
THROWS = """
export function register(on) {
  on("tool.call", async ($, e, next) => { throw new Error("no"); });
  on("classic.PreToolUse", async ($, e, next) => { throw new Error("no"); });
}
"""
ONLY_CLAUDE = pytest.mark.parametrize("client", at_length([], ["claude"]), indirect=True)


def add_mod(home: Path, text: str) -> None:
    """A mod of the user, which Claude Code loads without asking."""
    directory = home / ".claude" / "skills" / "first"
    (directory / ".claude-plugin").mkdir(parents=True)
    (directory / "hooks").mkdir()
    (directory / ".claude-plugin" / "plugin.json").write_text('{"name": "first", "version": "1.0.0"}')
    (directory / "hooks" / "hooks.json").write_text('{"modules": ["./mod.mjs"]}')
    (directory / "hooks" / "mod.mjs").write_text(text)


@pytest.mark.live
@pytest.mark.slow
@ONLY_CLAUDE
def test_a_mod_that_answers_first_is_drift(live: LiveProject, client: str) -> None:
    live.samuel("bridge", "add", client)
    add_mod(live.home, ANSWERS_FIRST)
    (checked,) = live.answer("bridge", "check", "--live", client)
    assert checked["live"]["verdict"] == "drift", checked
    assert any("`first@skills-dir`" in problem for problem in checked["problems"]), checked


@pytest.mark.live
@pytest.mark.slow
@ONLY_CLAUDE
def test_a_mod_that_throws_keeps_no_guard_from_being_asked(live: LiveProject, client: str) -> None:
    live.samuel("bridge", "add", client)
    add_mod(live.home, THROWS)
    (checked,) = live.answer("bridge", "check", "--live", client)
    assert checked["live"]["verdict"] == "ok", checked
    assert any(problem.startswith("drift: `first@skills-dir`") for problem in checked["problems"]), checked


@pytest.mark.live
@pytest.mark.slow
@ONLY_CLAUDE
def test_a_run_starts_without_the_mods_of_the_user(live: LiveProject, client: str) -> None:
    live.write("samuel.toml", SETTINGS.format(client=client))
    live.write("prd.md", "# Plan\n\n- [ ] 1.1 Write the file `rewritten`\n")
    victim = guard_project(live)
    add_mod(live.home, ANSWERS_FIRST)
    live.samuel("run", "init", "--prd", "prd.md", "--yes", "--no-commit")
    played = live.loop(client, "rm -rf victim")
    assert victim.read_text() == "precious", played
    assert len(fired(live, "PreAbilityCall")) == 1, played


@pytest.mark.live
@pytest.mark.slow
@ONLY_CLAUDE
@pytest.mark.parametrize(
    ("command", "timeout"), [("exit 1", 60), ("exit 3", 60), ("/no/such/program", 60), ("sleep 60", 2)]
)
def test_claude_denies_by_itself_where_a_hook_says_so_and_fails(
    live: LiveProject, client: str, command: str, timeout: int
) -> None:
    """What `onFailure` is worth: the same hook without it lets the call through."""
    for on_failure, runs in (({}, True), ({"onFailure": "block"}, False)):
        hook = {"type": "command", "command": command, "timeout": timeout, **on_failure}
        hooks = {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}
        live.write(".claude/settings.json", json.dumps({"hooks": hooks}))
        mark = live.root / f"ran-{len(on_failure)}"
        played = live.play(client, f"touch {mark.name}")
        assert mark.exists() is runs, (command, on_failure, played)
