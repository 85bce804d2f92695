"""One session of an agent outside of the loop, fired as the loop fires each of its own: for recipes and abilities.

Every payload carries the session's id, and `recipe_name` or `ability_id`: a handler can act for one and no other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from samuel.dispatch.record import Fired
from samuel.events import AfterAgentInvoke, BeforeAgentInvoke, Event, LoopEvent
from samuel.files.inside import make_dirs_inside
from samuel.loop.evidence import agreements_kept
from samuel.loop.session import can_call_abilities, invocation_of, no_prompt, session
from samuel.loop.workplace import Workplace
from samuel.loop.worktree import ProjectFiles, RepositoryLost
from samuel.process.live import registered

NOTHING: Mapping[str, str] = MappingProxyType({})


class SessionResult(NamedTuple):
    session_id: str
    agent: str
    recipe: str = ""
    """The name of the recipe, if it is one's."""
    exit_code: int | None = None
    """The agent's; None if it was not started."""
    stdout: str = ""
    """The end of what it said; all of it is in `stdout_path`."""
    stderr: str = ""
    stdout_path: str = ""
    changed_files: tuple[str, ...] = ()
    usage: Mapping[str, Any] = {}
    stopped: str = ""
    """Why it ended before its time: a handler's no, or a fault of one that must not fail."""
    messages: tuple[str, ...] = ()
    """What handlers have to say to the person."""
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and not self.stopped


class AgentSession:
    def __init__(
        self,
        place: Workplace,
        fire: Callable[[Event], Fired],
        context: Callable[[], dict[str, Any]],
        *,
        agent: str = "",
        recipe: str = "",
        ability: str = "",
        env: Mapping[str, str] = NOTHING,
        own: Mapping[str, str] = NOTHING,
    ) -> None:
        """`agent` is somebody's choice; without one it is the project's. `recipe` or `ability` is what it is for.

        `env` are variables for the agent that handlers may change; those in `own` nobody may.
        """
        self._place = place
        self._fired = fire
        self._context = context()
        self._extra = {"ability_id": ability} if ability else UNSET
        self._env = env
        self._own = own
        self._ran = SessionResult(place.clock.new_id("ses"), agent or place.agent, recipe)

    @property
    def agent(self) -> str:
        return self._ran.agent

    def run(self, prompt: str) -> SessionResult:
        """Run it to its end, with this text. Whatever handlers do is in what it gives."""
        state = self._place.state.relative_to(self._place.root)
        os.close(make_dirs_inside(self._place.root, str(state), mode=0o755))
        try:
            with registered(self._place.live, self._ran.session_id):
                answer = self._session(self._prepare(prompt))
            self._fire(
                AfterAgentInvoke(
                    exit_code=answer["exit_code"],
                    stdout=str(answer.get("stdout", "")),
                    stderr=str(answer.get("stderr", "")),
                    usage=dict(self._ran.usage),
                )
            )
        except _Stopped as stopped:
            self._note(stopped=str(stopped))
        return self._ran

    def _prepare(self, prompt: str) -> Mapping[str, Any]:
        """What the agent process gets: handlers may change all of it, but not the session's own names."""
        fired = self._fire(
            BeforeAgentInvoke(
                agent=self.agent,
                prompt=prompt,
                env={**self._place.agent_env(self.agent), **self._env, **self._own_names()},
                sandbox=self._place.sandbox,
            )
        )
        if why := no_prompt(fired):
            raise _Stopped(why)
        self._note(agent=fired.result["agent"])
        return {**fired.result, "env": {**fired.result["env"], **self._own_names()}}

    def _session(self, invocation: Mapping[str, Any]) -> Mapping[str, Any]:
        """The same events, in the same order, as for an agent of the loop."""
        tree = ProjectFiles(self._place.root, self._place.git)

        def invoke(prompt: str) -> Mapping[str, Any]:
            self._before = _whole(tree.look)
            return self._invoke({**invocation, "prompt": prompt})

        def changed() -> tuple[str, ...]:
            self._note(changed_files=tuple(_whole(lambda: tree.changed(self._before))))
            return self._ran.changed_files

        def suggest(results: Sequence[Fired]) -> str:
            if self._extra is not UNSET:  # an ability's own prompt says what its agent has to do
                return ""
            section = self._place.suggest(results, can_call_abilities(invocation))
            self._note(warnings=(*self._ran.warnings, *section.warnings))
            return section.text

        return session(
            invocation["prompt"],
            fire=self._fire,
            last_words=self._tell,
            invoke=invoke,
            changed=changed,
            suggest=suggest,
        )

    def _invoke(self, invocation: Mapping[str, Any]) -> Mapping[str, Any]:
        with agreements_kept(self._place, "the agent"):
            answer = self._fire(invocation_of(invocation)).result
        self._note(
            exit_code=int(answer["exit_code"]),
            stdout=str(answer.get("stdout", "")),
            stderr=str(answer.get("stderr", "")),
            stdout_path=str(answer.get("stdout_path") or ""),
            usage=dict(answer.get("usage") or {}),
        )
        return answer

    def _own_names(self) -> dict[str, str]:
        """What the agent's `samuel` needs to know where it is: inside, so it cannot change what is trusted."""
        session = self._ran.session_id
        return {
            **self._own,
            "SAMUEL_RUN_ID": self._place.host.get("SAMUEL_RUN_ID") or session,
            "SAMUEL_STEP": "agent",
            "SAMUEL_SESSION_ID": session,
            "SAMUEL_PROJECT_ROOT": str(self._place.root),
            "SAMUEL_METHODOLOGY": self._place.settings.name,
        }

    def _fire(self, event: Event) -> Fired:
        fired = self._tell(event)
        if fired.stopped:
            raise _Stopped(fired.reason)
        return fired

    def _tell(self, event: Event) -> Fired:
        event = replace(
            event, session_id=self._ran.session_id, recipe_name=self._ran.recipe or UNSET, extra=self._extra
        )
        if isinstance(event, LoopEvent):
            event = replace(event, context=self._context)
        fired = self._fired(event)
        if fired.context:
            self._context = {**self._context, "Plugins": fired.context.get("Plugins", {})}
        self._note(
            messages=(*self._ran.messages, *fired.messages), warnings=(*self._ran.warnings, *fired.warnings)
        )
        return fired

    def _note(self, **facts: Any) -> None:
        self._ran = self._ran._replace(**facts)


class _Stopped(Exception):
    """The session cannot go on."""


T = TypeVar("T")


def _whole(look: Callable[[], T]) -> T:
    """What a look at the work tree gives, or _Stopped where its repository is gone."""
    try:
        return look()
    except RepositoryLost as lost:
        raise _Stopped(str(lost)) from None
