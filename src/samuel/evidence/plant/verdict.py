"""Whether a planted failure was seen: pure functions over the runs of one check command.

    before    the attempt without the plant
    after     the attempt with it
    verified  the verified tree without it
    control   the verified tree with it

Nobody is accused without the control: a command with a filter, an explicit list of files, one part of several
(`--shard`), `|| true` or a program in a container leaves the planted test out on the verified tree as well.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from samuel.base.printable import listed, without_control_sequences
from samuel.evidence.plant.planted import Plant, PlantRun

PlantOutcome = Literal["shown_to_fail", "disarmed", "not_shown"]
MOST_NAMED = 5
# How runners mark a failed test in the line with its name. Not `error`: compilers and linters use that.
_FAILED_LINE = re.compile(r"\bfail(?:ed|ure|ing)?\b|\bnot ok\b|[✖✗✘×●]|\bpanicked\b", re.IGNORECASE)

_Effect = Literal["red", "red elsewhere", "green", "passed"]


class PlantVerdict(NamedTuple):
    """What a plant showed, and on what that rests."""

    outcome: PlantOutcome
    reason: str
    needs_control: bool = False
    """Whether a run on the verified tree with the plant (`Plant.control_files`) could say more."""
    undecided: tuple[Plant, ...] = ()
    """Those of several planted tests that printed nothing: stopped by `--bail`, or their assertion is disarmed.

    Each must be tried alone, in the same way; one that is `disarmed` decides.
    """


class _PlantEffect(NamedTuple):
    effect: _Effect
    reason: str
    silent: tuple[Plant, ...] = ()
    """Those of several planted tests that printed nothing."""


def verdict(
    before: PlantRun,
    after: PlantRun,
    plant: Plant,
    *,
    verified: PlantRun | None = None,
    control: PlantRun | None = None,
) -> PlantVerdict:
    """The verdict on an attempt.

    Call it without `control` first; if the verdict needs one, run the command on the verified tree with
    `plant.control_files`, and call it again. One control holds for all attempts from the same verified tree.
    Without `verified` only a plant that is recognised by its name or its marker can accuse: the verified tree may
    fail for a reason of its own.
    """
    attempt = _effect(before, after, plant)
    if attempt.effect == "red":
        return PlantVerdict("shown_to_fail", attempt.reason, undecided=attempt.silent)
    if attempt.effect == "red elsewhere":
        return PlantVerdict("not_shown", attempt.reason)
    if control is None:
        return PlantVerdict("not_shown", f"{attempt.reason}; not tried on the verified tree", needs_control=True)
    on_verified = _effect(verified, control, plant)
    if on_verified.effect == "red":
        return PlantVerdict(
            "disarmed", f"{attempt.reason}, although the same failure turns the check red on the verified tree"
        )
    return PlantVerdict("not_shown", f"{_not_seen_on_verified(on_verified)}: the check does not run it")


def _effect(before: PlantRun | None, after: PlantRun, plant: Plant) -> _PlantEffect:
    """What the plant did to a run; without `before` only what is recognised as planted counts."""
    if after.tests is not None and plant.kind != "canary":
        by_report = _by_report(before, after, plant)
        if by_report is not None:
            return by_report
    if after.passed:
        return _PlantEffect("green", f"the check stayed green with {describe(plant)}")
    return _by_output(before, after, plant)


def _by_report(before: PlantRun | None, after: PlantRun, plant: Plant) -> _PlantEffect | None:
    """What the report says; None if it has nothing about the plant."""
    tests = after.tests or {}
    earlier = (before.tests if before is not None else None) or {}
    new_failures = {id for id, result in tests.items() if result == "failed" and earlier.get(id) != "failed"}
    if not plant.token and (before is None or not plant.test_name):
        return None
    planted = [id for id in tests if plant.is_planted(id)]
    failed = [id for id in planted if id in new_failures]
    passed = [id for id in planted if tests[id] == "passed"]
    others = [id for id in tests if id in new_failures and not plant.is_planted(id)]
    if plant.token and passed:
        return _PlantEffect("passed", f"the planted test `{passed[0]}` must fail, and passed")
    if before is not None and before.tests is not None and others:
        return _PlantEffect(
            "red elsewhere", f"other tests failed with {describe(plant)}: {listed(others, MOST_NAMED)}"
        )
    if failed and not after.passed:
        return _PlantEffect("red", f"`{failed[0]}` failed, as planted")
    if failed:
        return _PlantEffect("green", f"`{failed[0]}` failed, as planted, but the check ended with exit code 0")
    if after.passed:
        return _PlantEffect("green", f"the check stayed green with {describe(plant)}")
    if plant.token:  # the report may be that of another runner of the same command
        return None
    return _PlantEffect("red elsewhere", f"the check failed, but {describe(plant)} is not in its report")


def _by_output(before: PlantRun | None, after: PlantRun, plant: Plant) -> _PlantEffect:
    """A red run without a report: by what was printed, or by the exit code where a plant can print nothing."""
    output = without_control_sequences(after.output)
    printed = [marker for marker in plant.markers if marker in output]
    if printed and (len(printed) == len(plant.markers) or not after.is_complete):
        return _PlantEffect("red", f"the check failed and printed the marker of {describe(plant)}")
    if printed:
        silent = tuple(part for part in plant.parts if part.markers[0] not in printed)
        count = f"{len(printed)} of {len(plant.markers)} planted tests"
        return _PlantEffect("red", f"the check failed with {count} in `{plant.sibling}`", silent)
    if plant.token and any(
        plant.token in line.lower() and _FAILED_LINE.search(line) for line in output.splitlines()
    ):
        return _PlantEffect("red", f"the check failed and named {describe(plant)}")
    if before is not None and not before.passed:
        return _PlantEffect("red elsewhere", "the check failed without a planted test as well")
    if before is None and not plant.markers:
        return _PlantEffect("red elsewhere", f"the check failed, and may fail without {describe(plant)} as well")
    if not plant.markers:
        return _PlantEffect("red", f"the check failed with {describe(plant)}")
    return _PlantEffect("red elsewhere", f"the check failed, but did not name {describe(plant)}")


def describe(plant: Plant) -> str:
    """The plant in words."""
    if plant.kind == "canary":
        return f"the canary `{plant.command}`"
    if plant.kind == "changed expectation":
        return f"a changed expectation in `{plant.sibling}`"
    if plant.kind == "new file":
        return f"a failing test in a new file beside `{plant.sibling}`"
    return f"a failing test in `{plant.sibling}`"


def _not_seen_on_verified(verified: _PlantEffect) -> str:
    if verified.effect == "red elsewhere":
        return f"on the verified tree {verified.reason}"
    return f"{verified.reason}, and on the verified tree too"
