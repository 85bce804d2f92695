"""What counts of what an agent or a check did to the state of its run.

The project is theirs to change; the task list, the files of the state and the user's agreements are not. While one
of them works, the tasks are sealed. When it has ended, the task list is rebuilt from the seal and from what it was
allowed to say, and what it was not allowed to change is put back and named.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from samuel.loop.other_tasks import OtherTasks
from samuel.loop.patient_tasks import PatientTasks
from samuel.loop.run import Run
from samuel.loop.state_files import misplaced, put_right
from samuel.loop.steps import Steps
from samuel.loop.stop import IterationEnded
from samuel.loop.workplace import Workplace
from samuel.tasks.rebuild import Rebuilt
from samuel.tasks.seal import Seal, SealedStep

MOST_NAMED = 10
WORKERS = {"agent": "the agent", "check": "a check", "commit": "a filter or a hook of the commit"}


class Evidence:
    def __init__(self, place: Workplace, steps: Steps) -> None:
        self._place = place
        self._steps = steps
        self.new_tasks = 0  # that agents added

    @contextmanager
    def window(self, run: Run, step: SealedStep, own: str = "") -> Iterator[None]:
        """Let an agent or a check work. Raises IterationEnded if it replaced files of the state."""
        if self._steps.dry_run:
            yield
            return
        seal = self._seal(run, step, own)
        with agreements_kept(self._place, WORKERS[step]), others_sealed(self._place, seal, WORKERS[step]):
            self._open(seal)
            try:
                yield
            except IterationEnded as ended:
                self._close(step, refuse=not ended.exit_reason)
                raise
            except BaseException:  # somebody wants it to end now
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
        self._steps.expect_state_files()
        if why := self._steps.tasks.open_seal(seal):
            warn(self._place, f"the tasks are not sealed on disk, so a kill would lose what they were: {why}")

    def _close(self, step: SealedStep, *, refuse: bool = True) -> None:
        replaced = self._steps.replaced_state_files()
        rebuilt = self._place.tasks.close_seal() or Rebuilt(())
        self.new_tasks += rebuilt.new_tasks
        report(self._place, rebuilt, WORKERS[step])
        problems = [*replaced, *([rebuilt.problem] if rebuilt.problem else [])]
        if problems and refuse:
            named = "; ".join(problems[:MOST_NAMED])
            raise IterationEnded("aborted", f"{WORKERS[step]} replaced files of the run's state: {named}")


@contextmanager
def sealed_for_commit(place: Workplace, tasks: PatientTasks, run: Run) -> Iterator[None]:
    """Let git commit. The filters that it runs are programs, and on the host an agent can have set them up."""
    who, seal = WORKERS["commit"], Seal(run_id=run.run_id, iteration=run.iteration, step="commit")
    with agreements_kept(place, who), others_sealed(place, seal, who):
        known = misplaced(place.root, place.state)
        tasks.open_seal(seal)
        try:
            yield
        finally:
            for problem in put_right(place.root, place.state, known):
                warn(place, problem)
            rebuilt = place.tasks.close_seal() or Rebuilt(())
            report(place, rebuilt, who)
            if rebuilt.problem:
                warn(place, f"{rebuilt.problem}; the tasks are as they were before the commit")


@contextmanager
def others_sealed(place: Workplace, seal: Seal, who: str) -> Iterator[None]:
    """Nobody in this run may speak of the tasks of this project's other methodologies."""
    others = OtherTasks(place, seal)
    others.open_seals()
    try:
        yield
    finally:
        for name, rebuilt in others.close_seals():
            report(place, rebuilt, f"{who}, which has no say in the tasks of `{name}`,")
            if rebuilt.problem:
                warn(place, f"{rebuilt.problem}; the tasks of `{name}` are as they were before {who} began")


@contextmanager
def agreements_kept(place: Workplace, who: str) -> Iterator[None]:
    """Nothing inside a run widens what is trusted: an agreement that no `samuel` recorded is dropped."""
    before = place.agreements()
    try:
        yield
    finally:
        now = place.agreements().items()
        forged = [name for name, found in now if before.get(name) != found and not found.recorded]
        if forged:
            place.restore_agreements(before, forged)
            names = ", ".join(f"`{name}`" for name in forged[:MOST_NAMED])
            warn(place, f"agreements that {who} wrote into the trust store are dropped: {names}")


def report(place: Workplace, rebuilt: Rebuilt, who: str) -> None:
    """Name what was put back."""
    if rebuilt.put_back:
        more = len(rebuilt.put_back) - MOST_NAMED
        named = "; ".join([*rebuilt.put_back[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])
        warn(place, f"{who} changed more of the task list than it may; put back: {named}")


def restore(place: Workplace, last: Run | None) -> None:
    """Before a start: the work that a killed run left unfinished is looked at as if it had ended."""
    seal = place.tasks.seal
    if seal is None:
        return
    if last is not None and last.run_id == seal.run_id and last.iterations_run >= seal.iteration:
        place.tasks.drop_seal()  # that iteration was judged
        return
    for problem in put_right(place.root, place.state):
        warn(place, problem)
    rebuilt = place.tasks.close_seal()
    if rebuilt is not None:
        who = f"the {seal.step} of the killed run"
        report(place, rebuilt, who)
        if rebuilt.problem:
            warn(place, f"{rebuilt.problem}; the tasks are as they were when {who} began")


def warn(place: Workplace, text: str) -> None:
    place.watch("warning", {"text": text})
