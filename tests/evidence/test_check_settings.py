"""Settings of checks: which files have them, which changes concern a check, and what the corners get."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from samuel.evidence.settings.check_settings import is_check_setting, merged_settings, same_check_settings

SETTINGS = """
pytest.ini pytest.toml .pytest.toml tox.ini setup.cfg pyproject.toml noxfile.py .coveragerc mypy.ini ruff.toml
.flake8 jest.config.js jest.config.ts jest.setup.js vitest.config.mts vite.config.ts .mocharc .mocharc.json
.mocharc.cjs .npmrc ava.config.js package.json packages/a/package.json .nycrc .babelrc babel.config.js
tsconfig.json tsconfig.build.json Cargo.toml .cargo/config.toml .config/nextest.toml phpunit.xml
phpunit.xml.dist .rspec Makefile GNUmakefile makefile config.mk CMakeLists.txt pom.xml .mvn/maven.config
build.gradle build.gradle.kts gradlew Rakefile mix.exs justfile eslint.config.js .eslintrc.json .golangci.yml
composer.json deno.json playwright.config.ts karma.conf.js biome.json rust-toolchain.toml sitecustomize.py
.yarnrc.yml Shop.csproj meson.build
"""
NO_SETTINGS = (
    "build.rs setup.py Cargo.lock package-lock.json uv.lock go.mod Dockerfile src/jest.py .github/workflows/ci.yml"
)


@pytest.mark.parametrize("path", SETTINGS.split())
def test_files_that_decide_what_a_check_runs_are_settings(path: str) -> None:
    assert is_check_setting(path)


@pytest.mark.parametrize("path", NO_SETTINGS.split())
def test_lock_files_and_build_programs_are_no_settings(path: str) -> None:
    assert not is_check_setting(path)


PACKAGE = {
    "name": "shop",
    "scripts": {"test": "jest", "lint": "eslint ."},
    "dependencies": {"a": "1"},
    "devDependencies": {"jest": "30"},
    "jest": {"testMatch": ["**/*.test.js"]},
}
MAKEFILE = """\
CC = cc
CFLAGS = -Wall
OBJS = build/roman.o
TESTS = tests/a.sh tests/b.sh
.PHONY: test clean
all: libroman.a
libroman.a: $(OBJS)
\tar rcs $@ $^
build/%.o: src/%.c
\t$(CC) $(CFLAGS) -c -o $@ $<
test: libroman.a
\t$(CC) tests/test_roman.c -o build/t
\tbuild/t
\tfor t in $(TESTS); do sh $$t; done
clean:
\trm -rf build
"""
CARGO = '[package]\nname = "a"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\n'
PYPROJECT = '[project]\nname = "a"\ndependencies = []\n[tool.pytest.ini_options]\naddopts = "-q"\n[tool.uv]\n'
TSCONFIG = '{"compilerOptions": {"strict": true, "target": "es2020"}, "include": ["src"], // all\n}'
POM = (
    "<project><dependencies/><build><plugins><plugin><artifactId>surefire</artifactId></plugin></plugins></build>"
    "</project>"
)
GRADLE = (
    "plugins {\n    id 'java'\n}\ndependencies {\n    testImplementation 'junit'\n}\n"
    "test {\n    useJUnitPlatform()\n}\n"
)
CMAKE = "project(a)\nadd_library(a src/a.c)\nenable_testing()\nadd_test(NAME t COMMAND t)\n"
VITE = "export default {\n  plugins: [vue()],\n  test: {\n    globals: true,\n  },\n}\n"


def package(**changes: object) -> str:
    return json.dumps(PACKAGE | changes)


HARMLESS = [
    ("package.json", package(), package(dependencies={"a": "2", "b": "1"})),
    ("package.json", package(), package(devDependencies={"jest": "30", "nock": "1"}, version="2.0.0")),
    ("package.json", package(), package(scripts={"test": "jest", "lint": "eslint .", "build": "tsc"})),
    ("package.json", package(), package(exports={".": "./a.js"}, type="module")),
    ("package.json", package(), json.dumps(PACKAGE, indent=4)),
    ("pyproject.toml", PYPROJECT, PYPROJECT.replace("dependencies = []", 'dependencies = ["httpx"]')),
    ("pyproject.toml", PYPROJECT, PYPROJECT + 'dev-dependencies = ["ruff"]\n'),
    ("Cargo.toml", CARGO, CARGO + 'serde = "1"\n[features]\nfast = []\n'),
    ("Cargo.toml", CARGO, CARGO.replace("1.0.0", "1.1.0") + '[[bin]]\nname = "b"\npath = "src/b.rs"\n'),
    ("Cargo.toml", '[workspace]\nmembers = ["a"]\n', '[workspace]\nmembers = ["a", "b"]\n'),
    ("Makefile", MAKEFILE, MAKEFILE.replace("OBJS = build/roman.o", "OBJS = build/roman.o build/max.o")),
    (
        "Makefile",
        MAKEFILE,
        MAKEFILE.replace("TESTS = tests/a.sh tests/b.sh", "TESTS = tests/a.sh tests/b.sh tests/c.sh"),
    ),
    ("Makefile", MAKEFILE, MAKEFILE + "install: libroman.a\n\tcp libroman.a /usr/lib\n"),
    ("Makefile", MAKEFILE, MAKEFILE.replace("\trm -rf build", "\trm -rf build dist")),
    ("tsconfig.json", TSCONFIG, TSCONFIG.replace("es2020", "es2022")),
    ("tsconfig.json", TSCONFIG, TSCONFIG.replace('["src"]', '["src", "types"]')),
    ("pom.xml", POM, POM.replace("<dependencies/>", "<dependencies><dependency/></dependencies>")),
    (
        "build.gradle",
        GRADLE,
        GRADLE.replace("testImplementation 'junit'", "implementation 'a'\n    testImplementation 'b'"),
    ),
    ("CMakeLists.txt", CMAKE, CMAKE.replace("src/a.c", "src/a.c src/b.c")),
    ("vite.config.ts", VITE, VITE.replace("[vue()]", "[vue(), svg()]")),
    (
        "setup.cfg",
        "[metadata]\nname = a\n[tool:pytest]\naddopts = -q\n",
        "[metadata]\nname = b\n[tool:pytest]\naddopts = -q\n",
    ),
    ("rust-toolchain.toml", '[toolchain]\nchannel = "1.80"\n', '[toolchain]\nchannel = "1.90"\n'),
]

WEAKENING = [
    ("package.json", package(), package(scripts={"test": "true", "lint": "eslint ."})),
    ("package.json", package(), package(scripts={**PACKAGE["scripts"], "pretest": "node patch.js"})),
    ("package.json", package(), package(jest={"testMatch": ["**/*.none.js"]})),
    ("package.json", package(), package(babel={"presets": []})),
    ("package.json", package(), "{"),
    ("pytest.ini", "", "[pytest]\naddopts = -k not_slow\n"),
    (".npmrc", "", "script-shell=/bin/true\n"),
    ("pyproject.toml", PYPROJECT, PYPROJECT.replace('"-q"', '"-q -k fast"')),
    ("pyproject.toml", PYPROJECT, PYPROJECT + "[tool.mypy]\nignore_errors = true\n"),
    ("Cargo.toml", CARGO, CARGO.replace("[dependencies]", "autotests = false\n[dependencies]")),
    ("Cargo.toml", CARGO, CARGO + "[lib]\ntest = false\n"),
    ("Cargo.toml", CARGO, CARGO + "[lib]\ndoctest = false\n"),
    ("Cargo.toml", CARGO, CARGO + '[[test]]\nname = "book"\nharness = false\n'),
    ("Cargo.toml", CARGO, CARGO + '[[test]]\nname = "book"\npath = "src/fake.rs"\n'),
    ("Cargo.toml", '[workspace]\nmembers = ["a", "b"]\n', '[workspace]\nmembers = ["a"]\n'),
    ("Cargo.toml", CARGO, CARGO + "[profile.test]\ndebug-assertions = false\n"),
    ("Makefile", MAKEFILE, MAKEFILE.replace("\tbuild/t\n", "\ttrue\n")),
    ("Makefile", MAKEFILE, "SHELL = /bin/true\n" + MAKEFILE),
    ("Makefile", MAKEFILE, MAKEFILE.replace("CC = cc", "CC = ./tools/cc")),
    ("Makefile", MAKEFILE, MAKEFILE.replace("-Wall", "-Wall -DNDEBUG")),
    ("Makefile", MAKEFILE, MAKEFILE.replace(" tests/b.sh", "")),
    ("Makefile", MAKEFILE, MAKEFILE.replace(".PHONY: test clean", ".PHONY: clean")),
    ("Makefile", MAKEFILE, MAKEFILE + "  include conf.inc\n"),
    ("Makefile", MAKEFILE, MAKEFILE + "test:\n\ttrue\n"),
    ("Makefile", MAKEFILE, ".IGNORE:\n" + MAKEFILE),
    ("GNUmakefile", "", "test:\n\ttrue\n"),
    ("tsconfig.json", TSCONFIG, TSCONFIG.replace("true", "false")),
    ("tsconfig.json", TSCONFIG, TSCONFIG.replace('["src"]', '["src/empty"]')),
    ("pom.xml", POM, POM.replace("surefire</artifactId>", "surefire</artifactId><skip>true</skip>")),
    ("build.gradle", GRADLE, GRADLE.replace("useJUnitPlatform()", "useJUnitPlatform()\n    enabled = false")),
    ("CMakeLists.txt", CMAKE, CMAKE.replace("COMMAND t", "COMMAND true")),
    ("vite.config.ts", VITE, VITE.replace("globals: true", "globals: true,\n    include: []")),
    ("setup.cfg", "[tool:pytest]\naddopts = -q\n", "[tool:pytest]\naddopts = -k x\n"),
    ("rust-toolchain.toml", '[toolchain]\nchannel = "1.80"\n', '[toolchain]\npath = "tools/rust"\n'),
    ("jest.config.js", "a", "b"),
]


@pytest.mark.parametrize(("path", "old", "new"), HARMLESS)
def test_ordinary_work_in_a_shared_file_is_no_change_of_a_check(path: str, old: str, new: str) -> None:
    assert same_check_settings(path, old, new)


@pytest.mark.parametrize(("path", "old", "new"), WEAKENING)
def test_a_change_of_what_a_check_reads_is_noticed(path: str, old: str, new: str) -> None:
    assert not same_check_settings(path, old, new)


def test_a_merged_package_has_new_dependencies_and_old_scripts() -> None:
    new = package(
        dependencies={"a": "1", "b": "1"},
        devDependencies={"nock": "1"},
        scripts={"test": "true", "build": "tsc", "pretest": "node patch.js"},
        jest={},
    )
    merged = json.loads(merged_settings("package.json", new, package()) or "")
    assert merged["dependencies"] == {"a": "1", "b": "1"}
    assert merged["devDependencies"] == {"jest": "30", "nock": "1"}
    assert merged["scripts"] == {"build": "tsc", "test": "jest", "lint": "eslint ."}
    assert merged["jest"] == PACKAGE["jest"]


def test_a_merged_cargo_manifest_has_new_dependencies_and_old_targets() -> None:
    new = (
        CARGO.replace("[dependencies]", "autotests = false\n[dependencies]") + 'serde = "1"\n[lib]\ntest = false\n'
    )
    merged = tomllib.loads(merged_settings("Cargo.toml", new, CARGO + '[dev-dependencies]\nrand = "1"\n') or "")
    assert merged["dependencies"] == {"serde": "1"}
    assert merged["dev-dependencies"] == {"rand": "1"}
    assert "autotests" not in merged["package"]
    assert merged["lib"] == {}


def test_a_merged_pyproject_has_new_dependencies_and_old_options() -> None:
    new = PYPROJECT.replace("dependencies = []", 'dependencies = ["httpx"]').replace('"-q"', '"-k fast"')
    merged = tomllib.loads(
        merged_settings("pyproject.toml", new + "[tool.mypy]\nignore_errors = true\n", PYPROJECT) or ""
    )
    assert merged["project"]["dependencies"] == ["httpx"]
    assert merged["tool"]["pytest"]["ini_options"] == {"addopts": "-q"}
    assert "mypy" not in merged["tool"]


def test_a_merged_makefile_builds_the_new_source_and_runs_the_old_test(tmp_path: Path) -> None:
    old = "OBJS = a.txt\nall: $(OBJS)\n%.txt: %.in\n\tcp $< $@\ntest: all\n\techo old test of $(OBJS)\n"
    new = old.replace("OBJS = a.txt", "OBJS = a.txt b.txt").replace("echo old test of $(OBJS)", "true")
    merged = merged_settings("Makefile", new, old)
    assert merged is not None
    (tmp_path / "Makefile").write_text(merged)
    (tmp_path / "a.in").touch()
    (tmp_path / "b.in").touch()
    run = subprocess.run(["make", "test"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "old test of a.txt b.txt\n" in run.stdout  # beside what a make around this one makes it print


@pytest.mark.parametrize(
    "path", ["package.json", "pyproject.toml", "Cargo.toml", "Makefile", "pom.xml", "tsconfig.json"]
)
@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        "a=" + "[" * 9999,
        "\0",
        "<!DOCTYPE x>",
        "$(" * 9999,
        "a:" * 9999,
        "\t" * 99_999,
    ],
)
def test_garbage_is_never_the_same_and_never_an_error(path: str, text: str) -> None:
    assert not same_check_settings(path, package(), text)
    merged_settings(path, text, package())
    merged_settings(path, package(), text)
