"""The composition rules: one result from the results of a chain's handlers."""

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
    def test_all_ok_without_handlers_is_ok(self) -> None:
        assert composed("before:loop") == {"ok": True}
        assert composed("quality.check") == {"ok": True, "failures": []}

    def test_a_missing_ok_means_true(self) -> None:
        assert composed("before:loop", {}, {"note": 1})["ok"] is True

    @given(st.lists(st.sampled_from([True, False, None]), max_size=8))
    def test_every_handler_must_be_ok(self, oks: list[bool | None]) -> None:
        results = [{} if ok is None else {"ok": ok} for ok in oks]
        assert composed("after:iteration", *results)["ok"] is (False not in oks)

    @given(st.lists(st.text(min_size=1), max_size=6))
    def test_reasons_are_kept_in_order(self, reasons: list[str]) -> None:
        result = composed("before:loop", *({"ok": False, "reason": reason} for reason in reasons))
        assert result.get("reasons", []) == reasons

    def test_one_handler_that_skips_is_enough_to_skip(self) -> None:
        assert composed("sync.before", {"skip": True}, {"skip": False}, {})["skip"] is True
        assert not composed("sync.before", {"skip": False}).get("skip")

    def test_failures_concatenate_and_mean_not_ok(self) -> None:
        first, second = {"source": "a", "message": "x"}, {"source": "b", "message": "y"}
        result = composed(
            "quality.check", {"ok": False, "failures": [first]}, {"ok": True}, {"failures": [second]}
        )
        assert result == {"ok": False, "failures": [first, second]}

    def test_all_ok_keeps_unknown_keys(self) -> None:
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

    def test_composing_does_not_change_the_results_of_handlers(self) -> None:
        first, second = {"extras": [1]}, {"extras": [2]}
        composed("context.extra", first, second)
        assert (first, second) == ({"extras": [1]}, {"extras": [2]})

    def test_data_is_not_part_of_the_composed_result(self) -> None:
        assert "data" not in composed("context.extra", {"extras": [], "data": {"x": 1}})


class TestChainedBlob:
    @given(st.lists(st.one_of(st.none(), st.text()), max_size=6))
    def test_the_last_blob_that_is_not_null_wins(self, blobs: list[str | None]) -> None:
        blobs_returned = [blob for blob in blobs if blob is not None]
        result = composed("context.snapshot", *({"toon_blob": blob} for blob in blobs))
        assert result.get("toon_blob") == (blobs_returned[-1] if blobs_returned else None)

    def test_a_handler_without_a_blob_keeps_the_earlier_blob(self) -> None:
        assert composed("context.progress", {"md_blob": "a"}, {}, {"md_blob": None})["md_blob"] == "a"

    def test_an_empty_blob_replaces_the_earlier_blob(self) -> None:
        assert composed("context.progress", {"md_blob": "a"}, {"md_blob": ""})["md_blob"] == ""


def test_transform_replaces_field_by_field() -> None:
    result = composed("before:agent.invoke", {"prompt": "a", "env": {"A": "1"}}, {"prompt": "b"})
    assert result == {"prompt": "b", "env": {"A": "1"}}


def test_replace_keeps_the_result_of_the_only_handler() -> None:
    answer = {"continue": False, "mode": "discovery", "extra": 1}
    assert composed("iteration.gate", answer) == answer


class TestMerge:
    def test_lists_concatenate_in_chain_order(self) -> None:
        first = {
            "logs": [{"level": "info", "message": "1"}],
            "messages_to_user": ["1"],
            "suggested_documents": [{"path": "1"}],
            "follow_up_actions": [{"kind": "open_file"}],
        }
        second = {
            "logs": [{"level": "info", "message": "2"}],
            "messages_to_user": ["2"],
            "suggested_documents": [{"path": "1"}],
            "follow_up_actions": [{"kind": "create_task"}],
        }
        assert composed("SessionStart", first, second) == {key: first[key] + second[key] for key in first}

    def test_follow_up_messages_concatenate(self) -> None:
        result = composed("SessionStop", {"follow_up_messages": ["a"]}, {"follow_up_messages": ["b", "c"]})
        assert result["follow_up_messages"] == ["a", "b", "c"]

    @given(st.lists(st.tuples(st.sampled_from("abc"), st.one_of(st.none(), st.floats(0, 1))), max_size=8))
    def test_per_ability_the_highest_confidence_is_kept(self, suggestions: list[tuple[str, float | None]]) -> None:
        results = [{"suggested_abilities": [{"id": key, "confidence": value}]} for key, value in suggestions]
        composed_suggestions = composed("UserPromptSubmit", *results).get("suggested_abilities", [])
        assert [suggestion["id"] for suggestion in composed_suggestions] == list(
            dict.fromkeys(key for key, _ in suggestions)
        )
        for suggestion in composed_suggestions:
            assert (suggestion["confidence"] or 0) == max(
                value or 0 for key, value in suggestions if key == suggestion["id"]
            )

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

    def test_the_last_rewrite_of_an_output_wins(self) -> None:
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
    def test_every_spelling_of_a_verdict_is_read(self, result: dict[str, Any], decision: str) -> None:
        assert verdict(result).decision == decision

    def test_the_reason_of_a_verdict_is_reason_or_error(self) -> None:
        assert verdict({"blocked": True, "reason": "why"}).reason == "why"
        assert verdict({"error": "blocked: why"}).reason == "blocked: why"

    @given(st.lists(st.sampled_from(STRENGTH), max_size=8))
    def test_the_strongest_verdict_wins(self, decisions: list[str]) -> None:
        results = [{"decision": decision} if decision else {} for decision in decisions]
        result = composed("PreAbilityCall", *results)
        assert result.get("decision", "") == max(decisions, key=STRENGTH.index, default="")

    @given(st.permutations(["", "allow", "ask", "deny", "ask", "deny"]))
    def test_of_equal_verdicts_the_first_in_the_chain_gives_the_reason(self, decisions: list[str]) -> None:
        answers = [
            HandlerResult(f"h{i}", 5, {"decision": decision, "reason": str(i)})
            for i, decision in enumerate(decisions)
        ]
        assert strongest_verdict(answers).reason == str(decisions.index("deny"))
