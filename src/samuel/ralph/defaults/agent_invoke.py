"""agent.invoke: run the agent's own program, in its sandbox, to its end or its deadline."""

from __future__ import annotations

from typing import Any

from samuel.agents.invoke import invoke
from samuel.agents.table import find
from samuel.events import AgentInvoke
from samuel.ralph.workplace import Workplace


class RunAgent:
    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: AgentInvoke) -> dict[str, Any]:
        place = self._place
        place.logs.mkdir(exist_ok=True)
        done = invoke(
            find(event.agent, place.agents),
            prompt=event.prompt,
            env=event.env,
            sandbox=event.sandbox,
            root=place.root,
            state=place.state,
            iteration=event.iteration,
            timeout=event.deadline_ms / 1000,
            environment=place.host,
            on_output=lambda chunk: place.watch("output", {"chunk": chunk}),
        )
        result = {
            "exit_code": done.exit_code,
            "stdout": done.stdout_tail,
            "stderr": done.stderr_tail,
            "stdout_path": str(done.stdout_path),
            "usage": done.usage,
        }
        if done.timed_out:
            result["stderr"] = (
                f"{done.stderr_tail}\nkilled after {event.deadline_ms / 1000:g}s (agent_timeout)".strip()
            )
        return result
