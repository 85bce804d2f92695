"""Projects of compiled languages, Ruby, PHP and shell, each with a check that is green."""

from __future__ import annotations

from tests.evidence.plant.runners import SampleProject

from samuel.evidence.plant.planted import CalledRunner

# Where Debian's junit4, junit5 and testng are. Without Maven, which would download its plugins.
_JAVA = "/usr/share/java"
_JARS = ":".join(
    f"{_JAVA}/{name}.jar"
    for name in (
        *("junit-jupiter-api", "junit-jupiter-engine", "junit-platform-console", "junit-platform-launcher"),
        *("junit-platform-engine", "junit-platform-commons", "junit-platform-reporting", "opentest4j"),
        *("apiguardian-api", "picocli", "junit4", "hamcrest", "testng", "jcommander", "bsh"),
        *("opentest4j-reporting-events", "opentest4j-reporting-schema"),
    )
)
_JAVAC = f"javac -d out -cp {_JARS} $(find src -name '*.java')"
PRICES = "package shop;\n\npublic class Prices {\n    public static int total(int a, int b) { return a + b; }\n}\n"

COMPILED_PROJECTS = {
    "cargo": SampleProject(
        CalledRunner("cargo", ("test", "--quiet", "--offline")),
        "cargo test --quiet --offline",
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": "pub fn total(a: i32, b: i32) -> i32 {\n    a + b\n}\n",
            "tests/adds.rs": "use shop::total;\n\n#[test]\nfn adds() {\n    assert_eq!(total(1, 2), 3);\n}\n",
        },
        ("cargo",),
    ),
    "cargo inline": SampleProject(
        CalledRunner("cargo", ("test", "--quiet", "--offline")),
        "cargo test --quiet --offline",
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": "pub fn total(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n"
            "    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(total(1, 2), 3);\n    }\n}\n",
        },
        ("cargo",),
    ),
    "go": SampleProject(
        CalledRunner("go-test", ("test", "./...")),
        "go test ./...",
        {
            "go.mod": "module shop\n\ngo 1.19\n",
            "shop.go": "package shop\n\nfunc Total(a, b int) int { return a + b }\n",
            "shop_test.go": 'package shop\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n'
            '\tif Total(1, 2) != 3 {\n\t\tt.Error("wrong")\n\t}\n}\n',
        },
        ("go",),
        {"GOFLAGS": "-mod=mod", "GOPROXY": "off"},
    ),
    "rspec": SampleProject(
        CalledRunner("rspec", ()),
        "rspec",
        {
            "lib/shop.rb": "def total(a, b)\n  a + b\nend\n",
            "spec/shop_spec.rb": "require_relative '../lib/shop'\n\nRSpec.describe 'shop' do\n  it 'adds' do\n"
            "    expect(total(1, 2)).to eq(3)\n  end\nend\n",
        },
        ("rspec",),
    ),
    "minitest": SampleProject(
        CalledRunner("rake", ()),
        "ruby -Ilib test/test_shop.rb",
        {
            "lib/shop.rb": "def total(a, b)\n  a + b\nend\n",
            "test/test_shop.rb": "require 'minitest/autorun'\nrequire 'shop'\n\n"
            "class TestShop < Minitest::Test\n  def test_total\n    assert_equal 3, total(1, 2)\n"
            "    assert total(1, 1) == 2\n  end\nend\n",
        },
        ("ruby",),
    ),
    "phpunit": SampleProject(
        CalledRunner("phpunit", ("tests",)),
        "phpunit tests",
        {
            "src/shop.php": "<?php\nfunction total($a, $b) { return $a + $b; }\n",
            "tests/ShopTest.php": "<?php\nuse PHPUnit\\Framework\\TestCase;\n\n"
            "require_once __DIR__ . '/../src/shop.php';\n\nclass ShopTest extends TestCase\n{\n"
            "    public function testTotal(): void\n    {\n        $this->assertSame(3, total(1, 2));\n    }\n}\n",
        },
        ("phpunit",),
    ),
    "junit 5": SampleProject(
        CalledRunner("maven", ("test",)),
        f"{_JAVAC} && java -cp out:{_JARS} org.junit.platform.console.ConsoleLauncher --scan-classpath out",
        {
            "src/main/java/shop/Prices.java": PRICES,
            "src/test/java/shop/PricesTest.java": "package shop;\n\n"
            "import static org.junit.jupiter.api.Assertions.*;\n\nimport org.junit.jupiter.api.Test;\n\n"
            "class PricesTest {\n    @Test\n    void adds() {\n        assertEquals(3, Prices.total(1, 2));\n"
            "    }\n}\n",
        },
        ("javac", f"{_JAVA}/junit-jupiter-api.jar"),
    ),
    "junit 4": SampleProject(
        CalledRunner("maven", ("test",)),
        f"{_JAVAC} && java -cp out:{_JARS} org.junit.runner.JUnitCore shop.PricesTest",
        {
            "src/main/java/shop/Prices.java": PRICES,
            "src/test/java/shop/PricesTest.java": "package shop;\n\nimport org.junit.Assert;\n"
            "import org.junit.Test;\n\npublic class PricesTest {\n    @Test\n    public void adds() {\n"
            "        Assert.assertEquals(3, Prices.total(1, 2));\n    }\n}\n",
        },
        ("javac", f"{_JAVA}/junit4.jar"),
    ),
    "testng": SampleProject(
        CalledRunner("maven", ("test",)),
        f"{_JAVAC} && java -cp out:{_JARS} org.testng.TestNG -testclass shop.PricesTest -verbose 2",
        {
            "src/main/java/shop/Prices.java": PRICES,
            "src/test/java/shop/PricesTest.java": "package shop;\n\n"
            "import static org.testng.Assert.assertEquals;\n"
            "\nimport org.testng.annotations.Test;\n\npublic class PricesTest {\n    @Test\n"
            "    public void adds() {\n        assertEquals(Prices.total(1, 2), 3);\n    }\n}\n",
        },
        ("javac", f"{_JAVA}/testng.jar"),
    ),
    "make cc": SampleProject(
        CalledRunner(""),
        "make -s test",
        {
            "Makefile": "test: roman\n\t@./roman | diff - tests/table.txt\n"
            "\t$(CC) -o check tests/check.c && ./check\nroman: src/roman.c\n\t$(CC) -o roman src/roman.c\n",
            "src/roman.c": '#include <stdio.h>\nint main(void) { puts("IV"); return 0; }\n',
            "tests/table.txt": "IV\n",
            "tests/check.c": "#include <assert.h>\nint main(void) {\n    assert(2 + 2 == 4); /* same(1, 2) */\n"
            "    return 0;\n}\n",
        },
        ("make", "cc"),
        calls=(),
    ),
    "c assertions": SampleProject(
        CalledRunner(""),
        "make -s test",
        {
            "Makefile": "test:\n\t$(CC) -Isrc -o check tests/check.c && ./check\n",
            "src/roman.h": 'static const char *roman(int n) { return n == 4 ? "IV" : "V"; }\n',
            "tests/check.c": '#include <stdlib.h>\n#include <string.h>\n#include "roman.h"\n'
            "static void same(int n, const char *text) { if (strcmp(roman(n), text)) exit(1); }\n"
            'int main(void) {\n    same(4, "IV");\n    same(5, "V");\n    return 0;\n}\n',
        },
        ("make", "cc"),
        calls=(),
    ),
    "shell": SampleProject(
        CalledRunner(""),
        "sh tests/run.sh",
        {
            "shop.sh": "total() { echo 3; }\n",
            "tests/run.sh": '#!/bin/sh\nset -e\n. ./shop.sh\n[ "$(total)" = "3" ]\necho fine\n',
        },
        calls=(),
    ),
}
