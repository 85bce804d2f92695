from __future__ import annotations

import json
from contextlib import suppress
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.base.errors import ConfigError
from samuel.routing.abilities.definition import read_ability, read_execution
from samuel.routing.abilities.model import Level, PromptImplementation, PythonImplementation, ScriptImplementation

HIGH = """\
id: billing_regression
type: workflow
operation_key: workflow.billing.regression
version: 2
summary: >
  Run the billing suite
  against seeded data.
scope:
  modules: [billing]
  environments: [dev, staging]
input_schema: {type: object, properties: {suite: {type: string}}}
output_schema: {type: object}
routing_hints:
  keywords: [billing regression]
  negative_keywords: [production]
  scopes: ["modules/billing.*"]
  notes: Prefer it.
calls: [db.seed]
implementation:
  kind: script
  script:
    path: ./scripts/regression.sh
    args_template: ["--suite", "{suite}"]
    timeout: 10m
    env: {MODE: test, TOKEN: $BILLING_TOKEN}
"""
LOW = "operation_key: db.seed\nsummary: Seed the database.\n"


def problems(text: str, level: Level = Level.LOW) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_ability(dedent(text).encode(), "a.yaml", level)
    return [str(problem) for problem in caught.value.problems]


def test_every_field_of_a_high_level_ability_is_read() -> None:
    definition = read_ability(HIGH.encode(), "a.yaml", Level.HIGH)
    assert definition.names == ("billing_regression", "workflow.billing.regression")
    assert definition.summary == "Run the billing suite against seeded data."
    assert definition.version == "2"
    assert (definition.modules, definition.environments) == (("billing",), ("dev", "staging"))
    assert definition.keywords == ("billing regression",)
    assert definition.negative_keywords == ("production",)
    assert definition.all_scopes == ("billing", "modules/billing.*")
    assert definition.calls == ("db.seed",)
    assert definition.input_schema == {"type": "object", "properties": {"suite": {"type": "string"}}}
    assert definition.implementation == ScriptImplementation(
        "scripts/regression.sh", ("--suite", "{suite}"), 600.0, {"MODE": "test", "TOKEN": "$BILLING_TOKEN"}
    )
    assert definition.kind == "script"


def test_a_low_level_ability_is_called_by_its_operation_key() -> None:
    definition = read_ability(LOW.encode(), "a.yaml", Level.LOW)
    assert definition.names == ("db.seed",)
    assert definition.implementation is None
    assert definition.environments == ()


@pytest.mark.parametrize(
    ("implementation", "expected"),
    [
        (
            "{kind: script, script: {path: a.sh, args_template: 'one \"two three\"'}}",
            ScriptImplementation("a.sh", ("one", "two three")),
        ),
        (
            "{kind: script, script: {path: a.sh, env: [TOKEN]}}",
            ScriptImplementation("a.sh", env={"TOKEN": "$TOKEN"}),
        ),
        ("{kind: python, python: {function: 'tools.seed:run'}}", PythonImplementation("tools.seed:run")),
        (
            "{kind: python, python: {function: 'tools/seed.py:run', timeout: 5s}}",
            PythonImplementation("tools/seed.py:run", 5.0),
        ),
        ("{kind: agent, agent: {prompt: Review it}}", PromptImplementation("Review it")),
    ],
)
def test_every_kind_of_implementation_is_read(implementation: str, expected: object) -> None:
    definition = read_ability(f"{LOW}implementation: {implementation}\n".encode(), "a.yaml", Level.LOW)
    assert definition.implementation == expected


