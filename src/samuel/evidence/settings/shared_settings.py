"""The part of a file for many tools that a check reads, and merging two versions of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from samuel.evidence.settings.build_scripts import cmake_part, makefile_part, merged_makefile, script_part
from samuel.evidence.settings.relevant import AUTOMATIC, RelevantSettings
from samuel.evidence.settings.settings_text import ini_sections, json_values, part, strings, toml_table, xml_root

SHARED = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "package.json": r"package\.json",
        "pyproject.toml": r"pyproject\.toml",
        "Cargo.toml": r"Cargo\.toml",
        "tsconfig": r"(?:tsconfig|jsconfig)(?:\.[\w-]+)*\.json",
        "composer.json": r"composer\.json",
        "deno.json": r"deno\.jsonc?",
        "pom.xml": r"pom\.xml",
        "ini": r"setup\.cfg|tox\.ini",
        "toolchain": r"rust-toolchain(?:\.toml)?",
        "makefile": r"makefile|GNUmakefile|[\w.-]+\.mk|[\w.-]*Makefile[\w.-]*",
        "cmake": r"CMakeLists\.txt|meson\.build|BUILD(?:\.bazel)?",
        "script": r"(?:build|settings)\.gradle(?:\.kts)?|Rakefile|mix\.exs|build\.sbt"
        r"|justfile|Justfile|\.justfile|Taskfile\.ya?ml|Package\.swift|[\w.-]+\.csproj|Directory\.Build\.props"
        r"|vite\.config\.\w+|pubspec\.yaml|project\.clj|dub\.(?:json|sdl)|build\.zig|[\w.-]+\.cabal",
    }.items()
}

# Of package.json what no check reads.
_PACKAGE_DATA = frozenset(
    (
        *("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"),
        *("bundledDependencies", "peerDependenciesMeta", "name", "version", "description", "keywords"),
        *("author", "contributors", "license", "repository", "bugs", "homepage", "files", "bin", "man"),
        *("types", "typings", "engines", "funding", "private", "type", "exports", "imports", "main", "module"),
        *("browser", "sideEffects", "publishConfig", "packageManager", "volta", "browserslist"),
        *("bundleDependencies", "overrides", "maintainers", "directories", "unpkg", "jsdelivr"),
        "typesVersions",
    )
)
_PACKAGING_TOOLS = frozenset(
    (
        *("poetry", "setuptools", "hatch", "pdm", "uv", "flit", "setuptools_scm", "rye", "cibuildwheel"),
        *("towncrier", "bumpversion", "semantic_release", "commitizen", "maturin", "scikit-build"),
        "setuptools-scm",
    )
)
_SCRIPTS_OF_TOOLS = (("hatch", "envs"), ("pdm", "scripts"), ("poe",), ("taskipy",), ("rye", "scripts"))
_POM_DATA = frozenset(
    (
        *("dependencies", "dependencyManagement", "version", "description", "name", "url", "licenses", "scm"),
        *("parent", "groupId", "artifactId", "packaging", "developers", "organization", "issueManagement"),
        "repositories",
    )
)
_TYPE_RULES = re.compile(
    r"strict\w*|no[A-Z]\w+|allow(?:Js|UnreachableCode|UnusedLabels)|checkJs|skip\w*LibCheck|exactOptionalPropertyTypes"
    r"|useUnknownInCatchVariables|suppress\w+|plugins|types|typeRoots"
)


def relevant_part(kind: str, text: str) -> RelevantSettings | None:
    """What a check reads of this text, to be compared; None if the text is not understood."""
    try:
        settings = _PARTS[kind](text)
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
        return None
    return settings if isinstance(settings, RelevantSettings) else RelevantSettings(settings)


def merged(kind: str, rest: str, settings: str) -> str | None:
    """The text `rest` with the relevant part of `settings`; None if that cannot be done."""
    try:
        if kind == "package.json":
            return _merged_package(rest, settings)
        if kind in ("pyproject.toml", "Cargo.toml"):
            return _merged_toml(kind, rest, settings)
        return merged_makefile(rest, settings) if kind == "makefile" else None
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
        return None


# package.json


def _package(text: str) -> RelevantSettings:
    values = json_values(text)
    return RelevantSettings(
        {key: value for key, value in values.items() if key not in {*_PACKAGE_DATA, "scripts", "workspaces"}},
        part(values, "scripts") or {},
        {"workspaces": frozenset(strings(values.get("workspaces")))},
    )


def _merged_package(rest: str, settings: str) -> str:
    values, other = json_values(rest), json_values(settings)
    result = {key: value for key, value in values.items() if key in _PACKAGE_DATA}
    result |= {key: value for key, value in other.items() if key not in _PACKAGE_DATA}
    scripts = part(values, "scripts") or {}
    new = {name: command for name, command in scripts.items() if not AUTOMATIC.fullmatch(name)}
    if new or "scripts" in other:
        result["scripts"] = new | (part(other, "scripts") or {})
    if "devDependencies" in other:
        result["devDependencies"] = other["devDependencies"] | (result.get("devDependencies") or {})
    return json.dumps(result, indent=2, ensure_ascii=False) + "\n"


# TOML


def _pyproject(text: str) -> Any:
    tools = part(toml_table(text), "tool") or {}
    settings = {name: value for name, value in tools.items() if name not in _PACKAGING_TOOLS}
    scripts = {path: value for path in _SCRIPTS_OF_TOOLS if (value := part(tools, *path)) is not None}
    return settings, {path: value for path, value in scripts.items() if path[0] in _PACKAGING_TOOLS}


def _cargo(text: str) -> RelevantSettings:
    values = toml_table(text)
    package = part(values, "package") or {}
    targets = {
        f"{kind} {part(target, 'name') or part(target, 'path')}": {
            key: value for key, value in target.items() if key in ("test", "doctest", "bench", "harness")
        }
        for kind in ("bin", "example", "lib")
        for target in _targets(values, kind)
    }
    exact = {
        "automatic": {key: value for key, value in package.items() if key.startswith("auto")},
        "tests": [_targets(values, kind) for kind in ("test", "bench")],
        "targets": {name: settings for name, settings in targets.items() if settings},
        "profile": part(values, "profile", "test"),
        "lints": values.get("lints"),
        "excluded": sorted(strings(part(values, "workspace", "exclude"))),
    }
    members = {key: frozenset(strings(part(values, "workspace", key))) for key in ("members", "default-members")}
    return RelevantSettings(exact, growing=members)


def _targets(values: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    targets = values.get(kind) or []
    return [targets] if isinstance(targets, dict) else list(targets)


def _merged_toml(kind: str, rest: str, settings: str) -> str:
    import tomlkit

    toml_table(rest), toml_table(settings)  # within limits, which tomlkit does not have
    document, other = tomlkit.parse(rest), tomlkit.parse(settings)
    if kind == "Cargo.toml":
        _take(document, other, [(key,) for key in ("test", "bench", "lints")])
        _take(document, other, [("package", key) for key in _automatic_keys(document, other)])
        _take(document, other, [("profile", "test"), ("lib", "test"), ("lib", "doctest"), ("lib", "harness")])
        _join(document, other, ("dev-dependencies",))
    else:
        tools = {*(part(document, "tool") or ()), *(part(other, "tool") or ())} - _PACKAGING_TOOLS
        _take(document, other, [("tool", name) for name in sorted(tools)])
        _take(document, other, [("tool", *path) for path in _SCRIPTS_OF_TOOLS])
        for path in (("dependency-groups",), ("project", "optional-dependencies")):
            _join(document, other, path)
    return tomlkit.dumps(document)


def _automatic_keys(*documents: Any) -> list[str]:
    return sorted(
        {key for document in documents for key in part(document, "package") or () if key.startswith("auto")}
    )


def _take(document: Any, other: Any, paths: list[tuple[str, ...]]) -> None:
    """Make the values at these paths those of the other document."""
    for path in paths:
        value, above = part(other, *path), part(document, *path[:-1]) if path[:-1] else document
        if above is None:
            if value is not None:
                document[path[0]] = other[path[0]]
        elif value is not None:
            above[path[-1]] = value
        elif path[-1] in above:
            del above[path[-1]]


def _join(document: Any, other: Any, path: tuple[str, ...]) -> None:
    """Add what the other document has at this path, and this one has not."""
    mine, theirs = part(document, *path), part(other, *path)
    if theirs and mine is None:
        _take(document, other, [path])
    elif theirs:
        for key, value in theirs.items():
            if key not in mine:
                mine[key] = value


# other formats


def _tsconfig(text: str) -> RelevantSettings:
    values = json_values(text)
    options = part(values, "compilerOptions") or {}
    rules = {key: value for key, value in options.items() if _TYPE_RULES.fullmatch(key)}
    others = {key: values.get(key) for key in ("extends", "exclude", "files")}
    return RelevantSettings((rules, others), growing={"include": frozenset(strings(values.get("include")))})


def _composer(text: str) -> Any:
    values = json_values(text)
    return {key: values.get(key) for key in ("scripts", "autoload-dev", "config")}


def _deno(text: str) -> Any:
    values = json_values(text)
    return {key: value for key, value in values.items() if key not in ("imports", "name", "version", "exports")}


def _ini(text: str) -> Any:
    data = ("metadata", "options", "bdist_wheel", "sdist", "egg_info", "build_ext", "bumpversion")
    return {name: values for name, values in ini_sections(text).items() if not name.startswith(data)}


def _pom(text: str) -> Any:
    project = xml_root(text) if text.strip() else ElementTree.Element("project")
    for child in list(project):
        if child.tag.rpartition("}")[2] in _POM_DATA:
            project.remove(child)
    return ElementTree.canonicalize(ElementTree.tostring(project, encoding="unicode"), strip_text=True)


def _toolchain(text: str) -> Any:
    return part(toml_table(text), "toolchain", "path") if "=" in text else None


_PARTS: dict[str, Callable[[str], Any]] = {
    "package.json": _package,
    "pyproject.toml": _pyproject,
    "Cargo.toml": _cargo,
    "tsconfig": _tsconfig,
    "composer.json": _composer,
    "deno.json": _deno,
    "pom.xml": _pom,
    "ini": _ini,
    "toolchain": _toolchain,
    "makefile": makefile_part,
    "cmake": cmake_part,
    "script": script_part,
}
