"""Hooks around the call of an ability: what they see, what they change, and what the record says of it."""

from __future__ import annotations

import json

import pytest

from .conftest import steady

REWRITE = (
    "answer['tool_input'] = {{**context['tool_input'], 'more': [*context['tool_input'].get('more', []), '{}']}}"
)


class TestRewrites:
    @pytest.fixture
    def ran(self, samuel, shop):
        shop.hook("guard", "PreAbilityCall", "", "role: guard\n")
        shop.hook("one", "PreAbilityCall", REWRITE.format("one"))
        shop.hook("two", "PreAbilityCall", REWRITE.format("two"))
        shop.hook("after", "PostAbilityCall", "")
        shop.trust()
        return samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')

    def test_both_changes_arrive_in_what_ran(self, ran, shop):
        assert ran.code == 0
        assert ran.json["given"] == {"text": "hi", "more": ["one", "two"]}

    def test_the_guard_saw_the_final_input(self, ran, shop):
        (event,) = shop.events_of_hook("guard")
        assert (event["phase"], event["tool_input"]) == ("guard", {"text": "hi", "more": ["one", "two"]})

    def test_the_record_shows_original_and_final(self, ran, shop):
        words = shop.words()
        assert "- matched: no, hooks changed the input; both are below\n" in words
        assert '## Input\n\n```json\n{\n  "text": "hi"\n}\n```' in words
        assert (
            '## Final input\n\n```json\n{\n  "text": "hi",\n  "more": [\n    "one",\n    "two"\n  ]\n}\n```'
            in words
        )
        assert shop.record()["final_input"] == {"text": "hi", "more": ["one", "two"]}

    def test_the_hook_after_it_gets_both(self, ran, shop):
        (event,) = shop.events_of_hook("after")
        assert event["original_input"] == {"text": "hi"}
        assert event["tool_input"] == {"text": "hi", "more": ["one", "two"]}

    def test_without_the_hooks_what_was_asked_for_runs(self, samuel, ran, shop):
        for file in (shop.root / ".system/hooks").iterdir():
            file.unlink()
        samuel("trust", "--yes")
        assert samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}').json["given"] == {
            "text": "hi"
        }


def test_true_instead_of_one_is_a_change(samuel, empty):
    empty.script("say", "import sys; print(sys.stdin.read())")
    empty.hook("rewrite", "PreAbilityCall", "answer['tool_input'] = {'flag': True}")
    empty.trust()
    assert samuel("ability", "call", "say", "--input", '{"flag": 1}').json == {"flag": True}
    assert empty.record()["final_input"] == {"flag": True}


def test_a_rewrite_that_does_not_fit_does_not_run(samuel, shop):
    shop.hook("rewrite", "PreAbilityCall", "answer['tool_input'] = {'text': 7}")
    shop.hook("after", "PostAbilityCall", "")
    shop.trust()
    ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
    assert ran.code == 1
    assert 'after the hooks, the input does not fit: $.text: 7 is not of type "string"' in ran.err
    assert [event["status"] for event in shop.events_of_hook("after")] == ["failure"]
    assert not (shop.root / "ran.txt").exists()


