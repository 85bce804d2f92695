"""One agent process with the hooks of this project in its tool calls, and what they judged."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from msgspec import UNSET
from msgspec.structs import replace

from samuel.agents import process_files
from samuel.agents.invoke import assemble
from samuel.attempt.workplace import Workplace
from samuel.bridges.coverage import Coverage, judged_calls, reconcile
from samuel.bridges.guards import STAND_IN, no_bridge
from samuel.bridges.process_bridge import ProcessBridge, process_bridge
from samuel.bridges.run_server import RunServer
from samuel.clients.adapter.agent import Agent
from samuel.clients.adapter.stream import ObservedCall
from samuel.confine.sandbox import HOST
from samuel.events import AgentInvoke
from samuel.files.inside import make_dirs_inside
from samuel.process.emit_client import OFF, SWITCH
from samuel.process.environment import BRIDGED
from samuel.process.passed import PINNED

BRIDGE, HOMES = "bridge", "homes"
REQUIRED = "required"
_PASSED_ON = ("SAMUEL_ENV", "HOME")


class BridgedAgent:
    """Inside of its `with` the bridge's files and its server are there; it gives the bridge, or an empty one."""

    def __init__(self, place: Workplace, agent: Agent, event: AgentInvoke) -> None:
        self._place = place
        self._agent = agent
        self._event = event
        self._bridge = ProcessBridge()
        self._server = RunServer()
        self._started = place.clock.now()
        session = "" if event.session_id is UNSET else event.session_id
        self._label = process_files.label(event.iteration, session, "" if event.run_id is UNSET else event.run_id)

    @property
    def is_needed(self) -> bool:
        """A run that nothing listens to costs nothing extra."""
        is_asked_for = self._place.tool_hooks.listen or self._place.settings.coverage == REQUIRED
        return is_asked_for and not no_bridge(self._agent, self._event.sandbox.kind)

    def __enter__(self) -> ProcessBridge:
        if self.is_needed:
            try:
                self._bridge = self._connected()
            except BaseException:
                self._server.end()
                raise
        return self._bridge

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.end()
        if self._bridge != ProcessBridge():
            for folder in (BRIDGE, HOMES):
                shutil.rmtree(self._place.state / folder / self._label, ignore_errors=True)

    def _connected(self) -> ProcessBridge:
        place, variables = self._place, self._variables()
        server = None
        # From within a sandbox the server's process cannot be told, and its hooks would run outside of it.
        if self._event.sandbox.kind == HOST:
            server = self._server.start(place.root, variables, place.host)
        directories = self._fresh(BRIDGE), self._fresh(HOMES)
        bridge = process_bridge(
            self._agent.hooks, place.root, *directories, variables, place.host, server, place.tool_hooks.events
        )
        return bridge._replace(env={**bridge.env, BRIDGED: "1"})

    def coverage(self, calls: Sequence[ObservedCall]) -> Coverage | None:
        """How many of these calls were judged; None where nothing was to judge them."""
        if not self.is_needed:
            is_asked = self._place.tool_hooks.judge_calls and STAND_IN not in self._agent.command
            return reconcile(self._agent.hooks, calls, ()) if is_asked and calls else None
        session = self._event.env.get("SAMUEL_SESSION_ID", "")
        judged = judged_calls(self._place.root, session, self._started)
        coverage = reconcile(self._agent.hooks, calls, judged)
        return replace(coverage, changed_files=tuple(self._bridge.changed_files()))

    def _variables(self) -> dict[str, str]:
        """The environment of the hooks' Samuel: the agent's, with the run's names and what it pinned."""
        place = self._place
        of_host = {name: place.host[name] for name in _PASSED_ON if name in place.host}
        own = {name: value for name, value in self._event.env.items() if name.startswith("SAMUEL_")}
        of_run = {**of_host, **own, PINNED: place.tool_hooks.pin(), BRIDGED: "1", SWITCH: OFF}
        programs = process_files.put_samuel(place.state)
        variables = {**self._agent.variables, **of_run}
        return assemble(self._agent, self._event.env, place.host, variables, programs).env

    def _fresh(self, folder: str) -> Path:
        """An empty directory of this process. An agent before it may have left links there."""
        directory = self._place.state / folder / self._label
        shutil.rmtree(directory, ignore_errors=True)
        os.close(make_dirs_inside(self._place.state, f"{folder}/{self._label}"))
        return directory
