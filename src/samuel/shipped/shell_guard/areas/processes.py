"""Processes of others."""

from __future__ import annotations

import re

from samuel.shipped.shell_guard.guard_rule import GuardArea, GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import GuardedCommand

_FORK_BOMB = re.compile(
    r"([^\s;&|(){}]+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&|while\s+(?:true|:)[^;\n]*;\s*do\s+\$0\s*&"
)
_ALL = frozenset({"-1", "0", "1"})


def _kills_everything(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`kill -9 -1`, `kill -1 -1`, `kill 1`: every process of the user, or the first one."""
    words = [word for word in command.arguments if word != "--"]
    targets = words[1:] if words and words[0].startswith("-") and words[0] not in ("-s", "-n") else words
    targets = words[2:] if words and words[0] in ("-s", "-n", "--signal") else targets
    return any(word in _ALL for word in targets)


def _has_fork_bomb(call: GuardedShellCall) -> str:
    return next((line for line in call.lines if _FORK_BOMB.search(line)), "")


RULES = GuardArea(
    "processes",
    (
        GuardRule(
            "kill-everything",
            "deny",
            "kill -9 -1",
            "It ends every process of the user, or the first process of the system",
            about_command=_kills_everything,
            programs=("kill",),
        ),
        GuardRule(
            "kill-by-name",
            "ask",
            "pkill -f node",
            "It ends every process of that name or user, not only those that this session started",
            patterns=("pkill|killall|killall5|skill|slay|xkill *", "fuser -k|--kill", "taskkill /F|/IM"),
        ),
        GuardRule(
            "fork-bomb",
            "deny",
            ":(){ :|:& };:",
            "It starts processes without end",
            about_call=_has_fork_bomb,
        ),
    ),
)