class TestDenied:
    ANSWER = """
answer = {
    "messages_to_user": ["This ability would write to production. In this environment, it is blocked."],
    "error": "blocked_by_policy",
}
"""

    def test_it_is_recorded_and_told_and_nothing_runs(self, samuel, shop):
        shop.hook("policy", "PreAbilityCall", self.ANSWER)
        shop.hook("after", "PostAbilityCall", "")
        shop.trust()
        ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
        assert (ran.code, ran.out) == (1, "")
        assert "This ability would write to production." in ran.err
        assert "text.repeat: skipped: blocked_by_policy; see" in ran.err
        assert not (shop.root / "ran.txt").exists()
        assert "# text.repeat: skipped\n" in shop.words()
        assert "- matched: nothing ran\n" in shop.words()
        assert "## Reason\n\n```\nblocked_by_policy\n```" in shop.words()
        (event,) = shop.events_of_hook("after")
        assert (event["status"], event["output_summary"], "tool_output" in event) == (
            "skipped",
            "blocked_by_policy",
            False,
        )

    def test_ability_call_denied_by_a_hook_prints_json(self, samuel, shop):
        shop.hook("policy", "PreAbilityCall", "answer = {'decision': 'deny', 'reason': 'not today'}")
        shop.trust()
        ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}', "--json")
        assert (ran.code, ran.json["ok"], ran.json["data"]["status"], ran.json["data"]["error"]) == (
            1,
            False,
            "skipped",
            "not today",
        )

    def test_a_guard_that_crashes_denies(self, samuel, shop):
        shop.hook("guard", "PreAbilityCall", "raise SystemExit(3)", "role: guard\n")
        shop.trust()
        assert "skipped" in samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}').err
        assert not (shop.root / "ran.txt").exists()

    def test_a_hook_that_crashes_only_warns(self, samuel, shop):
        shop.hook("odd", "PreAbilityCall", "raise SystemExit(3)")
        shop.trust()
        ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
        assert ran.code == 0
        assert "warning: " in ran.err
        assert (shop.root / "ran.txt").exists()

    def test_ask_without_anybody_to_ask(self, samuel, shop):
        shop.hook("policy", "PreAbilityCall", "answer = {'decision': 'ask', 'reason': 'sure?'}")
        shop.trust()
        assert samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}').code == 1
        assert shop.record()["status"] == "skipped"


def test_the_contexts_have_the_fields_they_are_known_for(samuel, shop):
    shop.hook("before", "PreAbilityCall", "")
    shop.hook("after", "PostAbilityCall", "")
    shop.trust()
    samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}', "--intent", "Try it", "--session", "s1")
    (before,), (after,) = shop.events_of_hook("before"), shop.events_of_hook("after")
    key = shop.keys[0]
    pre = {
        "event_type": "PreAbilityCall",
        "session_id": "s1",
        "repository_root": str(shop.root),
        "ability_id": "text.repeat",
        "operation_key": "text.repeat",
        "ability_scope": ["text"],
        "planned_input_summary": 'Try it {"text":"hi"}',
        "tool_input": {"text": "hi"},
    }
    assert {name: before.get(name) for name in pre} == pre
    output = {"given": {"text": "hi"}, "arguments": ["--times=1", "hi"], "greeting": "hello"}
    post = {
        "event_type": "PostAbilityCall",
        "session_id": "s1",
        "ability_id": "text.repeat",
        "operation_key": "text.repeat",
        "status": "success",
        "input_summary": 'Try it {"text":"hi"}',
        "output_summary": json.dumps(output, separators=(",", ":")),
        "tool_call_path": f".system/implement/{key}/tool_call.md",
        "tool_input": {"text": "hi"},
        "original_input": {"text": "hi"},
        "tool_output": output,
    }
    assert {name: after.get(name) for name in post} == post
    assert after["duration_ms"] > 0
    assert after["timestamp"].endswith("Z")


def test_the_record_is_there_when_the_hook_after_it_is_told(samuel, shop):
    shop.hook(
        "after",
        "PostAbilityCall",
        "answer = {'logs': [{'level': 'info', 'message': open(context['tool_call_path']).read()}]}",
    )
    shop.trust()
    samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
    assert (shop.root / ".system/logs/hooks.log").exists()
    log = (shop.root / ".samuel/run/journal").glob("*.jsonl")
    assert any("# text.repeat: success" in file.read_text() for file in log)


