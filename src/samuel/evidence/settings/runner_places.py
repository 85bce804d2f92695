"""Where the settings of test runners say that tests are, as patterns like those of a .gitignore.

Read from the settings of the verified tree, so that an attempt can neither add its source to them nor take a test
away. A place that is as wide as the source (`testpaths = ["."]`, `*.py`) says nothing and is left out: otherwise
corner B would have no new source at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from samuel.evidence.settings.settings_text import ini_sections, json_values, part, strings, toml_table, xml_root

MAX_PATTERNS = 100
MAX_LENGTH = 300
_SOURCE_NAMES = frozenset(
    ("", "src", "lib", "app", "pkg", "packages", "source", "main", "java", "kotlin", "scala")
)
_CHECK_WORD = re.compile(r"test|spec|check|verif|valid|e2e|scenario|accept|\bqa\b", re.IGNORECASE)
_SCRIPT_LIST = re.compile(
    r"\b(testMatch|roots|include|files|spec|testDir|specPattern|testRegex)\s*:\s*"
    r"(\[[^\[\]]{0,3000}\]|\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|`[^`\n]{0,300}`)"
)
_QUOTED = re.compile(r"\"([^\"\n]{1,300})\"|'([^'\n]{1,300})'|`([^`\n]{1,300})`")


def patterns_of_tests(path: str, text: str) -> tuple[str, ...]:
    """The patterns of the tests that this settings file names, for paths below the project; () for other files."""
    directory, _, name = path.rpartition("/")
    read = _READERS.get(name) or next((read for pattern, read in _BY_PATTERN if pattern.fullmatch(name)), None)
    if read is None or not text:
        return ()
    try:
        places = list(read(text))
    except (ValueError, TypeError, AttributeError, LookupError):
        return ()
    prefix = f"/{directory}" if directory else ""
    patterns = (_rooted(place, prefix) for place in places[:MAX_PATTERNS])
    return tuple(dict.fromkeys(pattern for pattern in patterns if pattern))


def _rooted(place: str, prefix: str) -> str:
    """A place as a pattern: a path from the directory of its settings, or a name at every level."""
    place = re.sub(r"^(?:<rootDir>|\$\{[\w.]+\}|\{\w+\})/?", "", place.strip()).removeprefix("./")
    if len(place) > MAX_LENGTH or place.startswith(("/", "!", "..", "$", "~")) or "\n" in place or not place:
        return ""
    return f"{prefix}/{place}" if "/" in place.rstrip("/") or prefix or not set(place) & set("*?[") else place


def _directories(values: Iterable[str]) -> Iterator[str]:
    """Those of these directories whose names say that tests are in them."""
    return (value for value in values if _CHECK_WORD.search(value))


def _globs(values: Iterable[str]) -> Iterator[str]:
    """Those of these globs that do not choose the source as well; `{a,b}` is written out."""
    for value in values:
        if value.startswith("!"):
            continue
        for glob in _alternatives(value):
            *directories, name = glob.removeprefix("./").removeprefix("<rootDir>/").split("/")
            stem = re.sub(r"\.\w+$|[*?\[\]@+!().|]", "", name)
            inner = {re.sub(r"[*?]", "", directory).lower() for directory in directories} - _SOURCE_NAMES
            if stem or inner - {"."}:
                yield glob


def _alternatives(glob: str) -> list[str]:
    globs = [re.sub(r"[?*+@]?\(([\w|.*]{0,40})\)", r"{\1}", glob).replace("|", ",")]
    for _ in range(4):
        groups = [re.search(r"\{([^{}]{0,200})\}", item) for item in globs]
        if not any(groups) or len(globs) > MAX_PATTERNS:
            break
        globs = [
            item if group is None else item[: group.start()] + word + item[group.end() :]
            for item, group in zip(globs, groups, strict=True)
            for word in ([""] if group is None else group[1].split(","))
        ]
    return globs[:MAX_PATTERNS]


def _pytest(table: object) -> Iterator[str]:
    testpaths, python_files = part(table, "testpaths"), part(table, "python_files")
    yield from _directories(testpaths.split() if isinstance(testpaths, str) else strings(testpaths))
    yield from _globs(python_files.split() if isinstance(python_files, str) else strings(python_files))


def _pyproject(text: str) -> Iterator[str]:
    table = part(toml_table(text), "tool", "pytest")
    yield from _pytest(part(table, "ini_options") or table)


def _ini(text: str) -> Iterator[str]:
    sections = ini_sections(text)
    for name in ("pytest", "tool:pytest"):
        yield from _pytest(sections.get(name))


def _package(text: str) -> Iterator[str]:
    values = json_values(text)
    yield from _script_settings(part(values, "jest"))
    yield from _globs(strings(part(values, "ava", "files")))
    yield from _globs(strings(part(values, "mocha", "spec")))
    yield from _globs(strings(part(values, "tap", "files")))


def _script_settings(values: Any) -> Iterator[str]:
    yield from _globs(strings(part(values, "testMatch")))
    yield from _globs(strings(part(values, "spec")))
    yield from _globs(strings(part(values, "test", "include")))
    yield from _directories(strings(part(values, "roots")))


def _script_text(text: str) -> Iterator[str]:
    """The lists of a JavaScript or YAML settings file, as far as they are written out."""
    for setting in _SCRIPT_LIST.finditer(text[:200_000]):
        values = [next(filter(None, quoted.groups()), "") for quoted in _QUOTED.finditer(setting[2])]
        yield from _directories(values) if setting[1] in ("roots", "testDir") else _globs(values)


def _cargo(text: str) -> Iterator[str]:
    values = toml_table(text)
    for kind in ("test", "bench"):
        for target in values.get(kind) or ():
            path = part(target, "path")
            if isinstance(path, str) and path not in ("src/lib.rs", "src/main.rs"):
                yield path if "/" in path else f"./{path}"


def _pom(text: str) -> Iterator[str]:
    for element in xml_root(text).iter():
        if element.tag.rpartition("}")[2] == "testSourceDirectory" and element.text:
            yield from _directories([element.text])


def _phpunit(text: str) -> Iterator[str]:
    suites = [element for element in xml_root(text).iter() if element.tag in ("testsuite", "testsuites")]
    for suite in suites:
        yield from _directories(
            (element.text or "").strip() for element in suite if element.tag in ("directory", "file")
        )


_READERS: dict[str, Callable[[str], Iterator[str]]] = {
    "pyproject.toml": _pyproject,
    "pytest.toml": lambda text: _pytest(part(toml_table(text), "pytest")),
    ".pytest.toml": lambda text: _pytest(part(toml_table(text), "pytest")),
    "pytest.ini": _ini,
    ".pytest.ini": _ini,
    "tox.ini": _ini,
    "setup.cfg": _ini,
    "package.json": _package,
    "jest.config.json": lambda text: _script_settings(json_values(text)),
    ".mocharc.json": lambda text: _script_settings(json_values(text)),
    ".mocharc": lambda text: _script_settings(json_values(text)),
    "deno.json": lambda text: _script_settings(json_values(text)),
    "Cargo.toml": _cargo,
    "pom.xml": _pom,
    "phpunit.xml": _phpunit,
    "phpunit.xml.dist": _phpunit,
}
_BY_PATTERN = (
    (
        re.compile(
            r"(?:jest|vitest|vite|ava|playwright|cypress|web-test-runner|wdio)\.config\.[cm]?[jt]s|\.mocharc\.[cm]?js"
        ),
        _script_text,
    ),
)
