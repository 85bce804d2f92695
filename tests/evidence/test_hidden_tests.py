"""Hiding half of the test functions of some files."""

from __future__ import annotations

import ast

import pytest

from samuel.evidence.hidden_tests import split_tests

PYTHON = """\
import words

CASES = ["def test_no(): pass"]


def helper():
    return 1


@words.slow
def test_one():
    assert helper() == 1


class TestMore:
    def test_two(self):
        assert True

    async def test_three(self):
        assert True


def test_four(): assert True
"""
SCRIPT = """\
import { one } from "./words";

test("one", () => { expect(one({ a: "}" })).toBe(1); });
it("two", async () => {
    expect(one()).toBe(2);
});
describe("more", () => {
    test("three", () => {});
});
"""
RUST = """\
use words::one;

#[test]
fn a() { assert_eq!(one(), "}"); }

#[test]
#[should_panic]
fn b() { one(); }

fn helper() {}
"""
GO = "package words\n\nfunc TestA(t *testing.T) {\n\tif x {\n\t}\n}\n\nfunc TestB(t *testing.T) {\n}\n"
JAVA = (
    "class WordsTest {\n    @Test\n    void one() { assertEquals(1, one()); }\n\n"
    "    @Test\n    void two() { assertEquals(2, two()); }\n\n    void helper() {}\n}\n"
)


def test_every_second_function_of_python_is_hidden_and_the_rest_is_valid() -> None:
    split = split_tests({"tests/test_words.py": PYTHON.encode()})
    text = (split.visible["tests/test_words.py"] or b"").decode()
    module = ast.parse(text)
    names = [node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert sorted(names) == ["helper", "test_one", "test_three"]
    assert split.hidden == 2


@pytest.mark.parametrize(
    ("path", "text", "visible", "hidden"),
    [
        ("a.test.ts", SCRIPT, ['"one"', '"three"', "describe"], ['"two"']),
        ("tests/words.rs", RUST, ["fn a", "helper"], ["fn b", "should_panic"]),
        ("words_test.go", GO, ["TestA"], ["TestB"]),
        ("WordsTest.java", JAVA, ["void one", "helper"], ["void two"]),
    ],
)
def test_every_second_function_of_other_languages_is_hidden(
    path: str, text: str, visible: list[str], hidden: list[str]
) -> None:
    split = split_tests({path: text.encode()})
    left = (split.visible[path] or b"").decode()
    assert all(word in left for word in visible)
    assert not any(word in left for word in hidden)
    assert left.count("{") == left.count("}") or '"}"' in left
    assert split.hidden == 1


def test_half_is_rounded_up_over_all_files_and_data_stays_visible() -> None:
    source = b"def test_it():\n    assert True\n"
    files = {
        "tests/test_a.py": source,
        "tests/test_b.py": source,
        "tests/test_c.py": source,
        "tests/data.json": b"{}",
    }
    split = split_tests(files)
    assert [path for path, content in split.visible.items() if content == files[path]] == [
        "tests/data.json",
        "tests/test_a.py",
        "tests/test_c.py",
    ]
    assert split.visible["tests/test_b.py"] == b""
    assert split.hidden == 1


@pytest.mark.parametrize("content", [b"def test_broken(:\n", b"\xff\xfe", b""])
def test_every_second_file_is_hidden_where_no_function_is_found(content: bytes) -> None:
    split = split_tests({"tests/test_a.py": content, "tests/test_b.py": content, "tests/test_c.py": content})
    assert split.visible == {"tests/test_a.py": content, "tests/test_b.py": None, "tests/test_c.py": content}
    assert split.hidden == 1
