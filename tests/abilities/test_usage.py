from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samuel.abilities.usage import FILE, read_usage


def put(root: Path, data: bytes) -> Path:
    (root / FILE).parent.mkdir(parents=True, exist_ok=True)
    (root / FILE).write_bytes(data)
    return root


def test_calls_are_counted_by_ability(tmp_path: Path) -> None:
    usage_table = {
        "review": {"count": 3, "last_used": "2025-01-15T10:45:12Z", "other": [1]},
        "db.seed": {"count": 1},
    }
    assert read_usage(put(tmp_path, json.dumps(usage_table).encode())) == {"review": 3, "db.seed": 1}


def test_invalid_entries_of_the_usage_file_count_as_never_used(tmp_path: Path) -> None:
    usage_table = {
        "a": {"count": -1},
        "b": {"count": True},
        "c": {"count": "3"},
        "d": 3,
        "e": {},
        "f": {"count": 2.5},
    }
    assert read_usage(put(tmp_path, json.dumps(usage_table | {"g": {"count": 2}}).encode())) == {"g": 2}


@pytest.mark.parametrize("data", [b"", b"[]", b'{"a": {"count": 1}', b"\xff", b"[" * 100_000, b"null"])
def test_a_damaged_usage_file_counts_as_empty(tmp_path: Path, data: bytes) -> None:
    assert read_usage(put(tmp_path, data)) == {}


def test_a_missing_usage_file_counts_as_empty(tmp_path: Path) -> None:
    assert read_usage(tmp_path) == {}


def test_a_usage_file_that_is_a_link_counts_as_empty(tmp_path: Path) -> None:
    root = put(tmp_path, b"{}")
    (tmp_path / "outside.json").write_text('{"a": {"count": 1}}')
    (root / FILE).unlink()
    (root / FILE).symlink_to(tmp_path / "outside.json")
    assert read_usage(root) == {}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary())
def test_any_usage_file_is_read_without_an_exception(tmp_path: Path, data: bytes) -> None:
    assert isinstance(read_usage(put(tmp_path, data)), dict)
