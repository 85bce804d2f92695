"""Every YAML, JSON and Python example of REPO, used as it is given there: one test each."""

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

# The event that a section's result belongs to, and the keys its context cannot do without.
EVENTS = {
    "2.3": "PostAbilityCall",
    "3.1": "UserPromptSubmit",
    "3.2": "PostAbilityCall",
    "3.3": "SessionStop",
    "4.3.2": "UserPromptSubmit",
    "4.3.3": "UserPromptSubmit",
    "4.3.4": "PreAbilityCall",
    "5.1": "UserPromptSubmit",
    "5.2": "UserPromptSubmit",
    "5.3": "SessionStop",
}
LEAST: dict[str, dict[str, Any]] = {
    "PostAbilityCall": {"ability_id": "a", "status": "success"},
    "UserPromptSubmit": {"user_message": "hello"},
    "SessionStop": {"changed_files": ["services/auth/src/login.ts"]},
    "PreAbilityCall": {"ability_id": "a"},
}


def section(file: Path) -> str:
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
def test_a_definition_loads(samuel, place, file: Path) -> None:
    text = file.read_text()
    name = place(text)
    samuel("trust", "--yes")
    (found,) = samuel("hooks", "validate", "--json").json["data"]
    id = re.search(r"^id: (\S+)$", text, re.MULTILINE)
    event = re.search(r"^event_type: (\S+)$", text, re.MULTILINE)
    assert id
    assert event
    assert (found["file"], found["id"], found["events"]) == (name, id[1], event[1])
    assert found["status"] == ("active" if "enabled: true" in text else "disabled")
    assert found["problems"] == []


def test_the_registration_is_exactly_that(samuel, place) -> None:
    for number in ("2.1", "3.1", "3.3"):
        text = (EXAMPLES / f"{number}-definition.yaml").read_text()
        place(text.replace("enabled: false", "enabled: true"))
    ran = samuel("hooks", "register")
    assert ran.code == 0
    assert ran.out == (EXAMPLES / "2.2-registration.json").read_text()


@pytest.mark.parametrize("file", CONTEXTS, ids=identify)
def test_a_context_reaches_the_hook_as_it_is(samuel, place, project: Path, file: Path) -> None:
    context = json.loads(file.read_text())
    place(hook(context["event_type"]))
    samuel("trust", "--yes")
    ran = samuel("emit", context["event_type"], stdin=file.read_text())
    assert (ran.code, ran.json, ran.err) == (0, {}, "")
    seen = json.loads((project / "seen.json").read_text())
    assert {key: seen[key] for key in context} == context
    assert seen["repository_root"] == str(project)


@pytest.mark.parametrize("file", RESULTS, ids=identify)
def test_a_result_is_what_the_merged_result_contains(samuel, place, file: Path) -> None:
    event = EVENTS[section(file)]
    place(hook(event), file.read_text())
    samuel("trust", "--yes")
    ran = samuel("emit", event, stdin=json.dumps({"session_id": "s", **LEAST[event]}))
    result = json.loads(file.read_text())
    for message in result.get("messages_to_user", ()):
        assert message in ran.err
    if section(file) == "4.3.4":  # an error flag that the orchestrator understands
        assert ran.code == 2
        assert ran.err.endswith("\nblocked_by_policy\n")
        assert ran.json == {**result, "decision": "deny", "reason": "blocked_by_policy"}
    else:
        assert ran.code == 0
        assert ran.json == result


@pytest.mark.parametrize("number", ["3.1", "3.2", "3.3"])
def test_definition_context_and_result_together(samuel, place, number: str) -> None:
    definition, context, result = (
        (EXAMPLES / f"{number}-{name}").read_text() for name in ("definition.yaml", "context.json", "result.json")
    )
    place(definition.replace("enabled: false", "enabled: true"), result)
    samuel("trust", "--yes")
    ran = samuel("emit", json.loads(context)["event_type"], stdin=context)
    assert (ran.code, ran.json) == (0, json.loads(result))


def test_the_logging_handler(samuel, put, project: Path) -> None:
    script = (EXAMPLES / "4.3.1-handler.py.txt").read_text()
    put(".system/hooks/h.yaml", hook("PostAbilityCall").replace("h.sh", "h.py"))
    put("scripts/hooks/h.py", script, 0o755)
    samuel("trust", "--yes")
    context = (EXAMPLES / "2.3-context.json").read_text()
    ran = samuel("emit", "PostAbilityCall", stdin=context)
    assert (ran.code, ran.json) == (0, {"usage_recorded": True})
    theirs, ours = map(json.loads, (project / ".system/logs/hooks.log").read_text().splitlines())
    assert theirs.items() >= json.loads(context).items()
    assert (ours["hook"], ours["event"], ours["status"]) == ("h", "PostAbilityCall", "ok")


def test_the_handler_also_runs_by_itself(tmp_path: Path) -> None:
    """As an orchestrator of another make would call it."""
    file = tmp_path / "handler.py"
    file.write_text((EXAMPLES / "4.3.1-handler.py.txt").read_text())
    context = (EXAMPLES / "2.3-context.json").read_bytes()
    done = subprocess.run([sys.executable, file], input=context, capture_output=True, cwd=tmp_path, check=True)
    assert json.loads(done.stdout) == {"usage_recorded": True}
