"""A guard: it judges the final input, after every rewrite. If it crashed, the call would be denied."""

import os

import samuel


@samuel.hook("PreAbilityCall", role="guard")
def keep_out(event):
    command = event.tool_input.get("command", "")
    if command.startswith("rm") and os.path.expanduser("~") in command:
        return {"decision": "deny", "reason": f"`{command}` would remove something in the home directory"}
    return None