class TestOutput:
    def test_a_hook_may_put_another_in_its_place(self, samuel, shop):
        shop.hook("redact", "PostAbilityCall", "answer = {'tool_output': {'given': 'redacted'}}")
        shop.trust()
        ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "secret"}')
        assert (ran.code, ran.json) == (0, {"given": "redacted"})
        assert '## Output, as hooks left it\n\n```json\n{\n  "given": "redacted"\n}\n```' in shop.words()
        assert "greeting" not in shop.words()

    def test_one_that_does_not_fit_is_told(self, samuel, shop):
        shop.hook("redact", "PostAbilityCall", "answer = {'tool_output': {}}")
        shop.trust()
        ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
        assert ran.json == {}
        assert 'warning: after the hooks, its output does not fit: $: "given" is a required property' in ran.err

    def test_a_hook_cannot_turn_a_failed_call_into_a_success(self, samuel, empty):
        empty.script("bad", "raise SystemExit(1)")
        empty.hook("mend", "PostAbilityCall", "answer = {'tool_output': {'fine': True}}")
        empty.trust()
        ran = samuel("ability", "call", "bad")
        assert (ran.code, ran.out) == (1, "")


def test_within_a_session_what_hooks_say_is_kept(samuel, shop):
    follow_up = "answer['follow_up_actions'] = [{'kind': 'open_file', 'path': 'a.py'}]"
    shop.hook("after", "PostAbilityCall", f"answer['messages_to_user'] = ['Well done.']\n{follow_up}")
    shop.trust()
    ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}', "--session", "s1")
    assert steady(ran.err) == (
        "Well done.\n"
        "follow-up 1, open_file `a.py`: listed\n"
        "text.repeat: success; see .system/implement/KEY/tool_call.md\n"
    )
    session = samuel("session", "show", "--id", "s1", "--json").json["data"]
    assert [message["text"] for message in session["messages"]] == ["Well done."]


def test_a_hook_for_a_scope_sees_only_abilities_of_it(samuel, shop):
    shop.script("other", "print(1)", "scope: {modules: [numbers]}\n")
    shop.hook("text_only", "PreAbilityCall", "", "match: {ability_scope: 'te*'}\n")
    shop.trust()
    samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
    samuel("ability", "call", "other")
    assert [event["ability_id"] for event in shop.events_of_hook("text_only")] == ["text.repeat"]


def test_what_hooks_say_is_kept_in_the_session_that_the_call_was_created_in(samuel, shop):
    shop.hook("after", "PostAbilityCall", "answer['messages_to_user'] = ['repeated']")
    shop.trust()
    samuel("session", "start", "--id", "s1")
    ran = samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}', "--session", "s1")
    samuel("ability", "run", ran.json["call_key"])
    assert shop.events_of_hook("after")[0]["session_id"] == "s1"
    session = samuel("session", "show", "--id", "s1", "--json").json["data"]
    assert [message["text"] for message in session["messages"]] == ["repeated"]


LEARNED = """
answer["update_matcher_suggestions"] = [
    {"ability_id": context["ability_id"], "signal": "frequent_usage", "weight": 0.7},
    {"ability_id": context["ability_id"], "weight": "much"},
]
"""


def test_what_any_hook_learns_from_a_call_is_used_by_routing(samuel, shop):
    shop.hook("learn", "PostAbilityCall", LEARNED)
    shop.trust()
    assert "preferred" not in samuel("ability", "route", "repeat a text").out
    ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
    assert ran.code == 0
    assert "`update_matcher_suggestions[1]` left out: `weight` must be a number" in ran.err
    routed = samuel("ability", "route", "repeat a text").out
    assert "preferred by a hook with weight 0.70: frequent_usage" in routed


def test_what_a_hook_learns_from_the_call_of_a_client_is_kept_as_well(samuel, shop):
    shop.hook("learn", "PostAbilityCall", LEARNED)
    shop.trust()
    samuel("emit", "PostAbilityCall", stdin='{"ability_id": "text.repeat", "status": "success"}')
    assert "preferred by a hook with weight 0.70" in samuel("ability", "route", "repeat a text").out
    samuel("emit", "PostAbilityCall", stdin='{"ability_id": "other", "status": "success", "dry_run": true}')
    assert "other" not in (shop.root / ".system/cache/ability_usage.json").read_text()
