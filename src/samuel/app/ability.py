"""What of an opened project only abilities need: how their programs and agents are run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from samuel.agents import process_files
from samuel.agents.check import missing_in
from samuel.agents.find_agent import find
from samuel.app.session_events import recording_fire
from samuel.attempt.turn.agent_session import AgentSession, SessionResult
from samuel.dispatch.record import Fired
from samuel.events import Event
from samuel.files.inside import make_dirs_inside
from samuel.process.environment import TRUST, TRUST_WITHHELD
from samuel.process.output import ending
from samuel.routing.abilities.execution import nesting
from samuel.routing.abilities.execution import trust as ability_trust
from samuel.routing.abilities.execution.call_store import CallStore
from samuel.routing.abilities.execution.execute import AbilityRunner
from samuel.routing.abilities.execution.perform import AgentOutput, Performer, ProgramSettings
from samuel.routing.abilities.model import Ability
from samuel.routing.abilities.registry import Registry
from samuel.trust import commands

if TYPE_CHECKING:
    from samuel.app.project import App


def execution(app: App, registry: Registry, fire: Callable[[Event], Fired], session: str = "") -> AbilityRunner:
    """The runner of this project's abilities. `fire` fires the events of its calls, in the session `session`."""
    root = app.paths.root

    def ask(ability: str, prompt: str, env: Mapping[str, str], own: Mapping[str, str]) -> AgentOutput:
        fire = recording_fire(app, app.warn)
        session = AgentSession(app.workplace, fire, app.prompt_context(), ability=ability, env=env, own=own)
        return _ask(app, session, prompt)

    machine = ProgramSettings(
        root, _variables(app), os.environ, app.user.cache, app.config.limits.handler_output_bytes
    )
    return AbilityRunner(
        registry=registry,
        calls=CallStore(root),
        clock=app.clock,
        fire=fire,
        perform=Performer(machine, ask),
        refusal=lambda ability: _refusal(app, ability),
        environment=app.environment,
        session=session,
        parent=os.environ.get(nesting.VARIABLE, ""),
        run_id=os.environ.get("SAMUEL_RUN_ID", ""),
        # An ability and those that it calls are one piece of work, so they share SAMUEL_TRUST=all.
        handed_on={TRUST: "all"} if os.environ.get(TRUST) == "all" else {},
    )


def _refusal(app: App, ability: Ability) -> str:
    why = ability_trust.refusal(ability, app.paths.root, app.permit)
    if why and os.environ.get(TRUST_WITHHELD):
        reason, _, _ = why.partition("; ")
        hint = "SAMUEL_TRUST=all is not handed on to the agents and hooks of a command"
        return f"{reason}; {hint}: run `samuel trust --yes` before it"
    return why


def _variables(app: App) -> dict[str, str]:
    """Environment variables with this `samuel` first on PATH, for abilities that call others."""
    state = app.state.relative_to(app.paths.root)
    os.close(make_dirs_inside(app.paths.root, str(state), mode=0o755))
    path = f"{process_files.put_samuel(app.state)}{os.pathsep}{app.variables['PATH']}"
    return {**app.variables, "PATH": path, "SAMUEL_PROJECT_ROOT": str(app.paths.root)}


def _ask(app: App, session: AgentSession, prompt: str) -> AgentOutput:
    """What the agent answers. What would make it fail is checked before hooks are told that a session begins."""
    place = app.workplace
    chosen = find(session.agent, place.agents)
    why = missing_in(chosen, place.settings.sandbox, place.confinement)
    why = why or place.refusal(commands.of_agent(session.agent, place.agents, place.root))
    return AgentOutput(session.agent, error=why) if why else _output(session.run(prompt))


def _output(ran: SessionResult) -> AgentOutput:
    error = f"stopped: {ran.stopped}" if ran.stopped else ""
    if not error and ran.exit_code:
        error = f"the agent ended with {ending(ran.exit_code, ran.stderr)}"
    return AgentOutput(ran.agent, ran.stdout, ran.changed_files, error, ran.stderr, (*ran.messages, *ran.warnings))