def test_every_problem_of_a_registry_file_is_reported_at_once() -> None:
    assert problems(
        """
        id: a b
        type: workfow
        sumary: x
        scope: {module: [a]}
        routing_hints:
          keywords: one
        calls: 3
        """,
        Level.HIGH,
    ) == [
        "a.yaml:2: `id` must be made of letters, digits, `.`, `-` and `_`, at most 100 of them",
        "a.yaml:2: `summary` is missing (add `summary: ...`)",
        "a.yaml:3: `type` must be one of `workflow`, `agent`, not `workfow`",
        "a.yaml:4: unknown key `sumary` (did you mean `summary`?)",
        "a.yaml:5: unknown key `module` in `scope` (did you mean `modules`?)",
        "a.yaml:7: `keywords` must be an array, not a string",
        "a.yaml:8: `calls` must be an array, not an integer",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("implementation: {kind: shell}", "`kind` must be one of `script`, `python`, `agent`, not `shell`"),
        ("implementation: {script: {path: a.sh}}", "`kind` is missing"),
        ("implementation: {kind: script}", "`script` is missing (describe how it runs below `script:`)"),
        ("implementation: {kind: script, script: {}}", "`path` is missing"),
        (
            "implementation: {kind: script, script: {path: ../a.sh}}",
            "`path` must be a path below the project's root, without `..`",
        ),
        (
            "implementation: {kind: script, script: {path: /bin/sh}}",
            "`path` must be a path below the project's root, without `..`",
        ),
        ("implementation: {kind: script, script: {path: a.sh, timeout: 5}}", '`timeout` needs a unit, like "5s"'),
        (
            'implementation: {kind: script, script: {path: a.sh, args_template: "\'"}}',
            "`args_template` has an unclosed quotation mark",
        ),
        (
            "implementation: {kind: script, script: {path: a.sh, env: {A: 1}}}",
            "`env` must give `A` a string",
        ),
        (
            "implementation: {kind: python, python: {function: run}}",
            "`function` must be `module:function` or `path/to/file.py:function`",
        ),
        (
            "implementation: {kind: python, python: {function: '../x.py:run'}}",
            "`function` must be a path below the project's root, without `..`",
        ),
        ("implementation: {kind: agent, agent: {prompt: ' '}}", "`prompt` must not be empty"),
        ("input_schema: [a]", "`input_schema` must be a JSON Schema, which is a table, not an array"),
        ("version: null", "`version` must be a number or a string, not nothing"),
        ("calls: [a]", "unknown key `calls`"),
    ],
)
def test_an_invalid_field_of_an_ability_is_refused(line: str, message: str) -> None:
    (problem,) = problems(f"{LOW}{line}\n")
    assert problem.startswith(f"a.yaml:3: {message}")


def test_the_implementation_of_an_ability_may_be_in_another_file() -> None:
    definition = read_execution(
        b"operation_key: db.seed\nimplementation: {kind: script, script: {path: a.sh}}\n", "c.yaml"
    )
    assert (definition.name, definition.implementation, definition.line) == (
        "db.seed",
        ScriptImplementation("a.sh"),
        1,
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "id: a\noperation_key: b\nimplementation: {kind: agent, agent: {prompt: x}}",
        "id: a",
        "id: a\nsummary: x",
    ],
)
def test_an_execution_file_must_name_one_ability_and_its_implementation(text: str) -> None:
    with pytest.raises(ConfigError):
        read_execution(text.encode(), "c.yaml")


KEYS = """
id type operation_key version summary scope input_schema routing_hints calls implementation kind script python
agent path function prompt keywords modules timeout env x
"""
keys = st.sampled_from(KEYS.split())
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    | st.sampled_from(["workflow", "script", "python", "agent", "a:b", "a.sh", "5s"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=15,
)  # fmt: skip


@pytest.mark.slow
@given(st.dictionaries(keys, values, max_size=8), st.sampled_from(Level))
def test_any_registry_file_is_read_or_refused(registry_file: dict[str, object], level: Level) -> None:
    data = json.dumps(registry_file).encode()
    with suppress(ConfigError):
        assert read_ability(data, "a.yaml", level).id
    with suppress(ConfigError):
        assert read_execution(data, "a.yaml").name
