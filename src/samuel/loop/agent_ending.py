"""How an agent ended, from the result of `agent.invoke`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from samuel.agents.ending import AgentEnding, EndingKind
from samuel.decoding import convert

NOT_STARTED = (126, 127)  # exit codes of a program that is not executable, or not there


def ending_of(answer: Mapping[str, Any], *, changed: bool, now: float) -> AgentEnding:
    """The ending that the handler reported, or what the exit code tells. `changed`: the agent changed a file."""
    code = int(answer["exit_code"])
    if answer.get("ending"):
        try:
            return convert(answer["ending"], AgentEnding)
        except msgspec.ValidationError:  # of a plugin that is the agent
            pass
    if code == 0:
        return AgentEnding()
    lines = str(answer.get("stderr") or answer.get("stdout") or "").strip().splitlines()
    why = f": {lines[-1]}" if lines and code in NOT_STARTED else ""
    return AgentEnding(EndingKind.CRASHED, f"the agent ended with exit code {code}{why}")
