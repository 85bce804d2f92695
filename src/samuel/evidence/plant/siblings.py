"""Which test files of the verified tree a runner collects, in the order in which a failure is planted in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from samuel.evidence.plant.expectations import C_SUFFIXES, JS_SUFFIXES, SHELL_SUFFIXES
from samuel.evidence.plant.planted import CalledRunner, FileReader
from samuel.files.globs import chosen

MOST_IDS = 20_000
_LEFT_OUT = (
    "node_modules/",
    ".venv/",
    "venv/",
    "vendor/",
    "target/",
    "dist/",
    "testdata/",
    "fixtures/",
    "__mocks__/",
)
_OTHER_PACKAGES = frozenset(("--workspace", "--all", "-p", "--package", "--manifest-path"))
_JS_RUNNERS = (
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tape",
    "tap",
    "uvu",
    "jasmine",
    "node-test",
    "bun-test",
    "deno-test",
)
_JS_ENDING = r"\.[cm]?[jt]sx?"
_JS = re.compile(
    rf"(?:^|/)(?:[^/]+[._-](?:test|spec){_JS_ENDING}|tests?(?:[-_][^/]+)?{_JS_ENDING}"
    rf"|(?:tests?|spec|__tests__)/(?:[^/]+/)*[^/]+{_JS_ENDING})$"
)
_PYTHON = re.compile(r"(?:^|/)(?:test[^/]*|[^/]+_tests?)\.py$")
_JAVA = re.compile(r"(?:^|/)src/test/java/(?:[^/]+/)*(?:Test[^/]*|[^/]*(?:Tests?|TestCase))\.java$")
_RUBY_TEST = re.compile(r"(?:^|/)(?:test_[^/]+|[^/]+_test)\.rb$")

_LANGUAGES_BY_SUFFIX = {".py": "python", ".rs": "rust", ".go": "go", ".java": "java", ".rb": "ruby", ".php": "php"}

LANGUAGES: dict[str, str] = {
    **dict.fromkeys(("pytest", "unittest", "tox", "nox", "django"), "python"),
    **dict.fromkeys(_JS_RUNNERS, "js"),
    **dict.fromkeys(("maven", "gradle"), "java"),
    "cargo": "rust",
    "go-test": "go",
    "rspec": "rspec",
    "rake": "ruby",
    "phpunit": "php",
}
"""The language of a runner's tests."""

_PATTERNS = {
    "python": _PYTHON,
    "js": _JS,
    "java": _JAVA,
    "rust": re.compile(r"(?:^|/)(?:tests/[^/]+|tests/[^/]+/main|src/(?:[^/]+/)*[^/]+)\.rs$"),
    "go": re.compile(r"_test\.go$"),
    "rspec": re.compile(r"_spec\.rb$"),
    "ruby": re.compile(r"(?:_spec|(?:^|/)test_[^/]+|_test)\.rb$"),
    "php": re.compile(r"Test\.php$"),
}
_SOURCES = (*_LANGUAGES_BY_SUFFIX, *JS_SUFFIXES, *C_SUFFIXES, *SHELL_SUFFIXES)
_TEST_LIKE = re.compile(r"(?:^|[/._-])(?:tests?|specs?|checks?|__tests__|t)(?:[/._-]|$)", re.IGNORECASE)


def siblings(
    call: CalledRunner, files: Iterable[str], changed: Collection[str] = (), reported: Iterable[str] = ()
) -> list[str]:
    """The test files that this runner collects by its usual patterns and by the paths among its arguments.

    Those that a report names come first, then those that the attempt did not change, then those that are named
    like a source file that it changed: there its code is loaded. `changed` are the paths that it changed,
    `reported` the ids of tests that ran.
    """
    language = LANGUAGES.get(call.name, "")
    inside = f"{call.directory}/" if call.directory else ""
    below = [path for path in files if path.startswith(inside) and not _is_left_out(path[len(inside) :])]
    if call.name == "cargo" and not _OTHER_PACKAGES.intersection(call.arguments):  # the others are left out
        root = [path for path in below if path[len(inside) :].startswith(("src/", "tests/"))]
        below = root or below
    named = _named_paths(call.arguments, below, inside)
    pattern = _PATTERNS.get(language)
    usual = [path for path in below if pattern and pattern.search(path)]
    by_arguments = ranked(named, changed, reported)
    return [*dict.fromkeys((*by_arguments, *ranked(usual, changed, reported)))]


