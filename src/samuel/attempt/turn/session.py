"""One agent process is one session: the same events in the same order, for the loop, recipes and abilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from samuel.base.errors import SamuelError
from samuel.clients.table import HOOK_FORMATS
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
from samuel.process.tree import check_calls

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

    `fire` raises when a handler denies or a strict one fails, at SessionEnd too; `notify` never does. It is for
    SessionEnd after something else has ended the session, and for SessionStop if that was the person. `changed`
    gives the files that the agent changed. `suggest` gives the hooks' suggestions as text that is added to the
    prompt; hooks themselves see the prompt without it. `agent` is the agent's name: events of an agent that runs
    hooks of its own say so, and the hooks that Samuel imports from its settings are left to it.

    Raises CallsEnded where no hook can be called any more: what ended the calls ends the session, by `stop`.
    """
    extra = {"client": agent} if agent in HOOK_FORMATS else UNSET
    started = fire(SessionStart(extra=extra))
    is_stopped = False
    try:
        submitted = fire(UserPromptSubmit(user_message=prompt, extra=extra))
        suggestions = suggest((started, submitted))
        answer = invoke(f"{prompt.rstrip()}\n\n{suggestions}" if suggestions else prompt)
        check_calls()
        fire(TurnEnd(response=str(answer.get("stdout", "")), turn_number=1, extra=extra))
        is_stopped = True
        fire(SessionStop(changed_files=list(changed()), extra=extra))
    except KeyboardInterrupt:
        stop(agent, notify=notify, changed=None if is_stopped else changed)
        raise
    except BaseException:
        check_calls()
        notify(SessionEnd(extra=extra))
        raise
    fire(SessionEnd(extra=extra))
    return answer


def stop(agent: str, *, notify: Callable[[Event], Fired], changed: Callable[[], Sequence[str]] | None) -> None:
    """End a session because the person stopped it. `changed` is None if SessionStop was fired already."""
    extra = {"client": agent} if agent in HOOK_FORMATS else UNSET
    try:
        if changed is not None:
            notify(SessionStop(changed_files=_files_or_unset(changed), extra=extra))
    finally:
        notify(SessionEnd(extra=extra))


def _files_or_unset(changed: Callable[[], Sequence[str]]) -> list[str] | UnsetType:
    try:
        return list(changed())
    except SamuelError:  # the repository is gone: the session is stopped all the same
        return UNSET


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


def agent_ms(fired: Fired) -> float:
    """How long the agent ran, in milliseconds: the call of the one handler of agent.invoke."""
    return round(fired.calls[-1].duration_ms, 1)


def can_call_abilities(invocation: AgentInvoke) -> bool:
    """Whether the agent's `samuel` can run abilities: in a container it only records requests about tasks."""
    return invocation.sandbox.kind != "oci"
