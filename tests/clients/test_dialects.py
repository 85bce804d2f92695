"""Payloads and results of other protocols, translated to Samuel's and back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.clients.client_reading import capture

from samuel.base.errors import UnknownEvent, UsageError
from samuel.clients.hook_formats.dialects import DIALECTS, event_and_dialect
from samuel.clients.hook_formats.yaml_context import event_from_context
from samuel.clients.table import client
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


class TestYamlContext:
    """The contexts of YAML hooks: flat, with the base fields and all others of Samuel's payload."""

    def test_a_context_has_the_base_fields_and_the_events_own(self) -> None:
        event = UserPromptSubmit(user_message="hi", project_root="/p", stage="plan", timestamp="t")
        context = DIALECTS["yaml-context"].translate_payload(msgspec.to_builtins(event))
        assert (
            context.items()
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
    def test_every_event_survives_translation_to_a_context_and_back(self, event: EventType) -> None:
        original = msgspec.convert({"event": event.name, **sample(event), "session_id": "s"}, event.payload)
        context = DIALECTS["yaml-context"].translate_payload(msgspec.to_builtins(original))
        assert event_from_context(event, context) == original

    def test_further_fields_of_a_caller_reach_the_hook(self) -> None:
        kind = event_type("TurnEnd")
        event = event_from_context(
            kind, {"response": "x", "turn_number": 1, "last_command": "make", "project_root": "/evil"}
        )
        assert event.extra == {"last_command": "make"}
        assert event.project_root == ""
        context = DIALECTS["yaml-context"].translate_payload(msgspec.to_builtins(event))
        assert context["last_command"] == "make"
        assert "extra" not in context
        assert event_from_context(kind, context) == event

    def test_extra_fields_do_not_replace_fields_of_the_payload(self) -> None:
        event = TurnEnd(response="x", turn_number=1, session_id="s", extra={"response": "y", "event_type": "z"})
        context = DIALECTS["yaml-context"].translate_payload(msgspec.to_builtins(event))
        assert (context["response"], context["event_type"]) == ("x", "TurnEnd")

    @pytest.mark.parametrize("context", [[], "x", None, {}, {"response": 1}, {"event_type": "SessionEnd"}])
    def test_an_invalid_context_is_refused(self, context: object) -> None:
        with pytest.raises(UsageError):
            event_from_context(event_type("TurnEnd"), context)

    def test_a_hook_result_is_not_translated(self) -> None:
        result = {"logs": [], "new_key": 1, "tool_input": None}
        assert DIALECTS["yaml-context"].translate_result("PreAbilityCall", result) == result


@pytest.mark.parametrize("theirs", TRANSLATIONS)
def test_a_payload_is_translated_to_kodelets_fields(theirs: str) -> None:
    event, fields = TRANSLATIONS[theirs]
    payload = DIALECTS["kodelet"].translate_payload(msgspec.to_builtins(event))
    assert payload == {"event": theirs, **BASE, **fields}


def test_kodelets_payload_has_no_recipe_name_without_a_recipe() -> None:
    assert "recipe_name" not in DIALECTS["kodelet"].translate_payload(
        msgspec.to_builtins(TurnEnd(response="", turn_number=1))
    )


@pytest.mark.parametrize("theirs", TRANSLATIONS)
def test_fields_missing_in_the_payload_have_the_right_type_for_kodelet(theirs: str) -> None:
    kind = event_type(OURS[theirs])
    empty = DIALECTS["kodelet"].translate_payload({"event": kind.name})
    full = DIALECTS["kodelet"].translate_payload(msgspec.to_builtins(TRANSLATIONS[theirs][0]))
    assert {key: type(value) for key, value in empty.items()} == {
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
def test_a_result_of_kodelet_is_translated_to_samuels(
    theirs: str, result: dict[str, Any], ours: dict[str, Any]
) -> None:
    translated = DIALECTS["kodelet"].translate_result(OURS[theirs], result)
    assert translated == ours
    msgspec.convert(translated, event_type(OURS[theirs]).result)


def test_event_names_of_kodelet_and_of_samuel_are_recognised() -> None:
    assert {theirs: event_and_dialect(theirs) for theirs in OURS} == {
        theirs: (ours, "kodelet") for theirs, ours in OURS.items() if theirs != "turn_end"
    } | {"turn_end": ("TurnEnd", "kodelet")}
    assert event_and_dialect("pre_ability_call") == ("PreAbilityCall", "")
    with pytest.raises(UnknownEvent):
        event_and_dialect("before_tool_cal")


def kodelet_payload_of(name: str, native_event: str, payload: dict[str, Any]) -> dict[str, Any]:
    """What a hook of Kodelet reads when this client calls."""
    chosen = client(name)
    event = event_from_context(event_type(chosen.events[native_event]), chosen.translate(native_event, payload))
    return DIALECTS["kodelet"].translate_payload(msgspec.to_builtins(replace(event, event_id="evt-1")))


@pytest.mark.parametrize(
    ("name", "native_event", "call_id"),
    [
        ("claude", "PreToolUse", "toolu_00000131"),
        ("claude", "PostToolUse", "toolu_00000131"),
        ("codex", "PreToolUse", "call_113"),
        ("kimi", "PreToolUse", "call_240"),
        ("cline", "PreToolUse", "call_367"),
        ("opencode", "tool.execute.before", "call_223"),
        ("gemini", "BeforeTool", "evt-1"),  # it has no ids of calls
    ],
)
def test_kodelets_id_of_a_call_is_the_clients_own(name: str, native_event: str, call_id: str) -> None:
    payload = kodelet_payload_of(name, native_event, capture(name, native_event))
    assert (payload["tool_user_id"], payload["invoked_by"]) == (call_id, "main")


@pytest.mark.parametrize(
    ("name", "fields", "invoked_by"),
    [
        ("claude", {"agent_id": "a1", "agent_type": "Explore"}, "subagent"),
        ("claude", {"agent_id": "a1"}, "subagent"),
        ("claude", {"agent_type": "reviewer"}, "main"),  # of a session that was started with `--agent`
        ("codex", {"agent_id": "t1", "agent_type": "worker"}, "subagent"),
        ("cline", {"parent_agent_id": "agent_1"}, "subagent"),
    ],
)
def test_kodelets_hooks_know_the_calls_of_a_subagent(name: str, fields: dict[str, Any], invoked_by: str) -> None:
    payload = kodelet_payload_of(name, "PreToolUse", {**capture(name, "PreToolUse"), **fields})
    assert payload["invoked_by"] == invoked_by


def test_the_caller_of_an_event_can_say_who_it_was_invoked_by() -> None:
    event = event_from_context(event_type("PreAbilityCall"), {"ability_id": "shell", "invoked_by": "subagent"})
    assert DIALECTS["kodelet"].translate_payload(msgspec.to_builtins(event))["invoked_by"] == "subagent"
