"""Whether the checks of an attempt can fail: a test that must fail is planted, and the check must turn red.

An attempt whose checks stay green has disarmed them: it replaced the runner, patched an assertion, ended the
process early, or had no test collected. None is accused before the same failure turned the check red on the
verified tree.
"""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from samuel.base.paths import HOME
from samuel.base.printable import safe
from samuel.checks.changed_tests import ChangedTests
from samuel.checks.narrowed_runs import called_runners, on_planted_test
from samuel.events.loop import CheckRun
from samuel.evidence.code_change import is_prose
from samuel.evidence.plant.canary import canary_plant
from samuel.evidence.plant.choice import PlantTrees, plants
from samuel.evidence.plant.narrowing import narrowed
from samuel.evidence.plant.planted import CalledRunner, Plant, PlantRun
from samuel.evidence.plant.siblings import LANGUAGES, may_load
from samuel.evidence.plant.verdict import PlantVerdict, verdict

MOST_TRIED = 2  # plants for one command
LONG = 30.0  # seconds: a check that takes longer runs for the planted file alone, where it can
TAIL = 4000  # characters: of a longer output only the end is there
YES = "yes"
NO_TESTS = "no check runs tests that are known"
NO_PLANT = "no failing test can be added to the tests"

RunPlanted = Callable[[str, str, str, str], CheckRun | str | None]
"""Runs a check on a tree, as another command line if one is given: `run(tree, command, line, canary)`.

The canary, if there is one, runs there first; a text says that it failed.
"""

_Suite = list[tuple[CheckRun, CalledRunner | None]]
"""The runs to try a plant in, one after another, each with the runner to plant for: None for all."""


class ShownToFail(NamedTuple):
    answer: str
    """YES, or why that was not shown."""
    disarmed: str = ""
    """Why the checks of the attempt cannot fail any more; "" if they can, or that is not known."""
    runs: Mapping[str, CheckRun] = {}
    """The last run of each command on the attempt with a planted failure."""


class Planting:
    """Plants failures into the trees of one attempt."""

    def __init__(self, tests: ChangedTests, run: RunPlanted, before: Sequence[CheckRun], canary: str = "") -> None:
        """`before` are the runs on the verified tree; `canary` is the person's command that plants a failure."""
        self._tests = tests
        self._run = run
        self._canary = canary_plant(canary)
        self._planted: dict[str, CheckRun] = {}
        self._before = {check_run.command: check_run for check_run in before}

    def shown_to_fail(self, own: Sequence[CheckRun]) -> ShownToFail:
        """Whether the checks can fail; `own` are the runs on the attempt, which passed.

        That is shown for each suite that may load what was changed: another one that fails says nothing about it.
        Where none is known to load it, one suite is enough.
        """
        answers: list[str] = []
        for suite in self._suites(own) or [[(check_run, None) for check_run in own]]:
            suite_answer = self._suite_shown_to_fail(suite)
            if suite_answer.disarmed:
                return suite_answer._replace(runs=self._planted)
            answers.append(suite_answer.answer)
        return ShownToFail(next((why for why in answers if why != YES), YES), runs=self._planted)

    def _suite_shown_to_fail(self, suite: _Suite) -> ShownToFail:
        why = NO_TESTS
        for check_run, call in suite:
            why = NO_PLANT if call is not None else why
            for plant_verdict in islice(self._verdicts(check_run, call), MOST_TRIED):
                if plant_verdict.outcome == "disarmed":
                    return ShownToFail("no", f"`{check_run.command}`: {safe(plant_verdict.reason)}")
                if plant_verdict.outcome == "shown_to_fail":
                    return ShownToFail(YES)
                why = safe(plant_verdict.reason)
        return ShownToFail(why)

    def _suites(self, own: Sequence[CheckRun]) -> list[_Suite]:
        """The suites that may load what was changed."""
        if self._canary is not None:
            return []
        calls = [
            (check_run, call)
            for check_run in own
            for call in called_runners(self._tests, check_run.command)
            if call.name in LANGUAGES
        ]
        changed = [path for path in self._tests.changed if not is_prose(path)]
        directories = {call.directory for _, call in calls}
        suites: dict[tuple[str, str], _Suite] = {}
        for check_run, call in calls:
            if any(may_load(call, path, directories) for path in changed):
                suites.setdefault((call.name, call.directory), []).append((check_run, call))
        return [*suites.values()]

    def _verdicts(self, own: CheckRun, call: CalledRunner | None) -> Iterator[PlantVerdict]:
        if self._canary is not None:
            yield self._judged(own, self._canary)
            return
        calls = [call] if call is not None else called_runners(self._tests, own.command)
        if not calls:
            return
        files = [path for path in self._tests.own_names if not path.startswith(f"{HOME}/")]
        trees = PlantTrees(files, self._tests.content_before, self._tests.content_after, self._tests.changed)
        token = secrets.choice(string.ascii_lowercase) + secrets.token_hex(8)
        for plant in plants(calls, trees, token, tuple(own.tests or ())):
            yield self._judged(own, plant)

    def _judged(self, own: CheckRun, plant: Plant) -> PlantVerdict:
        """The verdict by a few tests, if they say enough; else by the whole check."""
        narrow_line = on_planted_test(self._tests, own.command, plant) if not plant.command else ""
        if narrow_line:
            narrow_verdict = self._compared(own, plant, narrow_line)
            if narrow_verdict.outcome == "disarmed" or (
                narrow_verdict.outcome == "shown_to_fail" and not narrow_verdict.undecided
            ):
                return narrow_verdict
        is_long = own.seconds > LONG
        line = (narrowed(own.command, plant, self._tests.own_names) or "") if is_long else ""
        plant_verdict = self._compared(own, plant, line)
        for part in plant_verdict.undecided:
            alone = self._judged(own, part)
            if alone.outcome == "disarmed":
                return alone
        return plant_verdict

    def _compared(self, own: CheckRun, plant: Plant, line: str) -> PlantVerdict:
        """The verdict by a line, or by the whole check; what does not turn red is tried on the verified tree."""
        after = self._run(self._tests.own_with(plant.files), own.command, line, plant.command)
        if isinstance(after, str):
            return PlantVerdict("not_shown", after)
        if after is None:
            return PlantVerdict("not_shown", "another handler runs the checks")
        self._planted[own.command] = after
        plant_verdict = verdict(_plant_run(own), _plant_run(after), plant)
        before = self._before.get(own.command)
        if not plant_verdict.needs_control or before is None:
            return plant_verdict
        control = self._run(self._tests.verified_with(plant.control_files), own.command, line, plant.command)
        if control is None or isinstance(control, str):
            return plant_verdict
        return verdict(
            _plant_run(own), _plant_run(after), plant, verified=_plant_run(before), control=_plant_run(control)
        )


def _plant_run(run: CheckRun) -> PlantRun:
    tests = run.tests if run.tests is not None else dict.fromkeys(run.kinds or (), "failed") or None
    return PlantRun(run.exit_code == 0, tests, run.output_tail, is_complete=len(run.output_tail) < TAIL)
