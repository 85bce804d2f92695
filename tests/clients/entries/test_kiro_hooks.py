"""The hook file of Kiro: Samuel's own, and never another program's."""

from __future__ import annotations

import json

import pytest

from samuel.clients.entries.hook_command import ON_PATH
from samuel.clients.entries.layout import BrokenFile
from samuel.clients.kiro.entries import HOOKS
from samuel.clients.table import CLIENTS


def test_each_hook_names_its_trigger() -> None:
    file = json.loads(HOOKS.added(None, ON_PATH))
    assert file["version"] == "v1"
    assert [hook["trigger"] for hook in file["hooks"]] == list(CLIENTS["kiro"].events)
    assert all(f"--as kiro {hook['trigger']}" in hook["action"]["command"] for hook in file["hooks"])


def test_the_file_is_written_once_and_removed_as_a_whole() -> None:
    text = HOOKS.added(None, ON_PATH)
    assert HOOKS.added(text, ON_PATH) == text
    assert HOOKS.removed(text) is None


@pytest.mark.parametrize(
    "change",
    [
        {"enabled": False},
        {"matcher": "fs_write"},
        {"trigger": "PostToolUse"},
        {"action": {"type": "command", "command": "true"}},
    ],
)
def test_a_hook_that_was_changed_is_not_taken_for_one_of_ours(change: dict[str, object]) -> None:
    file = json.loads(HOOKS.added(None, ON_PATH))
    file["hooks"][2] |= change
    text = json.dumps(file)
    assert "PreToolUse" not in HOOKS.events(text)
    with pytest.raises(BrokenFile, match="another program's hooks"):
        HOOKS.removed(text)
