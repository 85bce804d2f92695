from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.routing.abilities.schema import MOST, check_schema, violations

SCHEMA = {
    "type": "object",
    "properties": {"suite": {"enum": ["full", "smoke"]}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["suite"],
    "additionalProperties": False,
}


def test_a_valid_value_has_no_violations() -> None:
    assert check_schema(SCHEMA) is None
    assert violations(SCHEMA, {"suite": "full", "tags": ["a"]}) == []


def test_every_violation_has_its_path() -> None:
    assert violations(SCHEMA, {"suite": "all", "tags": ["a", 3], "x": 1}) == [
        '$.suite: "all" is not one of "full" or "smoke"',
        '$.tags[1]: 3 is not of type "string"',
        "$: Additional properties are not allowed ('x' was unexpected)",
    ]


def test_the_number_of_reported_violations_is_limited() -> None:
    assert len(violations({"items": {"type": "string"}}, list(range(1000)))) == MOST


def test_an_invalid_schema_is_reported_with_its_path() -> None:
    wrong = check_schema({"properties": {"a": {"type": "text"}}})
    assert wrong is not None
    assert wrong.path == ("properties", "a", "type")
    assert violations({"type": "text"}, {})[0].startswith("its schema cannot be used:")


@pytest.fixture
def server() -> Iterator[http.server.ThreadingHTTPServer]:
    requested_paths: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested_paths.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None: ...

    http_server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http_server.requested_paths = requested_paths  # type: ignore[attr-defined]
    threading.Thread(target=http_server.serve_forever, daemon=True).start()
    yield http_server
    http_server.shutdown()
    http_server.server_close()


def test_a_reference_reaches_no_network(server) -> None:
    schema = {"$ref": f"http://127.0.0.1:{server.server_port}/schema.json"}
    assert check_schema(schema) is not None
    assert violations(schema, {}) != []
    assert server.requested_paths == []


def test_a_reference_reaches_no_file(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text("{}")
    assert check_schema({"$ref": (tmp_path / "schema.json").as_uri()}) is not None


def test_a_pattern_is_matched_in_linear_time() -> None:
    assert violations({"pattern": "^(a+)+$"}, "a" * 50_000 + "b") != []


def test_a_long_value_does_not_hide_the_violation() -> None:
    (violation,) = violations({"pattern": "^b$"}, "a" * 5000)
    assert violation.endswith('does not match "^b$"')
    assert len(violation) < 400


@pytest.mark.parametrize(
    "double",
    [
        lambda at: {"allOf": [{"$ref": f"#/$defs/s{at}"}, {"$ref": f"#/$defs/s{at}"}]},
        lambda at: {"anyOf": [{"not": {"$ref": f"#a{at}"}}, {"$ref": f"#a{at}"}]},
        lambda at: {"dependentSchemas": {"x": {"$ref": f"#/$defs/s{at}"}}, "if": {"$ref": f"#/%24defs/s{at}"}},
        lambda at: {"oneOf": [{"$ref": f"#/allOf/{at}"}, {"$ref": f"#/allOf/{at}"}]},
    ],
)
def test_a_schema_whose_references_expand_exponentially_is_refused(double) -> None:
    steps = [{**double(at + 1), "$anchor": f"a{at}"} for at in range(60)] + [{"type": "object", "$anchor": "a60"}]
    schema = {"$defs": {f"s{at}": step for at, step in enumerate(steps)}, "allOf": steps}
    wrong = check_schema(schema)
    assert wrong is not None
    assert wrong.what == "its references lead to more than 100000 schemas for one value"
    assert violations(schema, {"x": 1}) == [f"its schema cannot be used: {wrong.what}"]


def test_a_schema_may_refer_to_itself() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}
    assert check_schema(tree) is None
    assert violations(tree, {"left": {"right": {"left": 1}}}) == ['$.left.right.left: 1 is not of type "object"']
    assert check_schema({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}) is None


def test_a_schema_with_too_deeply_nested_references_is_refused() -> None:
    chain = {f"s{at}": {"$ref": f"#/$defs/s{at + 1}"} for at in range(5000)}
    wrong = check_schema({"$defs": chain, "$ref": "#/$defs/s0"})
    assert wrong is not None
    assert wrong.what == "its references are nested too deeply"


def test_a_value_that_json_cannot_express_is_a_violation() -> None:
    assert violations({"type": "string"}, "\ud800")[0].startswith("$: ")
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    assert violations({"type": "object"}, deep)[0].startswith("$: ")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "$ref", "items", "pattern", "a"]), inner, max_size=4
        )
    ),
    max_leaves=10,
)


@given(
    st.dictionaries(st.sampled_from(["type", "properties", "$ref", "items", "pattern"]), json_values), json_values
)
def test_any_schema_and_any_value_are_checked_without_an_exception(
    schema: dict[str, object], value: object
) -> None:
    check_schema(schema)
    violations(schema, value)
