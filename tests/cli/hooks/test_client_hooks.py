"""Hooks of other agents in a real project: imported, trusted by content, called with their agent's own payload."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GUARD = """#!/bin/sh
input=$(cat)
printf '%s' "$input" > "$CLAUDE_PROJECT_DIR/seen.json"
case $input in
*'"command":"rm -rf'*) echo "no recursive removal" >&2; exit 2 ;;
*REWRITE*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
    "updatedInput": {"command": "echo rewritten"}}}' ;;
*CONTEXT*) echo '{"hookSpecificOutput": {"additionalContext": "use make"}}' ;;
*ASK*) echo '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}}' ;;
*CRASH*) echo "oops" >&2; exit 1 ;;
esac
"""
NO_ENV = r"""#!/bin/sh
file=$(sed 's/.*"file_path":"\([^"]*\)".*/\1/')
echo "$file" >> files
case $file in *.env) echo "no secrets: $file" >&2; exit 2 ;; esac
"""
COMMAND = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'
AGREEMENT = "hooks:.claude/settings.json"


def settings(command: str = COMMAND, matcher: str = "Bash", event: str = "PreToolUse", **entry: Any) -> str:
    hook = {"type": "command", "command": command, **entry}
    return json.dumps({"permissions": {"allow": []}, "hooks": {event: [{"matcher": matcher, "hooks": [hook]}]}})


@pytest.fixture
def guarded(put: Callable[..., Path]) -> Callable[..., Path]:
    """A project whose Claude hook is a script; it imports Claude's hooks."""
    put("samuel.toml", 'import_hooks = ["claude"]\n')
    put(".claude/hooks/guard.sh", GUARD, 0o755)
    return put(".claude/settings.json", settings())


def listed(samuel: Any) -> list[dict[str, Any]]:
    rows = samuel("hooks", "list", "--json").json["data"]
    return [row for row in rows if row["name"].startswith(("claude", "codex", "cursor"))]


def call(samuel: Any, command: str, ability: str = "shell", **fields: Any) -> Any:
    context = {"ability_id": ability, "tool_input": {"command": command}, **fields}
    return samuel("emit", "PreAbilityCall", stdin=json.dumps(context))


class TestVerdicts:
    @pytest.fixture(autouse=True)
    def _trusted(self, guarded: Path, samuel: Any) -> None:
        assert samuel("trust", "--yes").code == 0

    def test_exit_code_2_denies_with_the_reason_from_stderr(self, samuel) -> None:
        ran = call(samuel, "rm -rf victim")
        assert (ran.code, ran.json) == (2, {"decision": "deny", "reason": "no recursive removal"})

    def test_hook_reads_the_payload_of_its_own_agent(self, samuel, project) -> None:
        ran = call(samuel, "ls", call_id="call-7", session_id="s1")
        assert (ran.code, ran.json) == (0, {})
        assert json.loads((project / "seen.json").read_text()) == {
            "session_id": "s1",
            "transcript_path": "",
            "cwd": str(project),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "ls"},
            "tool_use_id": "call-7",
        }

    @pytest.mark.parametrize(
        ("command", "code", "result"),
        [
            ("REWRITE", 0, {"decision": "allow", "tool_input": {"command": "echo rewritten"}}),
            ("CONTEXT", 0, {"messages_to_user": ["use make"]}),
            ("ASK", 2, {"decision": "deny", "reason": "sure? (no user could be asked)"}),
            ("CRASH", 0, {}),
        ],
    )
    def test_answers_mean_what_they_mean_to_their_agent(self, samuel, command, code, result) -> None:
        ran = call(samuel, command)
        assert (ran.code, ran.json) == (code, result)

    def test_fault_of_a_hook_is_a_warning_as_in_its_agent(self, samuel) -> None:
        assert "warning: `claude/guard` crashed: exit code 1: oops" in call(samuel, "CRASH").err

    def test_hook_is_called_for_the_tools_of_its_matcher_only(self, samuel, project) -> None:
        assert call(samuel, "rm -rf x", ability="fetch").code == 0
        assert not (project / "seen.json").exists()

    def test_event_from_the_agent_itself_is_left_to_that_agent(self, samuel, project) -> None:
        ran = call(samuel, "rm -rf victim", client="claude")
        note = {"level": "debug", "message": "not called: `claude` runs `claude/guard` itself"}
        assert (ran.code, ran.json) == (0, {"logs": [note]})
        assert not (project / "seen.json").exists()
        assert call(samuel, "rm -rf victim", client="gemini").code == 2

    def test_fire_and_log_show_the_hook_like_any_other(self, samuel) -> None:
        payload = json.dumps({"ability_id": "shell", "tool_input": {"command": "rm -rf /"}})
        ran = samuel("hooks", "fire", "PreAbilityCall", "--payload", payload)
        assert ran.json["chain"][0]["handler"] == "claude/guard"
        assert ran.json["chain"][0]["outcome"] == "denied"
        assert "claude/guard" in samuel("hooks", "log").out
        assert [row["status"] for row in listed(samuel)] == ["active"]


