"""Hooks that tell the client to deny by itself where they fail, and what can answer before them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from samuel.bridges import files
from samuel.bridges.check import check
from samuel.bridges.files import BridgeContext
from samuel.clients.entries.bridge_plan import BridgeRequest
from samuel.clients.entries.hook_command import ON_PATH
from samuel.clients.table import RUN_BRIDGES


def with_claude(context: BridgeContext, version: str) -> BridgeContext:
    """The context of a user who has this version of Claude Code."""
    programs = context.user.home / f"bin-{version}"
    programs.mkdir()
    program = programs / "claude"
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    program.chmod(0o755)
    return replace(context, environment={**context.environment, "PATH": f"{programs}:/usr/bin:/bin"})


def on_failure(context: BridgeContext) -> dict[str, object]:
    """What each hook of the project says about a failure."""
    hooks = json.loads((context.root / ".claude/settings.json").read_text())["hooks"]
    return {event: entry[0]["hooks"][0].get("onFailure") for event, entry in hooks.items()}


def test_events_that_can_be_denied_fail_closed_where_the_client_can(context):
    context = with_claude(context, "2.1.326")
    files.add(context, ["claude"], "project")
    blocking = {event for event, value in on_failure(context).items() if value == "block"}
    assert blocking == {"PreToolUse", "UserPromptSubmit", "PreCompact", "ConfigChange"}


@pytest.mark.parametrize("version", ["2.1.294", "an unknown version"])
def test_an_older_client_gets_no_setting_that_it_does_not_know(context, version):
    context = with_claude(context, version)
    files.add(context, ["claude"], "project")
    assert set(on_failure(context).values()) == {None}
    assert not any("by itself" in note for note in check(context, "claude").notes)


def test_check_says_when_the_installed_client_could_fail_closed(context):
    files.add(context, ["claude"], "project")
    assert not any("by itself" in note for note in check(context, "claude").notes)
    newer = with_claude(context, "2.1.295")
    assert any("`samuel bridge add --project claude`" in note for note in check(newer, "claude").notes)
    files.add(newer, ["claude"], "project")
    assert not any("by itself" in note for note in check(newer, "claude").notes)
    assert not [problem for problem in check(newer, "claude").problems if "another version" in problem]


def test_check_names_the_promises_that_the_installed_version_is_too_old_for(context):
    older = with_claude(context, "2.1.213")
    files.add(older, ["claude"], "project")
    notes = [note for note in check(older, "claude").notes if "is older than" in note]
    assert [note.split()[5].rstrip(",") for note in notes] == ["2.1.295", "2.1.287", "2.1.217", "2.1.214"]
    assert "(`onFailure`)" in notes[0]
    newest = with_claude(context, "2.1.326")
    assert not any("is older than" in note for note in check(newest, "claude").notes)


def test_check_says_nothing_about_a_version_that_is_not_known(context):
    unknown = with_claude(context, "an unknown version")
    files.add(unknown, ["claude"], "project")
    assert not any("is older than" in note for note in check(unknown, "claude").notes)


def test_entries_with_and_without_the_setting_are_removed_without_a_trace(context):
    newer = with_claude(context, "2.1.326")
    files.add(newer, ["claude"], "project")
    files.remove(context, ["claude"], "project")
    assert not (context.root / ".claude").exists()


def mod(directory: Path, text: str) -> None:
    (directory / ".claude-plugin").mkdir(parents=True)
    (directory / "hooks").mkdir()
    (directory / ".claude-plugin" / "plugin.json").write_text('{"name": "first"}')
    (directory / "hooks" / "hooks.json").write_text('{"modules": ["./mod.mjs"]}')
    (directory / "hooks" / "mod.mjs").write_text(text)


def test_check_calls_a_mod_that_can_answer_first_drift(context):
    files.add(context, ["claude"], "project")
    mod(context.user.home / ".claude" / "skills" / "first", "on('classic.PreToolUse', f)")
    (drift,) = [problem for problem in check(context, "claude").problems if problem.startswith("drift: ")]
    assert "`first@skills-dir`" in drift
    assert "classic.PreToolUse" in drift


def test_a_mod_that_draws_is_no_problem(context):
    files.add(context, ["claude"], "project")
    mod(context.user.home / ".claude" / "skills" / "first", "on('ui.render', f)")
    assert not [problem for problem in check(context, "claude").problems if problem.startswith("drift: ")]


def test_a_run_disables_every_mod_of_the_user_and_the_project(context, tmp_path):
    mod(context.user.home / ".claude" / "skills" / "first", "on('ui.render', f)")
    mod(context.root / ".claude" / "skills" / "second", "on('classic.PreToolUse', f)")
    host = {"HOME": str(context.user.home)}
    request = BridgeRequest("claude", context.root, tmp_path, tmp_path, ON_PATH, host, ["PreToolUse"])
    option, text = RUN_BRIDGES["claude"](request).arguments
    assert option == "--settings"
    settings = json.loads(text)
    assert settings["enabledPlugins"] == {"first@skills-dir": False}
    assert settings["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"] == "block"
