"""`samuel hooks import`: hooks of other agents as YAML hooks, which then work without those agents' files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GUARD = """#!/bin/sh
case $(cat) in *'"tool_name":"Bash"'*rm*) echo "no removal" >&2; exit 2 ;; esac
"""
COMMAND = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'
YAML = """\
id: claude-guard
summary: "PreToolUse of .claude/settings.json"
event_type: PreAbilityCall
timeout: "10s"
match:
  ability_id: ["shell", "edit", "mcp:db/query"]
handler:
  kind: script
  protocol: claude/PreToolUse
  shell: true
  command: "\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/guard.sh"
"""


@pytest.fixture
def claude(put: Callable[..., Path]) -> Callable[..., Path]:
    put(".claude/hooks/guard.sh", GUARD, 0o755)

    def write(matcher: str = "Bash|Edit|MultiEdit|mcp__db__query", **entry: Any) -> Path:
        hook = {"type": "command", "command": COMMAND, "timeout": 10, **entry}
        hooks = {"PreToolUse": [{"matcher": matcher, "hooks": [hook]}]}
        return put(".claude/settings.json", json.dumps({"hooks": hooks}))

    return write


def call(samuel: Any, command: str) -> Any:
    context = {"ability_id": "shell", "tool_input": {"command": command}}
    return samuel("emit", "PreAbilityCall", stdin=json.dumps(context))


def test_imported_hook_works_without_the_agents_file(samuel, claude, project) -> None:
    settings = claude()
    ran = samuel("hooks", "import")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == "wrote .system/hooks/claude-guard.yaml"
    assert (project / ".system/hooks/claude-guard.yaml").read_text() == YAML
    settings.unlink()
    assert call(samuel, "ls").code == 2  # not trusted yet
    trusted = samuel("trust", "--yes").out
    assert ".system/hooks/claude-guard.yaml" in trusted
    assert ".claude/hooks/guard.sh" in trusted  # the script that its variable leads to
    assert call(samuel, "ls") == (0, "{}\n", "")
    assert call(samuel, "rm x").json == {"decision": "deny", "reason": "no removal"}


def test_dry_run_shows_and_writes_nothing(samuel, claude, project) -> None:
    claude()
    ran = samuel("hooks", "import", "claude", "--dry-run")
    assert ran.out == f"== .system/hooks/claude-guard.yaml\n{YAML}\n"
    assert not (project / ".system").exists()


def test_existing_file_is_never_changed(samuel, claude, put) -> None:
    claude()
    mine = put(".system/hooks/claude-guard.yaml", "id: mine\n")
    data = samuel("hooks", "import", "--json").json["data"]
    assert data["written"] == []
    assert data["skipped"] == [{"name": "claude/guard", "why": "`.system/hooks/claude-guard.yaml` exists already"}]
    assert mine.read_text() == "id: mine\n"


@pytest.mark.parametrize(
    ("matcher", "entry", "why"),
    [
        ("Bash", {"type": "prompt"}, "its type is `prompt`"),
        ("Notebook.*", {}, "its matcher `Notebook.*` is an expression"),
    ],
)
def test_what_cannot_be_carried_over_is_said(samuel, claude, matcher, entry, why) -> None:
    claude(matcher, **entry)
    (row,) = samuel("hooks", "import", "--json").json["data"]["skipped"]
    assert why in row["why"]


@pytest.mark.parametrize(
    ("matcher", "ability_id"),
    [("mcp__.*", ["mcp:*"]), ("mcp__db__.*", ["mcp:db/*"]), ("Write", ["write"]), ("Odd", ["Odd"])],
)
def test_matchers_become_patterns_of_match(samuel, claude, matcher, ability_id) -> None:
    claude(matcher)
    assert f"  ability_id: {json.dumps(ability_id)}\n" in samuel("hooks", "import", "--dry-run").out


def test_broken_file_is_named_with_its_line(samuel, put) -> None:
    put(".cursor/hooks.json", '{\n"hooks": }')
    ran = samuel("hooks", "import", "cursor")
    assert "not carried over: `.cursor/hooks.json`: .cursor/hooks.json:2: not JSON" in ran.out


def test_hook_that_is_imported_in_both_ways_is_named(samuel, claude, put) -> None:
    claude()
    put("samuel.toml", 'import_hooks = ["claude"]\n')
    assert "`claude` is in `import_hooks` of samuel.toml too" in samuel("hooks", "import").err


def test_project_without_such_hooks(samuel) -> None:
    assert samuel("hooks", "import") == (0, "there are no hooks for other agents here\n", "")


def test_protocol_belongs_to_one_event(samuel, put) -> None:
    put(
        ".system/hooks/h.yaml",
        "id: h\nevent_type: TurnEnd\nhandler: {kind: script, command: ./x, protocol: claude/Stop}\n",
    )
    ran = samuel("hooks", "validate")
    assert ran.code == 1
    assert "the protocol `claude/Stop` is for `SessionStop` alone" in ran.out


def test_doctor_names_hooks_that_are_not_imported(samuel, claude, put) -> None:
    claude()
    what = "hooks of other agents are not imported: .claude/settings.json"
    assert what in samuel("doctor").out
    put("samuel.toml", 'import_hooks = ["claude"]\n')
    assert what not in samuel("doctor").out
