from __future__ import annotations

import sys
from pathlib import Path

import pytest

from samuel.prompts import parallel_read
from samuel.prompts.file_facts import FactsReader


@pytest.fixture
def paths(tmp_path: Path) -> list[bytes]:
    for number in range(30):
        (tmp_path / f"{number}.rs").write_bytes([b"TODO\n", b"\0", b"#[cfg(test)]", b""][number % 4] * number)
    (tmp_path / "link").symlink_to("1.rs")
    return [*(f"{number}.rs".encode() for number in range(30)), b"link", b"missing", b"\xff"]


@pytest.mark.parametrize("works", [True, False])
def test_two_processes_say_what_one_says(
    tmp_path: Path, paths: list[bytes], monkeypatch: pytest.MonkeyPatch, works: bool
) -> None:
    with FactsReader(tmp_path) as reader:
        alone = list(parallel_read.read_many(tmp_path, reader, paths))
        assert [row is None for row in alone[-4:]] == [False, True, True, True]
        monkeypatch.setattr(parallel_read, "HEAD_START", 1)
        monkeypatch.setattr(parallel_read.os, "cpu_count", lambda: 2)
        counts: list[int] = []
        real = parallel_read._elsewhere

        def elsewhere(root: Path, names: list[bytes]) -> object:
            facts = real(root, names)
            counts.append(0 if facts is None else len(facts))
            return facts

        monkeypatch.setattr(parallel_read, "_elsewhere", elsewhere)
        if not works:
            monkeypatch.setattr(sys, "executable", "/nowhere/python")
        assert list(parallel_read.read_many(tmp_path, reader, paths)) == alone
        assert counts == ([16] if works else [0])
