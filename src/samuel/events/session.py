"""Payloads and results of agent sessions: prompts, ability calls, turns."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from samuel.events import names
from samuel.events.event import Event, Stage, field

ToolInput = Annotated[Any, field("The input of the call.", bulk=True)]
ToolOutput = Annotated[Any, field("The output of the call.", bulk=True)]


class Log(msgspec.Struct, frozen=True):
    """One line for the log."""

    level: Literal["debug", "info", "warn", "error"]
    message: str


class SuggestedAbility(msgspec.Struct, frozen=True):
    """An ability that fits what the session is doing."""

    id: Annotated[str, field("The ability.")]
    reason: Annotated[str, field("Why it fits.")] = ""
    confidence: Annotated[float | None, field("0 to 1.")] = None


class SuggestedDocument(msgspec.Struct, frozen=True):
    """A document that fits what the session is doing."""

    path: Annotated[str, field("The document.")]
    reason: Annotated[str, field("Why it fits.")] = ""
    stage: Annotated[Stage | None, field("The stage it is useful in.")] = None


class MatcherSuggestion(msgspec.Struct, frozen=True):
    """How much routing should prefer an ability, learned from its use."""

    ability_id: Annotated[str, field("The ability.")]
    weight: Annotated[float, field("0 to 1: how much it is preferred among abilities that fit alike. 0 ends it.")]
    signal: Annotated[
        str, field("What was learned, like `frequent_usage`. It replaces an earlier one with this name.")
    ] = ""


class Intent(msgspec.Struct, frozen=True):
    """What the user wants to do, as knowledge routing reads it."""

    intent: Annotated[str, field("What the user wants, in a few words.")]
    scope: str | None = None
    topic: str | None = None
    stage: Stage | None = None
    signals: dict[str, Any] | None = None


class FollowUpAction(msgspec.Struct, frozen=True):
    """An action that the user could take next."""

    kind: Literal["open_file", "run_command", "create_task"]
    payload: dict[str, Any] | UnsetType = UNSET
    path: str | UnsetType = UNSET


class HookResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a handler of a session event may return; every key is optional."""

    ok: Annotated[bool, field("False: this handler failed.")] = True
    reason: Annotated[str | None, field("Why, for a verdict or a failure.")] = None
    decision: Annotated[
        Literal["deny", "ask", "allow"] | None,
        field("The verdict, on events that can be denied."),
    ] = None
    blocked: Annotated[bool | None, field("True is the verdict deny.")] = None
    error: Annotated[
        str | None, field("What went wrong. An error that begins with `blocked` is the verdict deny.")
    ] = None
    logs: Annotated[list[Log] | None, field("Lines for the log.")] = None
    messages_to_user: Annotated[list[str] | None, field("Lines to show to the user.")] = None
    suggested_abilities: Annotated[list[SuggestedAbility] | None, field("Hints for routing.")] = None
    suggested_documents: Annotated[list[SuggestedDocument] | None, field("Hints for routing.")] = None
    new_intent: Annotated[Intent | None, field("A structured intent for knowledge routing.")] = None
    follow_up_actions: Annotated[
        list[FollowUpAction] | None, field("What could be done next; no action runs by itself.")
    ] = None
    usage_recorded: Annotated[bool | None, field("The call was counted.")] = None
    data: Annotated[dict[str, Any] | None, field("Kept under the handler's own name.")] = None


class RewritingResult(HookResult, frozen=True, kw_only=True):
    """The result of `PreAbilityCall`."""

    tool_input: Annotated[ToolInput | UnsetType, field("The input to use instead.")] = UNSET


class OutputResult(HookResult, frozen=True, kw_only=True):
    """The result of `PostAbilityCall`."""

    tool_output: Annotated[ToolOutput | UnsetType, field("The output to use instead.")] = UNSET
    update_matcher_suggestions: Annotated[
        list[MatcherSuggestion] | None, field("What later routing should prefer; kept beside the counts of calls.")
    ] = None


class StopResult(HookResult, frozen=True, kw_only=True):
    """The result of `SessionStop` and `SubagentStop`."""

    follow_up_messages: Annotated[list[str] | None, field("Messages that keep it going.")] = None


class SessionStart(Event, frozen=True, kw_only=True, tag=names.SESSION_START):
    """An agent session begins."""


