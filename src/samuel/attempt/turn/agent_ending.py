"""How an agent ended, from the result of `agent.invoke`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from samuel.base.decoding import convert
from samuel.clients.adapter.ending import ENDED_WELL, AgentEnding, EndingKind
from samuel.clients.adapter.trouble import prose_ending

NOT_STARTED = (126, 127)  # exit codes of a program that is not executable, or not there


def ending_of(answer: Mapping[str, Any], *, changed: bool, now: float) -> AgentEnding:
    """The ending that the handler reported, or what the exit code tells. `changed`: the agent changed a file."""
    code = int(answer["exit_code"])
    ending = _reported(answer.get("ending"))
    if ending is not None and ending.kind is not EndingKind.CRASHED:
        return ending
    if code == 0:
        return ending or ENDED_WELL
    stdout, stderr = str(answer.get("stdout") or ""), str(answer.get("stderr") or "")
    # Prose proves little: it counts only for an agent that reports nothing in a typed form and did nothing.
    if not changed and (trouble := prose_ending(stdout, stderr, now)):
        return trouble
    if ending is not None:
        return ending
    lines = (stderr or stdout).strip().splitlines()
    why = f": {lines[-1]}" if lines and code in NOT_STARTED else ""
    return AgentEnding(EndingKind.CRASHED, f"the agent ended with exit code {code}{why}")


def _reported(value: Any) -> AgentEnding | None:
    """What the handler reported; None if it reported nothing, or nothing that can be read."""
    try:
        return convert(value, AgentEnding) if value else None
    except msgspec.ValidationError:  # of a plugin that is the agent
        return None
