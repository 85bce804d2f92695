"""Plugins and hooks that samuel.toml names and that are not there: a warning, and guards are refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from samuel.plugins import lock

CALL = '{"ability_id": "shell"}'
GUARD = """#!/bin/sh
if [ "$1" = hook ]; then echo PreAbilityCall; echo TurnEnd; exit; fi
cat > /dev/null
echo '{}'
"""
TOML = """\
[hooks.PreAbilityCall.order]
"org/watch/guard" = 50

[hooks.TurnEnd]
handlers = ["org/watch/guard", "..."]
"""


@pytest.fixture
def watch(origin, samuel, put):
    """A plugin with a guard, which samuel.toml names on its lines 2 and 5."""
    origin("org/watch", {"hooks/guard": GUARD})
    put("samuel.toml", TOML)
    assert samuel("plugin", "add", "org/watch", "--yes").code == 0
    assert samuel("emit", "PreAbilityCall", stdin=CALL) == (0, "{}\n", "")


def works(samuel) -> None:
    """What must always work."""
    for command in (("hooks", "list"), ("recipe", "list"), ("hooks", "explain", "TurnEnd"), ("session", "start")):
        assert samuel(*command).code == 0
    assert "hooks were not checked" not in samuel("doctor").out


def test_removed_plugin_is_named_and_gone_by_agreement(samuel, watch) -> None:
    ran = samuel("plugin", "remove", "org/watch")
    assert ran.code == 0
    assert "samuel.toml:2: `order` of `PreAbilityCall` still names `org/watch/guard`" in ran.err
    assert "samuel.toml:5: `handlers` of `TurnEnd` still names `org/watch/guard`" in ran.err
    ran = samuel("emit", "PreAbilityCall", stdin=CALL)
    assert (ran.code, ran.out) == (0, "{}\n")
    assert "samuel.toml:2: `order` of `PreAbilityCall` names `org/watch/guard`, which was removed" in ran.err
    works(samuel)


def test_table_of_a_removed_plugin_is_named_with_its_line(samuel, watch) -> None:
    samuel("plugin", "disable", "org/watch")
    ran = samuel("plugin", "remove", "org/watch")
    assert "samuel.toml:7: `[plugins.org/watch]` is still there; remove the table" in ran.err
    assert "remove the table, correct its name, or `samuel plugin install`" in samuel("doctor").out


def test_disabled_plugin_is_named_and_gone_by_agreement(samuel, watch) -> None:
    ran = samuel("plugin", "disable", "org/watch")
    assert "samuel.toml:2: `order` of `PreAbilityCall` still names `org/watch/guard`" in ran.err
    ran = samuel("emit", "PreAbilityCall", stdin=CALL)
    assert (ran.code, ran.out) == (0, "{}\n")
    works(samuel)
    assert "`samuel plugin enable org/watch` turns it on" in samuel("hooks", "list").err


@pytest.mark.slow
def test_fresh_clone_refuses_the_guards_of_its_missing_plugins(
    samuel, watch, project: Path, machine: Path
) -> None:
    shutil.rmtree(project / ".samuel/plugins")
    shutil.rmtree(machine / "state")
    ran = samuel("emit", "PreAbilityCall", stdin=CALL)
    assert ran.code == 2
    assert "it is in samuel.lock and not installed; run `samuel plugin install`" in ran.json["reason"]
    assert samuel("emit", "UserPromptSubmit", stdin='{"user_message": "hi"}').code == 0
    works(samuel)
    assert samuel("plugin", "install", "--yes").code == 0
    assert samuel("emit", "PreAbilityCall", stdin=CALL) == (0, "{}\n", "")


def test_missing_plugin_of_unknown_events_closes_what_can_be_denied(
    samuel, watch, project: Path, machine: Path
) -> None:
    shutil.rmtree(project / ".samuel/plugins")
    shutil.rmtree(machine / "state")
    file = project / "samuel.lock"
    head, _, _ = file.read_text().partition("hooks = ")
    file.write_text(head)
    assert samuel("emit", "PreAbilityCall", stdin=CALL).code == 2
    assert samuel("emit", "UserPromptSubmit", stdin='{"user_message": "hi"}').code == 2


def test_lock_says_what_the_hooks_of_a_plugin_answer_to(samuel, watch, project: Path) -> None:
    entry = lock.read(project / "samuel.lock")["org/watch"]
    assert entry.hooks is not None
    assert [(hook.event, hook.name) for hook in entry.hooks] == [
        ("PreAbilityCall", "org/watch/guard"),
        ("TurnEnd", "org/watch/guard"),
    ]


def test_plugin_without_hooks_closes_nothing_where_it_is_missing(
    samuel, origin, project: Path, machine: Path
) -> None:
    origin("org/texts", {"skills/review/SKILL.md": "---\nname: review\ndescription: x\n---\n"})
    assert samuel("plugin", "add", "org/texts", "--yes").code == 0
    shutil.rmtree(machine / "state")
    assert samuel("emit", "PreAbilityCall", stdin=CALL).code == 0  # there, and not trusted
    shutil.rmtree(project / ".samuel/plugins")
    assert samuel("emit", "PreAbilityCall", stdin=CALL).code == 0


YAML = "id: watch\nevent_type: PreAbilityCall\nhandler: {kind: script, command: 'true'}\n"


def test_deleted_yaml_guard_is_refused_until_its_owner_agrees(samuel, put, project: Path) -> None:
    put("samuel.toml", "[hooks.PreAbilityCall]\nhandlers = ['watch']\n")
    file = put(".system/hooks/watch.yaml", f"{YAML}role: guard\n")
    samuel("trust", "--yes")
    assert samuel("emit", "PreAbilityCall", stdin=CALL).code == 0
    file.unlink()
    assert samuel("emit", "PreAbilityCall", stdin=CALL).code == 2
    works(samuel)
    samuel("trust", "--yes")
    ran = samuel("emit", "PreAbilityCall", stdin=CALL)
    assert (ran.code, ran.out) == (0, "{}\n")
    assert "samuel.toml:2: `handlers` of `PreAbilityCall` names `watch`, which was removed" in ran.err
    works(samuel)
    put(".system/hooks/watch.yaml", f"{YAML}role: guard\n")  # back again, it is missed again
    samuel("trust", "--yes")
    assert samuel("emit", "PreAbilityCall", stdin=CALL) == (0, "{}\n", "")


def test_misspelt_guard_in_handlers_denies_with_the_nearest_name(samuel, put) -> None:
    put("samuel.toml", "[hooks.PreAbilityCall]\nhandlers = ['wacth', '...']\n")
    put(".system/hooks/watch.yaml", YAML)
    samuel("trust", "--yes")
    ran = samuel("emit", "PreAbilityCall", stdin=CALL)
    assert ran.code == 2
    assert "did you mean `watch`?" in ran.json["reason"]
    works(samuel)
