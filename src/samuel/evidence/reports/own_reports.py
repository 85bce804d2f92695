"""Which reports a project writes of its own accord: where its runners always put them, and where settings say."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from samuel.base.decoding import decode_json
from samuel.files.toml.lines import toml_values

MAX_NAMED = 20
_PATTERNS: dict[str, tuple[str, ...]] = {
    "maven": ("**/target/surefire-reports/TEST-*.xml", "**/target/failsafe-reports/TEST-*.xml"),
    "gradle": ("**/build/test-results/**/TEST-*.xml",),
    "dotnet": ("**/TestResults/**/*.trx",),
}
# The settings in which a runner may be told to write a report.
_SETTINGS: dict[str, tuple[str, ...]] = {
    "jest": ("package.json", *(f"jest.config.{end}" for end in ("js", "ts", "mjs", "cjs", "json"))),
    "vitest": tuple(f"{name}.config.{end}" for name in ("vitest", "vite") for end in ("js", "ts", "mjs", "mts")),
    "mocha": ("package.json", ".mocharc.json", ".mocharc.js", ".mocharc.cjs", ".mocharc.yml", ".mocharc.yaml"),
    "phpunit": ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"),
    "rspec": (".rspec",),
}
_NAMED = re.compile(r"[\"'=>\s]([\w./-]{1,200}\.(?:xml|trx))(?=[\"'<\s]|$)")
_JSON_NAMED = re.compile(r"(?:outputFile|--out)[\"']?\s{0,4}[:=]?\s{0,4}\{?[\"' ]?([\w./-]{1,200}\.json)\b")
_OWN_SETTINGS = re.compile(r"(?:phpunit|pom|build|checkstyle|web)[\w.]*\.xml$")
_REPORT_OPTIONS = re.compile(
    r"(?:--(?:outputFile(?:\.\w+)?|log-junit|out|junitfile|reporter-options?)|-o)(?:=(.*))?$"
)


def report_patterns(runner: str) -> tuple[str, ...]:
    """Where a runner puts its reports in any case, as patterns below the directory of the run."""
    return _PATTERNS.get(runner, ())


def named_reports(
    runner: str,
    arguments: Sequence[str],
    directory: str,
    environment: Mapping[str, str],
    read: Callable[[str], str],
) -> list[str]:
    """The reports that a command line and settings name, by their paths below the directory of the run."""
    paths: list[str] = []
    if runner == "cargo" and "nextest" in arguments[:2]:
        paths += _nextest_reports(arguments, directory, environment, read)
    if runner in _SETTINGS:
        paths += _named_by_options(arguments)
    for name in _SETTINGS.get(runner, ()):
        text = read(os.path.join(directory, name))[:200_000]
        paths += [
            path for path in (*_NAMED.findall(text), *_JSON_NAMED.findall(text)) if not _OWN_SETTINGS.search(path)
        ]
        if "jest-junit" in text:
            paths.append(_jest_junit_report(text, environment))
    return [os.path.normpath(os.path.join(directory, path)) for path in dict.fromkeys(paths)][:MAX_NAMED]


def _named_by_options(arguments: Sequence[str]) -> Iterator[str]:
    for word, following in zip(arguments, (*arguments, "")[1:], strict=True):
        if option := _REPORT_OPTIONS.match(word):
            value = option[1] if option[1] is not None else following
            value = value.rpartition("=")[2]  # --reporter-option output=report.json
            if value.endswith((".xml", ".json", ".trx")):
                yield value


def _jest_junit_report(text: str, environment: Mapping[str, str]) -> str:
    """Where jest-junit writes: `junit.xml`, unless its own settings in package.json or variables say otherwise."""
    if path := environment.get("JEST_JUNIT_OUTPUT_FILE"):
        return path
    try:
        package = decode_json(text)
        settings: dict[str, Any] = package.get("jest-junit") or {}
        directory, name = settings.get("outputDirectory"), settings.get("outputName")
    except (ValueError, AttributeError, RecursionError):
        directory = name = None
    directory = environment.get("JEST_JUNIT_OUTPUT_DIR") or directory or ""
    name = environment.get("JEST_JUNIT_OUTPUT_NAME") or name or "junit.xml"
    return os.path.join(str(directory), str(name))


def _nextest_reports(
    arguments: Sequence[str], directory: str, environment: Mapping[str, str], read: Callable[[str], str]
) -> Iterator[str]:
    """The report of the profile that nextest uses. No variable turns it on without taking another profile."""
    profile = environment.get("NEXTEST_PROFILE") or "default"
    for word, following in zip(arguments, (*arguments, "")[1:], strict=True):
        if word in ("-P", "--profile"):
            profile = following
        elif word.startswith(("--profile=", "-P=")):
            profile = word.partition("=")[2]
    try:
        settings = toml_values(read(os.path.join(directory, ".config/nextest.toml")))
        profiles = settings.get("profile") or {}
        paths = [(profiles.get(name) or {}).get("junit", {}).get("path") for name in (profile, "default")]
        store = (settings.get("store") or {}).get("dir") or "target/nextest"
    except (ValueError, LookupError, TypeError, AttributeError):
        return
    path = next((path for path in paths if isinstance(path, str)), None)
    if path is not None:
        yield os.path.join(str(store), profile, path)
        if target := environment.get("CARGO_TARGET_DIR"):
            yield os.path.join(target, "nextest", profile, path)