class TestTrust:
    def test_hooks_are_not_read_without_the_setting(self, samuel, guarded, put) -> None:
        put("samuel.toml", "")
        assert call(samuel, "rm -rf victim") == (0, "{}\n", "")
        assert listed(samuel) == []
        assert samuel("trust", "--list", "--json").json["data"] == []

    def test_untrusted_hook_is_refused_and_listed(self, samuel, guarded, project) -> None:
        ran = call(samuel, "ls")
        assert ran.code == 2
        assert f"not trusted: `{AGREEMENT}` has not been agreed to yet" in ran.err
        assert not (project / "seen.json").exists()
        (row,) = listed(samuel)
        assert (row["name"], row["event"], row["status"]) == ("claude/guard", "PreAbilityCall", "untrusted")
        names = [item["name"] for item in samuel("trust", "--list", "--json").json["data"]]
        assert names == [".claude/hooks/guard.sh", AGREEMENT]

    def test_user_reads_exactly_the_hooks_before_agreeing(self, samuel, guarded) -> None:
        text = samuel("trust", "--show", AGREEMENT).out
        assert COMMAND.replace('"', '\\"') in text
        assert "permissions" not in text

    @pytest.mark.parametrize("changed", ["script", "command", "removed", "gone", "broken"])
    @pytest.mark.sampled(every=3)
    def test_changed_content_is_refused(self, samuel, guarded, put, changed) -> None:
        samuel("trust", "--yes")
        match changed:
            case "script":
                put(".claude/hooks/guard.sh", GUARD + "\n", 0o755)
            case "command":
                guarded.write_text(settings(f"{COMMAND} --quiet"))
            case "removed":
                guarded.write_text('{"hooks": {}}')
            case "gone":
                guarded.unlink()
            case "broken":
                guarded.write_text('{"hooks": ')
        ran = call(samuel, "ls")
        assert ran.code == 2, ran
        assert "`claude/guard`" in ran.err

    def test_removed_hooks_are_over_once_the_user_confirms_it(self, samuel, guarded) -> None:
        samuel("trust", "--yes")
        guarded.unlink()
        ran = samuel("trust", "--yes")
        assert f"confirmed as removed: {AGREEMENT}" in ran.out
        assert call(samuel, "rm -rf victim").code == 0

    def test_place_in_samuel_toml_of_a_removed_hook_is_left_out(self, samuel, guarded, put) -> None:
        toml = 'import_hooks = ["claude"]\n[hooks.PreAbilityCall]\nhandlers = ["claude/guard"]\n'
        put("samuel.toml", toml)
        samuel("trust", "--yes")
        assert call(samuel, "rm -rf victim").json["reason"] == "no recursive removal"
        guarded.unlink()
        assert call(samuel, "ls").code == 2
        samuel("trust", "--yes")
        ran = call(samuel, "ls")
        assert ran.code == 0
        assert "names `claude/guard`, which was removed" in ran.err

    def test_other_settings_in_the_file_may_change(self, samuel, guarded) -> None:
        samuel("trust", "--yes")
        guarded.write_text(settings().replace('"allow": []', '"allow": ["Bash(ls)"]'))
        assert call(samuel, "ls").code == 0

    def test_script_that_disappears_denies(self, samuel, guarded, project) -> None:
        samuel("trust", "--yes")
        (project / ".claude/hooks/guard.sh").unlink()
        ran = call(samuel, "ls")
        assert ran.code == 2
        assert "it was trusted and is gone" in ran.err

    def test_script_beside_the_settings_is_trusted_alone(self, samuel, put, project) -> None:
        put("samuel.toml", 'import_hooks = ["claude"]\n')
        put(".claude/guard.sh", GUARD, 0o755)
        put(".claude/settings.json", settings("$CLAUDE_PROJECT_DIR/.claude/guard.sh"))
        samuel("trust", "--yes")
        put(".claude/settings.local.json", '{"permissions": {}}')
        assert call(samuel, "rm -rf victim").json["reason"] == "no recursive removal"

    def test_broken_file_is_listed_with_its_line(self, samuel, guarded) -> None:
        guarded.write_text('{\n  "hooks": {,}\n}')
        (row,) = listed(samuel)
        assert row["status"] == "broken"
        assert row["reason"].startswith(".claude/settings.json:2: not JSON: ")
        assert call(samuel, "ls").code == 2  # it may have been a guard


@pytest.mark.parametrize(("ability", "called"), [("read", False), ("shell", True)])
def test_hook_is_called_only_for_the_tools_that_its_matcher_chooses(
    samuel, guarded, project, ability, called
) -> None:
    samuel("trust", "--yes")
    assert call(samuel, "ls", ability=ability).code == 0
    assert (project / "seen.json").exists() == called


