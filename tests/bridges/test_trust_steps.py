"""Where clients record that their user trusts a folder or a hook."""

from __future__ import annotations

import json

import pytest

from samuel.bridges import files
from samuel.bridges.check import trust_step


def state(context, client, level="project"):
    return trust_step(context, client, level, files.entries(context, client, level)).state


def write(context, name, value):
    file = context.user.home / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value))


@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "copilot"])
def test_new_project_is_untrusted(context, client):
    files.add(context, [client], "project")
    assert state(context, client) == "untrusted"


@pytest.mark.parametrize("client", ["claude", "gemini", "copilot"])
def test_entries_of_the_user_need_no_trust_in_a_folder(context, client):
    assert state(context, client, "user") == "not needed"


def test_claude_trusts_a_project_below_an_accepted_directory(context):
    write(context, ".claude.json", {"projects": {str(context.root.parent): {"hasTrustDialogAccepted": True}}})
    assert state(context, "claude") == "trusted"


def test_codex_trusts_hooks_that_were_reviewed(context):
    files.add(context, ["codex"], "project")
    file = context.root / ".codex/hooks.json"
    (entry,) = files.entries(context, "codex", "project")
    snake = {
        "SessionStart": "session_start",
        "UserPromptSubmit": "user_prompt_submit",
        "PreToolUse": "pre_tool_use",
        "PostToolUse": "post_tool_use",
        "Stop": "stop",
        "SessionEnd": "session_end",
        "PreCompact": "pre_compact",
    }
    assert set(entry.events) <= set(snake)
    keys = [f'[hooks.state."{file}:{snake[event]}:0:0"]\ntrusted_hash = "sha256:1"\n' for event in entry.events]
    trusted = f'[projects."{context.root}"]\ntrust_level = "trusted"\n'
    write(context, ".codex/config.toml", trusted + "".join(keys[1:]))
    assert state(context, "codex") == "untrusted"
    write(context, ".codex/config.toml", "".join(keys))
    assert state(context, "codex") == "untrusted"
    write(context, ".codex/config.toml", trusted + "".join(keys))
    assert state(context, "codex") == "trusted"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"{root}": "TRUST_FOLDER"}, "trusted"),
        ({"{root}/sub": "TRUST_PARENT"}, "trusted"),
        ({"{parent}": "TRUST_FOLDER", "{root}": "DO_NOT_TRUST"}, "untrusted"),
        ({"{root}/sub": "TRUST_FOLDER"}, "untrusted"),
    ],
)
def test_gemini_takes_the_longest_rule_for_a_folder(context, rules, expected):
    named = {key.format(root=context.root, parent=context.root.parent): rule for key, rule in rules.items()}
    write(context, ".gemini/trustedFolders.json", named)
    assert state(context, "gemini") == expected


def test_qwen_asks_for_trust_only_if_its_user_wants_that(context):
    assert state(context, "qwen") == "trusted"
    write(context, ".qwen/settings.json", {"security": {"folderTrust": {"enabled": True}}})
    assert state(context, "qwen") == "untrusted"


def test_copilot_has_a_list_of_trusted_folders(context):
    write(context, ".copilot/config.json", f'// by copilot\n{{"trusted_folders": ["{context.root}"]}}')
    assert state(context, "copilot") == "trusted"
