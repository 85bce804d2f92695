"""What a file is by its name: its language, and whether it is tested, a test, or neither.

A test names what it tests: `test_queue.py` is the test of every `queue.py`. That is a rule of thumb, for nothing
short of running the tests knows better; it is the same rule a person uses when looking for the test of a file.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

OTHER = "other"

_EXTENSIONS = {
    "Python": "py pyi",
    "JavaScript": "js jsx mjs cjs",
    "TypeScript": "ts tsx mts cts",
    "Go": "go",
    "Rust": "rs",
    "Java": "java",
    "Kotlin": "kt kts",
    "Scala": "scala",
    "Swift": "swift",
    "C": "c h",
    "C++": "cc cpp cxx hh hpp hxx",
    "C#": "cs",
    "Ruby": "rb",
    "PHP": "php",
    "Elixir": "ex exs",
    "Haskell": "hs",
    "Lua": "lua",
    "Zig": "zig",
    "Dart": "dart",
    "Shell": "sh bash zsh",
    "SQL": "sql",
    "HTML": "html htm",
    "CSS": "css scss sass less",
    "Vue": "vue",
    "Svelte": "svelte",
    "Markdown": "md markdown rst",
    "JSON": "json",
    "YAML": "yml yaml",
    "TOML": "toml",
    "XML": "xml",
}
LANGUAGES = {end.encode(): name for name, ends in _EXTENSIONS.items() for end in ends.split()}


class Rules(NamedTuple):
    """How tests are named in one family of languages. Names are without their extension."""

    tests: re.Pattern[bytes]
    """A test's name; the group that matched is what it tests."""
    untested: re.Pattern[bytes]
    """Names that need no test of their own: entry points, re-exports, settings."""
    beside: bool = False
    """A test lies in the directory of what it tests; elsewhere it is the test of something else."""
    plain: bool = False
    """Within a directory of tests a file is the test of its namesake."""


_SCRIPTS = Rules(
    re.compile(rb"(.+)[._-](?:tests?|spec)"), re.compile(rb"index|.+\.(?:d|config|stories)"), plain=True
)
RULES = {
    "Python": Rules(re.compile(rb"test_(.+)|(.+)_test"), re.compile(rb"__\w+__|conftest|setup")),
    "JavaScript": _SCRIPTS,
    "TypeScript": _SCRIPTS,
    "Go": Rules(re.compile(rb"(.+)_test"), re.compile(rb"doc"), beside=True),
    "Rust": Rules(re.compile(rb"test_(.+)|(.+)_tests?"), re.compile(rb"main|lib|mod|build"), plain=True),
    "Java": Rules(
        re.compile(rb"(.+?)(?:Tests?|TestCase|IT|Spec)|Test(.+)"), re.compile(rb"(?:package|module)-info")
    ),
}
_FAMILY = {name: f"{name}:".encode() for name in RULES} | {"TypeScript": b"JavaScript:"}  # they test each other
_TEST_DIRECTORIES = frozenset((b"test", b"tests", b"__tests__", b"spec", b"e2e", b"testdata"))

NEITHER, SOURCE, TEST = 0, 1, 2


class Described(NamedTuple):
    language: str
    role: int
    """SOURCE (ought to have a test), TEST, or NEITHER."""
    subject: bytes
    """What a SOURCE is called by its tests, and what a TEST tests."""


@lru_cache(4096)  # files come directory by directory
def _for_tests(directory: bytes) -> bool:
    return not _TEST_DIRECTORIES.isdisjoint(directory.split(b"/"))


def describe(path: bytes) -> Described:
    directory, _, name = path.rpartition(b"/")
    stem, dot, extension = name.rpartition(b".")
    language = LANGUAGES.get(extension.lower(), OTHER) if dot else OTHER
    rules = RULES.get(language)
    if rules is None or extension == b"pyi":
        return Described(language, NEITHER, b"")
    family = _FAMILY[language] + (directory + b"/" if rules.beside else b"")
    if match := rules.tests.fullmatch(stem):
        return Described(language, TEST, family + match[match.lastindex or 0])
    if _for_tests(directory):
        return Described(language, TEST if rules.plain else NEITHER, family + stem)
    if language == "Rust" and stem == b"tests":  # `queue/tests.rs` is the test of `queue.rs`
        return Described(language, TEST, family + directory.rpartition(b"/")[2])
    if rules.untested.fullmatch(stem):
        return Described(language, NEITHER, b"")
    return Described(language, SOURCE, family + stem)
