"""The composition rules, as pure functions of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.events import BY_NAME
from samuel.events.compose import HandlerResult, strongest_verdict, verdict


def composed(event: str, *results: Mapping[str, Any], precedence: tuple[int, ...] = ()) -> dict[str, Any]:
    levels = precedence or (5,) * len(results)
    answers = [
        HandlerResult(f"h{i}", level, result)
        for i, (result, level) in enumerate(zip(results, levels, strict=True))
    ]
    return BY_NAME[event].composition.compose(answers)


class TestAllOk:
    def test_nobody_is_yes(self) -> None:
        assert composed("before:loop") == {"ok": True}
        assert composed("quality.check") == {"ok": True, "failures": []}

    def test_a_missing_ok_means_true(self) -> None:
        assert composed("before:loop", {}, {"note": 1})["ok"] is True

    @given(st.lists(st.sampled_from([True, False, None]), max_size=8))
    def test_every_handler_must_be_ok(self, said: list[bool | None]) -> None:
        results = [{} if ok is None else {"ok": ok} for ok in said]
        assert composed("after:iteration", *results)["ok"] is (False not in said)

    @given(st.lists(st.text(min_size=1), max_size=6))
    def test_reasons_are_kept_in_order(self, reasons: list[str]) -> None:
        result = composed("before:loop", *({"ok": False, "reason": reason} for reason in reasons))
        assert result.get("reasons", []) == reasons

    def test_any_skip_skips(self) -> None:
        assert composed("sync.before", {"skip": True}, {"skip": False}, {})["skip"] is True
        assert not composed("sync.before", {"skip": False}).get("skip")

    def test_failures_concatenate_and_mean_no(self) -> None:
        one, two = {"source": "a", "message": "x"}, {"source": "b", "message": "y"}
        result = composed("quality.check", {"ok": False, "failures": [one]}, {"ok": True}, {"failures": [two]})
        assert result == {"ok": False, "failures": [one, two]}

    def test_unknown_keys_survive(self) -> None:
        assert composed("before:loop", {"mine": {"a": 1}}, {"list": [1]}, {"list": [2]}) == {
            "ok": True,
            "mine": {"a": 1},
            "list": [1, 2],
        }


class TestConcatenate:
    @given(st.lists(st.lists(st.integers(), max_size=3), max_size=6))
    def test_lists_join_in_chain_order(self, lists: list[list[int]]) -> None:
        result = composed("context.extra", *({"extras": items} for items in lists))
        assert result["extras"] == [item for items in lists for item in items]

    def test_the_answers_are_left_as_they_were(self) -> None:
        first, second = {"extras": [1]}, {"extras": [2]}
        composed("context.extra", first, second)
        assert (first, second) == ({"extras": [1]}, {"extras": [2]})

    def test_data_is_nobody_elses(self) -> None:
        assert "data" not in composed("context.extra", {"extras": [], "data": {"x": 1}})


class TestChainedBlob:
    @given(st.lists(st.one_of(st.none(), st.text()), max_size=6))
    def test_the_last_that_returned_one_wins(self, blobs: list[str | None]) -> None:
        given_ = [blob for blob in blobs if blob is not None]
        result = composed("context.snapshot", *({"toon_blob": blob} for blob in blobs))
        assert result.get("toon_blob") == (given_[-1] if given_ else None)

    def test_one_that_returns_none_leaves_it(self) -> None:
        assert composed("context.progress", {"md_blob": "a"}, {}, {"md_blob": None})["md_blob"] == "a"

    def test_an_empty_blob_is_a_blob(self) -> None:
        assert composed("context.progress", {"md_blob": "a"}, {"md_blob": ""})["md_blob"] == ""


def test_transform_replaces_field_by_field() -> None:
    result = composed("before:agent.invoke", {"prompt": "a", "env": {"A": "1"}}, {"prompt": "b"})
    assert result == {"prompt": "b", "env": {"A": "1"}}


def test_replace_is_the_one_answer() -> None:
    answer = {"continue": False, "mode": "discovery", "extra": 1}
    assert composed("iteration.gate", answer) == answer


class TestMerge:
    def test_lists_concatenate_in_chain_order(self) -> None:
        one = {
            "logs": [{"level": "info", "message": "1"}],
            "messages_to_user": ["1"],
            "suggested_documents": [{"path": "1"}],
            "follow_up_actions": [{"kind": "open_file"}],
        }
        two = {
            "logs": [{"level": "info", "message": "2"}],
            "messages_to_user": ["2"],
            "suggested_documents": [{"path": "1"}],
            "follow_up_actions": [{"kind": "create_task"}],
        }
        assert composed("SessionStart", one, two) == {key: one[key] + two[key] for key in one}

    def test_follow_up_messages_concatenate(self) -> None:
        result = composed("SessionStop", {"follow_up_messages": ["a"]}, {"follow_up_messages": ["b", "c"]})
        assert result["follow_up_messages"] == ["a", "b", "c"]

    @given(st.lists(st.tuples(st.sampled_from("abc"), st.one_of(st.none(), st.floats(0, 1))), max_size=8))
    def test_per_ability_the_highest_confidence_is_kept(self, said: list[tuple[str, float | None]]) -> None:
        results = [{"suggested_abilities": [{"id": key, "confidence": value}]} for key, value in said]
        found = composed("UserPromptSubmit", *results).get("suggested_abilities", [])
        assert [one["id"] for one in found] == list(dict.fromkeys(key for key, _ in said))
        for one in found:
            assert (one["confidence"] or 0) == max(value or 0 for key, value in said if key == one["id"])

    def test_the_intent_of_the_highest_precedence_wins_and_others_are_logged(self) -> None:
        results = [{"new_intent": {"intent": name}} for name in ("plugin", "project", "user")]
        result = composed("UserPromptSubmit", *results, precedence=(2, 5, 3))
        assert result["new_intent"] == {"intent": "project"}
        assert [log["message"].split("`")[1] for log in result["logs"]] == ["h0", "h2"]

    def test_usage_recorded_is_or_ed(self) -> None:
        assert composed("TurnEnd", {"usage_recorded": True}, {"usage_recorded": False})["usage_recorded"] is True
        assert not composed("TurnEnd", {"usage_recorded": False}).get("usage_recorded")

    def test_the_first_error_is_kept_and_all_are_listed(self) -> None:
        result = composed("TurnEnd", {"error": "one"}, {}, {"error": "two"})
        assert (result["error"], result["errors"]) == ("one", ["one", "two"])
        assert "errors" not in composed("TurnEnd", {"error": "one"})

    def test_unknown_lists_concatenate_and_unknown_scalars_take_the_last(self) -> None:
        result = composed("TurnEnd", {"x": [1], "y": 1, "z": {"a": 1}}, {"x": [2], "y": 2, "z": {"b": 2}})
        assert result == {"x": [1, 2], "y": 2, "z": {"b": 2}}

    def test_null_leaves_a_rewrite_as_it_is(self) -> None:
        assert composed("PreAbilityCall", {"tool_input": {"a": 1}}, {"tool_input": None})["tool_input"] == {"a": 1}
        assert "tool_input" not in composed("PreAbilityCall", {"tool_input": None})

    def test_the_last_rewrite_holds(self) -> None:
        result = composed("PostAbilityCall", {"tool_output": "a"}, {"tool_output": "b"}, {})
        assert result["tool_output"] == "b"


STRENGTH = ["", "allow", "ask", "deny"]


class TestVerdicts:
    @pytest.mark.parametrize(
        ("result", "decision"),
        [
            ({}, ""),
            ({"decision": "allow"}, "allow"),
            ({"decision": "ask"}, "ask"),
            ({"decision": "deny"}, "deny"),
            ({"blocked": True}, "deny"),
            ({"blocked": False}, ""),
            ({"blocked": True, "decision": "allow"}, "deny"),
            ({"error": "blocked by policy"}, "deny"),
            ({"error": "blocked: x", "decision": "allow"}, "deny"),
            ({"error": "could not read"}, ""),
        ],
    )
    def test_spellings(self, result: dict[str, Any], decision: str) -> None:
        assert verdict(result).decision == decision

    def test_reasons(self) -> None:
        assert verdict({"blocked": True, "reason": "why"}).reason == "why"
        assert verdict({"error": "blocked: why"}).reason == "blocked: why"

    @given(st.lists(st.sampled_from(STRENGTH), max_size=8))
    def test_the_lattice(self, said: list[str]) -> None:
        results = [{"decision": one} if one else {} for one in said]
        result = composed("PreAbilityCall", *results)
        assert result.get("decision", "") == max(said, key=STRENGTH.index, default="")

    @given(st.permutations(["", "allow", "ask", "deny", "ask", "deny"]))
    def test_of_equals_the_first_in_the_chain_gives_the_reason(self, said: list[str]) -> None:
        answers = [HandlerResult(f"h{i}", 5, {"decision": one, "reason": str(i)}) for i, one in enumerate(said)]
        assert strongest_verdict(answers).reason == str(said.index("deny"))
