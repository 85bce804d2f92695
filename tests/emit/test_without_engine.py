"""The answer without the engine is the engine's, whatever the context: it may ask too often, never too rarely."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from samuel.base.errors import UsageError
from samuel.clients.hook_formats.yaml_context import event_from_context
from samuel.emit.filter_cache import row_of
from samuel.emit.without_engine import parsed, unmatched
from samuel.events import event_type
from samuel.events.names import ALL, spellings
from samuel.hooks.match import holds

NAMES = {spelling: name for name in ALL for spelling in spellings(name)}
ROOT = "/project"
MATCHES: dict[str, list[dict[str, Any]]] = {
    "PreAbilityCall": [{"ability_id": ["a*"]}, {"ability_scope": ["x", "b.*"]}, {"stage": ["act"]}],
    "PostAbilityCall": [{"min_duration_ms": 5}, {"status": ["failure"]}, {"operation_key": ["a*"]}],
    "SessionStop": [{"only_if_changed_paths": ["services/**"]}, {"recipe_name": ["r*"]}],
    "UserPromptSubmit": [{"stage": ["plan"]}],
}
WORDS = st.sampled_from(["a", "b.c", "act", "plan", "success", "failure", "services/x", f"{ROOT}/services/x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, width=16) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["ability_scope", "a"]), inner),
    max_leaves=4,
)
KEYS = st.sampled_from(
    [
        *("ability_id", "operation_key", "status", "duration_ms", "changed_files", "stage", "recipe_name"),
        *("user_message", "ability_scope", "event_type", "event", "session_id", "project_root", "tool_input"),
        *("dry_run", "extra"),
    ]
)


@given(st.sampled_from(sorted(MATCHES)), st.data())
def test_the_fast_path_never_skips_a_hook_that_would_be_called(name: str, data: st.DataObject) -> None:
    match = data.draw(st.sampled_from(MATCHES[name]))
    context = data.draw(st.dictionaries(KEYS, VALUES, max_size=6) | VALUES)
    if isinstance(context, dict):
        context = {"ability_id": "q", "status": "success", "user_message": "q", **context}
        context = {key: name if key in ("event", "event_type") else value for key, value in context.items()}
    kind = event_type(name)
    assume(unmatched(parsed(json.dumps(context).encode()), name, row_of(kind, [match]), NAMES, ROOT))
    try:
        event = replace(event_from_context(kind, context), project_root=ROOT)
    except UsageError as error:
        # What is in a list or a table is not looked at: nobody is there to be harmed by it.
        assert re.search(r"`\w+\[", str(error)), error  # noqa: PT017
        return

    def field_value(field: str) -> Any:
        value = getattr(event, field)
        return None if value is UNSET else value

    assert not holds(match, field_value)


@given(st.binary(max_size=60))
@example(b"\xff")
@example(b'{"ability_id": "q", "x": 1e999}')
@example(b"[" * 100_000)
@example(b'{"ability_id": "q", "x": "\\ud83d"}')
@example(b'{"ability_id": "\\uDC00"}')
def test_the_fast_path_survives_any_bytes_on_stdin(data: bytes) -> None:
    row = row_of(event_type("PreAbilityCall"), [])
    if unmatched(parsed(data), "PreAbilityCall", row, NAMES, ROOT):
        assert isinstance(msgspec.json.decode(data), dict)
