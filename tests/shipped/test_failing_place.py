from __future__ import annotations

from pathlib import Path

import pytest

from samuel.shipped.session_stop_build_check.hook import failing_place


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in (
        "services/auth/src/login.ts",
        "services/auth/src/user.ts",
        "tax.py",
        "tests/test_tax.py",
        "main.go",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("output", "directory", "place"),
    [
        ("services/auth/src/login.ts(58,12): error TS2322: Type", "", "services/auth/src/login.ts:58"),
        ("src/login.ts:58:12 - error TS2322: Type", "services/auth", "services/auth/src/login.ts:58"),
        ("./main.go:7:2: undefined: x", "", "main.go:7"),
        ("  --> main.go:3:5", "", "main.go:3"),
        ("tests/test_tax.py:12: AssertionError", "", "tests/test_tax.py:12"),
        ("\x1b[31msrc/user.ts\x1b[0m\nat run (src/user.ts:9:1)", "services/auth", "services/auth/src/user.ts:9"),
    ],
)
def test_failing_place_reads_the_formats_of_compilers(root: Path, output: str, directory: str, place: str) -> None:
    file_and_line = failing_place(output, root, directory)
    assert file_and_line is not None
    assert f"{file_and_line.path}:{file_and_line.line}" == place


def test_the_place_in_a_traceback_is_its_innermost_file_of_the_project(root: Path) -> None:
    output = f"""Traceback (most recent call last):
  File "{root}/tests/test_tax.py", line 4, in test
  File "tax.py", line 7, in rate
  File "/usr/lib/python3/decimal.py", line 99, in quantize
ZeroDivisionError: division by zero"""
    file_and_line = failing_place(output, root, "")
    assert file_and_line is not None
    assert file_and_line == ("tax.py", 7, "ZeroDivisionError: division by zero")


def test_failing_place_prefers_changed_files_and_then_lines_with_an_error(root: Path) -> None:
    output = "main.go:1 was read\ntax.py:2: warning\ntests/test_tax.py:3: error: no\n"
    file_and_line = failing_place(output, root, "")
    assert file_and_line is not None
    assert file_and_line.path == "tests/test_tax.py"
    assert file_and_line.message == "error: no"
    file_and_line = failing_place(output, root, "", ["tax.py"])
    assert file_and_line is not None
    assert file_and_line.path == "tax.py"


@pytest.mark.parametrize(
    "output",
    ["", "it failed", "gone.py:3: error", "/etc/hostname.conf:1: error", "../x.py:1", "12:30:15 x", "a.b:1"],
)
def test_failing_place_is_none_if_no_file_of_the_project_is_named(root: Path, output: str) -> None:
    assert failing_place(output, root, "") is None


def test_failing_place_is_fast_for_long_lines(root: Path) -> None:
    hostile = "\n".join(["a." * 100_000, "./" * 100_000, "a" * 200_000 + ":", 'File "' * 10_000] * 50)
    assert failing_place(hostile, root, "") is None
