"""Which files the checks run or read, from the commands and the files that these lead to."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from samuel.checks.files import CheckFiles, ProtectedFiles, disk_reader, owned, without_tests
from samuel.tasks.task import Task


def check_files(command: str, files: Mapping[str, str]) -> CheckFiles:
    return CheckFiles.of([command], list(files), lambda path: files.get(path, ""))


PYTEST_MAKEFILE = "PYTEST = python -m pytest\n\n.PHONY: test\ntest: lint\n\t@$(PYTEST) -q\n\nlint:\n\tsh ci/lint\n"


@pytest.mark.parametrize(
    ("command", "files", "touched", "untouched"),
    [
        (
            "make test",
            {"Makefile": PYTEST_MAKEFILE, "ci/lint": "./tools/style_check.py src\n", "tools/style_check.py": ""},
            [
                *("Makefile", "GNUmakefile", "rules.mk", "ci/lint", "tools/style_check.py"),
                *(
                    "tests/test_app.py",
                    "test/data.json",
                    "src/conftest.py",
                    "pytest.ini",
                    "setup.cfg",
                    "a_test.py",
                ),
            ],
            ["src/app.py", "README.md", "ci/deploy", "package.json", "sub/Makefile"],
        ),
        (
            "make -C sub",
            {
                "sub/Makefile": "include more.mk\nall: $(GOALS)\n",
                "sub/more.mk": "GOALS = go\ngo:\n\tgo test ./...\n",
            },
            ["sub/Makefile", "sub/more.mk", "sub/x.mk", "sub/a/x_test.go", "sub/testdata/x"],
            ["Makefile", "sub/x.go"],
        ),
        (
            "npm test --silent",
            {"package.json": '{"scripts": {"pretest": "eslint .", "test": "npm run unit", "unit": "nyc mocha"}}'},
            [
                *("package.json", "test/a.js", "lib/a.test.js", "lib/__tests__/a.js", ".mocharc.json"),
                *("eslint.config.js", "packages/a/.eslintrc"),
            ],
            ["lib/a.js", "jest.config.js"],
        ),
        (
            "cd web && pnpm run check",
            {"web/package.json": '{"scripts": {"check": "run-s check:*", "check:a": "tsc", "check:b": "vitest"}}'},
            ["web/package.json", "web/tsconfig.json", "web/vitest.config.ts", "web/src/a.spec.ts"],
            ["web/src/a.ts", "jest.config.js"],
        ),
        (
            "yarn jest",
            {"package.json": "{}"},
            ["jest.config.js", "a/__tests__/b.js", "babel.config.cjs"],
            ["a/b.js"],
        ),
        (
            "timeout -k 5 10 bash ci/run && xargs -n1 ./ci/test_each < list",
            {"ci/run": "cat <<END\n./ci/test_text\nEND\nsudo -u ci make -C sub\n", "ci/test_each": "", "list": ""},
            ["ci/run", "ci/test_each", "sub/Makefile"],
            ["ci/test_text", "list"],
        ),
        ("node --test", {}, ["test/a.js", "a.test.mjs", "package.json"], ["index.js"]),
        ("bun test", {}, ["a.test.ts", "bunfig.toml"], ["a.ts"]),
        ("go test ./...", {}, ["a/b_test.go", "a/testdata/golden.txt"], ["a/b.go"]),
        ("go vet ./...", {}, [], ["a/b_test.go"]),
        ("cargo test --quiet", {}, ["tests/it.rs", "crates/a/benches/b.rs"], ["src/lib.rs", "Cargo.toml"]),
        (
            "./gradlew test",
            {"gradlew": "#!/bin/sh\n"},
            ["app/src/test/A.java", "build.gradle.kts", "gradlew"],
            ["A.java"],
        ),
        ("mvn -q test", {}, ["src/test/A.java", "pom.xml"], ["src/main/A.java"]),
        ("bundle exec rspec", {}, ["spec/a_spec.rb", ".rspec"], ["lib/a.rb"]),
        ("rake test", {}, ["Rakefile", "test/a.rb"], ["lib/a.rb"]),
        (
            "just test",
            {"justfile": "a := 'b'\n\nbuild:\n  cc x.c\n\ntest *args: build\n  uv run pytest {{args}}\n"},
            ["justfile", "tests/a.py"],
            ["x.c"],
        ),
        ("tox -q", {}, ["tox.ini", "conftest.py", "tests/x"], ["src/x.py"]),
        ("python3.12 -m unittest discover -s checks", {}, ["checks/a.py", "test_a.py"], ["a.py"]),
        (
            "CI=1 timeout 60 env A=b poetry run pytest spec/special.py::Test",
            {"setup.cfg": "[tool:pytest]\ntestpaths = unit_tests\npython_files = ok_*.py\n"},
            ["spec/special.py", "unit_tests/data.json", "lib/ok_it.py"],
            ["spec/other.txt", "lib/it.py"],
        ),
        (
            "bash -lc 'cd a && ./check.sh'",
            {"a/check.sh": "sh ./more\n", "a/more": "x\n"},
            ["a/check.sh", "a/more"],
            ["more"],
        ),
        ("python app.py --self-test", {"app.py": ""}, [], ["app.py"]),
        ("python tools/check.py", {"tools/check.py": ""}, ["tools/check.py"], ["tools/other.py"]),
        (
            "./run",
            {"run": "#!/usr/bin/env bash\nruff check .\n"},
            ["run", "pyproject.toml", "ruff.toml"],
            ["src/app.py"],
        ),
        ("it's (broken && 'unclosed", {}, [], ["x"]),
        ("true", {}, [], ["tests/test_it.py", "Makefile"]),
    ],
)
def test_the_files_of_a_check_are_those_that_it_runs_or_reads(
    command: str, files: dict[str, str], touched: list[str], untouched: list[str]
) -> None:
    assert list(check_files(command, files).touched([*touched, *untouched])) == touched


def test_recipes_scripts_and_includes_that_run_each_other_come_to_an_end() -> None:
    files = {
        "Makefile": "include Makefile\nA = $(A) $(A)\ntest: test\n\t$(MAKE) test\n\tnpm test\n\t$(A)\n",
        "package.json": '{"scripts": {"test": "make test && npm run test && sh a.sh"}}',
        "a.sh": "sh a.sh; sh b.sh\n",
        "b.sh": "sh a.sh\npytest\n",
    }
    assert check_files("make test", files).touched(["a.sh", "b.sh", "conftest.py"]) == (
        "a.sh",
        "b.sh",
        "conftest.py",
    )


def test_an_edit_of_the_makefile_takes_nothing_off_the_list_because_the_verified_one_is_read() -> None:
    verified = check_files("make test", {"Makefile": PYTEST_MAKEFILE})
    assert verified.touched(["Makefile", "tests/test_app.py"]) == ("Makefile", "tests/test_app.py")
    assert check_files("make test", {"Makefile": "test:\n\ttrue\n"}).touched(["tests/test_app.py"]) == ()


def test_the_state_of_runs_is_never_a_file_of_a_check() -> None:
    assert check_files("pytest", {}).touched([".samuel/run/logs/tests/x"]) == ()


def test_a_description_names_each_command_with_its_files_in_short() -> None:
    files = dict.fromkeys(
        ["src/app.py", "tests/unit/test_a.py", "tests/unit/test_b.py", "setup.cfg", "docs/conftest.py"], ""
    )
    files["Makefile"] = PYTEST_MAKEFILE
    commands = ["make test", "ruff check .", "true"]
    assert CheckFiles.of(commands, list(files), lambda path: files.get(path, "")).describe() == [
        "make test: Makefile, docs/conftest.py, setup.cfg, tests/unit/ (2 files)"
    ]


def test_protected_files_are_those_that_the_patterns_choose() -> None:
    paths = ["golden/a/b.txt", "src/app.py", "schema.sql"]
    always = ProtectedFiles(("golden/**", "*.sql"))
    assert always.of(paths, lambda path: False) == ("golden/a/b.txt", "schema.sql")
    existing = ProtectedFiles((), ("golden/**", "*.sql"))
    assert existing.of(paths, lambda path: path == "schema.sql") == ("schema.sql",)
    assert ProtectedFiles().of(paths, lambda path: True) == ()


def test_a_task_owns_the_files_that_its_files_line_names() -> None:
    task = Task(
        id="1",
        title="x",
        files_to_create=("./tests/test_new.py",),
        files_to_modify=("docs/", "ci/*.sh", "a[1].py"),
    )
    paths = ["tests/test_new.py", "tests/test_old.py", "docs/a/b.md", "ci/x.sh", "ci/x.py", "a[1].py"]
    assert owned(task, paths) == ("tests/test_new.py", "docs/a/b.md", "ci/x.sh", "a[1].py")
    assert owned(Task(id="1", title="x"), paths) == ()


def test_files_are_read_from_disk_without_following_links(tmp_path) -> None:
    (tmp_path / "real").write_text("a")
    (tmp_path / "link").symlink_to("real")
    read = disk_reader(tmp_path)
    assert [read("real"), read("link"), read("missing"), read("../x"), read("")] == ["a", "", "", "", ""]


@pytest.mark.parametrize(
    ("command", "files", "is_without"),
    [
        ("make test", {"Makefile": "test:\n\t$(CC) -o run tests/test_roman.c\n", "tests/test_roman.c": ""}, False),
        ("make test", {"Makefile": "test:\n\t$(CC) -o run roman.c cases.c\n", "cases.c": ""}, True),
        ("make test", {"Makefile": "test:\n\tpytest\n", "tests/test_a.py": ""}, False),
        ("make lint", {"Makefile": "lint:\n\truff check .\n"}, False),
        ("pytest -q", {"pytest.ini": "", "app.py": ""}, True),
        ("npx vitest run", {"vitest.config.ts": "", "src/a.ts": ""}, True),
        ("npx vitest run", {"src/a.test.ts": ""}, False),
        ("cargo test --quiet", {"src/lib.rs": ""}, True),
        ("cargo test --quiet", {"src/lib.rs": "#[cfg(test)]\nmod tests {\n    #[test]\n"}, False),
        ("cargo test --quiet", {"src/lib.rs": "", "tests/book.rs": ""}, False),
        ("go vet ./...", {"a.go": ""}, False),
        ("go test ./...", {"a_test.go": ""}, False),
        ("./tools/check.py", {"tools/check.py": ""}, False),
        ("sh run.sh", {"run.sh": "javac $(find src -name '*.java')\n"}, True),
        ("prove -r t", {}, True),
        ("echo checking; test ! -f wrong", {}, False),
    ],
)
def test_a_command_of_which_no_test_file_is_known_is_named(
    command: str, files: dict[str, str], is_without: bool
) -> None:
    commands = without_tests([command], list(files), lambda path: files.get(path, ""))
    assert commands == ([command] if is_without else [])


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("nyc tape 'test/**/*.js'", ".nycrc"),
        ("npx nyc --reporter=text mocha", ".nycrc.json"),
        ("nyc ava", "nyc.config.js"),
        ("c8 --check-coverage node --test", ".c8rc.json"),
        ("c8 node --test", ".nycrc"),
        ("coverage run -m pytest && coverage report", ".coveragerc"),
        ("coverage run -m unittest", ".coveragerc"),
    ],
)
def test_the_file_with_the_share_that_must_be_covered_belongs_to_the_check(command: str, path: str) -> None:
    assert CheckFiles.of([command], [path], lambda path: "").present == ((command, (path,)),)
