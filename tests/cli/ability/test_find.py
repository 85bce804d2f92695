"""`samuel ability list`, `show`, `route` and `lint`: whole outputs, with and without hints."""

from __future__ import annotations

import pytest

BILLING = """\
id: billing_regression
type: workflow
operation_key: workflow.billing.regression
version: 2
summary: Run the full billing regression suite
scope: {modules: [billing], environments: [dev]}
calls: [text.repeat]
routing_hints:
  keywords: [regression]
  negative_keywords: [frontend]
  notes: Takes minutes.
implementation:
  kind: python
  python: {function: "tools/billing.py:run", timeout: 5m}
"""
TABLES = """\
| Id | Type | Scope | When to use | Registry path |
|---|---|---|---|---|
| billing_regression | workflow | billing | Before billing is released | .system/registry/high-level/billing.yaml |

| Operation key | Kind | Scope | Summary | Registry path |
|---|---|---|---|---|
| text.repeat | script | text | Repeat a text | .system/registry/low-level/repeat.yaml |
"""
QUESTION = "Run the full billing regression tests for me"


@pytest.fixture
def office(shop):
    shop.put(".system/registry/high-level/billing.yaml", BILLING)
    shop.put("ABILITY.md", TABLES)
    shop.put("tools/billing.py", "def run(given): ...\n")
    return shop


class TestList:
    def test_ability_list_is_an_aligned_table_in_a_pipe(self, samuel, office):
        assert samuel("ability", "list") == (
            0,
            "ID                  LEVEL  KIND    SCOPE    ENVIRONMENTS  SUMMARY\n"
            "billing_regression  high   python  billing  dev           Run the full billing regression suite\n"
            "text.repeat         low    script  text     -             Repeat a text\n",
            "",
        )

    def test_ability_list_prints_json(self, samuel, office):
        assert samuel("ability", "list", "--json").json["data"][0] == {
            "id": "billing_regression",
            "operation_key": "workflow.billing.regression",
            "level": "high",
            "type": "workflow",
            "kind": "python",
            "summary": "Run the full billing regression suite",
            "when_to_use": "Before billing is released",
            "scope": ["billing"],
            "environments": ["dev"],
            "calls": ["text.repeat"],
            "file": ".system/registry/high-level/billing.yaml",
        }

    def test_ability_list_says_when_there_are_no_abilities(self, samuel, project):
        assert samuel("ability", "list") == (
            0,
            "there are no abilities here: .system/registry/*/*.yaml defines them\n",
            "",
        )

    def test_a_broken_file_hides_no_other(self, samuel, office):
        office.put(".system/registry/low-level/broken.yaml", "operation_key: [x\n")
        listed = samuel("ability", "list")
        assert listed.out.count("\n") == 3
        assert listed.err == "warning: 1 problem in the registry; `samuel ability lint` shows them\n"


class TestShow:
    @pytest.mark.parametrize("name", ["billing_regression", "workflow.billing.regression"])
    def test_by_its_id_and_by_its_operation_key(self, samuel, office, name):
        assert samuel("ability", "show", name) == (
            0,
            "billing_regression: Run the full billing regression suite\n"
            "operation: workflow.billing.regression\n"
            "level: high, workflow\n"
            "version: 2\n"
            "when to use: Before billing is released\n"
            "scope: billing\n"
            "environments: dev\n"
            "calls: text.repeat\n"
            "keywords: regression\n"
            "not for: frontend\n"
            "notes: Takes minutes.\n"
            "file: .system/registry/high-level/billing.yaml\n"
            "input: anything\n"
            "output: anything\n"
            "python: tools/billing.py:run\n"
            "timeout: 300s\n",
            "",
        )

    def test_ability_show_prints_json(self, samuel, office):
        data = samuel("ability", "show", "text.repeat", "--json").json["data"]
        assert data["input_schema"]["required"] == ["text"]
        assert data["implementation"] == {
            "type": "script",
            "path": "scripts/abilities/repeat",
            "arguments": ["--times={times}", "{text}"],
            "timeout": None,
            "env": {"GREETING": "hello"},
        }

    def test_ability_show_refuses_an_unknown_ability(self, samuel, office):
        assert samuel("ability", "show", "text.repat") == (
            2,
            "",
            "error: there is no ability `text.repat`\ndid you mean `text.repeat`?\n",
        )

    def test_what_a_terminal_might_act_on_is_escaped(self, samuel, empty):
        empty.put(".system/registry/low-level/x.yaml", 'operation_key: x\nsummary: "\\e]0;owned\\a"\n')
        assert "\x1b" not in samuel("ability", "show", "x").out
        assert "\x1b" not in samuel("ability", "list").out


