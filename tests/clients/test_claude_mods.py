"""Mods of Claude Code: which of them can answer before the hooks of its settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from samuel.clients.claude.mods import UNKNOWN, mods


def plugin(directory: Path, module: str, *, manifest: dict[str, Any] | None = None) -> Path:
    """A plugin with one module, in the form that Claude Code loads."""
    (directory / ".claude-plugin").mkdir(parents=True)
    (directory / "hooks").mkdir()
    (directory / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": "first", **(manifest or {})}))
    (directory / "hooks" / "hooks.json").write_text('{"modules": ["./mod.mjs"]}')
    (directory / "hooks" / "mod.mjs").write_text(module)
    return directory


@pytest.mark.parametrize(
    ("module", "reaches"),
    [
        ('export function register(on) { on("classic.PreToolUse", async () => ({})); }', ("classic.PreToolUse",)),
        ("export default (on) => on('tool.call', {tool: 'Bash'}, f);", ("tool.call",)),
        ("on(`tool.check`, f); on('tool.check', g)", ("tool.check",)),
        ("on('classic.*', f)", ("classic.*",)),
        ("on('*', f)", ("*",)),
        ("on('ui.render', f)", ()),
        ("on(\n  'session.append', f)", ("session.append",)),
        ("on(NAME, f)", (UNKNOWN,)),
        ("on(`tool.${kind}`, f)", (UNKNOWN,)),
        ("register = compiled", (UNKNOWN,)),
    ],
)
def test_a_mod_reaches_hooks_through_the_events_it_registers_for(tmp_path, module, reaches):
    plugin(tmp_path / "home" / "skills" / "first", module)
    (mod,) = mods(tmp_path / "home", tmp_path / "project")
    assert (mod.name, mod.reaches) == ("first@skills-dir", reaches)


def test_mods_of_the_user_of_the_project_and_of_a_marketplace_are_found(tmp_path):
    home, project = tmp_path / "home", tmp_path / "project"
    plugin(home / "skills" / "a", "on('tool.call', f)", manifest={"name": "of-user"})
    plugin(project / ".claude" / "skills" / "b", "on('tool.call', f)", manifest={"name": "of-project"})
    installed = plugin(tmp_path / "elsewhere", "on('tool.call', f)")
    (home / "plugins").mkdir()
    record = {"plugins": {"bought@market": [{"installPath": str(installed)}]}}
    (home / "plugins" / "installed_plugins.json").write_text(json.dumps(record))
    names = [mod.name for mod in mods(home, project)]
    assert names == ["of-user@skills-dir", "of-project@skills-dir", "bought@market"]


def test_a_plugin_without_modules_is_not_a_mod(tmp_path):
    directory = plugin(tmp_path / "home" / "skills" / "first", "on('tool.call', f)")
    (directory / "hooks" / "hooks.json").write_text('{"hooks": {"PreToolUse": []}}')
    assert mods(tmp_path / "home", tmp_path) == []


def test_modules_that_the_manifest_names_count(tmp_path):
    directory = plugin(tmp_path / "home" / "skills" / "first", "", manifest={"hooks": {"modules": ["own.js"]}})
    (directory / "hooks" / "hooks.json").unlink()
    (directory / "own.js").write_text("on('classic.Stop', f)")
    (mod,) = mods(tmp_path / "home", tmp_path)
    assert mod.reaches == ("classic.Stop",)


def test_no_home_and_broken_files_give_no_mods(tmp_path):
    assert mods(tmp_path / "none", tmp_path) == []
    broken = tmp_path / "home" / "skills" / "first" / "hooks"
    broken.mkdir(parents=True)
    (broken / "hooks.json").write_text("{")
    assert mods(tmp_path / "home", tmp_path) == []
