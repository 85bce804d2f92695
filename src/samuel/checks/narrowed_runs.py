"""Which part of a check is enough for a corner: runs of a few test files cost less than those of the whole check.

Whether old tests pass is decided by the whole check. What fails without the work is among the tests that the
attempt changed, so that they are enough on the old source. A planted failure shows that the checks can fail where
it runs together with the changed tests and loads the changed source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from samuel.checks.changed_tests import ChangedTests
from samuel.checks.commands import CommandReader
from samuel.checks.runners import TEST_RUNNERS
from samuel.evidence.code_change import is_prose
from samuel.evidence.plant.narrowing import narrowed_to
from samuel.evidence.plant.planted import CalledRunner, Plant
from samuel.evidence.plant.siblings import siblings

# Names of files that say nothing about what is in them: a test that loads one need not mention it.
_UNNAMED = frozenset(("index", "main", "lib", "mod", "__init__", "__main__"))


def called_runners(tests: ChangedTests, command: str) -> list[CalledRunner]:
    """The test runners that a command starts; it is read as it is in the verified tree."""
    reader = CommandReader(frozenset(tests.names), tests.before)
    reader.line(command)
    calls = [CalledRunner(name, tuple(call.arguments), call.directory) for name, call in reader.calls]
    return [call for call in calls if call.name in TEST_RUNNERS] or ([CalledRunner("")] if not calls else [])


def on_changed_tests(tests: ChangedTests, command: str) -> str:
    """The command for the changed test files alone; "" if the whole command must run."""
    calls = called_runners(tests, command)
    if len(calls) != 1:
        return ""
    paths = [path for path in tests.paths if path in {*tests.own_names}]
    modules = _modules(tests, calls[0], paths)
    return narrowed_to(command, calls[0], paths) or "" if modules == paths else ""


def on_planted_test(tests: ChangedTests, command: str, plant: Plant) -> str:
    """The command for the file of a plant and the changed tests; "" if they may not load what was changed."""
    if plant.kind == "changed expectation":
        return ""
    planted = [*plant.files][:1]
    paths = [*dict.fromkeys((*planted, *_modules(tests, plant.call, tests.paths)))]
    text = "\n".join(
        plant.files[path].decode("utf-8", "replace") if path in plant.files else tests.after(path)
        for path in paths
    )
    stems = [path.rpartition("/")[2].partition(".")[0] for path in tests.sources if not is_prose(path)]
    if any(stem in _UNNAMED or not re.search(rf"\b{re.escape(stem)}\b", text) for stem in stems):
        return ""
    return narrowed_to(command, plant.call, paths) or ""


def _modules(tests: ChangedTests, call: CalledRunner, paths: Iterable[str]) -> list[str]:
    """Those of the paths that the runner can run by name."""
    collected = {*siblings(call, tests.own_names)}
    return [path for path in paths if path in collected]
