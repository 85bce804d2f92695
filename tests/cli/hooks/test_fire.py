"""`samuel hooks fire`: one JSON object on stdout, words for people on stderr."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

REAL = (sys.executable, "-m", "samuel")


def test_an_event_goes_through_its_chain(samuel, guard):
    samuel("trust", "--yes")
    ran = samuel("hooks", "fire", "quality.check", "--payload", '{"commands": ["true"]}')
    assert (ran.code, ran.err) == (0, "")
    data = ran.json
    (check,) = data["result"].pop("checks")
    assert (check["command"], check["passed"], check["exit_code"]) == ("true", True, 0)
    assert data == {
        "event": "quality.check",
        "ok": True,
        "result": {"ok": True, "failures": []},
        "chain": [
            {"handler": "default", "outcome": "ok", "duration_ms": 0, "message": ""},
            {"handler": "guard", "outcome": "ok", "duration_ms": 0, "message": ""},
        ],
        "warnings": [],
    }


def test_firing_an_event_that_is_not_ok_exits_with_1(samuel):
    ran = samuel("hooks", "fire", "quality.check", "--payload", '{"commands": ["false"]}')
    assert ran.code == 1
    assert ran.json["ok"] is False
    assert ran.err == "warning: `default` failed: `false` ended with exit code 1\n"


def test_samples_stand_for_what_is_missing(samuel):
    ran = samuel("hooks", "fire", "context.task")
    warning = '`task` was not given; the sample is {"id": "1", "title": "A sample task", "status": "pending"}'
    assert ran.json["warnings"] == [warning]
    assert ran.err == f"warning: {warning}\n"
    assert "A sample task" in ran.json["result"]["toon_blob"]


@pytest.mark.parametrize("way", ["text", "file", "stdin"])
def test_three_ways_to_give_a_payload(samuel, put, way: str):
    text = '{"commands": [], "session_id": "s-1", "event": "quality_check"}'
    put("payload.json", text)
    payload = {"text": text, "file": "@payload.json", "stdin": "-"}[way]
    ran = samuel("hooks", "fire", "quality.check", "--payload", payload, stdin=text)
    assert (ran.code, ran.json["warnings"]) == (0, [])


def test_the_handler_sees_the_payload_and_the_context(samuel, put):
    text = (
        "import samuel\n\n\n"
        '@samuel.hook("context.extra")\n'
        "def facts(event):\n"
        "    text = f\"{event.session_id} {event.task} {event.context['Project']['Name']}\"\n"
        '    return {"extras": [{"name": "facts", "content": text}]}\n'
    )
    put(".samuel/hooks/facts.py", text)
    samuel("trust", "--yes")
    ran = samuel("hooks", "fire", "context.extra", "--payload", '{"session_id": "s-1", "task": {"id": "7"}}')
    assert ran.json["result"]["extras"] == [{"name": "facts", "content": "s-1 {'id': '7'} project"}], ran.err


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ("{bad", "`--payload` is not JSON: "),
        ("", "`--payload` is empty\n"),
        ("[]", "`--payload` must be a JSON object\n"),
        ("[" * 5000 + "]" * 5000, "`--payload` is nested too deeply\n"),
        ("@nope", "cannot read the file `nope`: No such file or directory\n"),
        ("@.", "cannot read the file `.`: Is a directory\n"),
        ('{"nope": 1}', "`quality.check` has no field `nope`\n"),
        ('{"commands": 1}', "`quality.check`: `commands` must be an array, not an integer\n"),
        ('{"event": "TurnEnd"}', "the payload is for the event `TurnEnd`, not for `quality.check`\n"),
        ('{"event": 5}', "the payload is for the event `5`, not for `quality.check`\n"),
    ],
)
def test_a_payload_that_is_wrong_is_refused_with_the_reason(samuel, payload: str, why: str):
    ran = samuel("hooks", "fire", "quality.check", "--payload", payload)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {why}")


def test_a_payload_on_stdin_that_is_not_utf8_is_refused(project):
    done = subprocess.run(
        [*REAL, "hooks", "fire", "quality.check", "--payload", "-"], input=b'{"a": "\xff"}', capture_output=True
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: stdin is not JSON: ")


def test_firing_an_unknown_event_names_the_nearest_one(samuel):
    assert samuel("hooks", "fire", "quality.chek") == (
        2,
        "",
        "error: `quality.chek` is not an event\ndid you mean `quality.check`?\n",
    )


def test_what_cannot_be_taken_back_must_be_meant(samuel, project):
    assert samuel("hooks", "fire", "agent.invoke") == (
        2,
        "",
        "error: the handlers of `agent.invoke` do what cannot be undone\nadd `--really` to fire it all the same\n",
    )
    hint = samuel("hooks", "fire", "agent.invoke", "--json").json["error"]["hint"]
    assert hint == "add `--really` to fire it all the same"


def test_hooks_of_a_fresh_clone_are_not_run_by_hooks_fire(samuel, project, guard):
    ran = samuel("hooks", "fire", "quality.check", "--payload", '{"commands": []}')
    warning = "not trusted, so not run: `guard`; `samuel trust` shows the content and asks"
    assert ran.json["warnings"] == [warning]
    assert ran.err == f"warning: {warning}\n"
    assert [call["handler"] for call in ran.json["chain"]] == ["default"]
    assert not (project / "canary").exists()


@pytest.mark.slow
def test_one_that_never_worked_is_not_passed_over_in_silence(samuel, put):
    put(".samuel/hooks/guard.py", "import samuel (\n")
    samuel("trust", "--yes")
    ran = samuel("hooks", "fire", "PreAbilityCall", "--payload", '{"ability_id": "x"}')
    why = "cannot be loaded: SyntaxError: invalid syntax (guard.py, line 1)"
    assert ran.json["warnings"] == [f"`guard` not_started: {why}"]
    assert ran.json["result"]["decision"] == "deny"
    ran = samuel("hooks", "fire", "PostAbilityCall", "--payload", '{"ability_id": "x", "status": "success"}')
    assert ran.json["warnings"] == [f"broken, so not run: `guard`: {why}"]


@pytest.mark.slow
def test_on_a_terminal_it_shows_what_is_new_and_asks(on_terminal, project, guard, samuel):
    code, screen = on_terminal("hooks", "fire", "quality.check", typed="n\n")
    assert code == 0
    assert "hook) touch canary; echo quality.check ;;" in screen
    assert not (project / "canary").exists()
    code, screen = on_terminal("hooks", "fire", "quality.check", typed="y\n")
    assert code == 0
    assert [call["handler"] for call in json.loads(screen[screen.index("\n{") :])["chain"]] == ["default", "guard"]
    assert (project / "canary").exists()


@pytest.mark.slow
def test_a_hook_may_put_a_question_to_the_person(on_terminal, put, samuel):
    body = (
        'if [ $1 = hook ]; then echo PreAbilityCall; exit; fi\necho \'{"decision": "ask", "reason": "Sure?"}\'\n'
    )
    put(".samuel/hooks/careful", f"#!/bin/sh\n{body}", 0o755)
    samuel("trust", "--yes")
    assert on_terminal("hooks", "fire", "PreAbilityCall", typed="y\n")[0] == 0
    code, screen = on_terminal("hooks", "fire", "PreAbilityCall", typed="n\n")
    assert (code, "Sure? [y/N]" in screen) == (1, True)
    assert samuel("hooks", "fire", "PreAbilityCall").code == 1  # no person to ask


def test_hooks_fire_reports_a_broken_samuel_toml(samuel, put):
    put("samuel.toml", "x = 1\n")
    ran = samuel("hooks", "fire", "quality.check")
    assert (ran.code, ran.out) == (2, "")
