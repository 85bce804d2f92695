"""The checks before the first agent: a project whose checks fail already is not worth an agent's time."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

from msgspec.structs import replace

from samuel.attempt.evidence import Evidence
from samuel.attempt.run_files import RunFiles, prepare_room
from samuel.attempt.steps import Steps
from samuel.attempt.stop import IterationEnded, RunStopped
from samuel.attempt.workers import CHECK
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.base.printable import listed, shorten
from samuel.checks.checked_work import CheckedWork, checked
from samuel.checks.repeat import repeated
from samuel.checks.verdict import cannot_run, failing_commands
from samuel.checks.withheld import withheld_hint, withheld_variables
from samuel.events import QualityCheck
from samuel.events.loop import CheckRun
from samuel.evidence.check_directory import RoomFailed
from samuel.history.notices import BaselineChecked
from samuel.history.run import Run

FAILED = "the checks fail before any agent has worked"
MOST_NAMED, LONGEST_NAME = 3, 100  # checks in the message, and characters of each


class CheckedBaseline(NamedTuple):
    run: Run
    """Its `baseline_done` stays false if the checks fail and that is not accepted."""
    why: str = ""
    """Why no agent may start."""


def check_baseline(place: Workplace, files: RunFiles, steps: Steps, run: Run) -> CheckedBaseline:
    """Run the checks once, on the verified tree. One that cannot run is never accepted: it would check nothing."""
    commands = list(place.settings.quality_checks)
    ignored = files.trees.ignored() if files.trees else ()
    if files.room is not None:
        try:
            prepare_room(place, files.room, files.attempts.state.verified, ignored)
        except SamuelError as error:
            return CheckedBaseline(run, f"{error.message} ({error.hint})" if error.hint else error.message)
    if not commands:
        files.checks.set_baseline((), ignored)
        return CheckedBaseline(replace(run, baseline_done=True))
    # What a failed attempt of the run before left would count against the project, or be accepted as its fault.
    not_put = files.attempts.start("").problems
    run = replace(run, tree=files.attempts.state)
    before, any_handler = replace(run, iteration=0), True
    place.built_in_checks.forget()
    try:
        evidence = Evidence(place, files.tasks, steps.state_files)
        window = files.repository.open(before, CHECK, files.work_tree)
        room = files.room.showing(files.attempts.state.verified) if files.room else nullcontext()
        with room, evidence.window(before, "check"), window:
            fired = steps.ask(before, QualityCheck(commands=commands, corner="before"))
            work, any_handler = checked(fired), any(call.would is None for call in fired.calls)
            work = work._replace(runs=repeated(work.runs, failing_commands, place.built_in_checks))
    except RunStopped:
        raise
    except RoomFailed as error:
        return CheckedBaseline(run, error.message)
    except IterationEnded as ended:  # a check changed what it must not
        work = CheckedWork((), ended.why)
    if files.room is not None and files.trees is not None:
        files.room.keep_built()
        changed = files.room.changed()
        files.trees.put(files.trees.with_contents(files.attempts.state.verified, changed), changed)
    files.checks.set_baseline(work.runs, ignored)
    files.attempts.accept_checks()
    failing = (*failing_commands(work.runs), *([work.other_failures] if work.other_failures else ()))
    failing += tuple(f"not as it was verified: {problem}" for problem in not_put)
    only_in_place = _passing_in_place(place, work.runs) if files.room is not None and failing else ()
    not_run = tuple(run.command for run in work.runs if cannot_run(run))
    withheld = withheld_variables((run for run in work.runs if not run.passed), place.host, place.environment)
    accepted = place.settings.baseline == "accept" and not not_run and not not_put
    if failing or any_handler:  # without a handler nothing was checked, and the report must not say it passed
        place.watch(BaselineChecked(failing, accepted, not_run, withheld if failing else (), only_in_place))
    run = replace(run, baseline_done=accepted or not failing, tree=files.attempts.state)
    if run.baseline_done:
        return CheckedBaseline(run)
    return CheckedBaseline(run, _why(failing, not_run, withheld))


def _passing_in_place(place: Workplace, runs: Sequence[CheckRun]) -> tuple[str, ...]:
    """Those of the failed checks that pass in the work tree: they need what the clean room does not have."""
    failed = [run.command for run in runs if not run.passed]
    again = ((command, place.built_in_checks(command, "in place")) for command in failed)
    return tuple(command for command, run in again if run is not None and run.passed)


def in_place_hint(commands: Sequence[str]) -> str:
    """What a person can do about checks that fail only in the clean room; "" if there are none."""
    if not commands:
        return ""
    named = ", ".join(f"`{command}`" for command in commands)
    return (
        f"in your work tree {named} passes: it needs what git does not have, or what is outside of the "
        'repository; `evidence = "in place"` in samuel.toml runs the checks there'
    )


def cannot_run_text(commands: Sequence[str]) -> str:
    """What is wrong with checks that cannot run."""
    named = ", ".join(f"`{command}`" for command in commands)
    return f"{named} cannot run: the program is missing or may not be executed"


def baseline_way_out(message: str) -> str:
    """What a person can do about a run that ended with this message because of its baseline."""
    if message.startswith(FAILED):
        return "fix the checks, or count only what becomes worse: samuel run start --baseline accept"
    return "fix `quality_checks` in samuel.toml, or install what is missing: samuel run start"


def _why(failing: Sequence[str], not_run: Sequence[str], withheld: Sequence[str]) -> str:
    why = f"{cannot_run_text(not_run)}; fix `quality_checks` or install it"
    if not not_run:
        why = f"{FAILED}: {listed([f'`{shorten(text, LONGEST_NAME)}`' for text in failing], MOST_NAMED)}"
    return "; ".join(text for text in (why, withheld_hint(withheld)) if text)
