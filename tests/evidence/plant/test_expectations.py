"""Which literal of a test is changed, by language."""

from __future__ import annotations

import difflib

import pytest

from samuel.evidence.plant.expectations import MOST_CANDIDATES, changed_expectations

TOKEN = "kq7zv1m4xw9d"


def new_lines(path: str, text: str) -> list[str]:
    """The line that each candidate changed, as it is then."""
    changes = []
    for candidate in changed_expectations(path, text, TOKEN):
        difference = difflib.ndiff(text.split("\n"), candidate.text.split("\n"))
        changes += [line[2:].strip() for line in difference if line.startswith("+ ")]
    return changes


@pytest.mark.parametrize(
    ("path", "line", "changed"),
    [
        ("test_a.py", "assert total(1) == 3", "assert total(1) == 4"),
        ("test_a.py", "assert name() == 'ä'", f"assert name() == '\\xe4{TOKEN}'"),
        ("test_a.py", "assert flag() == True", "assert flag() == False"),
        ("test_a.py", "assert total(1) != 3", ""),
        ("test_a.py", "assert not total(1) == 3", ""),
        ("test_a.py", "assert total(1) < 3", ""),
        ("a.test.js", "expect(total(1)).toBe(3);", "expect(total(1)).toBe(4);"),
        ("a.test.js", "expect(name()).toEqual('ab');", f"expect(name()).toEqual('ab{TOKEN}');"),
        ("tests/a.c", "assert(letter() == 'a');", "assert(letter() == 'x');"),
        ("a.test.js", "expect(total(1)).not.toBe(3);", ""),
        ("a.test.js", "// expect(total(1)).toBe(3);", ""),
        ("a.test.js", "assert.equal(total(1), 3, 'adds');", "assert.equal(total(1), 4, 'adds');"),
        ("a.test.js", "assert(total(1) === 3, 'adds');", "assert(total(1) === 4, 'adds');"),
        ("a.test.js", "assert.notEqual(total(1), 3);", ""),
        ("a.test.js", "t.is(total(`,`), true);", "t.is(total(`,`), false);"),
        ("tests/a.rs", "assert_eq!(total(1), 3);", "assert_eq!(total(1), 4);"),
        ("tests/a.rs", 'assert_eq!(name::<\'a>(), "x");', f'assert_eq!(name::<\'a>(), "x{TOKEN}");'),
        ("tests/a.rs", "assert!(total(1) == -3);", "assert!(total(1) == -2);"),
        ("tests/a.rs", "assert_ne!(total(1), 3);", ""),
        ("ATest.java", "assertEquals(3, total(1));", "assertEquals(4, total(1));"),
        ("ATest.java", 'assertEquals(total(1), 3, "adds");', 'assertEquals(total(1), 4, "adds");'),
        ("ATest.java", "assertNotEquals(3, total(1));", ""),
        ("ATest.java", "same(total(1), 3);", "same(total(1), 4);"),
        ("ATest.java", "assertFalse(total(1) == 3);", ""),
        ("tests/a.c", "assert(total(1) == 3);", "assert(total(1) == 4);"),
        ("tests/a.c", 'assert(strcmp(name(), "x") == 0);', 'assert(strcmp(name(), "x") == 1);'),
        ("tests/a.c", 'same(4, "IV");', f'same(4, "IV{TOKEN}");'),
        ("tests/a.c", 'CHECK(total(1) == 3, "adds");', 'CHECK(total(1) == 4, "adds");'),
        ("tests/a.c", "EXPECT_EQ(total(1), 3);", "EXPECT_EQ(total(1), 4);"),
        ("tests/a.c", "EXPECT_NE(total(1), 3);", ""),
        ("tests/a.c", "root = CreateStringArray(strings, 7);", ""),
        ("tests/a.c", "TEST_ASSERT_EQUAL_INT(3, total(1));", "TEST_ASSERT_EQUAL_INT(4, total(1));"),
        ("tests/a.c", 'TEST_ASSERT_NULL_MESSAGE(a, "is not NULL");', ""),
        ("tests/a.c", '#define is_x(a) assert_equal(a, "x")', ""),
        ("tests/a.c", 'check(is_open(), "it is open");', ""),
        ("tests/a.c", 'test_cond("adds", total(1) == 3)', 'test_cond("adds", total(1) == 4)'),
        ("tests/a.c", "checkTotal(total(1), 3);", "checkTotal(total(1), 4);"),
        ("tests/a.c", "assert_within(total(1), 3, 2);", ""),
        ("tests/a.c", "checksum(buffer, 3);", ""),
        ("tests/a.c", "assert(a == 1 && b == 2);", "assert(a == 1 && b == 3);"),
        ("tests/a.c", "assert(a == 1 || b == 2);", ""),
        ("tests/a.c", "assert(!(a == 1));", ""),
        ("tests/a.c", 'test_cond("adds", total(1));', ""),
        ("tests/a.c", 'assert_equal("x", name());', f'assert_equal("x{TOKEN}", name());'),
        ("tests/a.c", "static_assert(sizeof(int) == 4);", ""),
        ("tests/a.c", "/* assert(total(1) == 3); */", ""),
        ("tests/a.sh", '[ "$x" = "3" ] || exit 1', f'[ "$x" = "3{TOKEN}" ] || exit 1'),
        ("tests/a.sh", "test $x = 3 || exit 1", f"test $x = 3{TOKEN} || exit 1"),
        ("tests/a.sh", '[ "$x" = "$y" ] || exit 1', ""),
        ("tests/a.sh", '[ "$x" = "3" ] && echo fine', ""),
        ("tests/a.sh", '[ "$x" != "3" ] || exit 1', ""),
        ("tests/table.txt", "IV", TOKEN),
        ("tests/a.png", "IV", ""),
    ],
)
def test_literal_of_an_equality_is_changed(path: str, line: str, changed: str) -> None:
    text = f"def test_a():\n    {line}\n" if path.endswith(".py") else f"{line}\n"
    assert new_lines(path, text) == ([changed] if changed else [])


def test_each_test_is_tried_before_a_second_expectation_of_one() -> None:
    text = "def test_a():\n    assert f(1) == 1\n    assert f(2) == 2\n\n\ndef test_b():\n    assert f(3) == 3\n"
    result = changed_expectations("test_a.py", text, TOKEN)
    assert [candidate.test_name for candidate in result] == ["test_a", "test_b", "test_a"]


def test_skipped_test_is_left_out() -> None:
    text = "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    assert f(1) == 1\n"
    assert changed_expectations("test_a.py", text, TOKEN) == ()


def test_number_of_candidates_is_bounded() -> None:
    assert len(changed_expectations("tests/a.c", "assert(a == 1);\n" * 1000, TOKEN)) == MOST_CANDIDATES


def test_comparison_of_a_shell_script_that_goes_on_is_not_changed() -> None:
    assert changed_expectations("tests/a.sh", '[ "$x" = 3 ]\n', TOKEN) == ()
    assert len(changed_expectations("tests/a.sh", 'set -eu\n[ "$x" = 3 ]\n', TOKEN)) == 1
