"""Tells the agent which modules there are already, so that it does not write one twice."""

from pathlib import Path

import samuel


@samuel.hook("context.extra")
def modules(event):
    names = sorted(path.stem for path in Path(event.project_root, "textkit").glob("[a-z]*.py"))
    text = "\n".join(f"- {name}" for name in names) or "none yet"
    return {"extras": [{"name": "modules.md", "content": text}], "data": {"Modules": names}}
