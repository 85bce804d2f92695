"""A small project with abilities of every kind, and hooks that write down what they see."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

KEY = re.compile(r"call-\d{8}T\d{6}-[0-9a-f]{16}")

REPEAT = """\
operation_key: text.repeat
summary: Repeat a text
routing_hints: {keywords: [echo, say again]}
scope: {modules: [text]}
input_schema:
  type: object
  properties: {text: {type: string}, times: {type: integer, default: 1}, more: {}}
  required: [text]
  additionalProperties: false
output_schema: {type: object, required: [given]}
implementation:
  kind: script
  script: {path: scripts/abilities/repeat, args_template: ["--times={times}", "{text}"], env: {GREETING: hello}}
"""
# Gives back its arguments, its input and one of its variables.
REPEAT_SCRIPT = """\
import json, os, sys
given = json.load(sys.stdin)
open("ran.txt", "a").write("x")
print(f"repeating {given['text'][:20]}", file=sys.stderr)
json.dump({"given": given, "arguments": sys.argv[1:], "greeting": os.environ["GREETING"]}, sys.stdout)
"""


class Shop:
    def __init__(self, root: Path, samuel: Callable[..., Any]) -> None:
        self.root = root
        self._samuel = samuel

    def put(self, name: str, text: str, mode: int = 0o644) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def program(self, name: str, body: str) -> None:
        self.put(name, f"#!{sys.executable} -S\n{body}", 0o755)

    def script(self, key: str, body: str, more: str = "", how: str = "") -> None:
        """A low-level ability that is a Python program."""
        path = f"scripts/abilities/{key}"
        self.program(path, dedent(body))
        text = f"operation_key: {key}\nsummary: Do {key}\n{more}"
        self.put(
            f".system/registry/low-level/{key}.yaml",
            f"{text}implementation:\n  kind: script\n  script: {{path: {path}{how}}}\n",
        )

    def hook(self, id: str, event: str, body: str, more: str = "") -> None:
        """A YAML hook: a program that has its context as `context`, and prints `answer`."""
        self.program(
            f"scripts/hooks/{id}",
            "import json, sys\ncontext = json.load(sys.stdin)\nanswer = {}\n"
            f"open('seen-{id}.jsonl', 'a').write(json.dumps(context) + '\\n')\n"
            f"{dedent(body)}\nprint(json.dumps(answer))\n",
        )
        handler = f"handler: {{kind: script, command: ./scripts/hooks/{id}}}\n"
        self.put(f".system/hooks/{id}.yaml", f"id: {id}\nevent_type: {event}\nenabled: true\n{more}{handler}")

    def events_of_hook(self, id: str) -> list[dict[str, Any]]:
        file = self.root / f"seen-{id}.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def trust(self) -> None:
        assert self._samuel("trust", "--yes").code == 0

    @property
    def keys(self) -> list[str]:
        place = self.root / ".system/implement"
        return (
            sorted(folder.name for folder in place.iterdir() if KEY.fullmatch(folder.name))
            if place.is_dir()
            else []
        )

    def record(self, key: str = "") -> dict[str, Any]:
        file = self.root / ".system/implement" / (key or self.keys[-1]) / "call.json"
        record: dict[str, Any] = json.loads(file.read_text())
        return record

    def words(self, key: str = "") -> str:
        text = (self.root / ".system/implement" / (key or self.keys[-1]) / "tool_call.md").read_text()
        return steady(text)


def steady(text: str) -> str:
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "WHEN", KEY.sub("KEY", text))
    return re.sub(r"process \d+", "process PID", re.sub(r"after \d+ ms", "after MS ms", text))


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SAMUEL_PARENT_CALL", "SAMUEL_SESSION_ID", "SAMUEL_ENV"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def empty(project: Path, samuel: Callable[..., Any]) -> Shop:
    return Shop(project, samuel)


@pytest.fixture
def shop(empty: Shop) -> Shop:
    """One ability, which was not agreed to yet."""
    empty.put(".system/registry/low-level/repeat.yaml", REPEAT)
    empty.program("scripts/abilities/repeat", REPEAT_SCRIPT)
    return empty
