"""The environment of an agent process, put together at the last moment.

Until then a secret is only its name: `"$ANTHROPIC_API_KEY"` in an event's `env`. Here, and nowhere else, the
reference becomes the host's value; from here it goes to the process and not into any record.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from samuel.clients.adapter.agent import Agent
from samuel.process import environment


class Variables(NamedTuple):
    env: dict[str, str]
    notes: list[str]
    """What was left out, and why."""


def assemble(
    agent: Agent, env: Mapping[str, str], host: Mapping[str, str], run_variables: Mapping[str, str], programs: Path
) -> Variables:
    """The clean set, what the agent may have of the host's, the event's `env`, and `run_variables`.

    `programs` comes first on PATH.
    """
    resolved, notes = _resolve(env, host)
    variables = environment.clean({**resolved, **run_variables}, pass_names=agent.env, base=host)
    variables["PATH"] = f"{programs}{os.pathsep}{variables['PATH']}"
    return Variables(variables, notes)


def _resolve(env: Mapping[str, str], host: Mapping[str, str]) -> Variables:
    resolved, notes = {}, []
    for name, value in env.items():
        host_name = environment.referenced(value)
        if name in environment.WITHHELD or host_name in environment.WITHHELD:
            notes.append(f"`{name}` is left out of the agent's environment: it is not for agents")
        elif not host_name:
            resolved[name] = value
        elif host_name in host:
            resolved[name] = host[host_name]
        else:
            notes.append(f"`{name}` is left out of the agent's environment: `{value}` is not set")
    return Variables(resolved, notes)
