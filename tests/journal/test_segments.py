"""The order of the journal's files."""

from __future__ import annotations

from pathlib import Path

from samuel.journal.writer import next_name, oldest_first


def test_next_name_sorts_after_all_others_whatever_the_time(tmp_path: Path) -> None:
    for time in ("2026-01-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z", "2024-01-01T00:00:00.000Z"):
        (tmp_path / next_name(oldest_first(str(tmp_path)), time)).touch()
    assert [name[:13] for name in oldest_first(str(tmp_path))] == [
        "00000001-2026",
        "00000002-2020",
        "00000003-2024",
    ]


def test_segment_names_without_a_number_count_as_old(tmp_path: Path) -> None:
    for name in ("9999.jsonl", "00000001-a.jsonl", "notes.txt", "123456789-b.jsonl"):
        (tmp_path / name).touch()
    assert oldest_first(str(tmp_path)) == ["123456789-b.jsonl", "9999.jsonl", "00000001-a.jsonl"]


def test_segment_numbers_do_not_grow_beyond_eight_digits(tmp_path: Path) -> None:
    assert next_name(["99999999-x.jsonl"], "t").startswith("99999999-t-")
