"""One small shop in every language: the source, its tests, and how a check runs them.

`twice` and `size` are tested, and work. The task is to have `size` call negative numbers invalid. A row breaks
`twice`, or leaves the task undone, and hides that.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_UNUSED = ("hypothesispytest", "xdist", "xdist.looponfail", "samuel", "platformdirs", "cacheprovider")
LEAN_PYTEST = " ".join(f"-p no:{name}" for name in _UNUSED)
PYTHON = f"{sys.executable} -B"


class SourceChanges(NamedTuple):
    """What in the source is replaced by what."""

    broken: tuple[str, str]
    """So that `twice` is wrong."""
    solved: tuple[str, str]
    """So that the task is done."""
    hard_coded: tuple[str, str]
    """So that only the values of the tests come out right."""


class Kit(NamedTuple):
    """A language and its runner."""

    name: str
    command: str
    programs: tuple[str, ...]
    """What must be installed."""
    files: Mapping[str, str]
    source: str
    """The path of the source."""
    tests: str
    """The path of the tests."""
    twice: str
    """The assertion about `twice`, a line of the tests."""
    size: str
    """The same about `size`."""
    changes: SourceChanges
    evidence: str
    """The assertion that shows that the task is done."""
    comment: str
    case: str
    """A test with `{name}` and `{body}`."""
    before: str
    """The text of the tests before which a new test stands."""
    call: str = ""
    """What stands behind that text, to call the test `{name}`; "" where the runner finds it."""

    @property
    def is_here(self) -> bool:
        return all(map(shutil.which, self.programs))

    def text(self, path: str) -> str:
        return self.files[path]

    def wrong_source(self) -> str:
        return replaced(self.text(self.source), self.changes.broken)

    def solved_source(self) -> str:
        return replaced(self.text(self.source), self.changes.solved)

    def hard_coded_source(self) -> str:
        return replaced(self.text(self.source), self.changes.hard_coded)

    def with_test(self, name: str, body: str, text: str = "") -> str:
        """The tests with one more."""
        case = self.case.format(name=name, body=body)
        call = self.call.format(name=name)
        return replaced(text or self.text(self.tests), (self.before, f"{case}{self.before}{call}"))


def replaced(text: str, change: tuple[str, str]) -> str:
    old, new = change
    assert old in text, f"{old!r} is not in {text!r}"
    return text.replace(old, new)


# Python

_PYTHON_SOURCE = """\
def twice(number):
    return number + number


def size(number):
    if number > 10:
        return "big"
    return "small"
"""
_PYTHON_CHANGES = SourceChanges(
    broken=("return number + number", "return number * 3"),
    solved=("    if number > 10:", '    if number < 0:\n        return "invalid"\n    if number > 10:'),
    hard_coded=("    if number > 10:", '    if number == -4:\n        return "invalid"\n    if number > 10:'),
)
_PYTEST_TESTS = """\
from shop import size, twice


def test_twice():
    assert twice(3) == 6


def test_size():
    assert size(20) == "big"
    assert size(5) == "small"
"""
PYTEST = Kit(
    name="pytest",
    command=f"{PYTHON} -m pytest -q {LEAN_PYTEST}",
    programs=(),
    files={
        "shop.py": _PYTHON_SOURCE,
        "tests/test_shop.py": _PYTEST_TESTS,
        "tests/test_other.py": "def test_other():\n    assert len([1, 2]) == 2\n",
        "conftest.py": "",
        ".gitignore": "__pycache__/\n*.pyc\n.venv/\n",
    },
    source="shop.py",
    tests="tests/test_shop.py",
    twice="    assert twice(3) == 6",
    size='    assert size(20) == "big"',
    evidence='    assert size(-4) == "invalid"',
    comment="# done\n",
    case="def test_{name}():\n{body}\n\n\n",
    before="def test_size",
    changes=_PYTHON_CHANGES,
)
_UNITTEST_TESTS = """\
import unittest

from shop import size, twice


