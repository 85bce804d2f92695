"""Each adapter's program is called as the golden says: argv, stdin, environment.

`SAMUEL_UPDATE_GOLDENS=1 pytest tests/agents` writes them anew; look at the difference before you keep it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from samuel.clients.table import AGENTS

GOLDEN = Path(__file__).parent / "golden"
NOT_CHECKED = "as documented, not checked"
REAL = [agent for agent in AGENTS.values() if agent.version]


@pytest.mark.parametrize("agent", REAL, ids=lambda agent: agent.name)
class TestAnAdapter:
    def test_calls_its_program_as_the_golden_says(self, agent: Any, desk: Any) -> None:
        desk.recorder(agent.command[0])
        secrets = {name: f"<{name}>" for name in agent.env}
        run = {"SAMUEL_RUN_ID": "run-1", "SAMUEL_ITERATION": "7", "SAMUEL_TASK_ID": "1.2", "SAMUEL_ATTEMPT": "1"}
        prompt = "Do task 1.2.\nUse `samuel run done 1.2`. ä\n"
        done = desk.run(agent, prompt, environment={**desk.host, **secrets}, variables=run, env={"EXTRA": "$HOME"})
        assert (done.exit_code, done.stderr_tail) == (0, "")
        compare(agent.name, json.loads(without_places(json.dumps(desk.recorded()), desk)))

    def test_takes_a_prompt_of_a_megabyte(self, agent: Any, desk: Any) -> None:
        desk.recorder(agent.command[0])
        prompt = "0123456789abcde\n" * 65536
        assert desk.run(agent, prompt).exit_code == 0
        record = desk.recorded()
        if agent.prompt == "stdin":
            assert record["stdin"] == agent.stdin_form(prompt)
        else:  # an argument takes 128 KiB: then it is told where to read the prompt
            path = f"{desk.state}/prompts/iteration-0007.md"
            assert any(path in word for word in record["argv"])
            assert Path(path).read_text() == prompt

    def test_says_what_would_install_it(self, agent: Any) -> None:
        assert agent.install
        assert agent.version[0] == agent.command[0]


def test_an_adapter_was_checked_with_a_version_wherever_its_program_is_in_a_registry() -> None:
    registries = ("npm install", "pip install", "pipx install", "uv tool install", "python -m pip install")
    for agent in REAL:
        assert bool(agent.checked[:1].isdigit()) == agent.install.startswith(registries), agent.install


def without_places(text: str, desk: Any) -> str:
    for place, name in ((desk.state, "STATE"), (desk.root, "ROOT"), (desk.bin, "BIN"), (desk.root.parent, "HOME")):
        text = text.replace(str(place), f"<{name}>")
    return text


def compare(name: str, record: dict[str, Any]) -> None:
    del record["env"]["SAMUEL_CALL"]  # a fresh mark at each start
    record["env"].pop("LC_CTYPE", None)  # Python's own, where there is no C.UTF-8
    golden = GOLDEN / f"{name}.json"
    text = (
        json.dumps(
            {"checked": AGENTS[name].checked or NOT_CHECKED, **record},
            indent=2,
            sort_keys=True,
            ensure_ascii=False,
        )
        + "\n"
    )
    if os.environ.get("SAMUEL_UPDATE_GOLDENS"):
        golden.write_text(text)
    assert golden.read_text() == text
