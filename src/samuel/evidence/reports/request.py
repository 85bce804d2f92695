"""How test runners are asked for a report, by variables of the environment, and what a project writes itself.

Only what a variable can ask for without changing what a check does or prints: jest, vitest, mocha, phpunit, cargo,
unittest and dotnet take a reporter as an argument or a setting only, so their output counts, or the report that
the project's settings name. Maven and Gradle write theirs in any case.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from samuel.evidence.reports.own_reports import named_reports, report_patterns

OLDEST_NODE = 20  # the first whose test runner writes JUnit's XML
TextReader = Callable[[str], str]
"""Gives the text of a file by its path below the directory of the run; "" if it is missing."""

_PYTEST_OPTIONS = ("--junitxml", "--junit-xml")


class RunnerInvocation(NamedTuple):
    """A test runner that a check starts."""

    runner: str
    """Its name in the table of runners: `pytest`, `node-test`, `cargo`."""
    arguments: tuple[str, ...] = ()
    directory: str = ""
    """Where it runs, below the directory of the run."""
    settings: tuple[str, ...] = ()
    """The options that settings of the project add: pytest's `addopts`."""


class ReportRequest(NamedTuple):
    """What to set for a check, and what to read after it."""

    variables: Mapping[str, str]
    asked_for: tuple[str, ...] = ()
    """The files that the runners are asked to write, by their names in the directory for reports."""
    own: tuple[str, ...] = ()
    """The reports of the project, by their paths below the directory of the run, or as absolute paths."""
    own_patterns: tuple[str, ...] = ()
    """The same where only a pattern is known: `**/target/surefire-reports/TEST-*.xml`."""


def report_request(
    invocations: Sequence[RunnerInvocation],
    destination: Path,
    environment: Mapping[str, str],
    read: TextReader,
    *,
    name: str = "report",
    node_version: int = 0,
) -> ReportRequest:
    """How the runners of a check are asked to write their reports into the directory `destination`.

    `name` begins the names of these files. `node_version` is the major version of the node that the check will
    start; 0 if it is not known.
    """
    variables: dict[str, str] = {}
    asked_for: list[str] = []
    own: list[str] = []
    for runner, (ask, ending) in _QUESTIONS.items():
        if calls := [call for call in invocations if call.runner == runner or _ALIASES.get(call.runner) == runner]:
            file = f"{name}-{runner}{ending}"
            question = _Question(calls, str(destination / file), environment, read, node_version)
            answer = ask(question)
            variables |= answer.variables
            own += answer.own
            asked_for += [file] if answer.variables else []
    for call in invocations:
        own += named_reports(call.runner, call.arguments, call.directory, environment, read)
    return ReportRequest(
        {key: _added(key, value, environment) for key, value in variables.items()},
        tuple(asked_for),
        tuple(dict.fromkeys(own)),
        tuple(dict.fromkeys(pattern for call in invocations for pattern in report_patterns(call.runner))),
    )


def node_version(printed: bytes) -> int:
    """The major version in what `node --version` printed; 0 if it is none."""
    version = re.match(rb"v(\d{1,5})\.", printed)
    return int(version[1]) if version else 0


class _Question(NamedTuple):
    calls: Sequence[RunnerInvocation]
    path: str
    """Where the report shall be written."""
    environment: Mapping[str, str]
    read: TextReader
    node_version: int


class _Answer(NamedTuple):
    variables: Mapping[str, str]
    """Empty if the runner cannot be asked, or need not be."""
    own: Sequence[str] = ()


def _added(variable: str, value: str, environment: Mapping[str, str]) -> str:
    """The value behind that which the variable has already; a variable for one file is replaced."""
    earlier = environment.get(variable, "") if variable != "GOTESTSUM_JUNITFILE" else ""
    return f"{earlier} {value}".strip()


