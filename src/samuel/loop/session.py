"""Each agent process is a session: the same events in the same order, whoever the agent works for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from samuel.decoding import convert
from samuel.dispatch.record import Fired
from samuel.events import (
    AgentInvoke,
    Event,
    Sandbox,
    SessionEnd,
    SessionStart,
    SessionStop,
    TurnEnd,
    UserPromptSubmit,
)

AgentAnswer = Mapping[str, Any]


def session(
    prompt: str,
    *,
    fire: Callable[[Event], Fired],
    last_words: Callable[[Event], Fired],
    invoke: Callable[[str], AgentAnswer],
    changed: Callable[[], Sequence[str]],
    suggest: Callable[[Sequence[Fired]], str],
) -> AgentAnswer:
    """Run the agent by `invoke`, and tell everybody. `fire` raises when a handler says no; `last_words` never.

    `changed` gives the files that the agent changed. `suggest` gives what the hooks suggested, in words that are
    added to the prompt; hooks themselves see the prompt without them.
    """
    started = fire(SessionStart())
    try:
        asked = fire(UserPromptSubmit(user_message=prompt))
        suggestions = suggest((started, asked))
        answer = invoke(f"{prompt.rstrip()}\n\n{suggestions}" if suggestions else prompt)
        fire(TurnEnd(response=str(answer.get("stdout", "")), turn_number=1))
        fire(SessionStop(changed_files=list(changed())))
        return answer
    finally:
        last_words(SessionEnd())


def no_prompt(prepared: Fired) -> str:
    """Why before:agent.invoke ended without a prompt; "" if there is one.

    An agent that is told nothing costs as much as any other, so none is started.
    """
    if str(prepared.result["prompt"]).strip():
        return ""
    faults = [call.message for call in prepared.calls if not call.counts]  # a template with a mistake in it, say
    return f"there is no prompt: {faults[-1] if faults else 'its text is empty'}"


def invocation_of(prepared: Mapping[str, Any]) -> AgentInvoke:
    """What before:agent.invoke ended with, as the call that follows from it."""
    return AgentInvoke(
        agent=prepared["agent"],
        prompt=prepared["prompt"],
        env=prepared["env"],
        sandbox=convert(prepared["sandbox"], Sandbox),  # an answer may have keys that are not ours
    )


def can_call_abilities(prepared: Mapping[str, Any]) -> bool:
    """In a container `samuel` only notes what the loop shall do with tasks."""
    return bool(prepared["sandbox"]["kind"] != "oci")