class UserPromptSubmit(Event, frozen=True, kw_only=True, tag=names.USER_PROMPT_SUBMIT):
    """A user, or the loop, sends the agent a message."""

    user_message: Annotated[str, field("The message.", bulk=True)]
    files_touched: Annotated[list[str] | UnsetType, field("Files the message is about.")] = UNSET


class PreAbilityCall(Event, frozen=True, kw_only=True, tag=names.PRE_ABILITY_CALL):
    """An ability or a tool is about to be called; handlers can rewrite its input or deny the call."""

    ability_id: Annotated[str, field("The ability, or the tool's name.")]
    operation_key: Annotated[str | UnsetType, field("The operation's key.")] = UNSET
    planned_input_summary: Annotated[str | UnsetType, field("The input in a few words.")] = UNSET
    tool_input: ToolInput | UnsetType = UNSET


class PostAbilityCall(Event, frozen=True, kw_only=True, tag=names.POST_ABILITY_CALL):
    """An ability or a tool was called, or its call was denied (`skipped`)."""

    ability_id: Annotated[str, field("The ability, or the tool's name.")]
    status: Annotated[Literal["success", "failure", "skipped"], field("How the call ended.")]
    operation_key: Annotated[str | UnsetType, field("The operation's key.")] = UNSET
    duration_ms: Annotated[int | float | UnsetType, field("How long it took.")] = UNSET
    input_summary: Annotated[str | UnsetType, field("The input in a few words.")] = UNSET
    output_summary: Annotated[str | UnsetType, field("The output in a few words.")] = UNSET
    tool_call_path: Annotated[str | UnsetType, field("The record of the call.")] = UNSET
    tool_input: Annotated[ToolInput | UnsetType, field("The input that the call ran with.", bulk=True)] = UNSET
    original_input: Annotated[ToolInput | UnsetType, field("The input before handlers rewrote it.", bulk=True)] = (
        UNSET
    )
    tool_output: ToolOutput | UnsetType = UNSET


class TurnEnd(Event, frozen=True, kw_only=True, tag=names.TURN_END):
    """The agent finished an answer."""

    response: Annotated[str, field("The answer.", bulk=True)]
    turn_number: Annotated[int, field("The number of the turn, from 1.")]


class SessionStop(Event, frozen=True, kw_only=True, tag=names.SESSION_STOP):
    """The agent is about to stop."""

    changed_files: Annotated[list[str] | UnsetType, field("Files changed in the session.")] = UNSET
    messages: Annotated[list[Any] | UnsetType, field("The conversation so far.", bulk=True)] = UNSET


class SessionEnd(Event, frozen=True, kw_only=True, tag=names.SESSION_END):
    """The session is over."""


class SubagentStop(Event, frozen=True, kw_only=True, tag=names.SUBAGENT_STOP):
    """A subagent of the agent is about to stop."""

    subagent: Annotated[str, field("The kind of the subagent, or its id if the agent reports no kind.")]
    last_message: Annotated[str | UnsetType, field("Its last answer.", bulk=True)] = UNSET


class Notification(Event, frozen=True, kw_only=True, tag=names.NOTIFICATION):
    """The agent notifies the user: it waits for a permission, or for an answer."""

    message: Annotated[str, field("The text of the notification.", bulk=True)]
    kind: Annotated[str | UnsetType, field("The agent's word for it, like `permission_prompt`.")] = UNSET
    title: Annotated[str | UnsetType, field("Its title.")] = UNSET


class PreCompact(Event, frozen=True, kw_only=True, tag=names.PRE_COMPACT):
    """The agent is about to replace the conversation by a summary of it; handlers can deny that."""

    trigger: Annotated[str, field("`manual` if the user asked for it, `auto` if the context is full.")]
    instructions: Annotated[str | UnsetType, field("What the user wants to be kept.", bulk=True)] = UNSET


class ConfigChange(Event, frozen=True, kw_only=True, tag=names.CONFIG_CHANGE):
    """A settings file of the agent was changed; a denial keeps the change from the running session."""

    source: Annotated[str, field("Whose settings they are, like `user_settings` or `project_settings`.")]
    path: Annotated[str | UnsetType, field("The file that was changed.")] = UNSET
