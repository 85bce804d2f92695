"""agent.invoke: run the agent's own program, in its sandbox, to its end or its deadline."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET

from samuel.agents.check import installed_agents, version_number
from samuel.agents.find_agent import find
from samuel.agents.invoke import AgentCall, AgentLimits, AgentSurroundings, Invoked, invoke
from samuel.attempt.turn.bridged_agent import BridgedAgent
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.bridges.coverage import Coverage
from samuel.clients.adapter.agent import Agent, ProcessFacts
from samuel.clients.adapter.ending import EndingKind
from samuel.clients.adapter.stream import PlainStream
from samuel.events import AgentInvoke
from samuel.history.notices import AgentActivity, AgentOutputChunk
from samuel.process.emit_client import OFF, SWITCH
from samuel.trust import commands


class RunAgent:
    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: AgentInvoke) -> dict[str, Any]:
        done, agent, coverage = self.invoke(event)
        ended = _why_ended(done, event.deadline_ms / 1000)
        return {
            "exit_code": done.exit_code,
            "stdout": done.stdout_tail,
            "stderr": f"{done.stderr_tail}\n{ended}".strip(),
            "stdout_path": done.stdout_path,
            "usage": done.usage,
            "ending": msgspec.to_builtins(done.ending),
            **({"coverage": msgspec.to_builtins(coverage)} if coverage else {}),
            "claims_by_exit": agent.claim == "exit",
        }

    def invoke(self, event: AgentInvoke) -> tuple[Invoked, Agent, Coverage | None]:
        """Run the agent of the event. Raises SamuelError if it may not be started, or cannot be."""
        place, seconds = self._place, event.deadline_ms / 1000
        if not event.prompt.strip():
            raise SamuelError("the prompt is empty, so no agent was started")
        # A hook may have changed the agent, and the command line of any agent may have come with the project.
        if why := place.refusal(commands.of_agent(event.agent, place.agents, place.root)):
            raise SamuelError(why)
        agent = find(event.agent, place.agents)
        if why := place.tool_hooks.refusal(agent, event.sandbox.kind):
            raise SamuelError(why)
        readable = agent.stream is PlainStream
        bridged = BridgedAgent(place, agent, event)
        with bridged as bridge:
            call = AgentCall(
                prompt=event.prompt,
                env=event.env,
                # No server answers for it: whatever it starts could listen in the server's place.
                variables={**bridge.env, SWITCH: OFF},
                arguments=(*bridge.arguments, *self._options(agent, event)),
                iteration=event.iteration,
                session="" if event.session_id is UNSET else event.session_id,
                run_id="" if event.run_id is UNSET else event.run_id,
            )
            surroundings = AgentSurroundings(
                root=place.root,
                state=place.state,
                sandbox=event.sandbox,
                environment=place.host,
                cache=place.cache,
                homes=(*bridge.homes, *place.hidden),
            )
            done = invoke(
                agent,
                call,
                surroundings,
                AgentLimits(
                    timeout=seconds,
                    idle_timeout=place.settings.idle_timeout,
                    over_budget=place.meter.exceeded,
                    restarted=partial(place.early_ends.why, event.iteration),
                ),
                on_output=lambda chunk: place.watch(AgentOutputChunk(chunk, readable)),
                on_activity=lambda text, usage: place.watch(AgentActivity(text, usage, readable)),
                now=place.clock.now,
            )
            coverage = bridged.coverage(done.tool_calls)
        for note in done.notes:
            place.warn(note)
        return done, agent, coverage

    def _options(self, agent: Agent, event: AgentInvoke) -> tuple[str, ...]:
        """What depends on the version of the agent's program; nothing in an image, which has one of its own."""
        if agent.options is None or event.sandbox.kind == "oci":
            return ()
        place = self._place
        [installed] = installed_agents([agent], place.host, place.root)
        return agent.options(ProcessFacts(version_number(installed.version), place.meter.remaining_usd()))


def _why_ended(done: Invoked, seconds: float) -> str:
    """Why Samuel ended the agent; "" if it ended by itself."""
    if done.timed_out:
        return f"killed after {seconds:g}s (agent_timeout)"
    return (
        done.ending.reason
        if done.ending.kind in (EndingKind.IDLE, EndingKind.OVER_BUDGET, EndingKind.RESTARTED)
        else ""
    )
