"""One hook call of an agent in a run, by the command line of its client: with the run's server and without it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from measure import Row, at_least, beside, take_turns
from tests.emit.serve.agent_in_run import SETTINGS, AgentInRun, agent_in_run, payload

from samuel.testing import SamuelProject

GUARD = """\
import samuel


@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    if "rm -rf" in str(event.tool_input):
        return {"decision": "deny", "reason": "not here"}
"""
CALL = payload("ls")


def run(scratch: Path) -> Iterator[Row]:
    project = SamuelProject(scratch)
    os.environ["HOME"] = str(project.user.home)
    os.environ.pop("SAMUEL_SERVE", None)
    project.config(SETTINGS)
    project.python_hook("guard", GUARD)
    with agent_in_run(project) as agent:
        warm, cold, nothing = take_turns(
            lambda: agent.warm(CALL), lambda: agent.cold(CALL), lambda: shell_that_runs_true(agent), rounds=30
        )
        if agent.status.left_to_others:
            raise RuntimeError(agent.status.last_reason)
        yield beside("a hook call in a run, vs the same with `true` in place of `samuel-emit`", warm, nothing)
        yield at_least("the same, vs without the server of the run", warm, cold, 10)


def shell_that_runs_true(agent: AgentInRun) -> None:
    """The same command line, with a program that does nothing."""
    with agent.started_as("/bin/true"):
        agent.warm(CALL)
