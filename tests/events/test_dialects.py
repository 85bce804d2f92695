"""PLUGIN's five events, translated both ways, with exactly the fields of that protocol."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from samuel.dialects import DIALECTS, understand
from samuel.errors import UnknownEvent
from samuel.events import PostAbilityCall, PreAbilityCall, SessionStop, TurnEnd, UserPromptSubmit, event_type
from samuel.events.event import Event

COMMON = {"session_id": "s1", "project_root": "/p", "event_id": "evt-1", "recipe_name": "commit"}
BASE = {"conv_id": "s1", "cwd": "/p", "invoked_by": "main", "recipe_name": "commit"}
CALL = {"tool_name": "bash", "tool_input": {"command": "ls"}, "tool_user_id": "evt-1"}

TRANSLATIONS: dict[str, tuple[Event, dict[str, Any]]] = {
    "before_tool_call": (PreAbilityCall(ability_id="bash", tool_input={"command": "ls"}, **COMMON), CALL),
    "after_tool_call": (
        PostAbilityCall(
            ability_id="bash", status="success", tool_input={"command": "ls"}, tool_output={"out": "x"}, **COMMON
        ),
        {**CALL, "tool_output": {"out": "x"}},
    ),
    "user_message_send": (UserPromptSubmit(user_message="hi", **COMMON), {"message": "hi"}),
    "agent_stop": (SessionStop(messages=[{"role": "user"}], **COMMON), {"messages": [{"role": "user"}]}),
    "turn_end": (TurnEnd(response="done", turn_number=3, **COMMON), {"response": "done", "turn_number": 3}),
}
OURS = {
    "before_tool_call": "PreAbilityCall",
    "after_tool_call": "PostAbilityCall",
    "user_message_send": "UserPromptSubmit",
    "agent_stop": "SessionStop",
    "turn_end": "TurnEnd",
}


@pytest.mark.parametrize("theirs", TRANSLATIONS)
def test_our_payload_in_their_words(theirs: str) -> None:
    event, fields = TRANSLATIONS[theirs]
    spoken = DIALECTS["kodelet"].to_theirs(msgspec.to_builtins(event))
    assert spoken == {"event": theirs, **BASE, **fields}


def test_a_recipe_name_is_left_out_when_there_is_none() -> None:
    assert "recipe_name" not in DIALECTS["kodelet"].to_theirs(
        msgspec.to_builtins(TurnEnd(response="", turn_number=1))
    )


@pytest.mark.parametrize("theirs", TRANSLATIONS)
def test_what_is_missing_in_ours_has_the_right_type_in_theirs(theirs: str) -> None:
    kind = event_type(OURS[theirs])
    spoken = DIALECTS["kodelet"].to_theirs({"event": kind.name})
    full = DIALECTS["kodelet"].to_theirs(msgspec.to_builtins(TRANSLATIONS[theirs][0]))
    assert {key: type(value) for key, value in spoken.items()} == {
        key: type(value) for key, value in full.items() if key != "recipe_name"
    }


@pytest.mark.parametrize(
    ("theirs", "result", "ours"),
    [
        ("before_tool_call", {"blocked": True, "reason": "no"}, {"blocked": True, "reason": "no"}),
        ("before_tool_call", {"blocked": False, "input": {"a": 1}}, {"blocked": False, "tool_input": {"a": 1}}),
        ("before_tool_call", {"input": None}, {}),
        ("after_tool_call", {"output": {"x": 1}}, {"tool_output": {"x": 1}}),
        ("after_tool_call", {"output": None}, {}),
        ("user_message_send", {"blocked": True, "reason": "no"}, {"blocked": True, "reason": "no"}),
        ("agent_stop", {"follow_up_messages": ["go on"]}, {"follow_up_messages": ["go on"]}),
        ("turn_end", {}, {}),
        ("turn_end", {"unknown": 1}, {"unknown": 1}),
    ],
)
def test_their_result_in_our_words(theirs: str, result: dict[str, Any], ours: dict[str, Any]) -> None:
    translated = DIALECTS["kodelet"].from_theirs(OURS[theirs], result)
    assert translated == ours
    msgspec.convert(translated, event_type(OURS[theirs]).result)


def test_the_five_names_are_understood_and_ours_too() -> None:
    assert {theirs: understand(theirs) for theirs in OURS} == {
        theirs: (ours, "kodelet") for theirs, ours in OURS.items() if theirs != "turn_end"
    } | {"turn_end": ("TurnEnd", "kodelet")}
    assert understand("pre_ability_call") == ("PreAbilityCall", "")
    with pytest.raises(UnknownEvent):
        understand("before_tool_cal")
