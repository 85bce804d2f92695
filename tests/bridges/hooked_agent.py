"""An agent that plays a script and asks the hooks of Claude Code before each call, as Claude Code does.

`python hooked_agent.py SCRIPT OUTCOMES [--settings JSON]`: SCRIPT is a JSON list of calls, each with `command`, or
`path` and `content` for a file that it would write, and `carry_out`. A command that no hook objects to is run only
if `carry_out` says so: what must be stopped never runs. After each call the hooks are asked about a command that
a guard in force denies. The hooks are those of the command line, or of the project's settings as they are at that
moment; OUTCOMES gets what came of each call.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CANARY = "rm -rf ~"


def main(script: str, outcomes: str, *options: str) -> None:
    settings_text = options[options.index("--settings") + 1] if "--settings" in options else ""
    played = []
    for call in json.loads(Path(script).read_text()):
        stopped = objection(settings_text, call)
        code = carry_out(call) if call["carry_out"] and not stopped else 0
        holds = objection(settings_text, {"command": CANARY})
        played.append(
            {"call": call.get("command") or call["path"], "stopped": stopped, "code": code, "holds": holds}
        )
        Path(outcomes).write_text(json.dumps(played))


def objection(settings_text: str, call: dict[str, Any]) -> str:
    """Why a hook objects to the call; "" if none does."""
    settings = json.loads(settings_text) if settings_text else project_settings()
    if settings.get("disableAllHooks"):
        return ""
    for group in settings.get("hooks", {}).get("PreToolUse", ()):
        for hook in group["hooks"]:
            if reason := answer(hook["command"], call):
                return reason
    return ""


def project_settings() -> dict[str, Any]:
    """What the files of the project say now; the one that is not committed has the last word."""
    merged: dict[str, Any] = {}
    for name in ("settings.json", "settings.local.json"):
        try:
            merged |= json.loads(Path(".claude", name).read_text())
        except (OSError, ValueError):
            continue
    return merged


def answer(hook: str, call: dict[str, Any]) -> str:
    tool = (
        {"tool_name": "Bash", "tool_input": {"command": call["command"]}}
        if "command" in call
        else {
            "tool_name": "Write",
            "tool_input": {"file_path": call["path"], "content": call["content"]},
        }
    )
    payload = {
        "session_id": "scripted",
        "transcript_path": "/dev/null",
        "cwd": str(Path.cwd()),
        "hook_event_name": "PreToolUse",
        "tool_use_id": "1",
        **tool,
    }
    done = subprocess.run(["sh", "-c", hook], input=json.dumps(payload), capture_output=True, text=True)
    if done.returncode == 2:
        return done.stderr or "exit code 2"
    try:
        output = json.loads(done.stdout)["hookSpecificOutput"]
    except (ValueError, KeyError):
        return ""
    return (
        output.get("permissionDecisionReason", "") if output.get("permissionDecision") in ("deny", "ask") else ""
    )


def carry_out(call: dict[str, Any]) -> int:
    return subprocess.run(["bash", "-c", call["command"]], capture_output=True).returncode


if __name__ == "__main__":
    main(*sys.argv[1:])
