"""Following a file that grows."""

from __future__ import annotations

import os

from samuel.files.tail import FileTail


def test_each_look_has_the_whole_lines_that_are_new(tmp_path):
    file, tail = tmp_path / "log", FileTail(tmp_path, "log")
    assert tail.read().lines == []
    file.write_bytes(b"one\ntwo\nthr")
    assert tail.read().lines == [b"one", b"two"]
    assert tail.read().lines == []
    with file.open("ab") as more:
        more.write(b"ee\nfour\n")
    assert tail.read().lines == [b"three", b"four"]


def test_a_file_that_is_replaced_or_cut_is_read_from_its_beginning(tmp_path):
    file, tail = tmp_path / "log", FileTail(tmp_path, "log")
    file.write_bytes(b"one\ntwo\n")
    tail.read()
    (tmp_path / "new").write_bytes(b"three\n")
    os.replace(tmp_path / "new", file)
    assert tail.read()[::2] == ([b"three"], True)
    file.write_bytes(b"4\n")
    assert tail.read()[::2] == ([b"4"], True)


def test_of_more_than_a_look_reads_only_the_end_is_read_and_the_rest_is_counted(tmp_path):
    file, tail = tmp_path / "log", FileTail(tmp_path, "log", most=100)
    file.write_bytes(b"".join(b"line %04d\n" % number for number in range(1000)))
    new = tail.read()
    assert new.lines == [b"line %04d" % number for number in range(991, 1000)]
    assert new.skipped == 9910
    assert tail.read().lines == []


def test_a_line_that_is_longer_than_a_look_is_passed_over(tmp_path):
    file, tail = tmp_path / "log", FileTail(tmp_path, "log", most=100)
    file.write_bytes(b"x" * 250 + b"\nend\n")
    lines = [line for _ in range(4) for line in tail.read().lines]
    assert lines == [b"end"]


def test_a_link_has_no_lines(tmp_path):
    (tmp_path / "secret").write_bytes(b"secret\n")
    (tmp_path / "log").symlink_to(tmp_path / "secret")
    assert FileTail(tmp_path, "log").read().lines == []
