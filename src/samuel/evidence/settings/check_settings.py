"""Files that decide what a check runs and how: settings of runners and linters, and the same in build files.

To which change does such a file belong? Corner B must judge the new source with the old tests *and* the old
settings: a new `pytest.ini` with `-k "not slow"` or a test script that is now `true` must not count there. But the
same files have the dependencies and the list of sources, which the new source needs in B.

- Settings of one runner or linter alone (`pytest.ini`, `jest.config.js`, `.npmrc`, `ruff.toml`, `.cargo/`) belong
  to the test change T as a whole.
- Files for many tools (`package.json`, `pyproject.toml`, `Cargo.toml`, `tsconfig.json`, `pom.xml`, a Makefile)
  belong to T only if the part that a check reads differs (`same_check_settings`). If it does, `merged_settings`
  makes the text of B and of D where the format allows: the part that a check reads from one version, the rest
  from the other. A dependency, a new script, a new target or a new source file in a Makefile is no difference.
- Dependencies for tests (`devDependencies`, `dev-dependencies`, groups) are in both corners: new tests cannot run
  without them, and that would look like a proof. Lock files follow the dependencies, so they are no settings here;
  a corner that has new dependencies needs the new lock file.
- `build.rs`, `setup.py`, Dockerfiles and files of a CI service are source: a check does not read them, or they
  build what is tested.
"""

from __future__ import annotations

import re

from samuel.evidence.settings.relevant import same_settings
from samuel.evidence.settings.shared_settings import SHARED, merged, relevant_part

MAX_CHARACTERS = 1 << 20

_NAMES = frozenset(
    (
        *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "noxfile.py", ".coveragerc", "nose.cfg"),
        *(".noserc", "mypy.ini", ".mypy.ini", "ruff.toml", ".ruff.toml", ".flake8", ".pylintrc", "pylintrc"),
        *("pyrightconfig.json", "sitecustomize.py", "usercustomize.py", ".pre-commit-config.yaml"),
        *(".importlinter", "hypothesis.ini", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs"),
        *("pnpmfile.js", ".taprc", "bunfig.toml", "jasmine.json", "biome.json", "biome.jsonc"),
        *(".eslintignore", ".prettierignore", ".istanbul.yml", ".swcrc", ".oxlintrc.json", "clippy.toml"),
        *(".clippy.toml", "nextest.toml", ".rspec", ".simplecov", ".rubocop.yml", "phpstan.neon"),
        *("phpstan.neon.dist", "psalm.xml", "CTestConfig.cmake", "CTestCustom.cmake", "maven.config"),
        *("jvm.config", "extensions.xml", ".shellcheckrc", "checkstyle.xml", "testng.xml"),
        *("junit-platform.properties", ".credo.exs", "dart_test.yaml", ".swiftlint.yml", "xunit.runner.json"),
        *("gradlew", "mvnw", "gradle.properties", ".busted", ".luacheckrc"),
    )
)
_PATTERNS = re.compile(
    r"""(?:jest|vitest|ava|playwright|cypress|karma|wdio|web-test-runner|nyc|c8|babel|protractor)
        (?:\.(?:config|conf|setup|workspace|preset))+\.[\w.]+
    | (?:jest|vitest)[.-]setup[\w.-]* | setupTests\.\w+ | test[_-]?setup\.\w+
    | \.mocharc(?:\.\w+)? | \.(?:nyc|c8|babel|eslint|prettier|stylelint)rc(?:\.\w+)*
    | (?:eslint|prettier|stylelint)\.config\.\w+ | \.golangci\.\w+ | phpunit\.xml(?:\.dist)? | [\w.-]*\.runsettings
    | \.lintr | [\w.-]*\.rake | cucumber\.(?:js|cjs|mjs|json|ya?ml) | behave\.ini | \.behaverc
    | codeception[\w.]*\.yml""",
    re.VERBOSE,
)
# Directories whose every file decides how a check runs.
_DIRECTORIES = (".cargo/", ".mvn/", ".config/nextest.toml", ".husky/", ".yarn/releases/", ".yarn/plugins/")


def is_check_setting(path: str) -> bool:
    """Whether a file has settings that a check may read, alone or among others, by its path below the project."""
    name = path.rpartition("/")[2]
    return (
        name in _NAMES
        or shared_kind(path) is not None
        or _PATTERNS.fullmatch(name) is not None
        or any(f"/{directory}" in f"/{path}" for directory in _DIRECTORIES)
    )


def shared_kind(path: str) -> str | None:
    """The name by which a file for many tools is read; None for any other file."""
    name = path.rpartition("/")[2]
    return next((kind for kind, pattern in SHARED.items() if pattern.fullmatch(name)), None)


def same_check_settings(path: str, old: str, new: str) -> bool:
    """Whether a change of this file leaves what a check reads as it was.

    A missing file is "". False if either text is not understood, and for settings of one tool alone that differ.
    """
    if old == new:
        return True
    kind = shared_kind(path)
    if kind is None or max(len(old), len(new)) > MAX_CHARACTERS:
        return False
    before, after = relevant_part(kind, old), relevant_part(kind, new)
    if before is None or after is None:
        return False
    return same_settings(before, after)


def merged_settings(path: str, rest: str, settings: str) -> str | None:
    """The file `rest` with the part that a check reads taken from `settings`.

    For corner B `rest` is the new file and `settings` the old one, for D the reverse. None if the file cannot be
    merged: then the corner takes the whole file from where its settings come from.
    """
    kind = shared_kind(path)
    if kind is None or not rest or not settings or max(len(rest), len(settings)) > MAX_CHARACTERS:
        return None
    return merged(kind, rest, settings)
