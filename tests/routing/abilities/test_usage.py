from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samuel.routing.abilities.usage import FILE, AbilityUsage, keep_signals, read_usage


def put(root: Path, data: bytes) -> Path:
    (root / FILE).parent.mkdir(parents=True, exist_ok=True)
    (root / FILE).write_bytes(data)
    return root


def test_calls_are_counted_by_ability(tmp_path: Path) -> None:
    usage_table = {
        "review": {"count": 3, "last_used": "2025-01-15T10:45:12Z", "other": [1]},
        "db.seed": {"count": 1},
    }
    assert read_usage(put(tmp_path, json.dumps(usage_table).encode())) == {
        "review": AbilityUsage(3),
        "db.seed": AbilityUsage(1),
    }


def test_invalid_entries_of_the_usage_file_count_as_never_used(tmp_path: Path) -> None:
    usage_table = {
        "a": {"count": -1},
        "b": {"count": True},
        "c": {"count": "3"},
        "d": 3,
        "e": {},
        "f": {"count": 2.5},
    }
    assert read_usage(put(tmp_path, json.dumps(usage_table | {"g": {"count": 2}}).encode())) == {
        "g": AbilityUsage(2)
    }


@pytest.mark.parametrize("data", [b"", b"[]", b'{"a": {"count": 1}', b"\xff", b"[" * 100_000, b"null"])
def test_a_damaged_usage_file_counts_as_empty(tmp_path: Path, data: bytes) -> None:
    assert read_usage(put(tmp_path, data)) == {}


def test_signals_of_hooks_are_kept_beside_the_counts(tmp_path: Path) -> None:
    put(tmp_path, b'{"review": {"count": 3}}')
    learned = {"ability_id": "review", "signal": "frequent_usage", "weight": 0.7}
    keep_signals(tmp_path, [learned, {"ability_id": "db.seed", "weight": 7}], "2025-01-15T10:45:12Z")
    assert read_usage(tmp_path) == {
        "review": AbilityUsage(3, "frequent_usage", 0.7),
        "db.seed": AbilityUsage(0, "", 1.0),
    }
    keep_signals(tmp_path, [{**learned, "signal": "praised", "weight": 0.9}], "2025-01-15T10:46:12Z")
    assert read_usage(tmp_path)["review"] == AbilityUsage(3, "praised", 0.9)


def test_a_signal_with_weight_0_is_removed(tmp_path: Path) -> None:
    for weight in (0.7, 0):
        keep_signals(tmp_path, [{"ability_id": "review", "signal": "frequent_usage", "weight": weight}], "")
    assert read_usage(tmp_path) == {}


@pytest.mark.parametrize("signals", [[], "x", {"a": "1"}, {"a": True}, {"a": -1}, None])
def test_invalid_signals_count_as_none(tmp_path: Path, signals: object) -> None:
    assert read_usage(put(tmp_path, json.dumps({"a": {"signals": signals}}).encode())) == {}


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