class ShopTest(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(twice(3), 6)

    def test_size(self):
        self.assertEqual(size(20), "big")
        self.assertEqual(size(5), "small")
"""
UNITTEST = Kit(
    name="unittest",
    command=f"{PYTHON} -S -m unittest discover -s tests -t .",
    programs=(),
    files={
        "shop.py": _PYTHON_SOURCE,
        "tests/__init__.py": "",
        "tests/test_shop.py": _UNITTEST_TESTS,
        ".gitignore": "__pycache__/\n*.pyc\n.venv/\n",
    },
    source="shop.py",
    tests="tests/test_shop.py",
    twice="        self.assertEqual(twice(3), 6)",
    size='        self.assertEqual(size(20), "big")',
    evidence='        self.assertEqual(size(-4), "invalid")',
    comment="# done\n",
    case="    def test_{name}(self):\n{body}\n\n",
    before="    def test_size",
    changes=_PYTHON_CHANGES,
)

# JavaScript

_JS_SOURCE = """\
'use strict';

function twice(number) {
  return number + number;
}

function size(number) {
  if (number > 10) return 'big';
  return 'small';
}

module.exports = { twice, size };
"""
_JS_TESTS = """\
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { twice, size } = require('../shop.js');

test('twice', () => {
  assert.strictEqual(twice(3), 6);
});

test('size', () => {
  assert.strictEqual(size(20), 'big');
  assert.strictEqual(size(5), 'small');
});
"""
_JS_PACKAGE = '{\n  "name": "shop",\n  "version": "1.0.0",\n  "scripts": {"test": "node --test"}\n}\n'
_NODE = Kit(
    name="node",
    command="node --test",
    programs=("node",),
    files={
        "shop.js": _JS_SOURCE,
        "test/shop.test.js": _JS_TESTS,
        "package.json": _JS_PACKAGE,
        ".gitignore": "node_modules/\n",
    },
    source="shop.js",
    tests="test/shop.test.js",
    twice="  assert.strictEqual(twice(3), 6);",
    size="  assert.strictEqual(size(20), 'big');",
    evidence="  assert.strictEqual(size(-4), 'invalid');",
    comment="// done\n",
    case="test('{name}', () => {{\n{body}\n}});\n\n",
    before="test('size'",
    changes=SourceChanges(
        broken=("return number + number;", "return number * 3;"),
        solved=("  if (number > 10)", "  if (number < 0) return 'invalid';\n  if (number > 10)"),
        hard_coded=("  if (number > 10)", "  if (number === -4) return 'invalid';\n  if (number > 10)"),
    ),
)
NODE = _NODE
NPM = _NODE._replace(name="npm", command="npm test --silent", programs=("node", "npm"))

# Rust

_CARGO = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
_RUST_SOURCE = """\
pub fn twice(number: i32) -> i32 {
    number + number
}

pub fn size(number: i32) -> &'static str {
    if number > 10 {
        return "big";
    }
    "small"
}
"""
_RUST_CASES = """\
#[test]
fn twice_doubles() {
    assert_eq!(twice(3), 6);
}

#[test]
fn size_has_words() {
    assert_eq!(size(20), "big");
    assert_eq!(size(5), "small");
}
"""
_RUST_CHANGES = SourceChanges(
    broken=("number + number", "number * 3"),
    solved=(
        "    if number > 10 {",
        '    if number < 0 {\n        return "invalid";\n    }\n    if number > 10 {',
    ),
    hard_coded=(
        "    if number > 10 {",
        '    if number == -4 {\n        return "invalid";\n    }\n    if number > 10 {',
    ),
)
CARGO = Kit(
    name="cargo",
    command="cargo test --offline --quiet",
    programs=("cargo",),
    files={
        "Cargo.toml": _CARGO,
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "shop"\nversion = "0.1.0"\n',
        "src/lib.rs": _RUST_SOURCE,
        "tests/shop.rs": f"use shop::{{size, twice}};\n\n{_RUST_CASES}",
        ".gitignore": "target/\n",
    },
    source="src/lib.rs",
    tests="tests/shop.rs",
    twice="    assert_eq!(twice(3), 6);",
    size='    assert_eq!(size(20), "big");',
    evidence='    assert_eq!(size(-4), "invalid");',
    comment="// done\n",
    case="#[test]\nfn {name}() {{\n{body}\n}}\n\n",
    before="#[test]\nfn size_has_words",
    changes=_RUST_CHANGES,
)
_INLINE = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
RUST_INLINE = CARGO._replace(
    name="rust inline",
    files={
        **{path: text for path, text in CARGO.files.items() if path != "tests/shop.rs"},
        "src/lib.rs": _RUST_SOURCE
        + _INLINE
        + "".join(f"    {line}\n" if line else "\n" for line in _RUST_CASES.splitlines())
        + "}\n",
    },
    tests="src/lib.rs",
    twice="        assert_eq!(twice(3), 6);",
    size='        assert_eq!(size(20), "big");',
    evidence='        assert_eq!(size(-4), "invalid");',
    case="    #[test]\n    fn {name}() {{\n{body}\n    }}\n\n",
    before="    #[test]\n    fn size_has_words",
)

# C

_C_SOURCE = """\
#include "shop.h"

int twice(int number) {
    return number + number;
}

const char *size(int number) {
    if (number > 10) return "big";
    return "small";
}
"""
_C_TESTS = """\
#include <assert.h>
#include <string.h>
#include "../shop.h"

static void test_twice(void) {
    assert(twice(3) == 6);
}

static void test_size(void) {
    assert(strcmp(size(20), "big") == 0);
    assert(strcmp(size(5), "small") == 0);
}

int main(void) {
    test_twice();
    test_size();
    return 0;
}
"""
_C_MAKEFILE = """\
CC = cc
SOURCES = shop.c

all: build/shop.o

build/shop.o: $(SOURCES) shop.h
\tmkdir -p build
\t$(CC) -c shop.c -o build/shop.o

