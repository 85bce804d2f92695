"""The filters below `match` of a YAML hook."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.events import EVENTS
from samuel.hooks.match import FIELDS, holds, words

CALL = {"ability_id": "billing_regression", "operation_key": "workflow.billing.regression", "duration_ms": 900.0}


def fits(match: dict[str, Any], **fields: Any) -> bool:
    return holds(match, fields.get)


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ({}, True),
        ({"ability_id": ["billing_regression"]}, True),
        ({"ability_id": ["billing_*"]}, True),
        ({"ability_id": ["Billing_*"]}, False),
        ({"ability_id": ["other", "*_regression"]}, True),
        ({"ability_id": ["other"]}, False),
        ({"operation_key": ["workflow.*"]}, True),
        ({"operation_key": ["agent.*"]}, False),
        ({"ability_scope": ["*"]}, True),
        ({"ability_scope": ["workflow"]}, True),
        ({"ability_scope": ["workflow.billing"]}, True),
        ({"ability_scope": ["workflow.b*"]}, True),
        ({"ability_scope": ["billing_regression"]}, True),
        ({"ability_scope": ["billing"]}, False),
        ({"min_duration_ms": 0}, True),
        ({"min_duration_ms": 900}, True),
        ({"min_duration_ms": 900.5}, False),
        ({"ability_id": ["billing_*"], "min_duration_ms": 1000}, False),
        ({"ability_id": ["billing_*"], "operation_key": ["*.regression"], "min_duration_ms": 1}, True),
    ],
)
def test_filters_on_an_ability_call(match: dict[str, Any], expected: bool) -> None:
    assert fits(match, **CALL) is expected


def test_scopes_of_the_registry_are_matched_instead_of_names() -> None:
    assert fits({"ability_scope": ["payments"]}, **CALL, extra={"ability_scope": ["billing", "payments"]})
    assert fits({"ability_scope": ["payments"]}, **CALL, extra={"ability_scope": "payments"})
    assert not fits({"ability_scope": ["workflow.*"]}, **CALL, extra={"ability_scope": ["billing"]})
    assert fits({"ability_scope": ["*"]}, **CALL, extra={"ability_scope": []})


def test_a_field_that_the_event_lacks_counts_as_empty() -> None:
    assert fits({"operation_key": ["*"]})
    assert not fits({"operation_key": ["a*"]})
    assert fits({"min_duration_ms": 0})
    assert not fits({"min_duration_ms": 1})
    assert not fits({"only_if_changed_paths": ["**"]})
    assert not fits({"stage": ["act"]})
    assert not fits({"status": ["success"]})


def test_filters_on_stage_status_and_recipe_name() -> None:
    assert fits({"stage": ["plan", "act"]}, stage="act")
    assert not fits({"stage": ["plan"]}, stage="act")
    assert fits({"status": ["failure"]}, status="failure")
    assert fits({"recipe_name": ["release-*"]}, recipe_name="release-patch")
    assert not fits({"recipe_name": ["release-*"]}, recipe_name="commit")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (["services/billing/a.ts"], True),
        (["./services/billing/a.ts"], True),
        (["/project/services/a.ts"], True),
        (["/elsewhere/services/a.ts"], False),
        (["README.md", "apps/web/x"], True),
        (["README.md", "services"], False),
        (["docs/services/a"], False),
        ([], False),
    ],
)
def test_a_filter_on_changed_paths(changed: list[str], expected: bool) -> None:
    match = {"only_if_changed_paths": ["services/**", "apps/**"]}
    assert fits(match, changed_files=changed, project_root="/project") is expected


def test_every_filter_looks_at_a_field_of_some_event() -> None:
    for field in FIELDS.values():
        assert any(field in event.payload.__struct_fields__ for event in EVENTS), field


def test_filters_as_text() -> None:
    assert (
        words({"ability_scope": ["a.*", "b"], "min_duration_ms": 5}) == "ability_scope a.* or b, min_duration_ms 5"
    )


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from([*FIELDS.values(), "project_root"]), PLAIN))
def test_filters_accept_any_value_of_a_field(fields: dict[str, Any]) -> None:
    match = {
        "ability_id": ["a*"],
        "ability_scope": ["b*"],
        "operation_key": ["c"],
        "min_duration_ms": 1,
        "status": ["success"],
        "stage": ["act"],
        "recipe_name": ["*"],
    }
    changed = fields.get("changed_files")
    if isinstance(changed, list):
        match["only_if_changed_paths"] = ["**"]
    for name, value in match.items():
        assert holds({name: value}, fields.get) in (True, False)
