"""Processes of others."""

from __future__ import annotations

import re

from samuel.shipped.shell_guard.guard_rule import GuardArea, GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import GuardedCommand

_FORK_BOMB = re.compile(
    r"([^\s;&|(){}]+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&|while\s+(?:true|:)[^;\n]*;\s*do\s+\$0\s*&"
)
_LISTING = frozenset({"pgrep", "pidof", "ps", "lsof", "fuser", "ss", "netstat"})
_LISTED = re.compile(r"(?:\$\(|`)\s*(?:pgrep|pidof|ps|lsof|fuser|ss|netstat)\b")
_ALL = frozenset({"-1", "0", "1"})


def _kills_everything(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`kill -9 -1`, `kill -1 -1`, `kill 1`: every process of the user, or the first one."""
    words = list(command.arguments)
    if words[:1] in (["-s"], ["-n"], ["--signal"]):
        del words[:2]
    elif words and words[0].startswith("-") and words[0] != "--":
        if words[0] == "-0":  # asks whether the process is there
            return False
        del words[0]
    return any(word in _ALL for word in words)


def _kills_a_selection(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`kill $(pgrep node)`, `lsof -ti :3000 | xargs kill`: whatever another program lists."""
    if command.has("-0", "-l", "-L"):
        return False
    if command.command.open_ended and command.command.starter in ("xargs", "parallel"):
        return bool(_LISTING & call.programs)
    return any(_LISTED.search(word) for word in command.arguments)


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
            patterns=(
                "pkill|killall|skill|slay|stop-process|spps *",
                "pkill|killall -u|-U|--euid|--user",
                "xkill|killall5",
                "fuser -k|--kill",
                "taskkill /F|/IM|/PID|/T",
                "tmux kill-server",
                "pm2 delete|stop|restart all",
                "pm2 kill",
                "supervisorctl stop|restart|shutdown all",
                "supervisorctl shutdown",
            ),
            about_command=_kills_a_selection,
            programs=("kill",),
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
