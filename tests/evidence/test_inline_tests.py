"""Old tests with new source and new tests with old source, where both are in one file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from samuel.evidence.inline_tests import new_tests_in, old_tests_in

RUST = """\
//! Money.
#![allow(dead_code)]
use std::fmt;

#[cfg(test)]
macro_rules! same {
    ($left:expr, $right:expr) => { assert_eq!($left, $right) };
}

/// Doubles a number.
///
/// ```
/// assert_eq!(demo::double(2), 4);
/// ```
pub fn double(n: i32) -> i32 {
    n * 2
}

pub struct Purse(pub i32);

impl Purse {
    #[cfg(test)]
    fn of_tests() -> Self { Purse(7) }

    pub fn show(&self) -> String { format!("{}", self.0) }
}

pub mod inner {
    pub fn one_more(n: i32) -> i32 { n + 1 }

    #[cfg(all(test, not(miri)))]
    mod tests {
        #[test]
        fn adds() { assert_eq!(super::one_more(1), 2); }
    }
}

#[test]
fn outside_of_a_module() { same!(double(3), 6); }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles() { same!(double(2), 4); }

    #[test]
    fn shows() { same!(Purse::of_tests().show(), "7"); }
}
"""


def cargo(tmp_path: Path, text: str) -> tuple[bool, dict[str, str]]:
    """Run `cargo test` on a crate with this library; gives whether it passed, and the results by test."""
    (tmp_path / "src").mkdir(exist_ok=True)
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n')
    (tmp_path / "src/lib.rs").write_text(text)
    run = subprocess.run(
        ["cargo", "test", "--offline", "--no-fail-fast"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    results = re.findall(r"^test (?:src/lib\.rs - )?(\S+).* \.\.\. (\w+)$", run.stdout, re.MULTILINE)
    return run.returncode == 0, dict(results)


needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")


@pytest.mark.slow
@needs_cargo
def test_a_weakened_rust_test_is_judged_as_it_was(tmp_path: Path) -> None:
    new = (
        RUST.replace("n * 2", "n * 3")
        .replace("same!(double(2), 4)", "same!(double(2), 6)")
        .replace("demo::double(2), 4", "demo::double(2), 6")
        .replace("same!(double(3), 6)", "same!(double(3), 9)")
    )
    assert cargo(tmp_path, new)[0]
    passed, results = cargo(tmp_path, old_tests_in("src/lib.rs", RUST, new) or "")
    assert not passed
    assert results["tests::doubles"] == results["outside_of_a_module"] == results["double"] == "FAILED"
    assert results["tests::shows"] == results["inner::tests::adds"] == "ok"


@pytest.mark.slow
@needs_cargo
def test_new_rust_tests_fail_with_the_old_source_and_pass_with_the_new(tmp_path: Path) -> None:
    new = RUST.replace("n + 1 }", "n.saturating_add(1) }").replace(
        "fn adds() {",
        "fn saturates() { assert_eq!(super::one_more(i32::MAX), i32::MAX); }\n        #[test]\n fn adds() {",
    )
    assert cargo(tmp_path, new)[0]
    passed, results = cargo(tmp_path, new_tests_in("src/lib.rs", RUST, new) or "")
    assert not passed
    assert results["inner::tests::saturates"] == "FAILED"
    assert results["inner::tests::adds"] == results["tests::doubles"] == "ok"


@pytest.mark.slow
@needs_cargo
def test_examples_of_a_new_rust_function_fail_without_it(tmp_path: Path) -> None:
    new = (
        RUST
        + "\n/// Triples.\n///\n/// ```\n/// assert_eq!(demo::triple(2), 6);\n/// ```\n"
        + "pub fn triple(n: i32) -> i32 { n * 3 }\n"
    )
    assert cargo(tmp_path, new)[0]
    passed, results = cargo(tmp_path, new_tests_in("src/lib.rs", RUST, new) or "")
    assert not passed
    assert results["SAMUEL_EXAMPLES_1"] == "FAILED"
    passed, _ = cargo(tmp_path, old_tests_in("src/lib.rs", RUST, new) or "")
    assert passed


@pytest.mark.parametrize(
    "cheat",
    [
        RUST.replace("    #[test]\n    fn doubles", "    #[test]\n    #[ignore]\n    fn doubles"),
        RUST.replace("#[cfg(test)]\nmod tests", "#[cfg(any())]\nmod tests"),
        RUST.replace("#[cfg(test)]\nmod tests", '#[cfg(all(test, feature = "never"))]\nmod tests'),
        RUST.replace("#[cfg(test)]\nmod tests", "mod tests"),
        RUST[: RUST.index("#[cfg(test)]\nmod tests")],
        RUST.replace("assert_eq!($left, $right)", "{ let _ = (&$left, &$right); }"),
        RUST.replace('same!(Purse::of_tests().show(), "7")', "assert!(true)"),
        RUST.replace("fn of_tests() -> Self { Purse(7) }", "fn of_tests() -> Self { Purse(8) }"),
        RUST.replace("same!(double(2), 4);", "same!(double(2), double(2));"),
    ],
)
def test_a_disarmed_rust_test_comes_back(cheat: str) -> None:
    text = old_tests_in("src/lib.rs", RUST, cheat)
    assert text is not None
    assert text != cheat
    # The old tests are there, and no old test is twice.
    for test in (
        "fn doubles() { same!(double(2), 4); }",
        "fn of_tests() -> Self { Purse(7) }",
        "assert_eq!($left, $right)",
    ):
        assert text.count(test) == 1
    assert "#[ignore]" not in text
    assert re.search(r"#\[cfg\(test\)\]\s*mod tests", text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (RUST, RUST.replace("n * 2", "n + n")),
        (RUST, RUST.replace("pub struct", "// A comment.\n#[derive(Debug)]\npub struct")),
        (RUST, "#!/usr/bin/env x\n" + RUST),
        (
            RUST,
            RUST.replace("/// Doubles a number.\n", "/// Doubles a number.\n")
            + "pub fn more() -> char { '\"' }\n",
        ),
        (RUST, RUST.replace("Money.", "Mönëy.")),
    ],
)
def test_source_with_unchanged_rust_tests_is_as_it_is(old: str, new: str) -> None:
    assert old_tests_in("src/lib.rs", old, new) == new
    assert new_tests_in("src/lib.rs", old, new) == old


def test_both_directions_give_the_other_file_if_only_tests_changed() -> None:
    new = RUST.replace("same!(double(2), 4)", "same!(double(4), 8)")
    assert old_tests_in("src/lib.rs", RUST, new) == RUST
    assert new_tests_in("src/lib.rs", RUST, new) == new


def test_a_new_rust_file_is_split_into_source_and_tests() -> None:
    without = old_tests_in("src/new.rs", "", RUST)
    assert without is not None
    assert "#[test]" not in without
    assert "```" not in without
    only = new_tests_in("src/new.rs", "", RUST)
    assert only is not None
    assert "mod tests" in only
    assert "n * 2" not in only


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("src/lib.rs", "pub fn a() {}\n", "pub fn a() { }\n"),
        ("src/lib.rs", RUST, RUST + "fn broken( {"),
        ("src/lib.rs", RUST, ""),
        ("src/lib.rs", RUST, RUST + "\0"),
        ("src/lib.rs", RUST, "fn a() {" * 20_000),
        ("src/lib.rs", RUST, "mod a {" * 100 + "#[test] fn a() {}" + "}" * 100),
        ("src/lib.rs", RUST, "/*" * 100_000),
        ("src/lib.rs", RUST, '"' + "\\" * 200_001),
        ("a.py", "x = 1\n", "x = 2\n"),
        ("a.py", "def f():\n  '''>>> f()'''\n", "def f(:\n"),
        ("a.py", "def f():\n  '''>>> f()'''\n", "(" * 5000),
        ("a.go", "package a\n", "package b\n"),
        ("a.zig", "pub fn a() void {}\n", "pub fn a() void { }\n"),
        ("a.d", "unittest { assert(1); }", "unittest { assert(1);"),
    ],
)
def test_files_without_tests_or_that_are_not_understood_are_not_split(path: str, old: str, new: str) -> None:
    assert old_tests_in(path, old, new) is None
    assert new_tests_in(path, old, new) is None


PYTHON = '''\
"""Sums.