def files_like_tests(files: Iterable[str], changed: Collection[str] = (), mentioned: str = "") -> list[str]:
    """Sources that are tests by their names or directories; first those that a Makefile or script mentions."""
    paths = [
        path for path in files if _TEST_LIKE.search(path) and path.endswith(_SOURCES) and not _is_left_out(path)
    ]
    words = set(re.split(r"[\s\"'=:;,()$]+", mentioned))
    return sorted(ranked(paths, changed), key=lambda path: words.isdisjoint((path, path.rpartition("/")[2])))


def language_of(path: str) -> str:
    """The language in which a test can be added to a file, by its suffix; "" if there is none."""
    if path.endswith(JS_SUFFIXES):
        return "js"
    return next((language for suffix, language in _LANGUAGES_BY_SUFFIX.items() if path.endswith(suffix)), "")


def may_load(call: CalledRunner, path: str, directories: Collection[str]) -> bool:
    """Whether tests of this runner may load a file; `directories` are those in which the project's runners start.

    A file of another language is not loaded, nor is one in a directory where another runner starts. Any runner may
    read one that is in no language of tests.
    """
    language, own = language_of(path), LANGUAGES.get(call.name, "")
    if language and language != ("ruby" if own == "rspec" else own):
        return False
    homes = [directory for directory in directories if directory and path.startswith(f"{directory}/")]
    return not call.directory or call.directory in homes or not homes


def ranked(paths: Iterable[str], changed: Collection[str] = (), reported: Iterable[str] = ()) -> list[str]:
    """The paths in the order of their use; the same for the same input.

    The last by name is preferred: most runners go by names, and what other tests call has run by then.
    """
    modules = _modules(reported)
    changes = frozenset(changed)
    stems = {_stem(path) for path in changes} - {"index", "main", "lib", "mod", "__init__"}

    def rank(path: str) -> tuple[bool, bool, bool, int]:
        name = path.rpartition(".")[0]
        names = (path, name, name.replace("/", "."), name.rpartition("/")[2])
        return modules.isdisjoint(names), path in changes, _stem(path) not in stems, path.count("/")

    return sorted(sorted(set(paths), reverse=True), key=rank)


def _modules(reported: Iterable[str]) -> set[str]:
    """What the ids of tests say about files: `tests.test_a` and `test_a` of `tests.test_a.ATest::test_one`."""
    modules: set[str] = set()
    for test_id in islice(reported, MOST_IDS):
        head = test_id.partition("::")[0]
        outer = head.rpartition(".")[0]
        modules |= {head, outer, head.rpartition(".")[2], outer.rpartition(".")[2]} - {""}
    return modules


def mentions_of_files(files: Collection[str], read: FileReader) -> str:
    """The texts of Makefiles and scripts, which may say what they compile and run; bounded."""
    names = ("Makefile", "makefile", "GNUmakefile", "justfile", "package.json", "CMakeLists.txt")
    scripts = [path for path in sorted(files) if path.rpartition("/")[2] in names or path.endswith((".mk", ".sh"))]
    return "\n".join(read(path)[: 1 << 16].decode("utf-8", "replace") for path in scripts[:20])


def compared_files(files: Collection[str], text: str) -> list[str]:
    """The files that a line with `diff` or `cmp` names, as in `./roman | diff - tests/table.txt`."""
    words = (
        word.strip("\"'")
        for line in text.splitlines()
        if re.search(r"\b(?:diff|cmp)\b", line)
        for word in line.split()
    )
    paths = frozenset(files)
    return [word for word in dict.fromkeys(words) if word in paths]


def _named_paths(arguments: Sequence[str], below: Sequence[str], inside: str) -> list[str]:
    """The files that the arguments name: by path, by directory or by pattern."""
    patterns = []
    for word in arguments:
        path = word.partition("::")[0].strip("'\"").removeprefix("./").rstrip("/")
        if path and not path.startswith(("-", "/", "$", "..")) and re.search(r"[/.*]|^(?:tests?|spec)$", path):
            patterns += [f"/{path}", f"/{path.replace('.', '/')}.py"]  # the second for unittest: `tests.test_a`
    return [path for path in below if patterns and chosen(path[len(inside) :], patterns)]


def _stem(path: str) -> str:
    """`cart` for `src/cart.js` and `test/cart.test.js`."""
    name = path.rpartition("/")[2].partition(".")[0]
    return re.sub(r"^test_|^Test|_tests?$|_spec$|Tests?$|-test$", "", name).lower()


def _is_left_out(path: str) -> bool:
    return any(path.startswith(name) or f"/{name}" in path for name in _LEFT_OUT)
