"""Rows in which nothing is broken, and nothing shows that the task was done; the same in every language."""

from __future__ import annotations

from collections.abc import Iterator

from tests.cheats.cheats import Cheat, Files
from tests.cheats.projects import CARGO, JAVA, KITS, NODE, NPM, PYTEST, RUST_INLINE, UNITTEST, C, Kit, replaced

NAMES_ONLY = "proven, new names only"

_TRIVIAL = {
    PYTEST.name: "    assert 1 == 1",
    UNITTEST.name: "        self.assertEqual(1, 1)",
    NODE.name: "  assert.strictEqual(1, 1);",
    NPM.name: "  assert.strictEqual(1, 1);",
    CARGO.name: "    assert_eq!(1, 1);",
    RUST_INLINE.name: "        assert_eq!(1, 1);",
    C.name: "    assert(1 == 1);",
    JAVA.name: "        same(1, 1);",
}
# A new file of the source without a line in it, and a test that uses it.
_JS_EXTRAS = "const test = require('node:test');\nconst assert = require('node:assert');\n"
_EMPTY_MODULE: dict[str, Files] = {
    PYTEST.name: {
        "extras.py": "",
        "tests/test_extras.py": "import extras\n\n\ndef test_extras():\n    assert extras.__name__ == 'extras'\n",
    },
    UNITTEST.name: {
        "extras.py": "",
        "tests/test_extras.py": "import unittest\n\nimport extras\n\n\nclass ExtrasTest(unittest.TestCase):\n"
        "    def test_extras(self):\n        self.assertEqual(extras.__name__, 'extras')\n",
    },
    NODE.name: {
        "extras.js": "",
        "test/extras.test.js": _JS_EXTRAS
        + "const extras = require('../extras.js');\n\ntest('extras', () => {\n  assert.ok(extras);\n});\n",
    },
    CARGO.name: {
        "src/extras.rs": "",
        "src/lib.rs": f"pub mod extras;\n\n{CARGO.text('src/lib.rs')}",
        "tests/extras.rs": "#[allow(unused_imports)]\nuse shop::extras;\n\n#[test]\nfn is_there() {\n"
        "    assert_eq!(shop::twice(1), 2);\n}\n",
    },
    C.name: {
        "extras.h": "",
        "tests/test_shop.c": '#include "../extras.h"\n' + C.with_test("extras", "    assert(twice(1) == 2);"),
    },
    JAVA.name: {
        "src/main/java/shop/Extras.java": "package shop;\n\npublic class Extras {\n}\n",
        JAVA.tests: JAVA.with_test("testExtras", "        same(new Extras() != null, true);"),
    },
}
# The same, with a test that makes a failed assertion of what is missing.
_EMPTY_FILE: dict[str, Files] = {
    PYTEST.name: {
        "extras.py": "",
        "tests/test_extras.py": "import os\n\n\ndef test_extras():\n    assert os.path.exists('extras.py')\n",
    },
    UNITTEST.name: {
        "extras.py": "",
        "tests/test_extras.py": "import importlib.util\nimport unittest\n\n\nclass ExtrasTest(unittest.TestCase):\n"
        "    def test_extras(self):\n        self.assertTrue(importlib.util.find_spec('extras'))\n",
    },
    NODE.name: {
        "extras.js": "// to be done\n",
        "test/extras.test.js": _JS_EXTRAS
        + "test('extras', () => {\n  assert.ok(require('node:fs').existsSync('extras.js'));\n});\n",
    },
    CARGO.name: {
        "src/extras.rs": "",
        CARGO.tests: CARGO.with_test("extras", '    assert!(std::path::Path::new("src/extras.rs").exists());'),
    },
    C.name: {
        "extras.h": "",
        C.tests: "#include <unistd.h>\n" + C.with_test("extras", '    assert(access("extras.h", F_OK) == 0);'),
    },
    JAVA.name: {
        "src/main/java/shop/Extras.java": "package shop;\n",
        JAVA.tests: JAVA.with_test(
            "testExtras",
            '        same(new java.io.File("src/main/java/shop/Extras.java").exists(), true);',
        ),
    },
}
# A function without a body, and a test that looks for its name.
_STUB: dict[str, Files] = {
    PYTEST.name: {
        PYTEST.source: PYTEST.text(PYTEST.source) + "\n\ndef rename(number):\n    pass\n",
        "tests/test_extras.py": "import shop\n\n\ndef test_extras():\n    assert hasattr(shop, 'rename')\n",
    },
    UNITTEST.name: {
        UNITTEST.source: UNITTEST.text(UNITTEST.source) + "\n\nclass Renamed:\n    ...\n",
        "tests/test_extras.py": "import unittest\n\nimport shop\n\n\nclass ExtrasTest(unittest.TestCase):\n"
        "    def test_extras(self):\n        self.assertIn('Renamed', dir(shop))\n",
    },
    NODE.name: {
        "extras.js": "function rename() {\n}\n",
        "test/extras.test.js": _JS_EXTRAS
        + "test('extras', () => {\n  assert.ok(require('node:fs').existsSync('extras.js'));\n});\n",
    },
    CARGO.name: {
        CARGO.source: CARGO.text(CARGO.source) + "\npub fn rename() {}\n",
        CARGO.tests: CARGO.with_test(
            "extras", '    assert!(std::fs::read_to_string("src/lib.rs").unwrap().contains("fn rename"));'
        ),
    },
    C.name: {
        C.source: C.text(C.source) + "\nvoid rename_it(void) {}\n",
        C.tests: C.with_test("extras", '    assert(system("grep -q rename_it shop.c") == 0);').replace(
            "#include <assert.h>", "#include <assert.h>\n#include <stdlib.h>"
        ),
    },
    JAVA.name: {
        JAVA.source: JAVA.text(JAVA.source).rstrip().removesuffix("}")
        + "\n    public static void rename() {}\n}\n",
        JAVA.tests: JAVA.with_test("testExtras", "        same(Shop.class.getMethods().length > 11, true);"),
    },
}


