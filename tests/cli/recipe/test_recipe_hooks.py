"""Hooks inside a recipe's run know the recipe and the session, whichever program fires the event."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[3] / "docs/how-to/recipe-aware-hooks.md"
BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.M | re.S)

EDIT = '{"ability_id": "file_edit", "tool_input": {}}'
RECORD = """#!/bin/sh
cat >> seen.jsonl; echo >> seen.jsonl
"""
ABILITY = """\
operation_key: notes.read
summary: Read the notes
implementation:
  kind: script
  script: {path: read.sh}
"""
# The layout and the exact comparison that recipes' own hooks were first described with.
OWN_HOOK = """#!/usr/bin/env python3
import json, sys

if sys.argv[1] == "hook":
    print("before_tool_call")
elif sys.argv[1] == "run":
    payload = json.load(sys.stdin)
    if payload.get("recipe_name") == "code-review" and payload["tool_name"] == "file_edit":
        print(json.dumps({"blocked": True, "reason": f"{payload['recipe_full_name']} edits nothing"}))
    else:
        print(json.dumps({"blocked": False}))
"""
OTHER_HOOK = OWN_HOOK.replace("edits nothing", "was stopped by a stranger")


@pytest.fixture
def agent(put: Callable[..., Path], kitchen: Path, samuel: Any) -> Callable[[str], None]:
    """Write what the agent of this project does."""

    def write(script: str) -> None:
        put("agent.sh", f"#!/bin/sh\n{script}\n", 0o755)
        samuel("trust", "--yes")

    return write


def recorded(project: Path) -> list[dict[str, Any]]:
    lines = (project / "seen.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines if line]


def record(put: Callable[..., Path], *events: str, match: str = "") -> None:
    put("scripts/hooks/record.sh", RECORD, 0o755)
    put(
        ".system/hooks/record.yaml",
        f"id: record\nevent_type: [{', '.join(events)}]\n{match}"
        "handler:\n  kind: script\n  command: ./scripts/hooks/record.sh\n",
    )


def run_review(samuel: Any) -> Any:
    return samuel("recipe", "run", "review", "--arg", "branch=x", "--yes", "--json").json["data"]


@pytest.mark.slow
@pytest.mark.parametrize("match", ["", "match: {recipe_name: review}\n"], ids=["every call", "a match"])
def test_an_event_that_the_agent_emits_names_the_recipe_and_the_session(samuel, put, agent, project, match):
    record(put, "PreAbilityCall", match=match)
    # Twice: the second time the engine may not be needed.
    agent(f"echo '{EDIT}' | samuel emit PreAbilityCall\necho '{EDIT}' | samuel emit PreAbilityCall")
    ran = run_review(samuel)
    events = recorded(project)
    assert [event["recipe_name"] for event in events] == ["review", "review"]
    assert [event["session_id"] for event in events] == [ran["session_id"]] * 2


@pytest.mark.slow
def test_a_match_for_another_recipe_does_not_hold(samuel, put, agent, project):
    record(put, "PreAbilityCall", match="match: {recipe_name: deploy}\n")
    agent(f"echo '{EDIT}' | samuel emit PreAbilityCall\necho '{EDIT}' | samuel emit PreAbilityCall")
    run_review(samuel)
    assert not (project / "seen.jsonl").exists()


@pytest.mark.slow
def test_what_the_context_says_wins_over_the_environment(samuel, put, agent, project):
    record(put, "PreAbilityCall")
    call = json.dumps({"ability_id": "a", "recipe_name": "deploy", "session_id": "mine"})
    agent(f"echo '{call}' | samuel emit PreAbilityCall")
    run_review(samuel)
    (events,) = recorded(project)
    assert (events["recipe_name"], events["session_id"]) == ("deploy", "mine")


@pytest.mark.slow
def test_both_events_of_an_ability_called_in_a_recipe_name_it(samuel, put, agent, project):
    record(put, "PreAbilityCall", "PostAbilityCall")
    put(".system/registry/low-level/notes.yaml", ABILITY)
    put("read.sh", "#!/bin/sh\necho '{}'\n", 0o755)
    agent("samuel ability call notes.read")
    ran = run_review(samuel)
    events = recorded(project)
    assert [(event["event_type"], event["recipe_name"]) for event in events] == [
        ("PreAbilityCall", "review"),
        ("PostAbilityCall", "review"),
    ]
    assert {event["session_id"] for event in events} == {ran["session_id"]}


@pytest.mark.slow
def test_the_example_of_the_page_about_recipe_aware_hooks_stops_an_edit_in_a_real_run(samuel, put, project):
    for name, text in BLOCK.findall(PAGE.read_text()):
        put(name, text, 0o755)
    samuel("init")
    assert samuel("plugin", "add", "./reviews", "--yes").code == 0
    put(
        ".samuel/scripted/default",
        f"#!/bin/sh\necho '{EDIT}' | samuel emit PreAbilityCall > verdict\ntrue\n",
        0o755,
    )
    for recipe, decision in (("reviews/code-review", "deny"), ("reviews/deploy", None)):
        ran = samuel("recipe", "run", recipe, "--agent", "scripted", "--yes")
        assert ran.code == 0, ran.err
        assert json.loads((project / "verdict").read_text()).get("decision") == decision


@pytest.mark.slow
def test_a_plugins_own_hook_knows_its_recipe_by_the_short_name_and_others_by_the_full_one(
    samuel, put, agent, project
):
    put("my-plugin/recipes/code-review.md", "Review.\n")
    put("my-plugin/hooks/review-validator", OWN_HOOK, 0o755)
    put("stranger/hooks/other", OTHER_HOOK, 0o755)
    for plugin in ("./my-plugin", "./stranger"):
        assert samuel("plugin", "add", plugin, "--yes").code == 0
    agent(f"echo '{EDIT}' | samuel emit PreAbilityCall > verdict\ntrue")
    assert samuel("recipe", "run", "my-plugin/code-review", "--yes").code == 0
    verdict = json.loads((project / "verdict").read_text())
    assert verdict == {"decision": "deny", "reason": "my-plugin/code-review edits nothing"}


def test_a_plugin_without_a_manifest_that_fails_is_told_of_grants(samuel, put, project):
    put("git-diff/hooks/validate-diff", "#!/bin/sh\n[ $1 = hook ] && { echo turn_end; exit; }\ngit diff\n", 0o755)
    samuel("init")
    assert samuel("plugin", "add", "./git-diff", "--yes").code == 0
    ran = samuel("emit", "TurnEnd", stdin='{"response": "x", "turn_number": 1}')
    assert "`git-diff/validate-diff` crashed: exit code " in ran.err
    assert (
        "it has no manifest, so it may use only its own files and what `samuel plugin add --grant` gave it"
        in ran.err
    )
