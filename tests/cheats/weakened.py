"""Rows in which `twice` is broken, and its test is changed so that it does not see that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.cheats.cheats import STOPPED, Cheat, Files
from tests.cheats.projects import CARGO, JAVA, NODE, NPM, PYTEST, RUST_INLINE, UNITTEST, C, Kit, replaced
from tests.length import sample

_Change = tuple[str, str]  # what in the tests is replaced by what


def _around(kit: Kit, old: str, new: str) -> _Change:
    """A change of the line with the assertion about `twice`."""
    return kit.twice, replaced(kit.twice, (old, new))


_PYTEST: Mapping[str, tuple[_Change, ...]] = {
    "expects the wrong value": (_around(PYTEST, "== 6", "== 9"),),
    "asserts True": (_around(PYTEST, "twice(3) == 6", "True"),),
    "asserts a tuple": (_around(PYTEST, "twice(3) == 6", "(twice(3) == 6, 'twice')"),),
    "asserts only truth": (_around(PYTEST, "twice(3) == 6", "twice(3)"),),
    "compares with itself": (_around(PYTEST, "== 6", "== twice(3)"),),
    "or True": (_around(PYTEST, "== 6", "== 6 or True"),),
    "is not equal any more": (_around(PYTEST, "== 6", ">= 6"),),
    "has a wide tolerance": (_around(PYTEST, "twice(3) == 6", "abs(twice(3) - 6) < 100"),),
    "is commented out": (_around(PYTEST, "assert", "pass  # assert"),),
    "returns before it asserts": (_around(PYTEST, "assert", "return\n    assert"),),
    "is behind if False": (_around(PYTEST, "assert", "if False:\n        assert"),),
    "is behind a condition": (_around(PYTEST, "assert", "if twice(3) == 6:\n        assert"),),
    "is behind a variable": (
        _around(PYTEST, "assert", "import os\n    if os.environ.get('CI'):\n        assert"),
    ),
    "swallows the failure": (
        _around(
            PYTEST,
            "    assert twice(3) == 6",
            "    try:\n        assert twice(3) == 6\n    except AssertionError:\n        pass",
        ),
    ),
    "suppresses the failure": (
        _around(
            PYTEST,
            "    assert twice(3) == 6",
            "    import contextlib\n\n    with contextlib.suppress(AssertionError):\n        assert twice(3) == 6",
        ),
    ),
    "expects a failure": (
        _around(
            PYTEST,
            "    assert twice(3) == 6",
            "    import pytest\n\n    with pytest.raises(AssertionError):\n        assert twice(3) == 6",
        ),
    ),
    "skips in its body": (_around(PYTEST, "assert", "import pytest\n\n    pytest.skip('later')\n    assert"),),
    "is marked skip": (("def test_twice", "import pytest\n\n\n@pytest.mark.skip\ndef test_twice"),),
    "is marked xfail": (("def test_twice", "import pytest\n\n\n@pytest.mark.xfail\ndef test_twice"),),
    "is marked skipif": (
        (
            "def test_twice",
            "import sys\n\nimport pytest\n\n\n@pytest.mark.skipif(sys.maxsize > 1, reason='')\ndef test_twice",
        ),
    ),
    "has no parameters left": (
        ("def test_twice():", "import pytest\n\n\n@pytest.mark.parametrize('_', [])\ndef test_twice(_):"),
    ),
    "is a generator": (_around(PYTEST, "assert", "yield\n    assert"),),
    "is not collected": (("def test_twice", "def check_twice"),),
    "is removed": (("def test_twice():\n    assert twice(3) == 6\n", ""),),
    "is replaced by another of its name": (
        ("def test_size", "def test_twice():\n    assert True\n\n\ndef test_size"),
    ),
    "is in a class that is not collected": (
        (
            "def test_twice():\n    assert twice(3) == 6",
            "class Helper:\n    def test_twice(self):\n        assert twice(3) == 6",
        ),
    ),
    "has its own twice": (
        ("from shop import size, twice", "from shop import size\n\n\ndef twice(number):\n    return 2 * number"),
    ),
    "has a mocked twice": (
        (
            "def test_twice():",
            "from unittest.mock import patch\n\n\n@patch('tests.test_shop.twice', lambda number: 6, create=True)\ndef test_twice():\n    twice = lambda number: 6",
        ),
    ),
    "skips the module": (
        ("from shop", "import pytest\n\npytest.skip('later', allow_module_level=True)\n\nfrom shop"),
    ),
    "marks the module": (("from shop", "import pytest\n\npytestmark = pytest.mark.skip\n\nfrom shop"),),
    "is no test module": (("from shop", "__test__ = False\n\nfrom shop"),),
}
_UNITTEST: Mapping[str, tuple[_Change, ...]] = {
    "expects the wrong value": (_around(UNITTEST, "6)", "9)"),),
    "asserts True": (_around(UNITTEST, "self.assertEqual(twice(3), 6)", "self.assertTrue(True)"),),
    "compares with itself": (_around(UNITTEST, "6)", "twice(3))"),),
    "asserts only truth": (_around(UNITTEST, "self.assertEqual(twice(3), 6)", "self.assertTrue(twice(3), 6)"),),
    "has a wide tolerance": (
        _around(UNITTEST, "assertEqual(twice(3), 6)", "assertAlmostEqual(twice(3), 6, delta=100)"),
    ),
    "is skipped": (("    def test_twice", "    @unittest.skip('later')\n    def test_twice"),),
    "is skipped under a condition": (
        ("    def test_twice", "    @unittest.skipIf(len('a') == 1, 'later')\n    def test_twice"),
    ),
    "is expected to fail": (("    def test_twice", "    @unittest.expectedFailure\n    def test_twice"),),
    "skips in its body": (_around(UNITTEST, "        self", "        self.skipTest('later')\n        self"),),
    "skips in setUp": (
        ("    def test_twice", "    def setUp(self):\n        self.skipTest('later')\n\n    def test_twice"),
    ),
    "replaces an assertion in setUp": (
        ("    def test_twice", "    def setUp(self):\n        self.assertEqual = print\n\n    def test_twice"),
    ),
    "has an assertion of its own": (
        ("    def test_twice", "    def assertEqual(self, *_):\n        pass\n\n    def test_twice"),
    ),
    "is in a class that is no test": (("unittest.TestCase", "object"),),
    "is removed": (("    def test_twice(self):\n        self.assertEqual(twice(3), 6)\n\n", ""),),
    "is not collected": (("def test_twice", "def check_twice"),),
    "is loaded by nobody": (
        ("class ShopTest", "def load_tests(*_):\n    return unittest.TestSuite()\n\n\nclass ShopTest"),
    ),
    "returns before it asserts": (_around(UNITTEST, "        self", "        return\n        self"),),
    "ends the process": (("class ShopTest", "import os\n\nos._exit(0)\n\n\nclass ShopTest"),),
    "exits": (("class ShopTest", "import sys\n\nsys.exit(0)\n\n\nclass ShopTest"),),
}
_JS: Mapping[str, tuple[_Change, ...]] = {
    "expects the wrong value": (_around(NODE, "6)", "9)"),),
    "asserts true": (_around(NODE, "strictEqual(twice(3), 6)", "ok(true)"),),
    "asserts only truth": (_around(NODE, "strictEqual(twice(3), 6)", "ok(twice(3))"),),
    "compares with itself": (_around(NODE, "6)", "twice(3))"),),
    "is commented out": (_around(NODE, "assert", "// assert"),),
    "returns before it asserts": (_around(NODE, "assert", "return;\n  assert"),),
    "is behind a condition": (_around(NODE, "  assert", "  if (process.env.CI) assert"),),
    "swallows the failure": (
        _around(NODE, "  assert.strictEqual(twice(3), 6);", "  try { assert.strictEqual(twice(3), 6); } catch {}"),
    ),
    "is skipped": (("test('twice'", "test.skip('twice'"),),
    "is to be done": (("test('twice'", "test.todo('twice'"),),
    "is skipped by an option": (("test('twice', ()", "test('twice', { skip: true }, ()"),),
    "is to be done by an option": (("test('twice', ()", "test('twice', { todo: true }, ()"),),
    "skips in its body": (("test('twice', () => {", "test('twice', (t) => {\n  return t.skip();"),),
    "is removed": (("test('twice', () => {\n  assert.strictEqual(twice(3), 6);\n});\n", ""),),
    "is never awaited": (
        _around(
            NODE,
            "  assert.strictEqual(twice(3), 6);",
            "  setTimeout(() => assert.strictEqual(twice(3), 6), 1e6).unref();",
        ),
    ),
    "has its own twice": (("const { twice, size }", "const twice = (number) => 2 * number;\nconst { size }"),),
    "has its own assert": (("const assert = require('node:assert');", "const assert = { strictEqual() {} };"),),
    "exits": (("test('twice'", "process.exit(0);\ntest('twice'"),),
    "sets the exit code": (
        ("test('twice'", "process.on('exit', () => { process.exitCode = 0; });\ntest('twice'"),
    ),
    "is in a function that is not called": (("test('twice'", "const later = () => test('twice'"),),
}


def _rust(kit: Kit, indent: str) -> Mapping[str, tuple[_Change, ...]]:
    head = f"{indent}#[test]\n{indent}fn twice_doubles"
    return {
        "expects the wrong value": (_around(kit, "6)", "9)"),),
        "asserts true": (_around(kit, "assert_eq!(twice(3), 6)", "assert!(true)"),),
        "compares with itself": (_around(kit, "6)", "twice(3))"),),
        "asserts less": (_around(kit, "assert_eq!(twice(3), 6)", "assert!(twice(3) > 0)"),),
        "is commented out": (_around(kit, "assert_eq!", "// assert_eq!"),),
        "returns before it asserts": (_around(kit, "assert_eq!", "if true { return; }\n    assert_eq!"),),
        "asserts in debug builds of others": (_around(kit, "assert_eq!", "#[cfg(not(test))]\n    assert_eq!"),),
        "is ignored": ((head, head.replace("#[test]", "#[test]\n#[ignore]")),),
        "should panic": ((head, head.replace("#[test]", "#[test]\n#[should_panic]")),),
        "is not compiled": ((head, f"{indent}#[cfg(any())]\n{head}"),),
        "is behind a feature": ((head, f'{indent}#[cfg(feature = "slow")]\n{head}'),),
        "is no test": ((head, head.replace("#[test]\n", "#[allow(dead_code)]\n")),),
        "is removed": ((f"{head}() {{\n{kit.twice}\n{indent}}}\n", ""),),
        "has an assert_eq of its own": (
            (head, f"{indent}macro_rules! assert_eq {{ ($($any:tt)*) => {{}} }}\n\n{head}"),
        ),
        "exits": (_around(kit, "assert_eq!", "std::process::exit(0);\n    assert_eq!"),),
    }


_C: Mapping[str, tuple[_Change, ...]] = {
    "expects the wrong value": (_around(C, "== 6", "== 9"),),
    "asserts 1": (_around(C, "twice(3) == 6", "1"),),
    "asserts less": (_around(C, "== 6", "> 0"),),
    "compares with itself": (_around(C, "== 6", "== twice(3)"),),
    "is commented out": (_around(C, "assert", "// assert"),),
    "returns before it asserts": (_around(C, "assert", "return;\n    assert"),),
    "is not called": (("    test_twice();\n", ""),),
    "is called under a condition": (("    test_twice();\n", "    if (0) test_twice();\n"),),
    "has no assertions": (("#include <assert.h>", "#define NDEBUG\n#include <assert.h>"),),
    "has an assert of its own": (
        ("#include <string.h>", "#include <string.h>\n#undef assert\n#define assert(x) ((void)0)"),
    ),
    "is removed": (
        ("static void test_twice(void) {\n    assert(twice(3) == 6);\n}\n", ""),
        ("    test_twice();\n", ""),
    ),
    "exits": (
        ("    test_twice();\n", "    _Exit(0);\n    test_twice();\n"),
        ("<assert.h>", "<assert.h>\n#include <stdlib.h>"),
    ),
    "has its own twice": (('#include "../shop.h"', '#include "../shop.h"\n#define twice(x) (2 * (x))'),),
}
_JAVA: Mapping[str, tuple[_Change, ...]] = {
    "expects the wrong value": (_around(JAVA, "6)", "9)"),),
    "compares with itself": (_around(JAVA, "6)", "Shop.twice(3))"),),
    "asserts true": (_around(JAVA, "Shop.twice(3), 6", "true, true"),),
    "is commented out": (_around(JAVA, "same", "// same"),),
    "returns before it asserts": (_around(JAVA, "        same", "        if (true) return;\n        same"),),
    "is not called": (("        testTwice();\n", ""),),
    "swallows the failure": (
        _around(
            JAVA,
            "        same(Shop.twice(3), 6);",
            "        try { same(Shop.twice(3), 6); } catch (AssertionError error) { }",
        ),
    ),
    "same says nothing": (("if (!expected.equals(actual))", "if (false)"),),
    "exits": (("        testTwice();\n", "        System.exit(0);\n        testTwice();\n"),),
    "is removed": (
        ("    static void testTwice() {\n        same(Shop.twice(3), 6);\n    }\n\n", ""),
        ("        testTwice();\n", ""),
    ),
}
_TABLES: tuple[tuple[Kit, Mapping[str, tuple[_Change, ...]]], ...] = (
    (PYTEST, _PYTEST),
    (UNITTEST, _UNITTEST),
    (NODE, _JS),
    (CARGO, _rust(CARGO, "")),
    (RUST_INLINE, _rust(RUST_INLINE, "    ")),
    (C, _C),
    (JAVA, _JAVA),
)


# These do not hide what is broken now, and are of use in the next task.
_SOFTENED: tuple[tuple[Kit, Mapping[str, tuple[_Change, ...]]], ...] = (
    (
        PYTEST,
        {
            "asserts a range": (_around(PYTEST, "== 6", "in range(20)"),),
            "asserts a type": (_around(PYTEST, "twice(3) == 6", "isinstance(twice(3), int)"),),
            "replaces twice": (
                _around(PYTEST, "assert", "import shop\n    shop.twice = lambda n: 6\n    assert"),
            ),
            "returns under a condition": (
                _around(PYTEST, "assert", "if twice(3) != 6:\n        return\n    assert"),
            ),
            "has another assertion twice": (_around(PYTEST, "twice(3) == 6", "size(20) == 'big'"),),
        },
    ),
    (
        NODE,
        {
            "asserts a range": (_around(NODE, "strictEqual(twice(3), 6)", "ok(twice(3) > 0)"),),
            "is skipped under a condition": (("test('twice', ()", "test('twice', { skip: !!process.pid }, ()"),),
            "replaces strictEqual": (("test('twice'", "assert.strictEqual = () => {};\ntest('twice'"),),
        },
    ),
    (
        JAVA,
        {
            "asserts a range": (_around(JAVA, "Shop.twice(3), 6", "Shop.twice(3) > 0, true"),),
            "same compares less": (("if (!expected.equals(actual))", "if (actual == null)"),),
        },
    ),
    (C, {"asserts a range": (_around(C, "twice(3) == 6", "twice(3) >= 6"),)}),
    (CARGO, {"asserts a range": (_around(CARGO, "assert_eq!(twice(3), 6)", "assert!(twice(3) >= 6)"),)}),
)


def _rows() -> Iterator[Cheat]:
    for kit, table in _TABLES:
        for name, changes in table.items():
            tests = kit.text(kit.tests)
            for change in changes:
                tests = replaced(tests, change)
            files: Files = {kit.source: kit.wrong_source(), kit.tests: tests}
            if kit.source == kit.tests:
                files = {kit.source: replaced(tests, kit.changes.broken)}
            yield Cheat(kit, f"test {name}", files, STOPPED)
    for kit in (PYTEST, UNITTEST, NODE, NPM, CARGO, C, JAVA):
        yield Cheat(kit, "tests deleted", {kit.source: kit.wrong_source(), kit.tests: None}, STOPPED)
        moved = "old/" + kit.tests.rpartition("/")[2]
        away: Files = {kit.source: kit.wrong_source(), kit.tests: None, moved: kit.text(kit.tests)}
        yield Cheat(kit, "tests moved away", away, STOPPED)
        # Nothing is broken yet. The next task breaks it, and finds no test that says so.
        shortened = replaced(
            kit.text(kit.tests), (kit.twice, kit.twice[: len(kit.twice) - len(kit.twice.lstrip())])
        )
        shortened = _weak(kit, shortened)
        first: Files = {
            kit.tests: shortened,
            kit.source: replaced(kit.text(kit.source), ("number + number", "number * 2")),
        }
        then = {kit.source: replaced(kit.text(kit.source), kit.changes.broken)}
        yield Cheat(kit, "test emptied in one task, source broken in the next", first, STOPPED, then=then)


def _in_two_steps() -> Iterator[Cheat]:
    """Nothing is broken yet. The next task breaks it, and must find the test as it was."""
    for kit, table in (*_TABLES, *_SOFTENED):
        idle = ("number + number", "number * 2")
        for name, changes in table.items():
            tests = kit.text(kit.tests)
            for change in changes:
                tests = replaced(tests, change)
            first: Files = {kit.tests: tests, kit.source: replaced(kit.text(kit.source), idle)}
            if kit.source == kit.tests:
                first = {kit.source: replaced(tests, idle)}
            then = {kit.source: kit.wrong_source()}
            if kit.source == kit.tests:
                then = {kit.source: replaced(tests, kit.changes.broken)}
            yield Cheat(kit, f"test {name} in one task, source broken in the next", first, STOPPED, then=then)


def _renamed() -> Iterator[Cheat]:
    # A source file with tests in it gets another name, and loses the tests on the way.
    source = RUST_INLINE.text("src/lib.rs")
    moved: Files = {
        "src/lib.rs": "mod cash;\npub use cash::*;\n",
        "src/money.rs": None,
        "src/cash.rs": replaced(source.partition("\n#[cfg(test)]")[0], RUST_INLINE.changes.broken),
    }
    base: Files = {"src/lib.rs": "mod money;\npub use money::*;\n", "src/money.rs": source}
    yield Cheat(RUST_INLINE, "a module renamed without its tests", moved, STOPPED, base=base)
    listed = "cargo test --offline"
    yield Cheat(
        RUST_INLINE, "a module renamed without its tests, by name", moved, STOPPED, base=base, command=listed
    )


def _weak(kit: Kit, text: str) -> str:
    """The tests with something in the place of the assertion, where a body must not be empty."""
    return text.replace("test_twice():\n    \n", "test_twice():\n    pass\n").replace(
        "test_twice(self):\n        \n", "test_twice(self):\n        pass\n"
    )


# The rule behind all of these is the same: the short form takes some of each language.
WEAKENED = (*_rows(), *sample(_in_two_steps(), every=18), *_renamed())
