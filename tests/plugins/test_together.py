"""Every example plugin, from a git repository each, in one project; and ten plugins on one event."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.app import App
from samuel.cli.edge import run
from samuel.events import names
from samuel.hooks.handler import Origin, Outcome

EXAMPLES = Path(__file__).parents[2] / "examples" / "plugins"


@pytest.fixture
def samuel(root: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(root)

    def call(*arguments: str) -> Any:
        code = run([*arguments, "--json"])
        output = capsys.readouterr()
        assert code == 0, output.err
        return json.loads(output.out)

    return call


def pushed(origin: Callable[..., Any], directory: Path, changed: dict[str, str]) -> str:
    """The example as its author would publish it."""
    repository = origin(f"org/{directory.name}")
    ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache")
    shutil.copytree(directory, repository.work, dirs_exist_ok=True, ignore=ignored)
    repository.push(changed)
    return f"org/{directory.name}"


@pytest.mark.slow
def test_all_the_examples_together(
    samuel: Any, root: Path, home: Path, origin: Callable[..., Any], busybox_image: str
) -> None:
    containerfile = (EXAMPLES / "oci-long-files" / "Containerfile").read_text()
    on_busybox = "".join(
        f"ARG BASE={busybox_image}\n" if line.startswith("ARG BASE=") else line
        for line in containerfile.splitlines(keepends=True)
    )
    sources = [
        pushed(origin, entry, {"Containerfile": on_busybox} if entry.name == "oci-long-files" else {})
        for entry in sorted(EXAMPLES.iterdir())
    ]
    assert len(sources) == 7
    samuel("plugin", "add", *sources, "--yes")
    (root / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["click>=8"]\n')
    (root / ".venv").mkdir()
    (root / ".venv" / "pyvenv.cfg").write_text("version = 3.12.1\n")
    (root / "long.py").write_text("x = 1\n" * 600)

    listed = {entry["name"]: entry for entry in samuel("plugin", "list")}
    assert sorted(listed) == sources
    assert {entry["kind"] for entry in listed.values()} == {"skill", "python", "wasm", "oci"}
    assert all(not entry["problems"] for entry in listed.values())

    with App(root) as app:
        task = {"id": "1", "title": "Tidy", "description": "TODO: close the door"}
        extra = app.fire("context.extra", task=task)
        of_plugins = [call for call in extra.calls if call.handler.origin is Origin.PROJECT_PLUGIN]
        assert {call.handler.owner: call.outcome for call in of_plugins} == {
            "checklist": Outcome.OK,
            "open-points": Outcome.OK,
            "python": Outcome.OK,
        }
        contents = "\n".join(entry["content"] for entry in extra.result["extras"])
        assert "close the door" in contents
        assert extra.context["Plugins"]["python"]["Venv"] == ".venv"

        checked = app.fire("quality.check", commands=["pytest || true"])
        messages = {entry["source"]: entry["message"] for entry in checked.result["failures"]}
        assert any("long.py" in message for message in messages.values()), messages
        assert any("|| true" in message for message in messages.values()), messages

        ended = app.fire("TurnEnd", response="All done.", turn_number=1)
        assert {call.outcome for call in ended.calls} <= {Outcome.OK}

    # The same inputs, the same answer.
    with App(root) as app:
        again = app.fire("context.extra", task=task)
    assert again.result == extra.result


TEN = range(10)
SCRIPT = """#!/bin/sh
cat > /dev/null
echo '{{"extras": [{{"name": "{0}.md", "content": "from {0}"}}], "data": {{"Number": {0}}}}}'
"""


@pytest.mark.slow
def test_ten_plugins_attach_to_one_event_and_all_compose(
    samuel: Any, root: Path, origin: Callable[..., Any]
) -> None:
    sources = []
    for number in TEN:
        manifest = (
            f'name = "p{number}"\nversion = "1.0.0"\nkind = "skill"\n'
            '[provides]\nhooks = ["context.extra"]\n[hook.context_extra]\nhandler = "tell.sh"\n'
        )
        origin(f"org/p{number}", {"samuel-plugin.toml": manifest, "tell.sh": SCRIPT.format(number)})
        sources.append(f"org/p{number}")
    samuel("plugin", "add", *reversed(sources), "--yes")
    (root / "samuel.toml").write_text('[hooks."context.extra".order]\np9 = 1\np0 = 999\n')
    with App(root) as app:
        assert app.chains[names.CONTEXT_EXTRA].problems == ()
        fired = app.fire("context.extra", task={})
    assert fired.ok
    order = [9, *range(1, 9), 0]  # by number, then by name: never by the order in which they were added
    assert [entry["content"] for entry in fired.result["extras"]] == [f"from {number}" for number in order]
    assert {key: value["Number"] for key, value in fired.context["Plugins"].items()} == {
        f"p{number}": number for number in TEN
    }
