"""Where a failure is planted, by the files and commands of a project."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.evidence.plant.choice import MOST_PLANTS, PlantTrees, plant, plants
from samuel.evidence.plant.narrowing import narrowed, narrowed_to
from samuel.evidence.plant.planted import CalledRunner, Plant

TOKEN = "kq7zv1m4xw9d"
PYTEST = "def test_a():\n    assert 1 == 1\n"
JEST = "test('a', () => {\n  expect(1).toBe(1);\n});\n"
JAVA = "package a;\n\nimport org.junit.Test;\n\npublic class ATest {\n    @Test\n    public void a() {\n"
JAVA += "        assertEquals(1, 1);\n    }\n}\n"


def trees(files: Mapping[str, str], changes: Mapping[str, str] | None = None) -> PlantTrees:
    verified = {path: text.encode() for path, text in files.items()}
    attempt = {**verified, **{path: text.encode() for path, text in (changes or {}).items()}}
    return PlantTrees(
        tuple(attempt),
        lambda path: verified.get(path, b""),
        lambda path: attempt.get(path, b""),
        tuple(changes or ()),
    )


def first_plant(
    call: CalledRunner, files: Mapping[str, str], changes: Mapping[str, str] | None = None
) -> Plant | None:
    return plant([call], trees(files, changes), TOKEN)


@pytest.mark.parametrize(
    ("runner", "files", "changes", "sibling"),
    [
        ("pytest", {"tests/test_a.py": PYTEST, "a.py": PYTEST}, {}, "tests/test_a.py"),
        ("pytest", {"tests/test_a.py": PYTEST, "tests/test_b.py": PYTEST}, {"b.py": "x"}, "tests/test_b.py"),
        (
            "pytest",
            {"tests/test_a.py": PYTEST, "tests/test_b.py": PYTEST},
            {"tests/test_a.py": ""},
            "tests/test_b.py",
        ),
        ("tox", {"pkg/tests/test_a.py": PYTEST}, {}, "pkg/tests/test_a.py"),
        ("jest", {"src/a.test.ts": JEST, "src/a.ts": JEST}, {}, "src/a.test.ts"),
        ("jest", {"a.test.js": JEST.replace("test(", "test.only("), "b.test.js": JEST}, {}, "b.test.js"),
        ("jest", {"node_modules/x/a.test.js": JEST, "src/__tests__/a.js": JEST}, {}, "src/__tests__/a.js"),
        ("maven", {"app/src/test/java/a/ATest.java": JAVA}, {}, "app/src/test/java/a/ATest.java"),
    ],
)
def test_failing_test_is_added_to_a_test_file_of_the_verified_tree(
    runner: str, files: dict[str, str], changes: dict[str, str], sibling: str
) -> None:
    result = first_plant(CalledRunner(runner), files, changes)
    assert result is not None
    assert (result.kind, result.sibling, [*result.files]) == ("added test", sibling, [sibling])
    assert result.files[sibling].decode().startswith(files[sibling].rstrip().removesuffix("}").rstrip())
    assert all(marker.encode() not in content for marker in result.markers for content in result.files.values())
    assert result.markers


def test_test_file_that_a_report_names_comes_first() -> None:
    files = {"tests/test_a.py": PYTEST, "tests/test_b.py": PYTEST}
    result = plant([CalledRunner("pytest")], trees(files), TOKEN, ["tests.test_b::test_a"])
    assert result is not None
    assert result.sibling == "tests/test_b.py"


def test_test_file_that_the_command_names_comes_first() -> None:
    files = {"tests/test_a.py": PYTEST, "tests/test_b.py": PYTEST}
    result = first_plant(CalledRunner("pytest", ("-q", "tests/test_b.py::test_a")), files)
    assert result is not None
    assert result.sibling == "tests/test_b.py"


def test_module_that_unittest_is_given_comes_first() -> None:
    files = {"tests/test_a.py": PYTEST, "tests/test_b.py": PYTEST}
    result = first_plant(CalledRunner("unittest", ("-m", "unittest", "tests.test_b")), files)
    assert result is not None
    assert result.sibling == "tests/test_b.py"


def test_test_is_added_in_the_language_of_a_file_where_the_runner_is_not_known() -> None:
    files = {"manage.py": "", "shop/tests.py": PYTEST, "shop/CMakeLists.txt": "4\n"}
    result = plant([], trees(files), TOKEN)
    assert result is not None
    assert (result.kind, result.sibling) == ("added test", "shop/tests.py")


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("describe('a', () => {\n  it(name, () => {\n    assert(f(name));\n  });\n});\n", "it("),
        ("test.each([1])('a %d', (n) => {\n  expect(f(n)).toEqual(n);\n});\n", "test("),
        ("import { test as it } from 'x';\nit('a', (t) => {\n  t.is(f(), 1);\n});\n", "it("),
    ],
)
def test_javascript_test_is_added_with_the_function_of_the_file(text: str, call: str) -> None:
    result = first_plant(CalledRunner("mocha"), {"test/a.js": text})
    assert result is not None
    assert f'{call}"{TOKEN} 0"' in result.files["test/a.js"].decode()


def test_only_files_below_the_directory_of_the_runner_are_siblings() -> None:
    files = {"web/a.test.js": JEST, "api/a.test.js": JEST}
    result = first_plant(CalledRunner("jest", directory="web"), files)
    assert result is not None
    assert result.sibling == "web/a.test.js"


@pytest.mark.parametrize(
    ("runner", "sibling", "text", "new"),
    [
        ("pytest", "tests/test_a.py", PYTEST, f"tests/test_{TOKEN}.py"),
        ("pytest", "a_test.py", PYTEST, f"{TOKEN}_test.py"),
        ("jest", "src/a.test.tsx", JEST, f"src/{TOKEN}.test.tsx"),
        ("mocha", "test/a.js", JEST, f"test/{TOKEN}.js"),
        ("ava", "test.js", JEST, f"test-{TOKEN}.js"),
        ("ava", "test-a.mjs", JEST, f"test-{TOKEN}.mjs"),
        ("node-test", "a-test.js", JEST, f"{TOKEN}-test.js"),
        ("maven", "src/test/java/a/ATest.java", JAVA, f"src/test/java/a/{TOKEN.capitalize()}Test.java"),
    ],
)
def test_new_test_file_has_a_name_of_the_same_pattern(runner: str, sibling: str, text: str, new: str) -> None:
    result = list(plants([CalledRunner(runner)], trees({sibling: text}), TOKEN))
    assert [[*plant.files] for plant in result if plant.kind == "new file"] == [[new]]


@pytest.mark.parametrize(
    ("text", "kept_part"),
    [
        ("import os\nfrom . import shop\n\n\ndef test_a():\n    pass\n", "from . import shop\n"),
        (
            "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n",
            "(unittest.TestCase)",
        ),
        (
            "from base import ShopTestCase\n\n\nclass A(ShopTestCase):\n    def test_a(self):\n        pass\n",
            "(ShopTestCase)",
        ),
    ],
)
def test_new_python_file_imports_what_its_sibling_imports(text: str, kept_part: str) -> None:
    result = list(plants([CalledRunner("pytest")], trees({"test_a.py": text}), TOKEN))
    content = next(plant.files[f"test_{TOKEN}.py"].decode() for plant in result if plant.kind == "new file")
    ast.parse(content)
    assert kept_part in content


def test_python_test_is_added_before_the_call_of_main() -> None:
    text = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n\n\n"
    text += "unittest.main()\n"
    result = first_plant(CalledRunner("unittest"), {"test_a.py": text})
    assert result is not None
    content = result.files["test_a.py"].decode()
    assert content.index(TOKEN) < content.index("unittest.main()")
    ast.parse(content)


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\n\npytestmark = pytest.mark.skip\n\n\ndef test_a():\n    pass\n",
        "import pytest\n\npytest.importorskip('x')\n\n\ndef test_a():\n    pass\n",
        "def check_a():\n    pass\n",
        "def test_a(:\n",
    ],
)
def test_nothing_is_added_to_a_file_that_chooses_its_own_tests(text: str) -> None:
    assert first_plant(CalledRunner("pytest"), {"test_a.py": text}) is None


def test_line_ends_of_a_file_stay_as_they_are() -> None:
    result = first_plant(CalledRunner("pytest"), {"test_a.py": PYTEST.replace("\n", "\r\n")})
    assert result is not None
    content = result.files["test_a.py"]
    assert content.count(b"\n") == content.count(b"\r\n") > 3


def test_control_has_the_file_of_the_verified_tree() -> None:
    changed = PYTEST + "\n\ndef test_more():\n    pass\n"
    result = first_plant(CalledRunner("pytest"), {"test_a.py": PYTEST}, {"test_a.py": changed})
    assert result is not None
    assert b"test_more" in result.files["test_a.py"]
    assert b"test_more" not in result.control_files["test_a.py"]
    assert TOKEN.encode() in result.control_files["test_a.py"]


def test_runner_that_is_not_known_gets_changed_expectations() -> None:
    files = {
        "Makefile": "test:\n\t./a | diff - tests/out.txt\n",
        "tests/out.txt": "4\n",
        "tests/a.c": "assert(a == 4);\n",
    }
    result = list(plants([CalledRunner("ruff")], trees(files), TOKEN))
    assert [(plant.kind, plant.sibling) for plant in result] == [
        ("changed expectation", "tests/out.txt"),
        ("changed expectation", "tests/a.c"),
    ]


def test_changed_expectation_needs_a_file_that_the_attempt_left_alone() -> None:
    assert plant([], trees({"tests/a.c": "assert(a == 4);\n"}, {"tests/a.c": "assert(a == 5);\n"}), TOKEN) is None


@pytest.mark.parametrize("token", ["", "short", "UPPERCASEXX", "1startsbadly", "has-a-hyphen", "x" * 33])
def test_token_that_does_not_fit_every_language_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="token"):
        plants([], trees({}), token)


@given(
    st.text(max_size=300),
    st.sampled_from(
        ("test_a.py", "a.test.js", "tests/a.rs", "a_test.go", "a_spec.rb", "ATest.php", "tests/a.c", "tests/a.sh")
    ),
)
def test_no_text_of_a_test_file_makes_it_raise(text: str, path: str) -> None:
    names = ("pytest", "jest", "cargo", "go-test", "rspec", "phpunit", "")
    result = list(plants([CalledRunner(name) for name in names], trees({path: text}), TOKEN))
    assert len(result) <= 3 * MOST_PLANTS * len(names)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "`\\" * 50_000,
        "'\\" * 50_000,
        "/*" * 50_000,
        "assert(" * 30_000,
        "assert(x == " * 15_000,
        "import {" * 50_000,
        "expect(" * 30_000,
        "it('" * 50_000,
        "[ x = " * 40_000,
        "(" * 100_000,
        "#[test]\n" * 50_000,
        "@Test " * 40_000,
        "describe\n" * 50_000,
        "assert 1 == 1\n" * 15_000,
        "def test_a():\n    assert 1 == 1\n" * 8_000,
        "a" * 250_000,
        "test_" * 50_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_text_is_read_in_bounded_time(text: str) -> None:
    for path, runner in (
        *(("test_a.py", "pytest"), ("a.test.js", "jest"), ("tests/a.rs", "cargo"), ("a_test.go", "go-test")),
        *(("a_spec.rb", "rspec"), ("ATest.php", "phpunit"), ("src/test/java/ATest.java", "maven")),
        *(("tests/a.c", ""), ("tests/a.sh", ""), ("tests/a.txt", ""), ("Makefile", "")),
    ):
        list(plants([CalledRunner(runner)], trees({path: text}), TOKEN))


@pytest.mark.parametrize(
    ("command", "runner", "arguments", "path", "expected"),
    [
        ("pytest -q", "pytest", ("-q",), "tests/test_a.py", "pytest -q tests/test_a.py"),
        ("uv run pytest", "pytest", (), "tests/test_a.py", "uv run pytest tests/test_a.py"),
        ("python -m pytest -x", "pytest", ("-m", "pytest", "-x"), "test_a.py", "python -m pytest -x test_a.py"),
        ("npx vitest run", "vitest", ("run",), "a.test.ts", "npx vitest run a.test.ts"),
        ("node --test", "node-test", ("--test",), "a.test.js", "node --test a.test.js"),
        ("cargo test -q", "cargo", ("test", "-q"), "tests/a.rs", "cargo test -q --test a"),
        ("cargo test -q", "cargo", ("test", "-q"), "src/a.rs", None),
        ("go test ./...", "go-test", ("test", "./..."), "pkg/a_test.go", "go test ./pkg"),
        ("mvn -q test", "maven", ("-q", "test"), "src/test/java/a/ATest.java", None),
        ("mvn test", "maven", ("test",), "src/test/java/a/ATest.java", "mvn test -Dtest=ATest"),
        ("pytest tests", "pytest", ("tests",), "tests/test_a.py", None),
        ("make test", "pytest", ("-q",), "tests/test_a.py", None),
        ("pytest && ruff check", "pytest", (), "tests/test_a.py", None),
        ("pytest", "pytest", (), "tests/it's.py", None),
        ("pytest 'x", "pytest", (), "tests/test_a.py", None),
        ("cargo test -- --nocapture", "cargo", ("test", "--", "--nocapture"), "tests/a.rs", None),
    ],
)
def test_command_is_narrowed_to_the_planted_file_where_that_is_plain(
    command: str, runner: str, arguments: tuple[str, ...], path: str, expected: str | None
) -> None:
    planted = Plant(CalledRunner(runner, arguments), "added test", TOKEN, {path: b""})
    assert narrowed(command, planted) == expected


@pytest.mark.parametrize(
    ("command", "runner", "paths", "expected"),
    [
        ("pytest -q tests", "pytest", ["tests/test_a.py"], "pytest -q tests/test_a.py"),
        ("pytest -q tests docs", "pytest", ["tests/test_a.py"], "pytest -q tests/test_a.py"),
        ("pytest checks", "pytest", ["checks/test_a.py"], "pytest checks/test_a.py"),
        ("pytest docs", "pytest", ["tests/test_a.py"], None),
        ("pytest --cov tests", "pytest", ["tests/test_a.py"], None),
        (
            "pytest -p no:cacheprovider ./tests/",
            "pytest",
            ["tests/test_a.py"],
            "pytest -p no:cacheprovider tests/test_a.py",
        ),
        ("tape 'test/**/*.js'", "tape", ["test/a.js"], "tape test/a.js"),
        ("tap --no-coverage test", "tap", ["test/a.js"], "tap --no-coverage test/a.js"),
        ("tape 'test/{a,b}.js'", "tape", ["test/a.js"], None),
        ("cargo test -q", "cargo", ["src/lib.rs", "tests/a.rs"], "cargo test -q --lib --test a"),
        ("cargo test --config c.toml", "cargo", ["src/a.rs"], "cargo test --config c.toml --lib"),
        ("cargo test --workspace", "cargo", ["src/a.rs"], None),
        ("cargo test size", "cargo", ["src/a.rs"], None),
    ],
)
def test_command_that_names_directories_is_narrowed_to_files_below_them(
    command: str, runner: str, paths: list[str], expected: str | None
) -> None:
    files = [
        "tests/test_a.py",
        "checks/test_a.py",
        "docs/a.md",
        "test/a.js",
        "src/lib.rs",
        "src/a.rs",
        "tests/a.rs",
    ]
    words = shlex.split(command)[1:]
    assert narrowed_to(command, CalledRunner(runner, tuple(words)), paths, files) == expected
