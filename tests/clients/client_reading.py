"""How each client reads an answer, written down apart from the code that gives it; and its recorded payloads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from samuel.clients.dialect.protocol import ClientAnswer
from samuel.clients.table import CLIENTS

CAPTURES = Path(__file__).parent / "captures"


class Reading(NamedTuple):
    """What a client does after it read an answer."""

    decision: str = ""  # "", "allow", "ask" or "deny"
    reason: str = ""
    tool_input: Any = None
    tool_output: Any = None
    context: str = ""
    follow_up: str = ""


def capture(client: str, native_event: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads((CAPTURES / client / f"{native_event}.json").read_text())
    return payload


def captured() -> list[tuple[str, str]]:
    """Each client and event of which there is a payload."""
    return [(file.parent.name, file.stem) for file in sorted(CAPTURES.glob("*/*.json"))]


def client_events(*names: str) -> list[tuple[str, str]]:
    """Each client and event of its own that stands for one of these events of Samuel's."""
    return [
        (name, native_event)
        for name, client in CLIENTS.items()
        for native_event, event in client.events.items()
        if event in names
    ]


def read(client: str, native_event: str, answer: ClientAnswer) -> Reading:
    """What the client makes of an answer."""
    if answer.exit_code == 2 and client not in ("cline", "agy"):
        # Copilot CLI drops what is on stderr.
        reason = "" if client == "copilot" and native_event == "preToolUse" else answer.stderr.strip()
        if CLIENTS[client].events[native_event] in ("SessionStop", "SubagentStop"):
            return Reading(follow_up=reason)
        return Reading("deny", reason)
    assert answer.exit_code == 0, answer
    if client == "kiro":  # it reads text
        return Reading(context=answer.stdout)
    fields: dict[str, Any] = json.loads(answer.stdout) if answer.stdout else {}
    return _READERS[client](native_event, fields)


def _claude_family(native_event: str, fields: dict[str, Any]) -> Reading:
    if fields.get("continue") is False:  # Codex, where compaction is denied
        assert set(fields) == {"continue", "stopReason"}
        return Reading("deny", fields["stopReason"])
    specific = fields.get("hookSpecificOutput", {})
    assert set(fields) <= {"decision", "reason", "systemMessage", "hookSpecificOutput"}
    assert specific.get("hookEventName", native_event) == native_event
    assert not (specific and native_event in ("Stop", "SubagentStop", "PreCompact", "ConfigChange"))  # refused
    context = "\n".join(filter(None, (fields.get("systemMessage"), specific.get("additionalContext"))))
    if native_event in ("Stop", "SubagentStop", "AfterAgent"):
        return Reading(context=context, follow_up=fields.get("reason", ""))
    decision, reason = specific.get("permissionDecision", ""), specific.get("permissionDecisionReason", "")
    if fields.get("decision") in ("block", "deny"):
        decision, reason = "deny", fields["reason"]
    if native_event == "AfterTool" and decision == "deny":
        return Reading(tool_output=reason, context=context)
    return Reading(
        decision,
        reason,
        specific.get("updatedInput", specific.get("tool_input")),
        specific.get("updatedToolOutput"),
        context,
    )


def _copilot(native_event: str, fields: dict[str, Any]) -> Reading:
    if native_event == "agentStop":
        return Reading(follow_up=fields.get("reason", ""))
    return Reading(
        fields.get("permissionDecision", ""),
        fields.get("permissionDecisionReason", ""),
        fields.get("modifiedArgs"),
    )


def _kimi(native_event: str, fields: dict[str, Any]) -> Reading:
    assert set(fields) <= {"message"}
    return Reading(context=fields.get("message", ""))


def _opencode(native_event: str, fields: dict[str, Any]) -> Reading:
    return Reading("", "", fields.get("args"), fields.get("output"), fields.get("context", ""))


def _cline(native_event: str, fields: dict[str, Any]) -> Reading:
    if fields["cancel"]:
        return Reading("deny", fields["errorMessage"])
    return Reading("", "", fields.get("overrideInput"), None, fields.get("contextModification", ""))


def _cursor(native_event: str, fields: dict[str, Any]) -> Reading:
    if native_event == "beforeSubmitPrompt":
        return Reading("deny", fields["user_message"]) if fields.get("continue") is False else Reading()
    return Reading(
        fields.get("permission", ""),
        fields.get("agent_message", ""),
        fields.get("updated_input"),
        None,
        fields.get("additional_context", ""),
        fields.get("followup_message", ""),
    )


def _agy(native_event: str, fields: dict[str, Any]) -> Reading:
    if native_event == "Stop":
        return Reading(follow_up=fields.get("reason", "") if fields.get("decision") == "continue" else "")
    if native_event == "PostToolUse":
        assert fields == {}
        return Reading()
    # Without a decision it denies. Its `allow` does not switch its own prompt off, so it is silence.
    decision = {"allow": "", "force_ask": "ask"}.get(fields.get("decision", ""), "deny")
    return Reading(decision, fields.get("reason", ""))


_READERS = {
    **dict.fromkeys(("claude", "codex", "gemini", "qwen", "grok"), _claude_family),
    "copilot": _copilot,
    "kimi": _kimi,
    "opencode": _opencode,
    "cline": _cline,
    "cursor": _cursor,
    "agy": _agy,
}