class TestRoute:
    def test_ability_route_explains_each_score(self, samuel, office):
        routed = samuel("ability", "route", QUESTION)
        assert routed.code == 0
        first, reason, where = routed.out.splitlines()
        assert first.endswith("  billing_regression (high-level)")
        assert reason.startswith(f"      {first.split()[0]} for ")
        assert "`billing`" in reason
        assert where == "      runs in `dev` only, and no environment is set"

    def test_ability_route_prints_json(self, samuel, office):
        data = samuel("ability", "route", QUESTION, "--env", "dev", "--json").json["data"]
        (candidate,) = data["candidates"]
        assert (candidate["id"], candidate["level"], data["nothing"], data["left_out"]) == (
            "billing_regression",
            "high",
            "",
            {},
        )
        assert 0 < candidate["score"] <= 1
        assert len(candidate["reasons"]) == 1

    def test_ability_route_says_when_nothing_fits(self, samuel, office):
        assert samuel("ability", "route", "bake a cake") == (
            0,
            "nothing: no ability matches\n",
            "",
        )

    def test_a_million_characters_on_stdin(self, samuel, office):
        routed = samuel("ability", "route", "-", "--json", stdin=f"{QUESTION} {'word ' * 200_000}")
        assert routed.code == 0

    def test_ability_route_prefers_the_scope(self, samuel, office):
        assert samuel("ability", "route", QUESTION, "--env", "prod").out == (
            "nothing: what fits is ruled out: `billing_regression`: it is for `dev`, not for `prod`\n"
        )
        assert "it is for `billing`, not for `text`" in samuel("ability", "route", QUESTION, "--scope", "text").out
        office.put("samuel.toml", 'environment = "prod"\n')
        assert samuel("ability", "route", QUESTION).out.startswith("nothing: ")
        assert samuel("ability", "route", QUESTION, "--env", "dev").out.startswith("0.")

    def test_ability_route_prefers_abilities_in_frequent_use(self, samuel, office):
        office.put(".system/cache/ability_usage.json", '{"billing_regression": {"count": 20}}')
        assert "+0.0" in samuel("ability", "route", QUESTION).out
        assert "used 20 times" in samuel("ability", "route", QUESTION).out


class TestHints:
    SUGGEST = """
answer["suggested_abilities"] = [
    {"id": "billing_regression", "reason": "Regression workflow for billing module", "confidence": 0.9},
    {"id": "billing_regresion", "reason": "A slip", "confidence": 0.9},
]
"""

    def prompted(self, samuel, office):
        before = samuel("ability", "route", QUESTION, "--json")
        office.hook("suggest", "UserPromptSubmit", self.SUGGEST)
        office.trust()
        samuel("session", "start", "--id", "s1")
        samuel("session", "prompt", QUESTION, "--id", "s1")
        return before

    def test_they_move_an_ability_up_and_say_so(self, samuel, office):
        before = self.prompted(samuel, office).json["data"]["candidates"][0]
        data = samuel("ability", "route", QUESTION, "--session", "s1", "--json").json
        (after,) = data["data"]["candidates"]
        assert after["score"] > before["score"]
        assert after["reasons"][0] == before["reasons"][0]
        assert after["reasons"][1].endswith(
            "suggested by a hook with confidence 0.90: Regression workflow for billing module"
        )
        assert data["warnings"] == [
            "a hook suggests `billing_regresion`, which is not in the registry; did you mean `billing_regression`?"
        ]

    def test_the_session_of_the_process(self, samuel, office, monkeypatch):
        self.prompted(samuel, office)
        monkeypatch.setenv("SAMUEL_SESSION_ID", "s1")
        assert "suggested by a hook" in samuel("ability", "route", QUESTION).out
        monkeypatch.setenv("SAMUEL_SESSION_ID", "nobody-began-it")
        assert "suggested by a hook" not in samuel("ability", "route", QUESTION).out

    def test_without_hooks_the_answer_is_the_same_minus_the_hints(self, samuel, office):
        before = self.prompted(samuel, office)
        assert samuel("ability", "route", QUESTION, "--json") == before
        (office.root / ".system/hooks/suggest.yaml").unlink()
        samuel("trust", "--yes")
        samuel("session", "start", "--id", "s2")
        samuel("session", "prompt", QUESTION, "--id", "s2")
        assert samuel("ability", "route", QUESTION, "--session", "s2", "--json") == before

    def test_ability_route_refuses_an_unknown_session(self, samuel, office):
        refused = samuel("ability", "route", QUESTION, "--session", "s9")
        assert (refused.code, refused.err.splitlines()[0]) == (2, "error: there is no session `s9`")


class TestLint:
    def test_ability_lint_says_when_nothing_is_wrong(self, samuel, office):
        assert samuel("ability", "lint") == (0, "2 abilities, and nothing is wrong\n", "")

    def test_ability_lint_reports_problems(self, samuel, office):
        office.put("tools/billing.py", "def walk(given): ...\n")
        office.put(".system/registry/low-level/broken.yaml", "operation_key: x\n")
        linted = samuel("ability", "lint")
        assert linted.code == 1
        assert linted.out == (
            ".system/registry/high-level/billing.yaml:14: `tools/billing.py` has no function `run`\n"
            ".system/registry/low-level/broken.yaml:1: `summary` is missing (add `summary: ...`)\n"
        )
        problems = samuel("ability", "lint", "--json").json["data"]["problems"]
        assert [problem["line"] for problem in problems] == [14, 1]
