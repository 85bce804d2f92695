"""The two wasm plugins of examples/: built again from source, they give what Python computes from the payload.

So does the module that is committed beside the source, which is what a user gets.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from samuel.testing import SamuelProject

from .wasm_build import EXAMPLES

Payload = dict[str, Any]

PIECES = (
    *(
        "TODO",
        "FIXME",
        "XXX",
        "TOD",
        "HACK",
        " ",
        "\n",
        "\n\n",
        ": ",
        "x",
        "ä",
        "😀",
        '"',
        "\\",
        "\t",
        "\x01",
        "\u2028",
    ),
    *(
        "{",
        "}",
        "[",
        "]",
        ",",
        "task",
        '{"task":',
        "description",
        "| true",
        "|| true",
        "; true",
        "|| :",
        "; exit 0",
    ),
)


def text(source: random.Random, most: int) -> str:
    return "".join(source.choices(PIECES, k=source.randrange(most)))


def open_points(payload: Payload, marks: str) -> list[Mapping[str, str]]:
    """What examples/plugins/wasm-c does, in Python."""
    points = []
    for number, line in enumerate(payload["task"]["description"].split("\n"), start=1):
        places = [line.find(mark) for mark in marks.split() if mark in line]
        if places:
            points.append(f"- line {number}: {line[min(places) :]}\n")
    if not points:
        return []
    heading = f"{len(points)} open point{'s' if len(points) > 1 else ''} in task {payload['task']['id']}:\n\n"
    return [{"name": "open-points.md", "content": heading + "".join(points)}]


def pointless(payload: Payload, endings: list[str]) -> list[Mapping[str, str]]:
    """What examples/plugins/wasm-zig does, in Python."""
    return [
        {"source": "honest-checks", "command": command, "message": f"it cannot fail: it ends in `{matching[0]}`"}
        for command in payload["commands"]
        if (matching := [ending for ending in endings if command.rstrip(" \t\r\n").endswith(ending)])
    ]


@pytest.fixture(scope="session")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A copy of an example with its module built from the sources in the copy."""
    built: dict[str, Path] = {}

    def rebuild(name: str) -> Path:
        if name not in built:
            built[name] = tmp_path_factory.mktemp("rebuilt") / name
            shutil.copytree(EXAMPLES / name, built[name])
            (built[name] / "plugin.wasm").unlink()
            env = {**os.environ, "PYTHON": sys.executable}
            subprocess.run(["sh", "build.sh"], cwd=built[name], env=env, check=True)
        return built[name]

    return rebuild


@pytest.fixture(params=["committed", pytest.param("rebuilt", marks=pytest.mark.slow)])
def example(request: pytest.FixtureRequest, rebuilt: Callable[[str], Path]) -> Callable[[str], Path]:
    return rebuilt if request.param == "rebuilt" else lambda name: EXAMPLES / name


@pytest.mark.slow
def test_the_example_in_c_lists_open_points(samuel_project: SamuelProject, example: Callable[[str], Path]) -> None:
    samuel_project.plugin(example("wasm-c"))
    source = random.Random()
    with samuel_project.open() as app:
        for _ in range(200):
            payload = {"task": {"id": text(source, 4), "title": text(source, 9), "description": text(source, 60)}}
            fired = app.fire("context.extra", **payload)
            assert [call.outcome for call in fired.calls] == ["ok"], payload
            assert fired.result["extras"] == open_points(payload, "TODO FIXME XXX"), payload


def test_the_example_in_c_uses_configured_marks(
    samuel_project: SamuelProject, example: Callable[[str], Path]
) -> None:
    samuel_project.plugin(example("wasm-c"))
    samuel_project.config('[plugins.open-points]\nmarks = "HACK  x "\n')
    source = random.Random()
    with samuel_project.open() as app:
        for _ in range(50):
            payload = {"task": {"id": "1", "description": text(source, 60)}}
            assert app.fire("context.extra", **payload).result["extras"] == open_points(payload, "HACK x"), payload


@pytest.mark.slow
@pytest.mark.sampled(every=2)  # to build it takes as long as a hundred other tests
def test_the_example_in_zig_finds_pointless_checks(
    samuel_project: SamuelProject, example: Callable[[str], Path]
) -> None:
    samuel_project.plugin(example("wasm-zig"))
    # Without the built-in, which would run the commands.
    samuel_project.config('[hooks."quality.check"]\nhandlers = ["honest-checks"]\n')
    endings = ["|| true", "|| :", "|| exit 0", "; true", "; exit 0"]
    source = random.Random()
    with samuel_project.open() as app:
        for _ in range(200):
            payload = {"commands": [text(source, 12) for _ in range(source.randrange(5))]}
            fired = app.fire("quality.check", **payload)
            expected = pointless(payload, endings)
            assert [call.outcome for call in fired.calls] == ["failed" if expected else "ok"], payload
            assert fired.result["failures"] == expected, payload


def test_the_one_in_zig_with_other_endings(samuel_project: SamuelProject, example: Callable[[str], Path]) -> None:
    samuel_project.plugin(example("wasm-zig"))
    samuel_project.config(
        '[hooks."quality.check"]\nhandlers = ["honest-checks"]\n[plugins.honest-checks]\nendings = ["x", "]"]\n'
    )
    source = random.Random()
    with samuel_project.open() as app:
        for _ in range(50):
            payload = {"commands": [text(source, 12) for _ in range(3)]}
            assert app.fire("quality.check", **payload).result["failures"] == pointless(payload, ["x", "]"]), (
                payload
            )
