"""One agent process is one session: the same events in the same order, for the loop, recipes and abilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from samuel.dialects.agent_hooks.table import FORMATS
from samuel.dispatch.record import Fired
from samuel.events import (
    AgentInvoke,
    BeforeAgentInvoke,
    Event,
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
    notify: Callable[[Event], Fired],
    invoke: Callable[[str], AgentAnswer],
    changed: Callable[[], Sequence[str]],
    suggest: Callable[[Sequence[Fired]], str],
    agent: str = "",
) -> AgentAnswer:
    """Run the agent by `invoke` and fire the events around it; returns the answer of agent.invoke.

    `fire` raises when a handler denies or fails; `notify` never does. `changed` gives the files that the agent
    changed. `suggest` gives the hooks' suggestions as text that is added to the prompt; hooks themselves see the
    prompt without it. `agent` is the agent's name: events of an agent that runs hooks of its own say so, and the
    hooks that Samuel imports from its settings are left to it.
    """
    extra = {"client": agent} if agent in FORMATS else UNSET
    started = fire(SessionStart(extra=extra))
    try:
        submitted = fire(UserPromptSubmit(user_message=prompt, extra=extra))
        suggestions = suggest((started, submitted))
        answer = invoke(f"{prompt.rstrip()}\n\n{suggestions}" if suggestions else prompt)
        fire(TurnEnd(response=str(answer.get("stdout", "")), turn_number=1, extra=extra))
        fire(SessionStop(changed_files=list(changed()), extra=extra))
        return answer
    finally:
        notify(SessionEnd(extra=extra))


def invocation_of(prepared: Fired, own_names: Mapping[str, str]) -> AgentInvoke:
    """The call of the agent as the handlers of before:agent.invoke left it.

    `own_names` are variables of the agent that no handler can change.
    """
    event = prepared.event
    assert isinstance(event, BeforeAgentInvoke)
    return AgentInvoke(
        agent=event.agent, prompt=event.prompt, env={**event.env, **own_names}, sandbox=event.sandbox
    )


def missing_prompt(prepared: Fired, invocation: AgentInvoke) -> str:
    """Why the agent would get no prompt; "" if it has one.

    An agent without a prompt costs as much as any other, so none is started.
    """
    if invocation.prompt.strip():
        return ""
    faults = [call.message for call in prepared.calls if not call.counts]  # e.g. of a template with a mistake
    return f"there is no prompt: {faults[-1] if faults else 'its text is empty'}"


def can_call_abilities(invocation: AgentInvoke) -> bool:
    """Whether the agent's `samuel` can run abilities: in a container it only records requests about tasks."""
    return invocation.sandbox.kind != "oci"