class TestUser:
    def test_hooks_of_the_user_need_no_trust_and_their_own_setting(self, samuel, machine, project) -> None:
        (machine / ".claude").mkdir()
        (machine / ".claude/guard.sh").write_text(GUARD)
        (machine / ".claude/guard.sh").chmod(0o755)
        (machine / ".claude/settings.json").write_text(settings(str(machine / ".claude/guard.sh")))
        assert call(samuel, "rm -rf victim").code == 0
        (machine / ".samuel").mkdir()
        (machine / ".samuel/config.toml").write_text('import_hooks = ["claude"]\n')
        assert call(samuel, "rm -rf victim").json["reason"] == "no recursive removal"
        (row,) = listed(samuel)
        assert (row["name"], row["origin"]) == ("claude-user/guard", "user")


class TestOtherAgents:
    """A team's hooks for one agent, called by the hooks of another."""

    def test_claude_hook_denies_the_tool_call_of_another_agent(self, samuel, guarded) -> None:
        samuel("trust", "--yes")
        payload = {
            "session_id": "g1",
            "cwd": "/p",
            "hook_event_name": "BeforeTool",
            "tool_name": "run_shell_command",
            "tool_input": {"command": "rm -rf victim", "description": "x"},
        }
        ran = samuel("emit", "--as", "gemini", "BeforeTool", stdin=json.dumps(payload))
        assert "no recursive removal" in ran.out + ran.err
        assert '"deny"' in ran.out or ran.code == 2

    def test_claude_runs_its_own_hooks_itself(self, samuel, guarded, project) -> None:
        samuel("trust", "--yes")
        payload = {
            "session_id": "c1",
            "cwd": "/p",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "rm -rf victim"},
            "tool_use_id": "t1",
        }
        ran = samuel("emit", "--as", "claude", "PreToolUse", stdin=json.dumps(payload))
        assert ran.code == 0
        assert "deny" not in ran.out
        assert not (project / "seen.json").exists()

    def test_hook_for_edits_is_called_for_each_file_of_a_patch(self, samuel, put, project) -> None:
        put("samuel.toml", 'import_hooks = ["claude"]\n')
        put(".claude/hooks/no-env.sh", NO_ENV, 0o755)
        put(".claude/settings.json", settings("$CLAUDE_PROJECT_DIR/.claude/hooks/no-env.sh", "Edit|Write"))
        samuel("trust", "--yes")
        call_of_codex = {"session_id": "x1", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_use_id": "t1"}
        for files, denied in ((("a.py", "b.py"), False), (("a.py", "config/.env", "b.py"), True)):
            patch = "".join(f"*** Update File: {file}\n@@\n-a\n+b\n" for file in files)
            tool = {
                "tool_name": "apply_patch",
                "tool_input": {"command": f"*** Begin Patch\n{patch}*** End Patch"},
            }
            payload = json.dumps({**call_of_codex, **tool})
            ran = samuel("emit", "--as", "codex", "PreToolUse", stdin=payload)
            assert ("no secrets: config/.env" in ran.out + ran.err) is denied
        assert (project / "files").read_text().split() == ["a.py", "b.py", "a.py", "config/.env"]

    @pytest.mark.parametrize(("agent", "file"), [("codex", ".codex/hooks.json"), ("cursor", ".cursor/hooks.json")])
    def test_hooks_of_codex_and_cursor(self, samuel, put, agent, file) -> None:
        put("samuel.toml", f'import_hooks = ["{agent}"]\n')
        deny = {"type": "command", "command": "echo no >&2; exit 2"}
        hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [deny]}]}
        put(file, json.dumps({"hooks": {"beforeShellExecution": [deny]} if agent == "cursor" else hooks}))
        samuel("trust", "--yes")
        assert call(samuel, "ls").json == {"decision": "deny", "reason": "no"}
        assert call(samuel, "ls", ability="read").code == 0
        assert listed(samuel)[0]["name"].startswith(f"{agent}/")

    def test_plugin_of_the_project_is_called_for_its_own_agent_too(self, samuel, put) -> None:
        put("samuel.toml", 'import_hooks = ["./plugins/team"]\n')
        put("plugins/team/deny.sh", "#!/bin/sh\necho $CLAUDE_PLUGIN_ROOT >&2; exit 2\n", 0o755)
        hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/deny.sh"}]}]}
        put("plugins/team/hooks/hooks.json", json.dumps({"hooks": hooks}))
        samuel("trust", "--yes")
        assert call(samuel, "ls", client="claude").json["reason"] == "PROJECT/plugins/team"

    @pytest.mark.parametrize(
        ("value", "what"),
        [
            ('["cluade"]', "must list agents (claude, codex, cursor) or directories of plugins"),
            ('["../x/y"]', "must be a path below the project's root"),
            ('["claude", "claude"]', "lists `claude` twice"),
            ('"claude"', "must be an array"),
        ],
    )
    def test_wrong_values_of_import_hooks_are_refused(self, samuel, put, value, what) -> None:
        put("samuel.toml", f"import_hooks = {value}\n")
        ran = samuel("hooks", "list")
        assert ran.code != 0
        assert f"samuel.toml:1: `import_hooks` {what}" in ran.err or what in ran.err
