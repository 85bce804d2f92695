"""`samuel hooks rules`, and the offers to enable shell_guard."""

from __future__ import annotations

import pytest

FILE = ".system/hooks/shell_guard.yaml"


def test_the_rules_are_listed_with_an_example_each(samuel):
    rows = samuel("hooks", "rules", "shell_guard", "--json").json["data"]
    assert len(rows) > 50
    assert all({"id", "decision", "example", "off"} <= row.keys() and not row["off"] for row in rows)
    listed = samuel("hooks", "rules", "shell_guard").out
    assert all(row["id"] in listed for row in rows)


def test_a_rule_is_switched_off_and_on_again_and_the_file_stays_trusted(samuel, project):
    samuel("init")
    samuel("hooks", "enable", "shell_guard")
    stash = '{"ability_id": "shell", "tool_input": {"command": "git stash clear"}}'
    assert samuel("emit", "PreAbilityCall", stdin=stash).code == 2
    ran = samuel("hooks", "rules", "shell_guard", "--off", "git-stash-drop", "--json")
    assert [row["id"] for row in ran.json["data"] if row["off"]] == ["git-stash-drop"]
    assert "  off: [git-stash-drop]\n" in (project / FILE).read_text()
    assert samuel("emit", "PreAbilityCall", stdin=stash).code == 0
    samuel("hooks", "rules", "shell_guard", "--on", "git-stash-drop")
    assert "  off: []\n" in (project / FILE).read_text()
    assert samuel("emit", "PreAbilityCall", stdin=stash).code == 2


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("policy_guard",), "`policy_guard` has no rules to list"),
        (("shell_guard", "--off", "git-stash-dorp"), "shell_guard has no rule `git-stash-dorp`"),
        (("shell_guard", "--off", "git-stash-drop"), "the project does not have shell_guard"),
    ],
)
def test_what_cannot_be_listed_or_switched_off_is_named(samuel, arguments, error):
    ran = samuel("hooks", "rules", *arguments)
    assert ran.code in (1, 2)
    assert error in ran.err


def test_a_rule_that_does_not_exist_breaks_the_hook(samuel, put, project):
    samuel("hooks", "enable", "shell_guard")
    put(FILE, (project / FILE).read_text().replace("off: []", "off: [delete-threes]"))
    ran = samuel("hooks", "validate")
    assert ran.code == 1
    assert "there is none called `delete-threes`: did you mean `delete-tree`?" in ran.out


def test_init_asks_once_on_a_terminal(on_terminal, project):
    code, screen = on_terminal("init", typed="y\n")
    assert code == 0
    assert screen.count("Enable it?") == 1
    assert "enabled: true" in (project / FILE).read_text()


def test_a_no_enables_nothing(on_terminal, project):
    code, screen = on_terminal("init", typed="n\n")
    assert code == 0
    assert "`samuel hooks enable shell_guard` enables it later" in screen
    assert not (project / FILE).exists()


def test_with_yes_nothing_is_asked_and_nothing_is_enabled(on_terminal, project):
    for arguments in (("init", "--yes"), ("bridge", "add", "claude", "--yes")):
        code, screen = on_terminal(*arguments, typed="")
        assert code == 0
        assert "Enable it?" not in screen
        assert "samuel hooks enable shell_guard" in screen
    assert not (project / FILE).exists()


def test_bridge_add_asks_once_on_a_terminal(on_terminal, project):
    (project / "samuel.toml").touch()
    code, screen = on_terminal("bridge", "add", "claude", typed="y\n")
    assert code == 0
    assert screen.count("Enable it?") == 1
    assert "enabled: true" in (project / FILE).read_text()
