"""`samuel knowledge`: the documents for a text, an intent and a session's hints; and what is wrong with them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples/knowledge"
INTENT = {
    "scope": "execution.quality_gates",
    "topic": "pre_commit_checks",
    "stage": "understand",
    "intent": "learn_which_checks_to_run_before_commit",
    "signals": {"user_raw_input": "Before I commit, what checks should I run?"},
}


@pytest.fixture
def library(project, monkeypatch):
    monkeypatch.delenv("SAMUEL_SESSION_ID", raising=False)
    shutil.copytree(EXAMPLE, project / "knowledge")
    return project


class TestRoute:
    def test_knowledge_route_takes_an_intent_in_a_file(self, samuel, library):
        (library / "intent.json").write_text(json.dumps(INTENT))
        routed = samuel("knowledge", "route", "--intent", "intent.json", "--json")
        assert routed.code == 0
        data = routed.json["data"]
        assert data["root"] == "knowledge"
        assert data["documents"][0]["path"] == "docs/quality/pre_commit_policy.md"
        assert all(document["reasons"] for document in data["documents"])

    @pytest.mark.parametrize("intent", [INTENT, {"new_intent": INTENT}])
    def test_on_stdin_and_on_the_command_line(self, samuel, library, intent):
        on_stdin = samuel("knowledge", "route", "--intent", "-", stdin=json.dumps(intent))
        assert on_stdin == samuel("knowledge", "route", "--intent", json.dumps(intent))
        first, *reasons = on_stdin.out.splitlines()
        assert first.endswith("  knowledge/docs/quality/pre_commit_policy.md")
        assert "      for the stage `understand`" in reasons

    def test_knowledge_route_takes_a_text(self, samuel, library):
        routed = samuel("knowledge", "route", "Before I commit, what checks should I run?", "--json")
        assert "docs/quality/pre_commit_policy.md" in [
            document["path"] for document in routed.json["data"]["documents"]
        ]

    def test_knowledge_route_says_when_nothing_fits(self, samuel, library):
        routed = samuel("knowledge", "route", "bake a cake")
        assert (routed.code, routed.out) == (0, "nothing: none of the 6 topics fits the question\n")

    def test_knowledge_route_says_when_nothing_is_asked(self, samuel, library):
        assert samuel("knowledge", "route").out == "nothing: give a text or an intent\n"

    def test_knowledge_route_needs_a_routing_md(self, samuel, project):
        assert samuel("knowledge", "route", "x") == (
            1,
            "",
            "error: there is no ROUTING.md here\nwrite one, in the project's root or in `knowledge/`, `docs/`\n",
        )

    @pytest.mark.parametrize(
        "intent", ['{"scope": "x"}', '{"intent": 1}', '{"intent": "x", "stage": "later"}', "{"]
    )
    def test_knowledge_route_refuses_an_invalid_intent(self, samuel, library, intent):
        refused = samuel("knowledge", "route", "--intent", intent)
        assert (refused.code, refused.out) == (2, "")

    def test_knowledge_route_cannot_read_text_and_intent_from_stdin(self, samuel, library):
        assert samuel("knowledge", "route", "-", "--intent", "-").code == 2


class TestHints:
    def prompted(self, samuel, put, answer):
        put(".system/hooks/trigger.yaml", TRIGGER)
        put("scripts/hooks/trigger", f"#!/bin/sh\ncat > /dev/null\necho '{json.dumps(answer)}'\n", 0o755)
        samuel("trust", "--yes")
        samuel("session", "start", "--id", "s1")
        samuel("session", "prompt", "Something else entirely", "--id", "s1")

    def test_knowledge_route_uses_the_intent_of_a_session(self, samuel, library, put):
        self.prompted(samuel, put, {"new_intent": INTENT})
        by_option = samuel("knowledge", "route", "--intent", json.dumps(INTENT), "--json")
        assert samuel("knowledge", "route", "--session", "s1", "--json") == by_option
        assert samuel("knowledge", "route").out.startswith("nothing: ")

    def test_documents_that_hooks_suggest(self, samuel, library, put):
        documents = [
            {"path": "knowledge/docs/release/rollback.md", "reason": "It may go wrong"},
            {"path": "../../etc/passwd", "reason": "Look"},
        ]
        self.prompted(samuel, put, {"suggested_documents": documents})
        routed = samuel("knowledge", "route", "--session", "s1", "--json").json
        (document,) = routed["data"]["documents"]
        assert (document["path"], document["reasons"]) == (
            "docs/release/rollback.md",
            ["a hook suggests it: It may go wrong"],
        )
        assert len(routed["warnings"]) == 1


TRIGGER = """\
id: trigger
event_type: UserPromptSubmit
handler: {kind: script, command: ./scripts/hooks/trigger}
"""


class TestLint:
    def test_knowledge_lint_says_when_nothing_is_wrong(self, samuel, library):
        assert samuel("knowledge", "lint") == (0, "6 topics, and nothing is wrong\n", "")

    def test_knowledge_lint_reports_problems(self, samuel, library):
        (library / "knowledge/docs/release/rollback.md").unlink()
        linted = samuel("knowledge", "lint")
        assert linted.code == 1
        assert "PROJECT/knowledge/routes/execution.release.deploy.yaml:" in linted.out
        assert "the document `docs/release/rollback.md` cannot be used" in linted.out
        (problem,) = samuel("knowledge", "lint", "--json").json["data"]["problems"]
        assert problem["line"] > 0
