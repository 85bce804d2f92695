"""Which files the usual test runners and linters run or read, as patterns like those of a .gitignore."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_PYTHON = ("setup.cfg", "pyproject.toml", "tox.ini")
_PYTHON_TESTS = ("tests/", "test/", "test_*.py", "*_test.py", "conftest.py")
_JS_TESTS = ("__tests__/", "__snapshots__/", "test/", "tests/", "spec/", "*.test.*", "*.spec.*")
_JS = (*_JS_TESTS, "package.json", "babel.config.*", ".babelrc*")

PATTERNS: dict[str, tuple[str, ...]] = {
    "pytest": (*_PYTHON_TESTS, "pytest.ini", ".pytest.ini", ".coveragerc", *_PYTHON),
    "unittest": _PYTHON_TESTS,
    "tox": (*_PYTHON_TESTS, "pytest.ini", *_PYTHON),
    "nox": (*_PYTHON_TESTS, "noxfile.py", "pytest.ini", *_PYTHON),
    "ruff": ("ruff.toml", ".ruff.toml", "pyproject.toml"),
    "mypy": ("mypy.ini", ".mypy.ini", "setup.cfg", "pyproject.toml"),
    "pyright": ("pyrightconfig.json", "pyproject.toml"),
    "flake8": (".flake8", "setup.cfg", "tox.ini"),
    "pylint": (".pylintrc", "pylintrc", "setup.cfg", "pyproject.toml"),
    "pre-commit": (".pre-commit-config.yaml",),
    "jest": (*_JS, "jest.config.*", "jest.setup.*"),
    "vitest": (*_JS, "vitest.config.*", "vite.config.*", "vitest.workspace.*"),
    "mocha": (*_JS, ".mocharc*"),
    "ava": (*_JS, "ava.config.*"),
    "tape": _JS,
    "tap": (*_JS, ".taprc"),
    "uvu": _JS,
    "jasmine": (*_JS, "jasmine.json"),
    "playwright": (*_JS, "playwright.config.*", "e2e/"),
    "cypress": (*_JS, "cypress.config.*", "cypress/"),
    "node-test": _JS,
    "bun-test": (*_JS, "bunfig.toml"),
    "deno-test": (*_JS_TESTS, "*_test.ts", "*_test.js", "deno.json", "deno.jsonc"),
    "eslint": (".eslintrc*", "eslint.config.*", ".eslintignore", "package.json"),
    "prettier": (".prettierrc*", "prettier.config.*", ".prettierignore", "package.json"),
    "biome": ("biome.json", "biome.jsonc"),
    "tsc": ("tsconfig*.json",),
    "go-test": ("*_test.go", "testdata/"),
    "go-vet": (),
    "golangci-lint": (".golangci.*",),
    "coverage": (".coveragerc", *_PYTHON),
    "cargo": ("tests/", "benches/", ".cargo/", "clippy.toml", ".clippy.toml"),
    "maven": ("**/src/test/", "pom.xml", ".mvn/"),
    "gradle": ("**/src/test/", "build.gradle*", "settings.gradle*", "gradle.properties", "gradlew", "gradle/"),
    "rspec": ("spec/", ".rspec", ".simplecov"),
    "rake": ("test/", "spec/", "Rakefile", "rakefile", "Rakefile.rb", "*.rake"),
    "phpunit": ("tests/", "phpunit.xml*", "*Test.php"),
    "mix": ("test/", "mix.exs", ".formatter.exs"),
    "dotnet": ("*.Tests/", "*Tests.cs", "*.runsettings", "Directory.Build.props"),
    "ctest": ("tests/", "test/", "CMakeLists.txt", "CTestConfig.cmake"),
}

# Programs that run a test runner, and the files in which they are told what must be covered.
WRAPPERS: dict[str, tuple[str, ...]] = {
    "nyc": (".nycrc*", "nyc.config.*", ".istanbul.yml", "package.json"),
    "c8": (".c8rc*", ".nycrc*", "package.json"),
    "coverage": (".coveragerc", *_PYTHON),
}

# Runners by the name of their program, where that is another one.
_PROGRAMS = {
    "py.test": "pytest",
    "mvn": "maven",
    "mvnw": "maven",
    "gradlew": "gradle",
    "_mocha": "mocha",
    "vue-cli-service": "jest",
    "react-scripts": "jest",
    "cmake": "ctest",
    "basedpyright": "pyright",
    "rails": "rake",
}
_WITH_SUBCOMMAND = {("node", "--test"): "node-test", ("bun", "test"): "bun-test", ("deno", "test"): "deno-test"}
TEST_RUNNERS = frozenset(PATTERNS) - {
    *("ruff", "mypy", "pyright", "flake8", "pylint", "pre-commit", "eslint", "prettier", "biome", "tsc"),
    *("golangci-lint", "go-vet", "coverage"),
}
_LOOKS_LIKE_CHECK = re.compile(
    r"test|spec|check|verif|valid|lint|e2e|scripts?\b|tools?\b|\bci\b|\bqa\b", re.IGNORECASE
)

_RUNNER_NAMES = re.compile(
    r"(?:py|vi|c)test(?:\.\w+)*(?:\.ini|\.toml|\.config|\.cmake|\.workspace)|tsconfig|eslint"
)


class RunnerCall(NamedTuple):
    """A known runner and the patterns of the files that it runs or reads."""

    name: str
    patterns: tuple[str, ...]


def runner_call(program: str, arguments: Sequence[str]) -> RunnerCall | None:
    """The runner of a command, with the tests that its arguments name; None for any other program."""
    if program == "python" and "-m" in arguments[:-1]:
        at = arguments.index("-m") + 1
        return runner_call(arguments[at], arguments[at + 1 :])
    if program == "go":
        name = f"go-{arguments[0]}" if arguments else ""
    elif program in ("node", "bun", "deno"):
        name = next((_WITH_SUBCOMMAND.get((program, word), "") for word in arguments[:3]), "")
        if program == "node" and not name:
            name = next(("node-test" for word in arguments if word.startswith("--test")), "")
    else:
        name = _PROGRAMS.get(program, program)
    if name not in PATTERNS:
        return None
    named = tuple(_test_paths(arguments)) if name in TEST_RUNNERS else ()
    return RunnerCall(name, (*PATTERNS[name], *named))


def looks_like_test(path: str) -> bool:
    """Whether a file of a check is more than settings, by its name: a test, or a script that checks."""
    return looks_like_check(_RUNNER_NAMES.sub("", path))


def looks_like_check(path: str) -> bool:
    """Whether a program of the project is one that checks, by its name; otherwise it is what is being built."""
    return bool(_LOOKS_LIKE_CHECK.search(path))


def _test_paths(arguments: Sequence[str]) -> Iterator[str]:
    """The paths and globs among the words that look like tests: `checks`, `src/**/*.check.js`, `a_test.py::T`."""
    for word in arguments:
        path = word.rpartition("=")[2] if word.startswith("--") and "=" in word else word
        path = path.partition("::")[0].strip("'\"").removeprefix("./")
        if not path.startswith(("-", "/", "$", "..")) and looks_like_check(path):
            yield f"/{path.rstrip('/')}"
