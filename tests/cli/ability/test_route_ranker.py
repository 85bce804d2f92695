"""`[abilities] ranker = "agent"`: a real process chooses among the candidates, or the words decide."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

TEXT = "make the room presentable"
CONFIG = """\
[methodology.ralph]
agent = "{agent}"

[abilities]
ranker = "agent"
ranker_timeout = "{timeout}"

[agents.mine]
command = ["./ranker", "--fast"]
prompt = "stdin"
"""
# Counts how often it is asked, and answers as claude does.
CLAUDE = """\
import json, os, sys
asked = sys.stdin.read()
open({log!r}, "a").write(json.dumps({{"argv": sys.argv[1:], "cwd": os.getcwd(), "asked": asked}}) + "\\n")
print(json.dumps({{"type": "result", "result": {answer!r}}}))
"""

confined = pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bubblewrap here")


@pytest.fixture
def rooms(empty, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Two abilities that share no word with what is asked for, and a `claude` of our own on PATH."""
    for key, summary in (("sweep", "Brush dust off the floor"), ("air", "Open a window")):
        empty.script(key, "print(1)")
        empty.put(
            f".system/registry/low-level/{key}.yaml",
            f"operation_key: {key}\nsummary: {summary}\n"
            f"implementation: {{kind: script, script: {{path: scripts/abilities/{key}}}}}\n",
        )
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:{Path(sys.executable).parent}:/usr/bin:/bin")

    def answers(answer: str, timeout: str = "5m", before: str = "") -> Path:
        log = tmp_path / "asked.jsonl"
        file = programs / "claude"
        file.write_text(f"#!{sys.executable} -S\n{before}{CLAUDE.format(log=str(log), answer=answer)}")
        file.chmod(0o755)
        empty.put("samuel.toml", CONFIG.format(agent="claude", timeout=timeout))
        empty.trust()
        return log

    return answers


def route(samuel, *more: str):
    ran = samuel("ability", "route", TEXT, "--json", *more)
    assert ran.code == 0, ran.err
    return ran.json


def ids(answer) -> list[str]:
    return [candidate["id"] for candidate in answer["data"]["candidates"]]


def test_the_agent_chooses_without_tools_and_outside_of_the_project(samuel, rooms, project):
    log = rooms('["sweep"]')
    answer = route(samuel)
    assert (ids(answer), answer["data"]["ranked_by"]) == (["sweep"], "claude")
    assert answer["data"]["candidates"][0]["reasons"] == ["number 1 by the agent `claude`"]
    (request,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert "--tools=" in request["argv"]
    assert "--dangerously-skip-permissions" not in request["argv"]
    assert not Path(request["cwd"]).is_relative_to(project)
    assert not Path(request["cwd"]).exists()
    assert "- sweep: Brush dust off the floor\n" in request["asked"]


def test_the_same_question_is_asked_once_until_the_registry_changes(samuel, rooms, empty):
    log = rooms('["sweep"]')
    assert route(samuel) == route(samuel)
    assert len(log.read_text().splitlines()) == 1
    empty.script("dust", "print(1)")
    empty.trust()
    route(samuel)
    assert len(log.read_text().splitlines()) == 2


def test_an_empty_list_offers_nothing(samuel, rooms):
    rooms("[]")
    assert route(samuel)["data"]["nothing"] == "the agent `claude` found none that fits"


@pytest.mark.parametrize(
    ("answer", "timeout", "before", "problem"),
    [
        ('["rm"]', "5m", "", "it names `rm`, which is not in the prompt"),
        ("I cannot say", "5m", "", "it has no JSON list of ids"),
        ('["sweep"]', "1s", "import time; time.sleep(600)\n", "it did not answer within 1s"),
        ('["sweep"]', "5m", "raise SystemExit(3)\n", "it ended with exit code 3"),
    ],
    ids=["wrong", "missing", "slow", "fails"],
)
def test_without_a_usable_answer_the_words_decide(samuel, rooms, answer, timeout, before, problem):
    rooms(answer, timeout, before)
    routed = route(samuel)
    assert (ids(routed), routed["data"]["ranked_by"]) == ([], "words")
    assert routed["warnings"] == [f"the agent `claude` gave no ranking, the words decide: {problem}"]


def test_a_clone_cannot_make_route_ask_an_agent_before_it_is_trusted(samuel, rooms, empty, machine):
    log = rooms('["sweep"]')
    shutil.rmtree(machine / "state")
    (warning,) = route(samuel)["warnings"]
    assert "`abilities:ranker` has not been agreed to" in warning
    assert not log.exists()


def test_an_agent_that_asks_is_answered_by_words(samuel, rooms, monkeypatch):
    log = rooms('["sweep"]')
    monkeypatch.setenv("SAMUEL_RUN_ID", "run-1")
    assert route(samuel)["data"]["ranked_by"] == "words"
    assert not log.exists()


def test_route_asks_no_agent_without_the_setting(samuel, rooms, empty):
    log = rooms('["sweep"]')
    empty.put("samuel.toml", "")
    assert route(samuel)["data"]["ranked_by"] == "words"
    assert not log.exists()


@confined
def test_an_agent_that_cannot_be_held_to_no_tools_is_confined(samuel, rooms, empty, project):
    rooms("[]")
    empty.put(
        "ranker", '#!/bin/sh\ncat > /dev/null\ntouch "${0%/*}/was-here" 2>/dev/null\necho \'["air"]\'\n', 0o755
    )
    empty.put("samuel.toml", CONFIG.format(agent="mine", timeout="5m"))
    empty.trust()
    answer = route(samuel)
    assert (ids(answer), answer["warnings"]) == (["air"], [])
    assert not (project / "was-here").exists()


def test_route_prints_the_nearest_abilities_as_json(samuel, rooms, empty):
    empty.put("samuel.toml", "")
    data = samuel("ability", "route", "the dust of history, and many other words", "--json").json["data"]
    assert data["candidates"] == []
    assert [candidate["id"] for candidate in data["nearest"]] == ["sweep"]
    assert 0 < data["nearest"][0]["score"] < 1
