"""Which changes to the state of a run count when an agent or a check made them.

They may change the project, but not the task list, the files of the state or the user's agreements. While one of
them works, the tasks are sealed. When it has ended, the task list is rebuilt from the seal and from the changes
that it is allowed to make; any other change is undone and named in a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from samuel.attempt.other_tasks import OtherTasks
from samuel.attempt.patient_tasks import PatientTasks
from samuel.attempt.stop import IterationEnded, RunStopped
from samuel.attempt.workplace import Workplace
from samuel.events.endings import IterationOutcome
from samuel.history.run import Run
from samuel.history.state_files import StateFiles, misplaced, put_right
from samuel.tasks.rebuild import Rebuilt
from samuel.tasks.seal import Seal, SealedStep

MAX_NAMED = 10  # in one warning
WORKERS = {"agent": "the agent", "check": "a check", "commit": "a filter or a hook of the commit"}


class Evidence:
    """The changes of one iteration's agent and checks to the state of the run."""

    def __init__(
        self, place: Workplace, tasks: PatientTasks, state_files: StateFiles, *, dry_run: bool = False
    ) -> None:
        """In a dry run neither an agent nor a check starts, so nothing is sealed."""
        self._place = place
        self._tasks = tasks
        self._state_files = state_files
        self._dry_run = dry_run
        self.new_tasks = 0  # that agents added

    @contextmanager
    def window(self, run: Run, step: SealedStep, own: str = "") -> Iterator[None]:
        """Let an agent or a check work. Raises IterationEnded if it replaced files of the state."""
        if self._dry_run:
            yield
            return
        seal = self._seal(run, step, own)
        with agreements_kept(self._place, WORKERS[step]), others_sealed(self._place, seal, WORKERS[step]):
            self._open(seal)
            try:
                yield
            except IterationEnded as ended:
                self._close(step, refuse=not isinstance(ended, RunStopped))
                raise
            except BaseException:  # it has to end now, for example by a second Ctrl-C
                self._close(step, refuse=False)
                raise
            self._close(step)

    def _seal(self, run: Run, step: SealedStep, own: str) -> Seal:
        return Seal(
            run_id=run.run_id,
            iteration=run.iteration,
            step=step,
            own=(own,) if own else (),
            mode=run.mode,
            max_new_tasks=self._place.settings.pilot.max_discovery_tasks,
        )

    def _open(self, seal: Seal) -> None:
        self._state_files.expect_intact()
        if why := self._tasks.open_seal(seal):
            self._place.warn(f"the tasks are not sealed on disk, so a kill would lose what they were: {why}")

    def _close(self, step: SealedStep, *, refuse: bool = True) -> None:
        replaced = self._state_files.put_right()
        rebuilt = self._place.tasks.close_seal() or Rebuilt(())
        self.new_tasks += rebuilt.new_tasks
        report(self._place, rebuilt, WORKERS[step])
        problems = [*replaced, *([rebuilt.problem] if rebuilt.problem else [])]
        if problems and refuse:
            why = f"{WORKERS[step]} replaced files of the run's state: {'; '.join(problems[:MAX_NAMED])}"
            raise IterationEnded(IterationOutcome.ABORTED, why)


@contextmanager
def sealed_for_commit(place: Workplace, tasks: PatientTasks, run: Run) -> Iterator[None]:
    """Let git commit. It runs filters, and on the host an agent may have configured them."""
    who, seal = WORKERS["commit"], Seal(run_id=run.run_id, iteration=run.iteration, step="commit")
    with agreements_kept(place, who), others_sealed(place, seal, who):
        misplaced_before = misplaced(place.root, place.state)
        tasks.open_seal(seal)
        try:
            yield
        finally:
            for problem in put_right(place.root, place.state, misplaced_before):
                place.warn(problem)
            rebuilt = place.tasks.close_seal() or Rebuilt(())
            report(place, rebuilt, who)
            if rebuilt.problem:
                place.warn(f"{rebuilt.problem}; the tasks are as they were before the commit")


@contextmanager
def others_sealed(place: Workplace, seal: Seal, who: str) -> Iterator[None]:
    """Seal the tasks of this project's other methodologies: nothing in this run may change them."""
    others = OtherTasks(place, seal)
    others.open_seals()
    try:
        yield
    finally:
        for name, rebuilt in others.close_seals():
            report(place, rebuilt, f"{who}, which may not change the tasks of `{name}`,")
            if rebuilt.problem:
                place.warn(f"{rebuilt.problem}; the tasks of `{name}` are as they were before {who} began")


@contextmanager
def agreements_kept(place: Workplace, who: str) -> Iterator[None]:
    """Drop agreements that no `samuel` recorded: nothing inside a run may extend what is trusted."""
    before = place.agreements()
    try:
        yield
    finally:
        now = place.agreements().items()
        forged = [name for name, agreement in now if before.get(name) != agreement and not agreement.recorded]
        if forged:
            place.restore_agreements(before, forged)
            names = ", ".join(f"`{name}`" for name in forged[:MAX_NAMED])
            place.warn(f"agreements that {who} wrote into the trust store are dropped: {names}")


def report(place: Workplace, rebuilt: Rebuilt, who: str) -> None:
    """Warn about changes to the task list that were undone."""
    if rebuilt.put_back:
        more = len(rebuilt.put_back) - MAX_NAMED
        named = "; ".join([*rebuilt.put_back[:MAX_NAMED], *([f"and {more} more"] if more > 0 else [])])
        place.warn(f"{who} changed more of the task list than it may; put back: {named}")


def restore(place: Workplace, last: Run | None) -> None:
    """Before a start: judge the changes of an agent or a check whose run was killed, as if it had ended."""
    seal = place.tasks.seal
    if seal is None:
        return
    if last is not None and last.run_id == seal.run_id and last.iterations_run >= seal.iteration:
        place.tasks.drop_seal()  # the changes of that iteration were judged already
        return
    for problem in put_right(place.root, place.state):
        place.warn(problem)
    rebuilt = place.tasks.close_seal()
    if rebuilt is not None:
        who = f"the {seal.step} of the killed run"
        report(place, rebuilt, who)
        if rebuilt.problem:
            place.warn(f"{rebuilt.problem}; the tasks are as they were when {who} began")
