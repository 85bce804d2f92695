"""The JSON Schema of samuel.toml accepts what the loader accepts, and refuses unknown keys and wrong kinds."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from samuel.config import Config
from samuel.config.schema import DESCRIPTIONS, DIALECT, config_schema
from samuel.events import names
from samuel.scaffold.project import TEMPLATE

ROOT = Path(__file__).parents[2]
SCHEMA = config_schema()
VALIDATOR = jsonschema_rs.Draft202012Validator(SCHEMA)
BLOCK = re.compile(r'^```toml title="samuel\.toml"\n(.*?)^```', re.DOTALL | re.MULTILINE)


def documents() -> Iterator[Any]:
    """Every samuel.toml that the repository shows or ships."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), start=1):
            yield pytest.param(block, id=f"{page.relative_to(ROOT)}, block {number}")
    files = [*(ROOT / "examples").rglob("samuel.toml"), *(ROOT / "src").rglob("samuel.toml")]
    for file in files:
        yield pytest.param(file.read_text(encoding="utf-8"), id=str(file.relative_to(ROOT)))
    examples = re.sub(r"(?m)^# (?=\[|\"|[a-z_]+ = )", "", TEMPLATE.read_text(encoding="utf-8"))
    yield pytest.param(examples, id="the template with its examples")


def is_valid(text: str) -> bool:
    return bool(VALIDATOR.is_valid(tomllib.loads(text)))


def test_it_is_a_valid_schema_of_draft_2020_12() -> None:
    assert SCHEMA["$schema"] == DIALECT == "https://json-schema.org/draft/2020-12/schema"
    jsonschema_rs.meta.validate(SCHEMA)


@pytest.mark.parametrize("text", list(documents()))
def test_it_accepts_every_samuel_toml_in_docs_examples_and_templates(text: str) -> None:
    assert list(VALIDATOR.iter_errors(tomllib.loads(text))) == []


def test_there_are_documents_to_check() -> None:
    ids = [str(document.id) for document in documents()]
    assert any(name.startswith("docs/reference/config.md") for name in ids)
    assert "src/samuel/scaffold/templates/samuel.toml" in ids
    assert any(name.startswith("examples/") for name in ids)


@pytest.mark.parametrize(
    "text",
    [
        'nope = "x"',
        "hooks = 1",
        "default_methodology = 1",
        'default_methodology = "not a name"',
        "environment = true",
        'distributions = "one"',
        'distributions = ["a", "a"]',
        'pass_env = ["not-a-variable"]',
        '[hooks."quality.chek"]',
        "[hooks.quality.check]\nstrict = true",
        '[hooks."quality.check"]\nstrct = true',
        '[hooks."quality.check"]\nstrict = "yes"',
        '[hooks."quality.check"]\ntimeout = 60',
        '[hooks."quality.check"]\ntimeout = "60"',
        '[hooks."quality.check"]\nhandlers = "default"',
        '[hooks."quality.check"]\nhandlers = [1]',
        '[hooks."quality.check"]\nhandlers = [{ strict = true }]',
        '[hooks."quality.check"]\nhandlers = [{ use = "x", strct = true }]',
        '[hooks."quality.check".order]\nx = "first"',
        '[methodology."not a name"]',
        "[methodology.ralph]\nquality_check = []",
        '[methodology.ralph]\nquality_checks = "pytest"',
        '[methodology.ralph]\nquality_checks = [""]',
        "[methodology.ralph]\nmax_iterations = 0",
        '[methodology.ralph]\nmax_iterations = "25"',
        "[methodology.ralph]\nmax_iterations = 2.5",
        "[methodology.ralph]\npause = 2",
        '[methodology.ralph]\nmax_duration = "never"',
        '[methodology.ralph]\ncommit = "yes"',
        '[methodology.ralph]\nsandbox = "docker"',
        "[methodology.ralph]\nsandbox = true",
        '[methodology.ralph]\nsandbox = { kind = "docker" }',
        '[methodology.ralph]\nsandbox = { knd = "bwrap" }',
        "[methodology.ralph.pilot]\nfocus = 1",
        "[methodology.ralph.pilot]\ninterval = 1",
        '[methodology.ralph.hooks."quality.chek"]',
        '[methodology.ralph.hooks."quality.check"]\nstrict = 1',
        "[agents.mine]\ncommand = 3",
        '[agents.mine]\ncommand = "./agent"',
        '[agents.mine]\ncommand = ["./agent"]\nprompt = "pipe"',
        '[agents.mine]\ncommand = ["./agent"]\nenv = ["A B"]',
        '[agents.mine]\ncommand = ["./agent"]\nclaim = "word"',
        '[agents.mine]\ncommand = ["./agent"]\nstream = "morse"',
        '[agents.mine]\ncommand = ["./agent"]\nhooks = "kiro"',
        '[agents."not a name"]\ncommand = ["./agent"]',
        '[session]\nallow = ["make"]',
        '[session]\nallow_commands = "make"',
        "[guardrails]\nx = { y = 1 }",
        '[abilities]\nranker = "model"',
        "[abilities]\nranker_timeout = 60",
        "[limits]\nhandler_bytes = 1",
        '[limits]\nhandler_output_bytes = "8M"',
        "[limits]\nscript_processes = -1",
        '[plugins.x]\nenabled = "yes"',
        "[plugins]\nx = true",
    ],
)
def test_it_refuses_unknown_keys_and_wrong_kinds_as_the_loader_does(
    refused: Callable[[str | bytes], str], text: str
) -> None:
    assert refused(text)
    assert not is_valid(text)


@pytest.mark.parametrize("spelled", [str, str.upper, lambda name: name.replace("_", "-")])
@pytest.mark.parametrize("event", names.ALL)
def test_it_accepts_every_spelling_of_an_event(
    loaded: Callable[[str], Config], event: str, spelled: Callable[[str], str]
) -> None:
    for spelling in (event, *names.spellings(event)[1:]):
        name = spelling if spelling == event else spelled(spelling)
        text = f'[hooks."{name}"]\nstrict = true'
        assert event in loaded(text).hooks
        assert is_valid(text)


def test_it_accepts_an_event_in_camel_case() -> None:
    assert is_valid("[hooks.BeforeAgentInvoke]\nstrict = true")


def test_defaults_of_the_schema_are_those_of_the_loader(loaded: Callable[[str], Config]) -> None:
    methodology = SCHEMA["properties"]["methodology"]["additionalProperties"]["properties"]
    lines = [f"{key} = {toml(value['default'])}" for key, value in methodology.items() if "default" in value]
    assert "max_iterations = 25" in lines
    assert 'agent_timeout = "30m"' in lines
    assert loaded("\n".join(["[methodology.ralph]", *lines])).chosen("ralph") == Config().chosen("ralph")


def toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def test_every_description_belongs_to_a_key_of_the_schema() -> None:
    used = set()

    def walk(schema: Any) -> None:
        if isinstance(schema, dict):
            used.add(schema.get("description", "") if isinstance(schema.get("description", ""), str) else "")
            for inner in schema.values():
                walk(inner)
        elif isinstance(schema, list):
            for inner in schema:
                walk(inner)

    walk(SCHEMA)
    assert set(DESCRIPTIONS.values()) - used == set()
