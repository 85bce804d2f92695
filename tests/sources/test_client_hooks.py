"""Files with hooks of agents: what is read, what cannot be run and why, and what is not a hook at all."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from samuel.clients.hook_formats.client_hook import ClientHook, ClientHookFile
from samuel.clients.hook_formats.entry import hook_command, script_name
from samuel.hooks.match import holds
from samuel.sources.client_hooks.find import files, read_file, read_files, texts
from samuel.sources.client_hooks.imported_files import project_files, user_files

RUN = {"type": "command", "command": "./check.sh"}


def read(root: Path, hooks: object, agent: str = "claude", **settings: Any) -> ClientHookFile:
    (place, *_) = project_files(root, [agent])
    place.path.parent.mkdir(exist_ok=True)
    place.path.write_text(json.dumps({"hooks": hooks, **settings}))
    return read_file(place, Counter())


def one_hook(root: Path, event: str, matcher: str = "", agent: str = "claude", **entry: Any) -> ClientHook:
    command = {**RUN, **entry}
    groups = [command | {"matcher": matcher}] if agent == "cursor" else [{"matcher": matcher, "hooks": [command]}]
    (hook,) = read(root, {event: groups}, agent).hooks
    return hook


class TestLeftOut:
    @pytest.mark.parametrize(
        ("event", "entry", "why"),
        [
            ("PreToolUse", {"type": "prompt", "prompt": "is it safe?"}, "its type is `prompt`"),
            ("PreToolUse", {"type": "http", "url": "http://x"}, "its type is `http`"),
            ("PreToolUse", {"type": "agent"}, "its type is `agent`"),
            ("FileChanged", {}, "Samuel has no event for `FileChanged`"),
            ("PreToolUse", {"if": "Bash(rm *"}, "its condition (`if`) is not a permission rule: `Bash(rm *`"),
            ("Stop", {"if": "Bash(rm *)"}, "it has a condition (`if`) on an event that is not about a tool call"),
            ("PreToolUse", {"shell": "powershell"}, "it is for the shell `powershell`"),
            ("PreToolUse", {"matcher": "(?!Bash)"}, "its matcher `(?!Bash)` is not"),
        ],
    )
    def test_hook_that_cannot_be_run_says_why(self, tmp_path, event, entry, why) -> None:
        hook = one_hook(tmp_path, event, entry.pop("matcher", ""), **entry)
        assert why in hook.left_out

    @pytest.mark.parametrize(
        ("event", "matcher", "fields", "called"),
        [
            ("SessionStart", "", {}, True),
            ("SessionStart", "startup|resume", {}, True),
            ("SessionStart", "compact", {}, False),
            ("SessionStart", "compact", {"extra": {"source": "compact"}}, True),
            ("SessionEnd", "clear", {"extra": {"reason": "logout"}}, False),
            ("SubagentStop", "Explore", {"subagent": "Explore"}, True),
            ("SubagentStop", "Explore", {"subagent": "general-purpose"}, False),
            ("Notification", "permission_prompt|idle_prompt", {"kind": "idle_prompt"}, True),
            ("Notification", "permission_prompt", {}, False),
            ("PreCompact", "auto", {"trigger": "manual"}, False),
            ("ConfigChange", ".*_settings", {"source": "project_settings"}, True),
        ],
    )
    def test_matcher_is_compared_with_what_the_agent_reports(
        self, tmp_path, event, matcher, fields, called
    ) -> None:
        hook = one_hook(tmp_path, event, matcher)
        assert hook.left_out == ""
        assert holds(hook.match, fields.get) is called

    @pytest.mark.parametrize("event", ["PreToolUse", "PreCompact", "Stop", "SessionStart", "PostToolUse"])
    def test_async_hook_only_observes_in_the_background(self, tmp_path, event) -> None:
        hook = one_hook(tmp_path, event, **{"async": True})
        assert (hook.left_out, hook.background) == ("", True)

    def test_hook_that_wakes_its_agent_is_waited_for(self, tmp_path) -> None:
        hook = one_hook(tmp_path, "Stop", **{"async": True, "asyncRewake": True})
        assert (hook.left_out, hook.background, hook.timeout) == ("", False, 600)
        assert one_hook(tmp_path, "Stop", asyncRewake=True, timeout=5).timeout == 5

    def test_all_hooks_are_off_where_the_agent_has_them_off(self, tmp_path) -> None:
        hooks = read(tmp_path, {"Stop": [{"hooks": [RUN]}]}, disableAllHooks=True).hooks
        assert hooks[0].left_out == "`disableAllHooks` is set in its file"

    def test_cursor_gives_the_content_of_files_which_others_do_not(self, tmp_path) -> None:
        assert "the content of the file" in one_hook(tmp_path, "beforeReadFile", agent="cursor").left_out


class TestRead:
    def test_names_are_those_of_scripts_or_of_events(self, tmp_path) -> None:
        (tmp_path / "check.sh").write_text("")
        (tmp_path / "lint.py").write_text("")
        inline = {"type": "command", "command": "echo hi"}
        python = {"type": "command", "command": "python3 lint.py"}
        groups = [{"hooks": [RUN, inline, inline, python]}, {"matcher": "Bash", "hooks": [RUN]}]
        names = [hook.name for hook in read(tmp_path, {"PreToolUse": groups}).hooks]
        assert names == [
            *("claude/check", "claude/PreToolUse-1", "claude/PreToolUse-2", "claude/lint"),
            "claude/check-2",
        ]

    @pytest.mark.parametrize(
        "command",
        [
            "samuel emit --as claude PreToolUse",
            "'/opt/my tools/samuel' emit --as claude PreToolUse",
            "command -v samuel >/dev/null || { echo no >&2; exit 2; }; samuel emit  --as claude PreToolUse",
        ],
    )
    def test_entries_of_samuels_own_bridge_are_not_hooks(self, tmp_path, command) -> None:
        bridge = {"type": "command", "command": command}
        alone = read(tmp_path, {"PreToolUse": [{"hooks": [bridge]}]})
        assert (alone.hooks, alone.text) == ((), "")
        without = read(tmp_path, {"PreToolUse": [{"hooks": [RUN]}]})
        both = read(tmp_path, {"PreToolUse": [{"hooks": [RUN, bridge]}], "Stop": [{"hooks": [bridge]}]})
        assert both.digest == without.digest  # adding the bridge does not ask for trust again

    def test_command_names_the_files_that_must_be_trusted(self, tmp_path) -> None:
        script = tmp_path / ".claude/hooks/guard.sh"
        script.parent.mkdir(parents=True)
        script.write_text("")
        hooks = {"PreToolUse": [{"hooks": [{"command": '"${CLAUDE_PROJECT_DIR}"/.claude/hooks/guard.sh --all'}]}]}
        read(tmp_path, hooks)
        assert list(files(tmp_path, ["claude"])) == [".claude/hooks/guard.sh"]
        ((name, _, text),) = texts(tmp_path, ["claude"])
        assert name == "hooks:.claude/settings.json"
        assert json.loads(text) == {"hooks": hooks}

    def test_program_with_arguments_is_started_without_a_shell(self, tmp_path) -> None:
        hook = one_hook(tmp_path, "Stop", args=["--dir", "${CLAUDE_PROJECT_DIR}"], timeout=5)
        assert (hook.words, hook.timeout) == (("./check.sh", "--dir", str(tmp_path)), 5.0)

    def test_failures_have_an_event_of_their_own(self, tmp_path) -> None:
        assert one_hook(tmp_path, "PostToolUse").match == {"status": ["success"]}
        assert one_hook(tmp_path, "PostToolUseFailure").match == {"status": ["failure"]}
        assert one_hook(tmp_path, "PostToolUse", agent="codex").match == {}

    def test_claude_hooks_fail_closed_where_they_say_so(self, tmp_path) -> None:
        assert one_hook(tmp_path, "PreToolUse", onFailure="block").blocking
        assert not one_hook(tmp_path, "PreToolUse").blocking
        assert not one_hook(tmp_path, "PreToolUse", onFailure="continue").blocking

    def test_claude_hooks_in_the_background_are_not_awaited(self, tmp_path) -> None:
        hook = one_hook(tmp_path, "PostToolUse", **{"async": True})
        assert (hook.background, hook.left_out) == (True, "")

    def test_cursor_hooks_fail_closed_where_they_say_so(self, tmp_path) -> None:
        hook = one_hook(tmp_path, "beforeShellExecution", "curl", "cursor", failClosed=True)
        assert hook.blocking
        assert hook.match == {"ability_id": ["shell", "Shell"], "client_command": {"matcher": "curl"}}

    def test_hooks_of_the_user_run_where_cursor_runs_them(self, tmp_path) -> None:
        (tmp_path / ".cursor").mkdir()
        (tmp_path / ".cursor/hooks.json").write_text('{"hooks": {"stop": [{"command": "./hooks/a.sh"}]}}')
        (read_file,) = read_files(user_files(tmp_path, ["cursor"]))
        (hook,) = read_file.hooks
        assert hook.words[2].startswith(f"cd {tmp_path}/.cursor || exit 1\n")
        assert hook.name == "cursor-user/a"

    @pytest.mark.parametrize(
        ("hooks", "what"),
        [
            ([], "`hooks` must be an object"),
            ({"Stop": {}}, "`hooks.Stop` must be an array"),
            ({"Stop": ["x"]}, "`hooks.Stop[0]` must be an object"),
            ({"Stop": [{"hooks": 1}]}, "`hooks.Stop[0].hooks` must be an array"),
            ({"Stop": [{"hooks": [{"command": ""}]}]}, "`hooks.Stop[0].hooks[0].command` must be a command"),
            ({"Stop": [{"matcher": 1, "hooks": [RUN]}]}, "`hooks.Stop[0].matcher` must be text"),
            (
                {"Stop": [{"hooks": [{**RUN, "timeout": "5"}]}]},
                "`hooks.Stop[0].hooks[0].timeout` must be a number",
            ),
            (
                {"Stop": [{"hooks": [{**RUN, "args": [1]}]}]},
                "`hooks.Stop[0].hooks[0].args` must be an array of text",
            ),
        ],
    )
    def test_file_of_another_shape_has_a_problem_that_names_the_place(self, tmp_path, hooks, what) -> None:
        (problem,) = read(tmp_path, hooks).problems
        assert str(problem).startswith(f".claude/settings.json: {what}")

    @pytest.mark.parametrize(
        "content", [b"\xff", b"[" * 100_000, b"[1]", b" " * (1024 * 1024 + 1), b'{"hooks": \n,}']
    )
    def test_file_that_cannot_be_read_has_a_problem(self, tmp_path, content) -> None:
        (place, *_) = project_files(tmp_path, ["claude"])
        place.path.parent.mkdir()
        place.path.write_bytes(content)
        assert read_file(place, Counter()).problems


class TestPlugins:
    @pytest.mark.parametrize(("manifest", "agent"), [(".claude-plugin", "claude"), (".codex-plugin", "codex")])
    def test_directory_of_a_plugin(self, tmp_path, manifest, agent) -> None:
        plugin = tmp_path / "plugins/team"
        (plugin / manifest).mkdir(parents=True)
        (plugin / manifest / "plugin.json").write_text("{}")
        (plugin / "hooks").mkdir()
        (plugin / "guard.sh").write_text("")
        command = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/guard.sh"}
        (plugin / "hooks/hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [command]}]}}))
        (read_file,) = read_files(project_files(tmp_path, ["plugins/team"]))
        (hook,) = read_file.hooks
        assert (hook.client, hook.name, hook.env["CLAUDE_PLUGIN_ROOT"]) == (agent, f"{agent}/guard", str(plugin))
        assert "plugins/team/guard.sh" in files(tmp_path, ["plugins/team"])
        assert read_file.agreement == "hooks:plugins/team/hooks/hooks.json"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("~/.claude/hooks/check.sh --all", "check"),
        ("uv run $HOME/.claude/hooks/pre_tool.py", "pre_tool"),
        ("jq -r '.tool_input.file_path // empty' | xargs prettier --write", ""),
        ("""jq -r '"\\(.tool_input.description // "No description")"' >> ~/.claude/commands.txt""", ""),
        ("echo done > /tmp/log.txt", ""),
        ("cat /dev/null", ""),
        ("npx prettier --write src/", ""),
        ("/opt/-odd-.sh", "odd"),
        ("echo 'unbalanced", ""),
    ],
)
def test_a_hook_is_named_after_the_script_that_it_runs_and_after_nothing_else(
    tmp_path: Path, line: str, name: str
) -> None:
    assert script_name(hook_command(line, [], "sh", {}, tmp_path), line) == name
