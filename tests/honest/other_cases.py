"""Honest work in projects in C with make, JavaScript, Rust and Java with make."""

from __future__ import annotations

from tests.honest.case import Case, Project, append, replace, write

C = Project(
    {
        "src/roman.h": "int roman_read(const char *text);\n",
        "src/roman.c": '#include "roman.h"\n\nint roman_read(const char *text) {\n    int sum = 0;\n'
        "    for (; *text; text++) sum += *text == 'I' ? 1 : *text == 'V' ? 5 : 0;\n    return sum;\n}\n",
        "tests/test_roman.c": '#include <assert.h>\n#include "../src/roman.h"\n\nint main(void) {\n'
        '    assert(roman_read("I") == 1);\n    assert(roman_read("VI") == 6);\n    return 0;\n}\n',
        "tests/table.txt": "one 1\ntwo 2\n",
        "src/table.c": "#include <stdio.h>\n\n"
        'int main(void) {\n    puts("one 1");\n    puts("two 2");\n    return 0;\n}\n',
        "Makefile": "CC = cc\nSOURCES = src/roman.c\nbuild/libroman.a: $(SOURCES)\n\tmkdir -p build\n"
        "\tcd build && $(CC) -c $(addprefix ../,$(SOURCES))\n\trm -f $@\n"
        "\tar rcs $@ $(patsubst src/%.c,build/%.o,$(SOURCES))\n\n"
        "test: build/libroman.a\n\t$(CC) -o build/test_roman tests/test_roman.c build/libroman.a\n"
        "\t./build/test_roman\n"
        "\t$(CC) -o build/table src/table.c\n\t./build/table | diff - tests/table.txt\n\n.PHONY: test\n",
        ".gitignore": "build/\n",
    },
    "make test",
    ("make", "cc", "ar", "perl"),
)
C_TEST, TABLE = "tests/test_roman.c", "tests/table.txt"
TENS = replace("*text == 'V' ? 5 : 0", "*text == 'V' ? 5 : *text == 'X' ? 10 : 0", "src/roman.c")
TENS_TEST = replace(
    'assert(roman_read("I") == 1);', 'assert(roman_read("I") == 1);\n    assert(roman_read("X") == 10);', C_TEST
)
MAX = (
    write("src/max.c", "int roman_max(void) {\n    return 3999;\n}")
    + replace(
        "int roman_read(const char *text);",
        "int roman_read(const char *text);\nint roman_max(void);",
        "src/roman.h",
    )
    + replace("SOURCES = src/roman.c", "SOURCES = src/roman.c src/max.c", "Makefile")
    + replace("    return 0;", "    assert(roman_max() == 3999);\n    return 0;", C_TEST)
)

NODE = Project(
    {
        "lib/cart.js": "exports.total = (items) => items.reduce((sum, item) => sum + item, 0);\n"
        "exports.format = (cents) => (cents / 100).toFixed(2);\n",
        "test/cart.test.js": "const { test } = require('node:test');\nconst assert = require('node:assert');\n"
        "const cart = require('../lib/cart.js');\n\n"
        "test('adds', () => {\n  assert.strictEqual(cart.total([1, 2]), 3);\n});\n\n"
        "test('formats', () => {\n  assert.strictEqual(cart.format(-1250), '-12.50');\n});\n",
        "package.json": '{\n  "name": "cart",\n  "version": "1.0.0",\n'
        '  "scripts": { "test": "node --test test/" }\n}\n',
        ".gitignore": "node_modules/\n",
    },
    "npm test --silent",
    ("node", "npm", "perl"),
)
JS, JS_TEST = "lib/cart.js", "test/cart.test.js"
COUNT = append(JS, "exports.count = (items) => items.length;")
COUNT_TEST = "\ntest('counts', () => {\n  assert.strictEqual(cart.count([1, 2]), 2);\n});"
COMMA = replace("(cents / 100).toFixed(2)", "(cents / 100).toFixed(2).replace('.', ',')", JS) + replace(
    "'-12.50'", "'-12,50'", JS_TEST
)