def _ask_pytest(question: _Question) -> _Answer:
    """A report that settings name would not be written if another were asked for here: it is read instead.

    What a command line names is written in any case. The option `junit_family` lets pytest name each test's file.
    pytest runs the modules that can be loaded although others cannot: new tests on old source need that, and a
    test must not be able to tell that it runs there.
    """
    in_environment = split_words(question.environment.get("PYTEST_ADDOPTS", ""))
    own = []
    is_asked = True
    for call in question.calls:
        settings = [*_settings(call), *in_environment]
        if "no:junitxml" in (*settings, *call.arguments):  # the plugin is off: pytest would refuse the option
            return _Answer({})
        if file := _option(call.arguments, _PYTEST_OPTIONS) or _option(settings, _PYTEST_OPTIONS):
            own.append(_below(call.directory, os.path.expanduser(file)))
        is_asked = is_asked and not _option(settings, _PYTEST_OPTIONS)
    options = f"--junitxml={shlex.quote(question.path)} -o junit_family=xunit1 --continue-on-collection-errors"
    return _Answer({"PYTEST_ADDOPTS": options} if is_asked else {}, own)


def _settings(call: RunnerInvocation) -> Sequence[str]:
    """The options that pytest's settings add, unless the command line sets others in their place."""
    words = [word.removeprefix("--override-ini=").removeprefix("-o") for word in call.arguments]
    replaced = [word.partition("=")[2] for word in words if word.startswith("addopts=")]
    return split_words(replaced[-1]) if replaced else call.settings


def _ask_node(question: _Question) -> _Answer:
    """Node wants a destination for each of several reporters.

    A command line with a reporter and no destination leaves no room for another one.
    """
    words = [word.partition("=")[0] for call in question.calls for word in call.arguments]
    counts = {words.count("--test-reporter"), words.count("--test-reporter-destination")}
    if question.node_version < OLDEST_NODE or re.search(r"[\s\"'\\]", question.path) or len(counts) > 1:
        return _Answer({})
    spec = "" if "--test-reporter" in words else "--test-reporter=spec --test-reporter-destination=stdout "
    junit = f"--test-reporter=junit --test-reporter-destination={question.path}"
    return _Answer({"NODE_OPTIONS": spec + junit})


def _ask_rspec(question: _Question) -> _Answer:
    """rspec takes all its formatters from one place, so the one that it would use is named again.

    A command line or a setting that sends a formatter into a file keeps its own.
    """
    formatter = "progress"
    for call in question.calls:
        settings = split_words(question.read(os.path.join(call.directory, ".rspec")))
        words = (*settings, *call.arguments, *split_words(question.environment.get("SPEC_OPTS", "")))
        if any(word.startswith(("--out", "-o")) for word in words):
            return _Answer({})
        formatter = _option(words, ("--format", "-f")) or formatter
    options = f"--format {shlex.quote(formatter)} --format json --out {shlex.quote(question.path)}"
    return _Answer({"SPEC_OPTS": options})


def _ask_gotestsum(question: _Question) -> _Answer:
    named = [(call.directory, _option(call.arguments, ("--junitfile",))) for call in question.calls]
    own = [_below(directory, file) for directory, file in named if file]
    return _Answer({} if own else {"GOTESTSUM_JUNITFILE": question.path}, own)


def _option(words: Sequence[str], names: Sequence[str]) -> str:
    """The value of the last of these options; "" without one."""
    value = ""
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        option, equals, after = word.partition("=")
        if option in names:
            value = after if equals else following
    return value


def _below(directory: str, path: str) -> str:
    return path if path.startswith("/") else os.path.normpath(os.path.join(directory, path))


def split_words(text: str) -> list[str]:
    """The words of a shell's line; [] if a quote is not closed."""
    try:
        return shlex.split(text)
    except ValueError:
        return []


_QUESTIONS: dict[str, tuple[Callable[[_Question], _Answer], str]] = {
    "pytest": (_ask_pytest, ".xml"),
    "node-test": (_ask_node, ".xml"),
    "rspec": (_ask_rspec, ".json"),
    "gotestsum": (_ask_gotestsum, ".xml"),
}
_ALIASES = {"nox": "pytest"}  # nox passes the environment on; tox does not
