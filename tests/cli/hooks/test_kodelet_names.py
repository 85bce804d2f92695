"""Kodelet's five names of events work wherever Samuel wants the name of an event."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from samuel.events.names import KODELET

REAL = (sys.executable, "-m", "samuel")
EACH = pytest.mark.parametrize(("theirs", "ours"), KODELET.items())
CONTEXT = {
    "PreAbilityCall": {"ability_id": "a"},
    "PostAbilityCall": {"ability_id": "a", "status": "success"},
    "UserPromptSubmit": {"user_message": "hi"},
    "SessionStop": {},
    "TurnEnd": {"response": "x", "turn_number": 1},
}
TALKER = '#!/bin/sh\ncat > /dev/null\necho \'{"messages_to_user": ["heard"]}\'\n'
MANIFEST = 'name = "mine"\nversion = "1.0.0"\nkind = "skill"\nsummary = "x"\nlicense = "MIT"\n[hooks]\n'


@EACH
def test_commands_take_the_name_of_an_event(samuel, project, theirs, ours):
    assert samuel("hooks", "fire", theirs).json["event"] == ours
    assert samuel("hooks", "explain", theirs, "--json").json["data"]["event"] == ours
    assert samuel("hooks", "schema", theirs).json["event"] == ours
    assert samuel("hooks", "new", "mine", "--event", theirs, "--json").json["data"]["event"] == ours
    (row,) = samuel("hooks", "list", "--event", theirs, "--json").json["data"]
    assert (row["event"], row["name"]) == (ours, "mine")
    assert samuel("hooks", "log", "--event", theirs).code == 0


@pytest.mark.slow
@EACH
@pytest.mark.sampled(every=3)
def test_yaml_hooks_and_emit_accept_kodelets_names_of_events(samuel, put, project, theirs, ours):
    put("scripts/hooks/talker.sh", TALKER, 0o755)
    handler = "handler:\n  kind: script\n  command: ./scripts/hooks/talker.sh\n"
    put(".system/hooks/talker.yaml", f"id: talker\nevent_type: {theirs}\n{handler}")
    samuel("trust", "--yes")
    context = json.dumps({"event_type": theirs, **CONTEXT[ours]})
    for _ in range(2):
        ran = subprocess.run([*REAL, "emit", theirs], input=context, capture_output=True, text=True)
        assert (ran.returncode, ran.stderr) == (0, "heard\n")
        assert json.loads(ran.stdout) == {"messages_to_user": ["heard"]}


@EACH
def test_samuel_toml_and_manifests_take_it(samuel, put, project, theirs, ours):
    put("mine/samuel-plugin.toml", f'{MANIFEST}{theirs} = "scripts/talker.sh"\n')
    put("mine/scripts/talker.sh", TALKER, 0o755)
    put("samuel.toml", f'[hooks.{theirs}]\ntimeout = "7s"\n')
    assert samuel("plugin", "add", "./mine", "--yes").code == 0
    (step,) = samuel("hooks", "explain", ours, "--json").json["data"]["chain"]
    assert (step["handler"], step["timeout"]) == ("mine/scripts/talker.sh", "7s")


@pytest.mark.parametrize("theirs", ["before_tool_call", "agent_stop"])
def test_a_name_given_twice_in_two_spellings_is_one_event(samuel, put, theirs):
    put("samuel.toml", f'[hooks.{KODELET[theirs]}]\ntimeout = "7s"\n[hooks.{theirs}]\ntimeout = "8s"\n')
    assert samuel("hooks", "list").code == 2