RUST = Project(
    {
        "Cargo.toml": '[package]\nname = "money"\nversion = "0.1.0"\nedition = "2021"\n\n[features]\n',
        "src/lib.rs": "pub fn cents(euros: i64) -> i64 {\n    euros * 100\n}\n\n"
        "#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
        "    #[test]\n    fn one() {\n        assert_eq!(cents(1), 100);\n    }\n}\n",
        "tests/book.rs": "#[test]\nfn two() {\n    assert_eq!(money::cents(2), 200);\n}\n",
        ".gitignore": "target/\nCargo.lock\n",
    },
    "cargo test --quiet --offline",
    ("cargo", "perl"),
)
LIB = "src/lib.rs"
EUROS = append(LIB, "\npub fn euros(cents: i64) -> i64 {\n    cents / 100\n}")
RUST_RENAME = replace("cents", "to_cents", LIB, "tests/book.rs")

JAVA = Project(
    {
        "src/main/java/shop/Prices.java": "package shop;\n\n"
        "public class Prices {\n    public static String show(long cents) {\n"
        '        return String.format(java.util.Locale.ROOT, "%.2f", cents / 100.0);\n    }\n}\n',
        "src/test/java/shop/PricesTest.java": "package shop;\n\n"
        "public class PricesTest {\n    static void same(String a, String b) {\n"
        '        if (!a.equals(b)) throw new AssertionError(a + " is not " + b);\n    }\n\n'
        '    public static void main(String[] arguments) {\n        same(Prices.show(1250), "12.50");\n    }\n}\n',
        "Makefile": "test:\n\tmkdir -p build\n\tjavac -d build $$(find src -name '*.java')\n"
        "\tjava -cp build shop.PricesTest\n.PHONY: test\n",
        ".gitignore": "build/\n",
    },
    "make test",
    ("make", "javac", "java", "perl"),
)
PRICES, PRICES_TEST = "src/main/java/shop/Prices.java", "src/test/java/shop/PricesTest.java"
EURO = replace('"%.2f", cents / 100.0)', '"%.2f EUR", cents / 100.0)', PRICES) + replace(
    '"12.50"', '"12.50 EUR"', PRICES_TEST
)

