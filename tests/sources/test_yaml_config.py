"""`config` of a YAML hook: what any handler is told, whatever it is written in."""

from __future__ import annotations

import pytest

from samuel.testing import SamuelProject

SCRIPT = """#!/usr/bin/env python3
import json, sys
json.dump({"messages_to_user": [json.load(sys.stdin)["plugin"]["config"]["greeting"]]}, sys.stdout)
"""
FUNCTION = """
def greet(event):
    return {"messages_to_user": [event.plugin.config["greeting"]]}
"""


@pytest.mark.parametrize(
    ("file", "text", "handler"),
    [
        ("greet.sh", SCRIPT, "{kind: script, command: ./scripts/hooks/greet.sh}"),
        ("greet.py", FUNCTION, "{kind: python, function: 'scripts/hooks/greet.py:greet'}"),
    ],
)
def test_a_handler_receives_the_config_of_its_yaml_file(
    samuel_project: SamuelProject, file: str, text: str, handler: str
) -> None:
    root = samuel_project.root
    (root / "scripts/hooks").mkdir(parents=True)
    (root / "scripts/hooks" / file).write_text(text)
    (root / "scripts/hooks" / file).chmod(0o755)
    (root / ".system/hooks").mkdir(parents=True)
    yaml = f"id: greet\nevent_type: SessionStart\nhandler: {handler}\nconfig: {{greeting: Good morning}}\n"
    (root / ".system/hooks/greet.yaml").write_text(yaml)
    samuel_project.trust()
    for _ in range(2):  # the second time from what is remembered
        assert samuel_project.fire("SessionStart").result == {"messages_to_user": ["Good morning"]}