>>> total([1, 2])
3
"""


def total(numbers):
    """The sum.

    >>> total([2, 2])
    4
    """
    return sum(numbers)


class Purse:
    def count(self):
        return 1


def short(): return 2


if __name__ == "__main__":
    import doctest

    raise SystemExit(bool(doctest.testmod().failed))
'''


def doctested(tmp_path: Path, text: str | None) -> str:
    """What pytest says about the examples of this module: one line for each result."""
    assert text is not None
    (tmp_path / "sums.py").write_text(text)
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-rA",
            "--tb=no",
            "-p",
            "no:cacheprovider",
            "--doctest-modules",
            "sums.py",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
    )
    lines = [line.partition(" - ")[0] for line in run.stdout.splitlines() if line.startswith(("PASSED", "FAILED"))]
    return " ".join(sorted(line.replace("sums.py::", "").replace(" ", ":", 1) for line in lines))


@pytest.mark.slow
def test_weakened_examples_of_a_docstring_are_judged_as_they_were(tmp_path: Path) -> None:
    new = PYTHON.replace("sum(numbers)", "5").replace("\n    4\n", "\n    5\n").replace("\n3\n", "\n5\n")
    assert doctested(tmp_path, new) == "PASSED:sums PASSED:sums.total"
    assert doctested(tmp_path, old_tests_in("sums.py", PYTHON, new)) == "FAILED:sums FAILED:sums.total"
    removed = PYTHON.replace("sum(numbers)", "5").replace(">>>", "For example").replace("def total", "def sum_up")
    assert (
        doctested(tmp_path, old_tests_in("sums.py", PYTHON, removed)) == "FAILED:sums FAILED:sums.__test__.total"
    )


@pytest.mark.slow
def test_new_examples_fail_with_the_old_source(tmp_path: Path) -> None:
    new = (
        PYTHON.replace(
            "        return 1",
            '        """É.\n\n        >>> Purse().count()\n        2\n        """\n        return 2',
        )
        .replace("def short(): return 2", 'def short():\n    """\n    >>> short()\n    3\n    """\n    return 3')
        .replace(
            "if __name_", 'def late():\n    """\n    >>> late()\n    1\n    """\n    return 1\n\n\nif __name_'
        )
    )
    assert doctested(tmp_path, new).count("PASSED") == 5
    assert doctested(tmp_path, new_tests_in("sums.py", PYTHON, new)) == (
        "FAILED:sums.Purse.count FAILED:sums.__test__.late FAILED:sums.__test__.short "
        "PASSED:sums PASSED:sums.total"
    )
    assert doctested(tmp_path, old_tests_in("sums.py", PYTHON, new)) == "PASSED:sums PASSED:sums.total"
    run = subprocess.run(
        [sys.executable, "-c", new_tests_in("sums.py", PYTHON, new) or ""],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "__main__.__test__.late" in run.stdout


def test_source_with_unchanged_examples_is_as_it_is() -> None:
    new = PYTHON.replace("sum(numbers)", "sum(numbers) + 0").replace("The sum.", "The sum of all.")
    assert old_tests_in("sums.py", new, new) == new
    assert old_tests_in("sums.py", PYTHON, PYTHON.replace("return 1", "return 2")) == PYTHON.replace(
        "return 1", "return 2"
    )


ZIG = """\
const std = @import("std");

