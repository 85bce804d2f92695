"""The dialects: Kodelet's five events with exactly that protocol's fields, and the flat contexts of YAML hooks."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from samuel.dialects import DIALECTS, understand
from samuel.dialects.repo import event_of
from samuel.errors import UnknownEvent, UsageError
from samuel.events import (
    EVENTS,
    EventType,
    PostAbilityCall,
    PreAbilityCall,
    SessionStop,
    TurnEnd,
    UserPromptSubmit,
    event_type,
)
from samuel.events.event import Event
from samuel.events.schema import sample

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


class TestRepo:
    """The contexts of YAML hooks: flat, with the base fields and all other fields of the payload."""

    def test_the_base_fields_and_the_events_own(self) -> None:
        event = UserPromptSubmit(user_message="hi", project_root="/p", stage="plan", timestamp="t")
        spoken = DIALECTS["repo"].to_theirs(msgspec.to_builtins(event))
        assert (
            spoken.items()
            >= {
                "event_type": "UserPromptSubmit",
                "session_id": "",
                "timestamp": "t",
                "repository_root": "/p",
                "stage": "plan",
                "user_message": "hi",
            }.items()
        )

    @pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
    def test_every_event_there_and_back(self, event: EventType) -> None:
        made = msgspec.convert({"event": event.name, **sample(event), "session_id": "s"}, event.payload)
        spoken = DIALECTS["repo"].to_theirs(msgspec.to_builtins(made))
        assert event_of(event, spoken) == made

    def test_what_the_caller_said_besides_goes_along(self) -> None:
        kind = event_type("TurnEnd")
        event = event_of(
            kind, {"response": "x", "turn_number": 1, "last_command": "make", "project_root": "/evil"}
        )
        assert event.extra == {"last_command": "make"}
        assert event.project_root == ""
        spoken = DIALECTS["repo"].to_theirs(msgspec.to_builtins(event))
        assert spoken["last_command"] == "make"
        assert "extra" not in spoken
        assert event_of(kind, spoken) == event

    def test_it_never_speaks_over_us(self) -> None:
        event = TurnEnd(response="x", turn_number=1, session_id="s", extra={"response": "y", "event_type": "z"})
        spoken = DIALECTS["repo"].to_theirs(msgspec.to_builtins(event))
        assert (spoken["response"], spoken["event_type"]) == ("x", "TurnEnd")

    @pytest.mark.parametrize("context", [[], "x", None, {}, {"response": 1}, {"event_type": "SessionEnd"}])
    def test_what_is_none(self, context: object) -> None:
        with pytest.raises(UsageError):
            event_of(event_type("TurnEnd"), context)

    def test_results_are_ours_as_they_are(self) -> None:
        result = {"logs": [], "new_key": 1, "tool_input": None}
        assert DIALECTS["repo"].from_theirs("PreAbilityCall", result) == result


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