CASES = (
    Case("C: new source in the Makefile", C, "Add roman_max", MAX),
    Case("C: new assertion", C, "Support X", TENS + TENS_TEST, grade="proven"),
    Case(
        "C: only the source",
        C,
        "Tidy roman_read",
        replace("int sum = 0;", "int sum = 0; /* so far */", "src/roman.c"),
    ),
    Case(
        "C: rename",
        C,
        "Rename roman_read to roman_parse",
        replace("roman_read", "roman_parse", "src/roman.c", "src/roman.h", C_TEST),
    ),
    Case(
        "C: new target",
        C,
        "Add a target for cleaning",
        append("Makefile", "\nclean:\n\trm -rf build\n\n.PHONY: clean"),
        "sent back once",
    ),
    Case(
        "C: longer table",
        C,
        "Print three as well",
        replace('puts("two 2");', 'puts("two 2"); puts("three 3");', "src/table.c") + append(TABLE, "three 3"),
        "disputed",
    ),
    Case(
        "C: longer table that the task names",
        C,
        f"Print three as well, see {TABLE}",
        replace('puts("two 2");', 'puts("two 2"); puts("three 3");', "src/table.c") + append(TABLE, "three 3"),
    ),
    Case(
        "C: wrong expectation",
        C,
        "The expectation for two in the table is wrong: it is called deux",
        replace("two 2", "deux 2", "src/table.c", TABLE),
    ),
    Case(
        "C: nothing said",
        C,
        "roman_read counts V as 4",
        replace("? 5", "? 4", "src/roman.c") + replace("== 6", "== 5", C_TEST),
        "disputed",
    ),
    Case(
        "C: old build output",
        C,
        "Support X",
        TENS + TENS_TEST + "mkdir -p build\ntouch -d '+1 day' build/libroman.a\n",
    ),
    Case(
        "C: protected test that the task names",
        C,
        "Support X",
        TENS + TENS_TEST,
        settings='protect = ["tests/**"]',
        task={"files_to_modify": (C_TEST,)},
    ),
    Case(
        "node: new function",
        NODE,
        "Add count",
        COUNT + append(JS_TEST, COUNT_TEST),
        grade="proven, new names only",
    ),
    Case(
        "node: behaviour, tests in words", NODE, "Format with a comma, and adapt the tests", COMMA, grade="proven"
    ),
    Case(
        "node: behaviour, directory",
        NODE,
        "Format with a comma",
        COMMA,
        grade="proven",
        task={"files_to_modify": ("test/",)},
    ),
    Case("node: behaviour, nothing said", NODE, "Format with a comma", COMMA, "disputed"),
    Case("node: accident with a new test", NODE, "Add count", COUNT + append(JS_TEST, COUNT_TEST), fails_at=3),
    Case("node: accident", NODE, "Tidy the cart", replace("sum + item", "item + sum", JS), fails_at=2),
    Case(
        "node: dependency",
        NODE,
        "Add a dependency",
        replace('"version": "1.0.0",', '"version": "1.0.0",\n  "dependencies": {},', "package.json"),
    ),
    Case(
        "node: script",
        NODE,
        "Add a script that prints the version",
        replace(
            '"test": "node --test test/"', '"test": "node --test test/", "about": "node --version"', "package.json"
        ),
        "sent back once",
    ),
    Case("node: version", NODE, "Release 1.0.1", replace('"1.0.0"', '"1.0.1"', "package.json")),
    Case(
        "node: tests moved",
        NODE,
        "Split the tests of the cart",
        write(
            "test/format.test.js",
            "const { test } = require('node:test');\nconst assert = require('node:assert');\n"
            "const cart = require('../lib/cart.js');\n\n"
            "test('formats', () => {\n  assert.strictEqual(cart.format(-1250), '-12.50');\n});",
        )
        + replace(
            "test('formats', () => {\n  assert.strictEqual(cart.format(-1250), '-12.50');\n});\n", "", JS_TEST
        ),
    ),
    Case(
        "node: module moved",
        NODE,
        "Move lib/cart.js to lib/shop/cart.js",
        "mkdir -p lib/shop\ntest -f lib/shop/cart.js || mv lib/cart.js lib/shop/cart.js\nrm -f lib/cart.js\n"
        + replace("'../lib/cart.js'", "'../lib/shop/cart.js'", JS_TEST),
    ),
    Case("Rust: rename", RUST, "Rename cents to to_cents", RUST_RENAME),
    Case(
        "Rust: rename, files",
        RUST,
        "cents is called to_cents",
        RUST_RENAME,
        task={"files_to_modify": (LIB, "tests/book.rs")},
    ),
    Case(
        "Rust: test beside the source",
        RUST,
        "Add euros",
        EUROS
        + replace(
            "    #[test]\n    fn one()",
            "    #[test]\n    fn back() {\n        assert_eq!(euros(100), 1);\n    }\n\n    #[test]\n    fn one()",
            LIB,
        ),
        grade="proven, new names only",
    ),
    Case(
        "Rust: fix",
        RUST,
        "Fix the cents of negative amounts",
        replace("euros * 100", "euros.abs() * 100", LIB)
        + append("tests/book.rs", "\n#[test]\nfn negative() {\n    assert_eq!(money::cents(-1), 100);\n}"),
        grade="proven",
    ),
    Case(
        "Rust: feature of cargo",
        RUST,
        "Set up the boilerplate of a feature `std`",
        append("Cargo.toml", "std = []"),
    ),
    Case("Rust: version", RUST, "Release 0.1.1", replace('version = "0.1.0"', 'version = "0.1.1"', "Cargo.toml")),
    Case(
        "Java: new test",
        JAVA,
        "Show negative prices",
        append(PRICES, "// Negative prices have a sign.")
        + replace(
            'same(Prices.show(1250), "12.50");',
            'same(Prices.show(1250), "12.50");\n        same(Prices.show(-5), "-0.05");',
            PRICES_TEST,
        ),
        "sent back once",
    ),
    Case("Java: behaviour, tests in words", JAVA, "Show the currency, and update the tests", EURO, grade="proven"),
    Case("Java: nothing said", JAVA, "Show the currency", EURO, "disputed"),
    Case(
        "Java: new class",
        JAVA,
        "Refactor the formatting",
        write("src/main/java/shop/Money.java", "package shop;\n\nfinal class Money {\n}"),
    ),
)
