"""Projects of Python and JavaScript, each with a check that is green; and all projects."""

from __future__ import annotations

from tests.evidence.plant.compiled_projects import COMPILED_PROJECTS
from tests.evidence.plant.runners import SampleProject

from samuel.evidence.plant.planted import CalledRunner

SHOP_PY = "def total(a, b):\n    return a + b\n"
CART_CJS = "exports.total = (a, b) => a + b;\n"
CART_ESM = "export const total = (a, b) => a + b;\n"
MODULE = '{"type": "module"}\n'

PROJECTS = {
    "pytest": SampleProject(
        CalledRunner("pytest", ("-m", "pytest", "-q", "-p", "no:cacheprovider")),
        "python -m pytest -q -p no:cacheprovider",
        {
            "shop.py": SHOP_PY,
            "tests/test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total(1, 2) == 3\n",
            "tests/test_other.py": "def test_other():\n    assert 'a'.upper() == 'A'\n",
            "conftest.py": "",
        },
        variables={"PYTEST_ADDOPTS": "--junitxml={report}"},
    ),
    "unittest": SampleProject(
        CalledRunner("unittest", ("-m", "unittest")),
        "python -m unittest",
        {
            "shop.py": SHOP_PY,
            "test_shop.py": "import unittest\n\nimport shop\n\n\nclass ShopTest(unittest.TestCase):\n"
            "    def test_total(self):\n        self.assertEqual(shop.total(1, 2), 3)\n\n\n"
            "if __name__ == '__main__':\n    unittest.main()\n",
        },
    ),
    "unittest file": SampleProject(
        CalledRunner("unittest", ("test_shop.py",)),
        "python test_shop.py",
        {
            "shop.py": SHOP_PY,
            "test_shop.py": "import unittest\n\nimport shop\n\n\nclass ShopTest(unittest.TestCase):\n"
            "    def test_total(self):\n        self.assertTrue(shop.total(1, 2) == 3)\n\n\n"
            "if __name__ == '__main__':\n    unittest.main()\n",
        },
    ),
    "node cjs": SampleProject(
        CalledRunner("node-test", ("--test",)),
        "node --test",
        {
            "cart.js": CART_CJS,
            "test/cart.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\n"
            "const { total } = require('../cart.js');\n\ntest('adds', () => {\n"
            "  assert.strictEqual(total(1, 2), 3);\n  assert.deepEqual([total(1, 1)], [2]);\n});\n",
        },
        ("node",),
    ),
    "node esm": SampleProject(
        CalledRunner("node-test", ("--test",)),
        "node --test",
        {
            "package.json": MODULE,
            "cart.js": CART_ESM,
            "test/cart.test.js": "import { describe, it } from 'node:test';\n"
            "import { strictEqual } from 'node:assert/strict';\nimport { total } from '../cart.js';\n\n"
            "describe('cart', () => {\n  it('adds', () => {\n    strictEqual(total(1, 2), 3);\n  });\n});\n",
        },
        ("node",),
    ),
    "jest": SampleProject(
        CalledRunner("jest", ("--ci",)),
        "jest --ci",
        {
            "package.json": "{}\n",
            "cart.js": CART_CJS,
            "cart.test.js": "const { total } = require('./cart');\n\ndescribe('cart', () => {\n"
            "  test('adds', () => {\n    expect(total(1, 2)).toBe(3);\n"
            "    expect([total(1, 2)]).toEqual([3]);\n  });\n});\n",
            "other.test.js": "test('other', () => {\n  expect('a'.toUpperCase()).toBe('A');\n});\n",
        },
        ("node", "npm:jest"),
    ),
    "vitest": SampleProject(
        CalledRunner("vitest", ("run",)),
        "vitest run",
        {
            "package.json": MODULE,
            "cart.ts": "export const total = (a: number, b: number): number => a + b;\n",
            "cart.test.ts": "import { expect, it } from 'vitest';\nimport { total } from './cart';\n\n"
            "it('adds', () => {\n  expect(total(1, 2)).toBe(3);\n});\n",
        },
        ("node", "npm:vitest"),
    ),
    "mocha": SampleProject(
        CalledRunner("mocha", ()),
        "mocha",
        {
            "cart.js": CART_CJS,
            "test/cart.js": "const assert = require('node:assert');\nconst { total } = require('../cart');\n\n"
            "describe('cart', function () {\n  it('adds', function () {\n    assert.equal(total(1, 2), 3);\n"
            "    assert(total(1, 1) === 2);\n  });\n});\n",
        },
        ("node", "npm:mocha"),
    ),
    "ava": SampleProject(
        CalledRunner("ava", ()),
        "ava",
        {
            "package.json": MODULE,
            "cart.js": CART_ESM,
            "test/cart.js": "import test from 'ava';\nimport { total } from '../cart.js';\n\n"
            "test('adds', t => {\n  t.is(total(1, 2), 3);\n});\n",
        },
        ("node", "npm:ava"),
    ),
    "tape": SampleProject(
        CalledRunner("tape", ("test/*.js",)),
        "tape 'test/*.js'",
        {
            "cart.js": CART_CJS,
            "test/cart.js": "var test = require('tape');\nvar cart = require('../cart');\n\n"
            "test('adds', function (t) {\n    t.equal(cart.total(1, 2), 3);\n    t.end();\n});\n",
        },
        ("node", "npm:tape"),
    ),
    "uvu": SampleProject(
        CalledRunner("uvu", ("tests",)),
        "uvu tests",
        {
            "cart.js": CART_CJS,
            "tests/cart.js": "const { test } = require('uvu');\nconst assert = require('uvu/assert');\n"
            "const { total } = require('../cart');\n\ntest('adds', () => {\n  assert.is(total(1, 2), 3);\n});\n\n"
            "test.run();\n",
        },
        ("node", "npm:uvu"),
    ),
    "jasmine": SampleProject(
        CalledRunner("jasmine", ()),
        "jasmine 'spec/*.js'",
        {
            "cart.js": CART_CJS,
            "spec/cart.spec.js": "const { total } = require('../cart');\n\ndescribe('cart', () => {\n"
            "  it('adds', () => {\n    expect(total(1, 2)).toBe(3);\n  });\n});\n",
        },
        ("node", "npm:jasmine"),
    ),
    "plain node": SampleProject(
        CalledRunner(""),
        "node test/run.js",
        {
            "cart.js": CART_CJS,
            "test/run.js": "const assert = require('assert');\nconst { total } = require('../cart');\n"
            "assert.strictEqual(total(1, 2), 3);\n",
        },
        ("node",),
        calls=(),
    ),
    **COMPILED_PROJECTS,
}