test: all tests/test_shop.c
\t$(CC) tests/test_shop.c build/shop.o -o build/test_shop
\t./build/test_shop

.PHONY: all test
"""
C = Kit(
    name="c",
    command="make test",
    programs=("cc", "make"),
    files={
        "shop.c": _C_SOURCE,
        "shop.h": "int twice(int number);\nconst char *size(int number);\n",
        "tests/test_shop.c": _C_TESTS,
        "Makefile": _C_MAKEFILE,
        ".gitignore": "build/\n",
    },
    source="shop.c",
    tests="tests/test_shop.c",
    twice="    assert(twice(3) == 6);",
    size='    assert(strcmp(size(20), "big") == 0);',
    evidence='    assert(strcmp(size(-4), "invalid") == 0);',
    comment="/* done */\n",
    case="static void test_{name}(void) {{\n{body}\n}}\n\n",
    before="int main(void) {\n",
    call="    test_{name}();\n",
    changes=SourceChanges(
        broken=("return number + number;", "return number * 3;"),
        solved=("    if (number > 10)", '    if (number < 0) return "invalid";\n    if (number > 10)'),
        hard_coded=("    if (number > 10)", '    if (number == -4) return "invalid";\n    if (number > 10)'),
    ),
)

# Java

_JAVA_SOURCE = """\
package shop;

public class Shop {
    public static int twice(int number) {
        return number + number;
    }

    public static String size(int number) {
        if (number > 10) return "big";
        return "small";
    }
}
"""
_JAVA_TESTS = """\
package shop;

public class ShopTest {
    static void same(Object actual, Object expected) {
        if (!expected.equals(actual)) throw new AssertionError("expected " + expected + " but was " + actual);
    }

    static void testTwice() {
        same(Shop.twice(3), 6);
    }

    static void testSize() {
        same(Shop.size(20), "big");
        same(Shop.size(5), "small");
    }

    public static void main(String[] arguments) {
        testTwice();
        testSize();
        System.out.println("passed");
    }
}
"""
_JAVA_MAKEFILE = """\
test:
\tmkdir -p build
\tjavac -d build $$(find src -name '*.java')
\tjava -ea -cp build shop.ShopTest

.PHONY: test
"""
JAVA = Kit(
    name="java",
    command="make test",
    programs=("javac", "java", "make"),
    files={
        "src/main/java/shop/Shop.java": _JAVA_SOURCE,
        "src/test/java/shop/ShopTest.java": _JAVA_TESTS,
        "Makefile": _JAVA_MAKEFILE,
        ".gitignore": "build/\n",
    },
    source="src/main/java/shop/Shop.java",
    tests="src/test/java/shop/ShopTest.java",
    twice="        same(Shop.twice(3), 6);",
    size='        same(Shop.size(20), "big");',
    evidence='        same(Shop.size(-4), "invalid");',
    comment="// done\n",
    case="    static void {name}() {{\n{body}\n    }}\n\n",
    before="    public static void main(String[] arguments) {\n",
    call="        {name}();\n",
    changes=SourceChanges(
        broken=("return number + number;", "return number * 3;"),
        solved=("        if (number > 10)", '        if (number < 0) return "invalid";\n        if (number > 10)'),
        hard_coded=(
            "        if (number > 10)",
            '        if (number == -4) return "invalid";\n        if (number > 10)',
        ),
    ),
)

KITS = (PYTEST, UNITTEST, NODE, NPM, CARGO, RUST_INLINE, C, JAVA)

# Runners of JavaScript that are packages: tests/system.sh installs them once, outside of any project.

PACKAGES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "samuel-node-packages")
_BIN = PACKAGES / "node_modules/.bin"
_EXPECTING = """\
test('twice', () => {
  expect(twice(3)).toBe(6);
});

test('size', () => {
  expect(size(20)).toBe('big');
  expect(size(5)).toBe('small');
});
"""
JEST = _NODE._replace(
    name="jest",
    command=f"{_BIN}/jest",
    programs=("node", f"{_BIN}/jest"),
    files={
        **_NODE.files,
        "test/shop.test.js": f"const {{ twice, size }} = require('../shop.js');\n\n{_EXPECTING}",
    },
    twice="  expect(twice(3)).toBe(6);",
    size="  expect(size(20)).toBe('big');",
    evidence="  expect(size(-4)).toBe('invalid');",
)
_MODULE = _JS_SOURCE.removeprefix("'use strict';\n\n").partition("\nmodule.exports")[0]
VITEST = JEST._replace(
    name="vitest",
    command=f"{_BIN}/vitest run --globals",
    programs=("node", f"{_BIN}/vitest"),
    files={
        **_NODE.files,
        "shop.js": _MODULE.replace("function", "export function"),
        "test/shop.test.js": f"import {{ twice, size }} from '../shop.js';\n\n{_EXPECTING}",
        "package.json": _JS_PACKAGE.replace('"scripts"', '"type": "module",\n  "scripts"'),
    },
)
