from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.abilities.schema import MOST, unsound, violations

SCHEMA = {
    "type": "object",
    "properties": {"suite": {"enum": ["full", "smoke"]}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["suite"],
    "additionalProperties": False,
}


def test_a_value_that_fits_has_nothing_against_it() -> None:
    assert unsound(SCHEMA) is None
    assert violations(SCHEMA, {"suite": "full", "tags": ["a"]}) == []


def test_everything_that_does_not_fit_is_told_with_its_place() -> None:
    assert violations(SCHEMA, {"suite": "all", "tags": ["a", 3], "x": 1}) == [
        '$.suite: "all" is not one of "full" or "smoke"',
        '$.tags[1]: 3 is not of type "string"',
        "$: Additional properties are not allowed ('x' was unexpected)",
    ]


def test_nobody_reads_more_than_so_many() -> None:
    assert len(violations({"items": {"type": "string"}}, list(range(1000)))) == MOST


def test_an_unsound_schema_is_told_with_its_place() -> None:
    wrong = unsound({"properties": {"a": {"type": "text"}}})
    assert wrong is not None
    assert wrong.path == ("properties", "a", "type")
    assert violations({"type": "text"}, {})[0].startswith("its schema cannot be used:")


@pytest.fixture
def server() -> Iterator[http.server.ThreadingHTTPServer]:
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None: ...

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.asked = asked  # type: ignore[attr-defined]
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def test_a_reference_reaches_no_network(server) -> None:
    schema = {"$ref": f"http://127.0.0.1:{server.server_port}/schema.json"}
    assert unsound(schema) is not None
    assert violations(schema, {}) != []
    assert server.asked == []


def test_a_reference_reaches_no_file(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text("{}")
    assert unsound({"$ref": (tmp_path / "schema.json").as_uri()}) is not None


def test_a_pattern_never_takes_forever() -> None:
    assert violations({"pattern": "^(a+)+$"}, "a" * 50_000 + "b") != []


def test_what_json_cannot_say_is_a_violation() -> None:
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
def test_any_schema_and_any_value_have_an_answer(schema: dict[str, object], value: object) -> None:
    unsound(schema)
    violations(schema, value)
