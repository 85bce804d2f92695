"""Every option that takes JSON takes it as JSON text, `@FILE`, `FILE` or `-`, and refuses the rest in one way."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

from samuel.base.errors import UsageError
from samuel.cli.json_input import MAX_BYTES, METAVAR, read_json
from samuel.cli.lazy import LazyGroup
from samuel.cli.root import samuel as root_command

from .conftest import Samuel


class JsonOption(NamedTuple):
    command: tuple[str, ...]
    option: str
    value: dict[str, Any]
    is_used: Callable[[Any], bool]  # by what the command answers


OPTIONS = [
    JsonOption(
        ("bench", "--json"),
        "--payload",
        {"ability_id": 5},
        lambda answer: "ability_id" in answer["error"]["message"],
    ),
    JsonOption(
        ("hooks", "fire", "context.extra"),
        "--payload",
        {"task": {"id": "1"}},
        lambda answer: not answer["warnings"],
    ),
    JsonOption(("ability", "create", "greet"), "--input", {"name": 5}, lambda answer: "5" in answer["reason"]),
    JsonOption(("ability", "call", "greet"), "--input", {"name": 5}, lambda answer: "5" in answer["reason"]),
    JsonOption(
        ("knowledge", "route", "--json"),
        "--intent",
        {"intent": "learn_which_checks_to_run_before_commit"},
        lambda answer: answer["data"]["documents"][0]["path"] == "docs/quality/pre_commit_policy.md",
    ),
]

ABILITY = """\
operation_key: greet
summary: Greet a person
input_schema:
  type: object
  properties: {name: {type: string}}
output_schema: {type: object}
implementation:
  kind: script
  script: {path: scripts/greet}
"""

KNOWLEDGE = Path(__file__).parents[2] / "examples/knowledge"


def test_the_table_above_has_every_option_that_takes_json() -> None:
    options = []

    def walk(command: click.Command, path: tuple[str, ...]) -> None:
        if isinstance(command, LazyGroup):
            for name in command.list_commands(click.Context(command)):
                inner = command.get_command(click.Context(command), name)
                assert inner is not None
                walk(inner, (*path, name))
        options.extend((path, param.opts[0]) for param in command.params if param.metavar == METAVAR)

    walk(root_command, ())
    assert sorted(options) == sorted((_words(option.command), option.option) for option in OPTIONS)


def _words(command: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in command[:2] if not word.startswith("-"))


@pytest.fixture(params=OPTIONS, ids=lambda option: " ".join((*_words(option.command), option.option)))
def json_option(
    request: pytest.FixtureRequest, put: Callable[..., Path], project: Path, samuel: Samuel
) -> JsonOption:
    put(".system/registry/low-level/greet.yaml", ABILITY)
    put("scripts/greet", "#!/bin/sh\necho '{}'\n", mode=0o755)
    shutil.copytree(KNOWLEDGE, project / "knowledge")
    samuel("trust", "--yes")
    option: JsonOption = request.param
    return option


@pytest.mark.parametrize("way", ["text", "text after blanks", "@FILE", "FILE", "-"])
def test_the_four_ways_to_give_json_mean_the_same(
    samuel: Samuel, json_option: JsonOption, project: Path, way: str
) -> None:
    text = json.dumps(json_option.value)
    (project / "value.json").write_text(text)
    value = {
        "text": text,
        "text after blanks": f" \n{text}",
        "@FILE": "@value.json",
        "FILE": "value.json",
        "-": "-",
    }
    ran = samuel(*json_option.command, json_option.option, value[way], stdin=text if way == "-" else "")
    assert json_option.is_used(ran.json), ran


@pytest.mark.parametrize("value", ["nowhere.json", "@nowhere.json", "true"])
def test_a_file_that_is_missing_is_named_with_what_else_is_accepted(
    samuel: Samuel, json_option: JsonOption, value: str
) -> None:
    assert samuel(*json_option.command, json_option.option, value)[::2] == (
        2,
        f"error: cannot read the file `{value.removeprefix('@')}`: No such file or directory\n"
        f"`{json_option.option}` takes JSON that begins with {{ or [, the name of a file, or `-` for stdin\n",
    )


@pytest.mark.parametrize(("value", "source"), [("{oops", ""), ("bad.json", "`bad.json`"), ("-", "stdin")])
def test_what_is_not_json_is_named_by_its_source(
    samuel: Samuel, json_option: JsonOption, project: Path, value: str, source: str
) -> None:
    (project / "bad.json").write_text("{oops")
    ran = samuel(*json_option.command, json_option.option, value, stdin="{oops")
    source = source or f"`{json_option.option}`"
    what = "JSON is malformed: object keys must be strings (byte 1)"
    example = """write an object like '{"name": "value"}'"""
    assert ran[::2] == (2, f"error: {source} is not JSON: {what}\n{example}\n")


def test_a_file_is_named_from_the_directory_that_project_names(samuel: Samuel, put: Callable[..., Path]) -> None:
    put("below/p.json", '{"task": {"id": "1"}}')
    assert samuel("-C", "below", "hooks", "fire", "context.extra", "--payload", "p.json").json["warnings"] == []


def test_json_has_one_size_limit_in_every_form(tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    large.write_bytes(b"[" + b" " * MAX_BYTES + b"]")
    for value in (large.read_text(), str(large), f"@{large}"):
        with pytest.raises(UsageError, match=f"has more than {MAX_BYTES} bytes"):
            read_json(value, "--input", tmp_path)
