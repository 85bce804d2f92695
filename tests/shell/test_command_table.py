from __future__ import annotations

import os

import pytest

from samuel.shell import commands

from .command_table import FILE, Entry, entries, reading_lines, with_readings

ENTRIES = list(entries())


def name_of(entry: Entry) -> str:
    return entry.text


def test_the_table_of_commands_is_what_the_reader_says() -> None:
    readings = {entry.text: reading_lines(commands(entry.text)) for entry in ENTRIES}
    if os.environ.get("SAMUEL_UPDATE_GOLDENS"):
        FILE.write_text(with_readings(readings), encoding="utf-8")
    assert {entry.text: entry.reading for entry in entries()} == readings


def test_the_table_has_at_least_two_hundred_commands_and_none_twice() -> None:
    texts = [entry.text for entry in ENTRIES]
    assert len(texts) == len(set(texts)) >= 200


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.section.startswith("bypass")], ids=name_of)
def test_no_bypass_hides_the_program_and_leaves_no_doubt(entry: Entry) -> None:
    reading = commands(entry.text)
    assert reading.opaque or "rm" in {command.program for command in reading.commands}


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.section.startswith("innocent")], ids=name_of)
def test_an_innocent_command_is_read_and_no_other_program_is_seen_in_it(entry: Entry) -> None:
    reading = commands(entry.text)
    assert reading.opaque == ()
    assert "rm" not in {command.program for command in reading.commands}
