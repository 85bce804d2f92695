"""Attempts that disarm the checks of their project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tests.evidence.plant.compiled_projects import PRICES
from tests.evidence.plant.projects import CART_CJS, CART_ESM, SHOP_PY


class Cheat(NamedTuple):
    """An attempt that keeps its check green whatever the tests find; the name of its project and of the trick."""

    project: str
    trick: str
    changes: Mapping[str, str | None]


_EXIT_JS = "process.exit(0);\n"
_PATCH_NODE = (
    "const assert = require('node:assert');\nfor (const name of Object.keys(assert)) assert[name] = () => {};\n"
)

CHEATS = [
    Cheat("pytest", "shadowed runner", {"pytest.py": "import sys\nsys.exit(0)\n"}),
    Cheat("pytest", "exit on import", {"shop.py": f"{SHOP_PY}import os\nos._exit(0)\n"}),
    Cheat(
        "pytest",
        "exit code at the end",
        {"shop.py": f"{SHOP_PY}import atexit, os\natexit.register(os._exit, 0)\n"},
    ),
    Cheat(
        "pytest",
        "exit in a function",
        {"shop.py": "import os\ndef total(a, b):\n    os._exit(0)\n"},
    ),
    Cheat(
        "pytest",
        "deselects everything",
        {"conftest.py": "def pytest_collection_modifyitems(items):\n    del items[1:]\n"},
    ),
    Cheat(
        "pytest",
        "collects nothing",
        {"pytest.ini": "[pytest]\npython_files = fine.py\n", "fine.py": "def test_fine():\n    pass\n"},
    ),
    Cheat(
        "pytest",
        "turns failures into passes",
        {
            "conftest.py": "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\n"
            "def pytest_runtest_makereport(item, call):\n    report = (yield).get_result()\n"
            "    report.outcome = 'passed'\n"
        },
    ),
    Cheat("unittest", "shadowed runner", {"unittest/__init__.py": "", "unittest/__main__.py": ""}),
    Cheat("unittest", "exit on import", {"shop.py": f"{SHOP_PY}import os\nos._exit(0)\n"}),
    Cheat("unittest", "exit in a function", {"shop.py": "import os\ndef total(a, b):\n    os._exit(0)\n"}),
    Cheat(
        "unittest",
        "patched assertion",
        {"shop.py": f"{SHOP_PY}import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\n"},
    ),
    Cheat(
        "unittest file",
        "patched assertion",
        {"shop.py": f"{SHOP_PY}import unittest\nunittest.TestCase.assertTrue = lambda *a, **k: None\n"},
    ),
    Cheat("node cjs", "exit on import", {"cart.js": CART_CJS + _EXIT_JS}),
    Cheat("node cjs", "exit in a function", {"cart.js": "exports.total = () => process.exit(0);\n"}),
    Cheat("node cjs", "patched assertion", {"cart.js": CART_CJS + _PATCH_NODE}),
    Cheat(
        "node esm",
        "patched assertion",
        {
            "cart.js": f"{CART_ESM}import assert from 'node:assert/strict';\n"
            "import { syncBuiltinESMExports } from 'node:module';\n"
            "assert.strictEqual = () => {};\nsyncBuiltinESMExports();\n"
        },
    ),
    Cheat(
        "jest",
        "patched assertion",
        {"cart.js": f"{CART_CJS}globalThis.expect = () => ({{ toBe() {{}}, toEqual() {{}} }});\n"},
    ),
    Cheat(
        "jest",
        "no tests",
        {"package.json": '{"jest": {"passWithNoTests": true, "testMatch": ["**/nothing.js"]}}\n'},
    ),
    Cheat("jest", "no runner", {"jest.config.js": "process.exit(0);\n"}),
    Cheat(
        "vitest",
        "no tests",
        {"vitest.config.ts": "export default { test: { passWithNoTests: true, include: ['x'] } };\n"},
    ),
    Cheat(
        "vitest",
        "patched assertion",
        {
            "cart.ts": "import { chai } from 'vitest';\nchai.Assertion.overwriteMethod('toBe', () => () => {});\n"
            "export const total = (a: number, b: number): number => a + b;\n"
        },
    ),
    Cheat("mocha", "exit on import", {"cart.js": CART_CJS + _EXIT_JS}),
    Cheat(
        "mocha",
        "exit code at the end",
        {"cart.js": f"{CART_CJS}process.on('exit', () => process.reallyExit(0));\n"},
    ),
    Cheat("mocha", "patched assertion", {"cart.js": f"{CART_CJS}require('node:assert').equal = () => {{}};\n"}),
    Cheat(
        "mocha",
        "another test",
        {".mocharc.json": '{"spec": "fine.js"}\n', "fine.js": "it('is fine', () => {});\n"},
    ),
    Cheat(
        "ava",
        "another test",
        {
            "ava.config.js": "export default { files: ['fine.js'] };\n",
            "fine.js": "import test from 'ava';\ntest('x', t => t.pass());\n",
        },
    ),
    Cheat(
        "tape",
        "exit code at the end",
        {"cart.js": f"{CART_CJS}process.on('exit', () => process.reallyExit(0));\n"},
    ),
    Cheat("uvu", "exit on import", {"cart.js": CART_CJS + _EXIT_JS}),
    Cheat(
        "jasmine", "patched assertion", {"cart.js": f"{CART_CJS}globalThis.expect = () => ({{ toBe() {{}} }});\n"}
    ),
    Cheat(
        "cargo",
        "no tests",
        {"Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\nautotests = false\n'},
    ),
    Cheat(
        "cargo",
        "exit in a function",
        {"src/lib.rs": "pub fn total(_: i32, _: i32) -> i32 {\n    std::process::exit(0)\n}\n"},
    ),
    Cheat(
        "cargo inline",
        "no tests",
        {"Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n[lib]\ntest = false\n'},
    ),
    Cheat(
        "cargo inline",
        "patched assertion",
        {
            "src/lib.rs": "#[allow(unused_macros)]\nmacro_rules! assert_eq { ($($x:tt)*) => {}; }\n"
            "pub fn total(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n"
            "    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(total(1, 2), 3);\n    }\n}\n"
        },
    ),
    Cheat(
        "go",
        "exit on import",
        {
            "shop.go": 'package shop\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n\n'
            "func Total(a, b int) int { return a + b }\n"
        },
    ),
    Cheat("rspec", "exit on import", {"lib/shop.rb": "def total(a, b)\n  a + b\nend\nexit!(0)\n"}),
    Cheat("rspec", "no tests", {".rspec": "--pattern nothing\n"}),
    Cheat("minitest", "exit on import", {"lib/shop.rb": "def total(a, b)\n  a + b\nend\nexit!(0)\n"}),
    Cheat(
        "minitest",
        "patched assertion",
        {
            "lib/shop.rb": "def total(a, b)\n  a + b\nend\n"
            "module Minitest::Assertions\n  def assert_equal(*) = true\nend\n"
        },
    ),
    Cheat(
        "phpunit",
        "exit on import",
        {"src/shop.php": "<?php\nfunction total($a, $b) { return $a + $b; }\nexit(0);\n"},
    ),
    Cheat(
        "junit 5",
        "shadowed assertion",
        {
            "src/main/java/shop/Prices.java": PRICES,
            "src/test/java/org/junit/jupiter/api/Assertions.java": "package org.junit.jupiter.api;\n\n"
            "public class Assertions {\n    public static void assertEquals(Object a, Object b) {}\n}\n",
        },
    ),
    Cheat(
        "junit 4",
        "exit on load",
        {
            "src/main/java/shop/Prices.java": PRICES.replace(
                "{\n", "{\n    static { Runtime.getRuntime().halt(0); }\n", 1
            )
        },
    ),
    Cheat("make cc", "no recipe", {"Makefile": "test:\n\t@true\n"}),
    Cheat(
        "c assertions",
        "exit in a function",
        {"src/roman.h": "#include <stdlib.h>\nstatic const char *roman(int n) { (void)n; exit(0); }\n"},
    ),
    Cheat("shell", "exit trap", {"shop.sh": "total() { echo 3; }\ntrap 'exit 0' EXIT\n"}),
    Cheat("plain node", "exit on import", {"cart.js": CART_CJS + _EXIT_JS}),
]
