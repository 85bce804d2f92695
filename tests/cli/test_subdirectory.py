"""Commands in a directory below the project: what they write is named as a person can type it there."""

from __future__ import annotations

import json

import pytest

CLAUDE = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}


@pytest.fixture
def below(project, put, git, monkeypatch):
    """The current directory, one below the top of a git repository."""
    git(project, "init", "-q")
    put("AGENTS.md", "# mine\n")
    put(".claude/settings.json", json.dumps(CLAUDE))
    directory = project / "web"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


@pytest.mark.parametrize(
    "command",
    [
        ("sync",),
        ("hooks", "new", "mine", "--event", "after:iteration"),
        ("hooks", "new", "mine", "--event", "PostAbilityCall", "--yaml"),
        ("hooks", "import", "claude"),
        ("hooks", "enable", "notify"),
    ],
)
def test_what_was_written_above_the_current_directory_is_named_from_there(samuel, below, command):
    ran = samuel(*command)
    assert ran.code == 0
    first = ran.out.partition("\n")[0]
    names = [word.rstrip(",") for word in first.split() if "/" in word]
    assert names
    assert all(name.startswith("../") and (below / name).exists() for name in names), first
