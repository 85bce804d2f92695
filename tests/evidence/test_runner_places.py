"""Where settings of runners say that tests are."""

from __future__ import annotations

import pytest

from samuel.evidence.settings.runner_places import patterns_of_tests

POM = "<project xmlns='a'><build><testSourceDirectory>{}</testSourceDirectory></build></project>"
PHPUNIT = (
    "<phpunit><testsuites><testsuite name='a'><directory>checks</directory></testsuite></testsuites></phpunit>"
)
SCRIPTS = ("/**/*.check.js", "/**/*.check.ts")


@pytest.mark.parametrize(
    ("path", "text", "patterns"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = ["checks", "."]\n', ("/checks",)),
        ("pyproject.toml", '[tool.pytest]\npython_files = ["check_*.py", "*.py"]\n', ("check_*.py",)),
        ("pytest.ini", "[pytest]\ntestpaths = checks/unit pkg\n", ("/checks/unit",)),
        (".pytest.toml", '[pytest]\ntestpaths = ["checks"]\n', ("/checks",)),
        ("api/setup.cfg", "[tool:pytest]\npython_files = check_*.py\n", ("/api/check_*.py",)),
        ("package.json", '{"jest": {"testMatch": ["<rootDir>/checks/**/*.js"]}}', ("/checks/**/*.js",)),
        ("package.json", '{"jest": {"testMatch": ["**/?(*.)+(check).js"]}}', ("/**/*.check.js",)),
        ("package.json", '{"jest": {"roots": ["<rootDir>/src", "<rootDir>/checks"]}}', ("/checks",)),
        ("package.json", '{"ava": {"files": ["verify/*", "!verify/helpers"]}}', ("/verify/*",)),
        ("jest.config.js", 'module.exports = { testMatch: ["**/*.check.{js,ts}"] }', SCRIPTS),
        (
            "vitest.config.ts",
            "defineConfig({ test: { include: ['src/**/*.check.ts'] } })",
            ("/src/**/*.check.ts",),
        ),
        ("vitest.config.ts", "defineConfig({ test: { include: ['src/**/*.ts'] } })", ()),
        (".mocharc.json", '{"spec": ["checks/**/*.js"]} // all', ("/checks/**/*.js",)),
        ("playwright.config.ts", "export default { testDir: './verify' }", ("/verify",)),
        ("Cargo.toml", '[[test]]\nname = "a"\npath = "checks/a.rs"\n', ("/checks/a.rs",)),
        ("Cargo.toml", '[[test]]\nname = "a"\npath = "src/lib.rs"\n', ()),
        ("pom.xml", POM.format("${basedir}/checks"), ("/checks",)),
        ("pom.xml", POM.format("src/main/java"), ()),
        ("phpunit.xml", PHPUNIT, ("/checks",)),
        ("README.md", "testpaths = checks", ()),
        ("package.json", '{"ava": {"files": ["../checks/*", "/etc/checks"]}}', ()),
    ],
)
def test_places_of_tests_become_patterns_unless_they_are_as_wide_as_the_source(
    path: str, text: str, patterns: tuple[str, ...]
) -> None:
    assert patterns_of_tests(path, text) == patterns


GARBAGE = [
    "[" * 100_000,
    "{" * 100_000,
    "<a>" * 30_000,
    "include: [" * 2_000,
    "\0",
    '{"jest": 1}',
    "[pytest]\n=\n",
]


@pytest.mark.parametrize(
    "path", ["package.json", "pyproject.toml", "pytest.ini", "Cargo.toml", "pom.xml", "jest.config.js"]
)
@pytest.mark.parametrize("text", GARBAGE)
def test_garbage_names_no_place(path: str, text: str) -> None:
    assert patterns_of_tests(path, text) == ()
