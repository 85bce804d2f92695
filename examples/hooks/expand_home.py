"""Rewrites the input of a call: `~` becomes a real directory, so that guards judge what will really happen."""

import os

import samuel


@samuel.hook("PreAbilityCall", order=110, role="rewrite")
def expand_home(event):
    command = event.tool_input.get("command", "")
    return {"tool_input": {**event.tool_input, "command": command.replace("~", os.path.expanduser("~"))}}