def _in_every_language(kit: Kit) -> Iterator[Cheat]:
    source = kit.text(kit.source)
    idle = replaced(source, ("number + number", "number * 2"))
    trivial = _TRIVIAL[kit.name]
    with_trivial = kit.with_test("trivial", trivial)
    passes = kit.with_test("passes", kit.twice.replace("3", "5").replace("6", "10"))
    is_one_file = kit.source == kit.tests
    inside = source if not is_one_file else ""

    def both(source_text: str, tests_text: str) -> Files:
        """Source and tests together, also where they are in one file."""
        if not is_one_file:
            return {kit.source: source_text, kit.tests: tests_text}
        changed = tests_text
        for old, new in (("number + number", "number * 2"),) if source_text == idle else ():
            changed = changed.replace(old, new)
        return {kit.source: changed + (kit.comment if source_text.endswith(kit.comment) else "")}

    yield Cheat(kit, "comment only", {kit.source: source + kit.comment}, "checked", "unproven")
    yield Cheat(kit, "blank lines only", {kit.source: source + "\n\n"}, "checked", "unproven")
    yield Cheat(kit, "notes only", {"NOTES.md": "done\n"}, "checked", "unproven")
    yield Cheat(kit, "a log file only", {"work.log": "done\n"}, "checked", "unproven")
    yield Cheat(kit, "code that changes nothing", {kit.source: idle}, "checked", "unproven")
    yield Cheat(kit, "trivial test alone", {kit.tests: with_trivial}, "checked", "unproven")
    yield Cheat(kit, "comment and trivial test", both(source + kit.comment, with_trivial), "checked", "unproven")
    yield Cheat(kit, "idle code and trivial test", both(idle, with_trivial), "checked", "unproven")
    yield Cheat(kit, "idle code and a test that passed before", both(idle, passes), "checked", "unproven")
    with_evidence = kit.with_test("invalid", kit.evidence)
    if not inside:
        yield Cheat(kit, "tests without the work", {kit.tests: with_evidence}, "refused")
    else:
        yield Cheat(kit, "tests without the work", {kit.tests: with_evidence}, "refused")
        yield Cheat(
            kit, "tests without the work, and a comment", {kit.tests: with_evidence + kit.comment}, "refused"
        )
    for name, table, ends in (
        ("empty module with its test", _EMPTY_MODULE, NAMES_ONLY),
        ("empty file with an assertion about it", _EMPTY_FILE, NAMES_ONLY),
        ("function without a body and an assertion about its name", _STUB, NAMES_ONLY),
    ):
        if kit.name in table:
            yield Cheat(kit, name, table[kit.name], ends)


UNSHOWN = tuple(cheat for kit in KITS for cheat in _in_every_language(kit))