pub fn double(n: i32) i32 {
    const brace = '{';
    _ = brace;
    return n * 2;
}

test "doubles" {
    try std.testing.expectEqual(double(2), 4);
}
"""


def zig_test(tmp_path: Path, text: str | None) -> bool:
    (tmp_path / "a.zig").write_text(text or "")
    environment = os.environ | {
        "ZIG_GLOBAL_CACHE_DIR": str(tmp_path / "cache"),
        "ZIG_LOCAL_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [sys.executable, "-m", "ziglang", "test", "a.zig"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, env=environment, check=False).returncode == 0


@pytest.mark.slow
def test_old_zig_tests_judge_new_source(tmp_path: Path) -> None:
    new = ZIG.replace("n * 2", "n * 3").replace(", 4)", ", 6)")
    assert zig_test(tmp_path, new)
    assert not zig_test(tmp_path, old_tests_in("a.zig", ZIG, new))
    assert not zig_test(tmp_path, new_tests_in("a.zig", ZIG, new))


D = """\
int twice(int n) { return n * 2; } /+ unittest { /+ nested +/ } +/

@safe unittest {
    assert(twice(2) == 4); // }
    auto s = "}";
}
"""


def test_unittest_blocks_of_d_are_exchanged() -> None:
    new = D.replace("n * 2", "n * 3").replace("== 4", "== 6") + "\nvoid more() {}\n"
    text = old_tests_in("a.d", D, new)
    assert text is not None
    assert "== 4" in text
    assert "== 6" not in text
    assert "n * 3" in text
    assert "void more() {}" in text
    assert old_tests_in("a.d", D, D.replace("n * 2", "n + n")) == D.replace("n * 2", "n + n")
