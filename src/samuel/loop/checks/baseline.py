"""The checks before the first agent: a project whose checks fail already is not worth an agent's time."""

from __future__ import annotations

from msgspec.structs import replace

from samuel.events import QualityCheck
from samuel.loop.checks.judgement import CheckedWork, checked
from samuel.loop.checks.verdict import failing_commands
from samuel.loop.evidence import WORKERS, Evidence
from samuel.loop.reports import BaselineChecked
from samuel.loop.run import Run
from samuel.loop.run_files import RunFiles
from samuel.loop.steps import Steps
from samuel.loop.stop import IterationEnded, RunStopped
from samuel.loop.workplace import Workplace

FAILED = "the checks fail before any agent has worked"


def check_baseline(place: Workplace, files: RunFiles, steps: Steps, run: Run) -> Run:
    """Run the checks once, on the verified tree.

    `baseline_done` of the run stays false if they fail and that is not accepted.
    """
    commands = list(place.settings.quality_checks)
    ignored = files.trees.ignored() if files.trees else ()
    if not commands:
        files.checks.set_baseline((), ignored)
        return replace(run, baseline_done=True)
    # What a failed attempt of the run before left would count against the project, or be accepted as its fault.
    not_put = files.attempts.start("").problems
    run = replace(run, tree=files.attempts.state)
    before, any_handler = replace(run, iteration=0), True
    try:
        evidence = Evidence(place, files.tasks, steps.state_files)
        window = files.repository.open(before, WORKERS["check"], files.work_tree)
        with evidence.window(before, "check"), window:
            fired = steps.ask(before, QualityCheck(commands=commands))
        work, any_handler = checked(fired), any(call.would is None for call in fired.calls)
    except RunStopped:
        raise
    except IterationEnded as ended:  # a check changed what it must not
        work = CheckedWork((), ended.why)
    files.checks.set_baseline(work.runs, ignored)
    files.attempts.accept_checks()
    failing = (*failing_commands(work.runs), *([work.other_failures] if work.other_failures else ()))
    failing += tuple(f"not as it was verified: {problem}" for problem in not_put)
    accepted = place.settings.baseline == "accept"
    if failing or any_handler:  # without a handler nothing was checked: nobody may read that the checks pass
        place.watch(BaselineChecked(failing, accepted))
    return replace(run, baseline_done=accepted or not failing, tree=files.attempts.state)
