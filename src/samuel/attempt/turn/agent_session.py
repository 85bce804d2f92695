"""One session of an agent outside of the loop, for a recipe or an ability, with the same events as in the loop.

Every payload carries the session's id, and `recipe_name` or `ability_id`: a handler can act for one and no other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from samuel.attempt.evidence import agreements_kept
from samuel.attempt.turn.session import agent_ms, can_call_abilities, invocation_of, missing_prompt, session
from samuel.attempt.workers import AGENT
from samuel.attempt.workplace import Workplace
from samuel.attempt.worktree import ProjectFiles, ProjectState, RepositoryLost
from samuel.bridges.coverage import Coverage, reported_coverage, uncovered
from samuel.dispatch.record import Fired
from samuel.events import AfterAgentInvoke, AgentInvoke, BeforeAgentInvoke, Event, LoopEvent
from samuel.files.inside import make_dirs_inside
from samuel.process.live import registered
from samuel.prompts.prompt_context import PromptContext

NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


class SessionResult(NamedTuple):
    session_id: str
    agent: str
    recipe: str = ""
    """The name of the recipe; "" for an ability."""
    exit_code: int | None = None
    """The agent's; None if it was not started."""
    stdout: str = ""
    """The end of the agent's output; all of it is in `stdout_path`."""
    stderr: str = ""
    stdout_path: str = ""
    changed_files: tuple[str, ...] = ()
    usage: Mapping[str, Any] = {}
    coverage: Coverage | None = None
    """How many of the agent's tool calls were judged by hooks; None if none were to judge them."""
    stopped: str = ""
    """Why it ended early: a handler denied it, or a strict handler failed."""
    messages: tuple[str, ...] = ()
    """Messages of handlers to the user."""
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and not self.stopped


class AgentSession:
    def __init__(
        self,
        place: Workplace,
        fire: Callable[[Event], Fired],
        context: PromptContext,
        *,
        agent: str = "",
        recipe: str = "",
        ability: str = "",
        env: Mapping[str, str] = NO_VARIABLES,
        own: Mapping[str, str] = NO_VARIABLES,
    ) -> None:
        """`agent` is the user's choice; "" means the project's. `recipe` or `ability` is what the session is for.

        `env` are variables of the agent that handlers may change; those in `own` no handler can change.
        """
        self._place = place
        self._fire_event = fire
        self._context = context
        self._extra = {"ability_id": ability} if ability else UNSET
        self._env = env
        self._own = own
        self._agent_ms = 0.0
        self._result = SessionResult(place.clock.new_id("ses"), agent or place.agent, recipe)

    @property
    def agent(self) -> str:
        return self._result.agent

    def run(self, prompt: str) -> SessionResult:
        """Run the agent to its end with this prompt; the result tells also if a handler stopped it."""
        state = self._place.state.relative_to(self._place.root)
        os.close(make_dirs_inside(self._place.root, str(state), mode=0o755))
        try:
            with registered(self._place.live, self._result.session_id):
                answer = self._session(self._prepare(prompt))
            self._fire(
                AfterAgentInvoke(
                    exit_code=answer["exit_code"],
                    stdout=str(answer.get("stdout", "")),
                    stderr=str(answer.get("stderr", "")),
                    usage=dict(self._result.usage),
                    duration_ms=self._agent_ms,
                )
            )
        except _Stopped as stopped:
            self._update(stopped=str(stopped))
        return self._result

    def _prepare(self, prompt: str) -> AgentInvoke:
        """The call of the agent: handlers may change all of it, but not the session's own variables."""
        fired = self._fire(
            BeforeAgentInvoke(
                agent=self.agent,
                prompt=prompt,
                env={**self._place.agent_env(self.agent), **self._env, **self._own_names()},
                sandbox=self._place.sandbox,
            )
        )
        invocation = invocation_of(fired, self._own_names())
        if why := missing_prompt(fired, invocation):
            raise _Stopped(why)
        self._update(agent=invocation.agent)
        return invocation

    def _session(self, invocation: AgentInvoke) -> Mapping[str, Any]:
        """The same events, in the same order, as for an agent of the loop."""
        files = ProjectFiles(self._place.root, self._place.git)
        before: ProjectState | None = None  # None until the agent starts

        def invoke(prompt: str) -> Mapping[str, Any]:
            nonlocal before
            before = _or_stopped(files.current_state)
            return self._invoke(replace(invocation, prompt=prompt))

        def changed() -> tuple[str, ...]:
            if before is not None:
                self._update(changed_files=tuple(_or_stopped(lambda: files.changed(before))))
            return self._result.changed_files

        def suggest(results: Sequence[Fired]) -> str:
            if self._extra is not UNSET:  # an ability's own prompt says what its agent has to do
                return ""
            section = self._place.suggest(results, can_call_abilities(invocation))
            self._update(warnings=(*self._result.warnings, *section.warnings))
            return section.text

        return session(
            invocation.prompt,
            fire=self._fire,
            notify=self._notify,
            invoke=invoke,
            changed=changed,
            suggest=suggest,
            agent=invocation.agent,
        )

    def _invoke(self, invocation: AgentInvoke) -> Mapping[str, Any]:
        with agreements_kept(self._place, self._place.at_work(AGENT)):
            fired = self._fire(invocation)
            answer, self._agent_ms = fired.result, agent_ms(fired)
        self._update(
            exit_code=int(answer["exit_code"]),
            stdout=str(answer.get("stdout", "")),
            stderr=str(answer.get("stderr", "")),
            stdout_path=str(answer.get("stdout_path") or ""),
            usage=dict(answer.get("usage") or {}),
            coverage=reported_coverage(answer),
        )
        required = self._place.settings.coverage == "required" and not self._place.is_stand_in(invocation.agent)
        if why := uncovered(self._result.coverage, required=required):
            raise _Stopped(why)
        return answer

    def _own_names(self) -> dict[str, str]:
        """The variables from which the agent's `samuel` knows that it may not change what is trusted."""
        session = self._result.session_id
        return {
            **self._own,
            "SAMUEL_RUN_ID": self._place.host.get("SAMUEL_RUN_ID") or session,
            "SAMUEL_STEP": "agent",
            "SAMUEL_SESSION_ID": session,
            "SAMUEL_PROJECT_ROOT": str(self._place.root),
            "SAMUEL_METHODOLOGY": self._place.settings.name,
        }

    def _fire(self, event: Event) -> Fired:
        fired = self._notify(event)
        if fired.stopped:
            raise _Stopped(fired.reason)
        return fired

    def _notify(self, event: Event) -> Fired:
        extra = {**(event.extra or {}), **(self._extra or {})} or UNSET
        event = replace(
            event, session_id=self._result.session_id, recipe_name=self._result.recipe or UNSET, extra=extra
        )
        if isinstance(event, LoopEvent):
            event = replace(event, context=self._context.plain())
        fired = self._fire_event(event)
        if fired.context:
            self._context = replace(self._context, Plugins=fired.context.get("Plugins", {}))
        self._update(
            messages=(*self._result.messages, *fired.messages), warnings=(*self._result.warnings, *fired.warnings)
        )
        return fired

    def _update(self, **fields: Any) -> None:
        self._result = self._result._replace(**fields)


class _Stopped(Exception):
    """The session cannot go on."""


T = TypeVar("T")


def _or_stopped(read_files: Callable[[], T]) -> T:
    """The result of `read_files`. Raises _Stopped if the repository is gone."""
    try:
        return read_files()
    except RepositoryLost as lost:
        raise _Stopped(str(lost)) from None
