"""Complete examples of YAML session hooks, each used unchanged: definitions, contexts, results and one handler."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent / "examples"
DEFINITIONS = sorted(EXAMPLES.glob("*-definition.yaml"))
CONTEXTS = sorted(EXAMPLES.glob("*-context.json"))
RESULTS = sorted(EXAMPLES.glob("*-result.json"))

# The event that each example belongs to, and the fields that its context must have.
EVENTS = {
    "regression_call": "PostAbilityCall",
    "suggest_abilities": "UserPromptSubmit",
    "track_usage": "PostAbilityCall",
    "build_check": "SessionStop",
    "suggest_signup_tests": "UserPromptSubmit",
    "new_intent": "UserPromptSubmit",
    "blocked_by_policy": "PreAbilityCall",
    "suggestion_only": "UserPromptSubmit",
    "intent_of_a_question": "UserPromptSubmit",
    "two_builds": "SessionStop",
}
LEAST: dict[str, dict[str, Any]] = {
    "PostAbilityCall": {"ability_id": "a", "status": "success"},
    "UserPromptSubmit": {"user_message": "hello"},
    "SessionStop": {"changed_files": ["services/auth/src/login.ts"]},
    "PreAbilityCall": {"ability_id": "a"},
}


def example(file: Path) -> str:
    return file.name.partition("-")[0]


def identify(file: Path) -> str:
    return file.name


@pytest.fixture
def place(put: Callable[..., Path]) -> Callable[[str], str]:
    """Put a definition where its first line says, with a script that keeps its input and prints a result."""

    def write(text: str, result: str = "{}") -> str:
        name = re.match(r"# (\S+)\n", text)
        script = re.search(r"command: \./(\S+)", text)
        assert name
        assert script
        put(name[1], text)
        put(script[1], f"#!/bin/sh\ncat > seen.json\ncat <<'END'\n{result}\nEND\n", 0o755)
        return name[1]

    return write


def hook(event: str) -> str:
    handler = "handler:\n  kind: script\n  command: ./scripts/hooks/h.sh\n"
    return f"# .system/hooks/h.yaml\nid: h\nevent_type: {event}\n{handler}"


@pytest.mark.parametrize("file", DEFINITIONS, ids=identify)
def test_an_example_definition_loads(samuel, place, file: Path) -> None:
    text = file.read_text()
    name = place(text)
    samuel("trust", "--yes")
    (row,) = samuel("hooks", "validate", "--json").json["data"]
    id = re.search(r"^id: (\S+)$", text, re.MULTILINE)
    event = re.search(r"^event_type: (\S+)$", text, re.MULTILINE)
    assert id
    assert event
    assert (row["file"], row["id"], row["events"]) == (name, id[1], event[1])
    assert row["status"] == ("active" if "enabled: true" in text else "disabled")
    assert row["problems"] == []


def test_hooks_register_prints_the_example_registration(samuel, place) -> None:
    for name in ("tracker_with_filters", "suggest_abilities", "build_check"):
        text = (EXAMPLES / f"{name}-definition.yaml").read_text()
        place(text.replace("enabled: false", "enabled: true"))
    ran = samuel("hooks", "register")
    assert ran.code == 0
    assert ran.out == (EXAMPLES / "registration.json").read_text()


@pytest.mark.parametrize("file", CONTEXTS, ids=identify)
def test_an_example_context_reaches_the_hook_unchanged(samuel, place, project: Path, file: Path) -> None:
    context = json.loads(file.read_text())
    place(hook(context["event_type"]))
    samuel("trust", "--yes")
    ran = samuel("emit", context["event_type"], stdin=file.read_text())
    assert (ran.code, ran.json, ran.err) == (0, {}, "")
    context = json.loads((project / "seen.json").read_text())
    assert {key: context[key] for key in context} == context
    assert context["repository_root"] == str(project)


@pytest.mark.parametrize("file", RESULTS, ids=identify)
def test_an_example_result_is_in_the_merged_result(samuel, place, file: Path) -> None:
    event = EVENTS[example(file)]
    place(hook(event), file.read_text())
    samuel("trust", "--yes")
    ran = samuel("emit", event, stdin=json.dumps({"session_id": "s", **LEAST[event]}))
    result = json.loads(file.read_text())
    for message in result.get("messages_to_user", ()):
        assert message in ran.err
    if example(file) == "blocked_by_policy":  # an error flag that the orchestrator understands
        assert ran.code == 2
        assert ran.err.endswith("\nblocked_by_policy\n")
        assert ran.json == {**result, "decision": "deny", "reason": "blocked_by_policy"}
    else:
        assert ran.code == 0
        assert ran.json == result


@pytest.mark.parametrize("hook_name", ["suggest_abilities", "track_usage", "build_check"])
def test_an_example_definition_context_and_result_work_together(samuel, place, hook_name: str) -> None:
    definition, context, result = (
        (EXAMPLES / f"{hook_name}-{part}").read_text()
        for part in ("definition.yaml", "context.json", "result.json")
    )
    place(definition.replace("enabled: false", "enabled: true"), result)
    samuel("trust", "--yes")
    ran = samuel("emit", json.loads(context)["event_type"], stdin=context)
    assert (ran.code, ran.json) == (0, json.loads(result))


def test_the_example_logging_handler_runs_as_a_hook(samuel, put, project: Path) -> None:
    script = (EXAMPLES / "logging_handler.py.txt").read_text()
    put(".system/hooks/h.yaml", hook("PostAbilityCall").replace("h.sh", "h.py"))
    put("scripts/hooks/h.py", script, 0o755)
    samuel("trust", "--yes")
    context = (EXAMPLES / "regression_call-context.json").read_text()
    ran = samuel("emit", "PostAbilityCall", stdin=context)
    assert (ran.code, ran.json) == (0, {"usage_recorded": True})
    theirs, ours = map(json.loads, (project / ".system/logs/hooks.log").read_text().splitlines())
    assert theirs.items() >= json.loads(context).items()
    assert (ours["hook"], ours["event"], ours["status"]) == ("h", "PostAbilityCall", "ok")


def test_the_example_logging_handler_runs_without_samuel(tmp_path: Path) -> None:
    """As another orchestrator would call it: the context on stdin, nothing else."""
    file = tmp_path / "handler.py"
    file.write_text((EXAMPLES / "logging_handler.py.txt").read_text())
    context = (EXAMPLES / "regression_call-context.json").read_bytes()
    done = subprocess.run([sys.executable, file], input=context, capture_output=True, cwd=tmp_path, check=True)
    assert json.loads(done.stdout) == {"usage_recorded": True}
