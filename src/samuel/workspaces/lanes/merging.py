"""What of the ready work can land: merged onto the tip, checked as it will be, and halved while it is red.

It decides and writes nothing but objects; the coordinator moves the branch.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from samuel.attempt.attempt_checks import check_names, run_sealed
from samuel.attempt.evidence import agreements_kept
from samuel.attempt.iteration_state import state_of_settled
from samuel.attempt.steps import NO_TASK
from samuel.attempt.workers import CHECK
from samuel.base.paths import PROTECTED, VOLATILE_DIRS
from samuel.base.printable import listed
from samuel.checks.checked_work import checked
from samuel.checks.memory import CheckMemory
from samuel.checks.repeat import repeated
from samuel.checks.sealed_judge import SealedJudge, SealedVerdict
from samuel.checks.verdict import counting_failures, judge, record_of
from samuel.events import BeforeLand, QualityCheck
from samuel.events.endings import IterationOutcome
from samuel.events.loop import CheckRun
from samuel.evidence.check_directory import RoomFailed
from samuel.git.landing import LandingRefs, Merge, changed_paths
from samuel.history.attempt_record import CheckRecord
from samuel.history.run import AttemptUnderWay, Run
from samuel.prompts.prompt_context import StateNames
from samuel.receipts.predicate import MERGED, LandingFacts, landing_predicate
from samuel.receipts.statement import trailer
from samuel.receipts.task_receipt import checks_environment, sealed_facts
from samuel.tasks.task import Task
from samuel.workspaces.lanes.collect import notes_collected
from samuel.workspaces.lanes.lane import Lane
from samuel.workspaces.settle import TRAILER

MAX_NAMED = 5


class Refusal(NamedTuple):
    """Work that does not land: the attempt failed after all."""

    record: AttemptUnderWay
    outcome: IterationOutcome
    why: str


class Denial(NamedTuple):
    """Work that a handler of `before:land` does not let land before a person agrees."""

    record: AttemptUnderWay
    reason: str


class PreparedLanding(NamedTuple):
    tip: str
    """The commit that was merged with."""
    commit: str = ""
    """The commit to move the branch to; "" if nothing can land."""
    tree: str = ""
    landing: tuple[AttemptUnderWay, ...] = ()
    refused: tuple[Refusal, ...] = ()
    denied: tuple[Denial, ...] = ()
    added: tuple[str, ...] = ()
    """The paths that the tip does not have, or did not have when the work began."""
    runs: tuple[CheckRun, ...] | None = None
    """The checks on the merge; None if it is the tree that was checked in its lane."""
    broken_base: str = ""
    """How the checks fail on the tip alone."""
    predicate: Mapping[str, Any] = {}
    """Of the receipt of the merge; empty if the commit is that of a task."""


class MergeChecks(NamedTuple):
    """The checks on a commit before it lands."""

    runs: tuple[CheckRun, ...] = ()
    why: str = ""
    """Why it is red; "" if it is green."""
    sealed: tuple[tuple[str, CheckRecord], ...] = ()
    """The runs of sealed checks, each with the task that it was for."""


class _Merged(NamedTuple):
    commit: str
    tree: str
    entries: tuple[AttemptUnderWay, ...]
    refused: tuple[Refusal, ...]


class Merging:
    def __init__(self, lane: Lane, refs: LandingRefs, checks: CheckMemory) -> None:
        self._lane = lane
        self._refs = refs
        self._checks = checks

    def prepare(
        self,
        run: Run,
        entries: Sequence[AttemptUnderWay],
        tasks: Mapping[str, Task],
        tip: str,
        green: Sequence[str],
        branch: str,
    ) -> PreparedLanding:
        """What of these can land on the tip of the branch. `green` are trees on which the checks passed."""
        allowed: list[AttemptUnderWay] = []
        denied: list[Denial] = []
        refused: list[Refusal] = []
        added: list[str] = []
        for record in entries:
            assert record.result is not None
            files, new = changed_paths(self._lane.place.git, record.base, record.result.work)
            added += new
            if why := _tampered(files, os.fsdecode(self._lane.place.git.location().prefix)):
                refused.append(Refusal(record, IterationOutcome.ABORTED, why))
            elif reason := self._denied(run, record, tasks[record.task], files, branch):
                denied.append(Denial(record, reason))
            else:
                allowed.append(record)
        prepared = self._largest_green(run, allowed, tasks, tip, green)
        refusals = (*refused, *prepared.refused)
        return prepared._replace(refused=refusals, denied=tuple(denied), added=tuple(added))

    def _largest_green(
        self,
        run: Run,
        entries: Sequence[AttemptUnderWay],
        tasks: Mapping[str, Task],
        tip: str,
        green: Sequence[str],
    ) -> PreparedLanding:
        merged = self._merge(run, entries, tasks, tip)
        if not merged.entries:
            return PreparedLanding(tip, refused=merged.refused)
        checks: MergeChecks | None = None
        has_checks = self._commands(merged.entries, tasks) or self._lane.place.sealed_checks
        if merged.tree not in green and has_checks:
            checks = self.check(run, merged.commit, merged.entries, tasks)
        if checks is None or not checks.why:
            return self._prepared(run, merged, tasks, tip, checks)
        if len(merged.entries) > 1:
            half = self._largest_green(run, merged.entries[: len(merged.entries) // 2], tasks, tip, green)
            return half._replace(refused=(*merged.refused, *half.refused))
        tip_tree, _ = self._refs.facts(tip)[0]
        if tip_tree not in green and (broken := self.check(run, tip, (), tasks).why):
            return PreparedLanding(tip, refused=merged.refused, broken_base=broken)
        (record,) = merged.entries
        others = self._refs.touching(record.base, tip, ()) if record.base != tip else []
        beside = f" with what landed meanwhile ({'; '.join(others[:MAX_NAMED])})" if others else ""
        text = f"the checks passed in the lane, and fail on the merge{beside}\n{checks.why}"
        return PreparedLanding(
            tip, refused=(*merged.refused, Refusal(record, IterationOutcome.QUALITY_FAILED, text))
        )

    def _prepared(
        self,
        run: Run,
        merged: _Merged,
        tasks: Mapping[str, Task],
        tip: str,
        checks: MergeChecks | None,
    ) -> PreparedLanding:
        """What lands. A merge gets the digest of its receipt, which is known after the checks alone."""
        commit, predicate = merged.commit, {}
        if all(record.result is None or record.result.work != commit for record in merged.entries):
            predicate = self._predicate(merged, checks)
            commit = self._commit(run, merged.tree, tip, merged.entries, tasks, trailer(predicate))
        runs = checks.runs if checks else None
        return PreparedLanding(
            tip, commit, merged.tree, merged.entries, merged.refused, runs=runs, predicate=predicate
        )

    def _predicate(self, merged: _Merged, merge_checks: MergeChecks | None) -> dict[str, Any]:
        """The predicate of the receipt of a merge; its checks are None if its tree was checked in a lane."""
        results = [entry.result for entry in merged.entries if entry.result]
        records = [result.settlement.record for result in results if result.settlement.record]
        if merge_checks is not None:
            checks = [record_of(check_run) for check_run in merge_checks.runs]
            sealed = [*merge_checks.sealed]
        else:
            same = [result.settlement.record for result in results if result.tree == merged.tree][:1]
            checks = [check for record in same if record for check in record.checks if check.corner == "own"]
            in_lane = [(record.task_id, check) for record in same if record for check in record.checks]
            sealed = [(task, check) for task, check in in_lane if check.corner == "sealed"]
        place = self._lane.place
        environment = checks_environment(place, self._lane.room, [check.command for check in checks])
        facts = LandingFacts(place.settings.name, merged.tree, environment, sealed_facts(place.sealed_checks))
        return landing_predicate(records, [replace(check, corner=MERGED) for check in checks], sealed, facts)

    def _merge(self, run: Run, entries: Sequence[AttemptUnderWay], tasks: Mapping[str, Task], tip: str) -> _Merged:
        """Merge the work onto the tip, one after another; what conflicts is refused."""
        fitting: list[AttemptUnderWay] = []
        refused: list[Refusal] = []
        current, tree = tip, ""
        for record in entries:
            assert record.result is not None
            merge = self._merged(current, record.base, record.result.work)
            if merge.conflicts:
                refused.append(
                    Refusal(
                        record,
                        IterationOutcome.CONFLICT,
                        self._conflict(record, tip, merge.conflicts, merge.hunks),
                    )
                )
                continue
            fitting.append(record)
            tree = merge.tree
            if record is not entries[-1]:
                current = self._refs.commit(tree, [current, record.result.work], "samuel: a step of a merge\n")
        if not fitting:
            return _Merged("", "", (), tuple(refused))
        commit = self._commit(run, tree, tip, fitting, tasks)
        return _Merged(commit, tree, tuple(fitting), tuple(refused))

    def _merged(self, tip: str, base: str, work: str) -> Merge:
        if base == tip:  # then it is most often the next commit, and git need not merge
            tree, parents = self._refs.facts(work)[0]
            if parents == (tip,):
                return Merge(tree)
        return self._refs.merge(tip, work)

    def _commit(
        self,
        run: Run,
        tree: str,
        tip: str,
        entries: Sequence[AttemptUnderWay],
        tasks: Mapping[str, Task],
        receipt: str = "",
    ) -> str:
        """The commit to land: the work itself if it is one commit of ours on the tip, else a merge of all."""
        works = [record.result.work for record in entries if record.result]
        marks = [f"{TRAILER}: {run.run_id}/{record.iteration}" for record in entries]
        if len(works) == 1 and entries[0].base == tip:
            _, parents = self._refs.facts(works[0])[0]
            settlement = entries[0].result.settlement if entries[0].result else None
            if parents == (tip,) and settlement is not None and settlement.commit:
                return works[0]
        titles = [f"{record.task} {tasks[record.task].title}" for record in entries]
        # Not the title alone, which is the subject of the work itself.
        subject = f"Land {titles[0] if len(titles) == 1 else ', '.join(record.task for record in entries)}"
        body = "" if len(titles) == 1 else "\n".join(titles) + "\n\n"
        lines = [*marks, *([receipt] if receipt else ())]
        return self._refs.commit(tree, [tip, *works], f"{subject}\n\n{body}" + "\n".join(lines) + "\n")

    def check(
        self, run: Run, commit: str, entries: Sequence[AttemptUnderWay], tasks: Mapping[str, Task]
    ) -> MergeChecks:
        """Run the checks on a commit."""
        lane = self._lane
        lane.reset(commit)
        iteration = entries[0].iteration if entries else 0
        run = replace(run, iteration=iteration)
        lane.steps.new_iteration(run, self._state(run, entries[0], tasks[entries[0].task]) if entries else NO_TASK)
        lane.steps.agent_started = True  # a landing that was begun is finished, also after a request to stop
        event = QualityCheck(
            commands=self._commands(entries, tasks),
            merged=[record.task for record in entries],
            commit=commit,
            corner="merged",
        )
        baseline, before = self._checks.baseline, self._checks.verified
        lane.place.built_in_checks.forget()
        room = lane.room.showing(commit) if lane.room else nullcontext()
        watched = agreements_kept(lane.place, lane.place.at_work(CHECK))
        failing = partial(counting_failures, baseline=baseline, before=before)
        try:
            with room, watched, notes_collected(lane.place, lane.project):
                work = checked(lane.steps.ask(run, event))
                runs = repeated(work.runs, failing, lane.place.built_in_checks)
                verdict = judge(runs, baseline=baseline, before=before)
                sealed = self._sealed(run, entries) if verdict.passed else {}
        except RoomFailed as failed:
            return MergeChecks(why=f"the checks could not run: {failed.message}")
        why = "\n".join(each.why for each in sealed.values() if each.why)
        why = why if verdict.passed else verdict.why or "a check failed"
        records = tuple((task, check) for task, each in sealed.items() for check in each.records)
        return MergeChecks(runs, "\n\n".join(text for text in (why, work.other_failures) if text), records)

    def _sealed(self, run: Run, entries: Sequence[AttemptUnderWay]) -> dict[str, SealedVerdict]:
        """What sealed checks say about the merge that is shown, by the tasks in it."""
        place = self._lane.place
        verdicts: dict[str, SealedVerdict] = {}
        for record in entries:
            names = check_names(replace(run, iteration=record.iteration), record.task, place.root)
            judge_sealed = SealedJudge(place.sealed_checks, partial(run_sealed, place, names), warn=place.warn)
            verdicts[record.task] = judge_sealed.verdict(lambda tree: nullcontext(), "", "")
        return verdicts

    def _commands(self, entries: Sequence[AttemptUnderWay], tasks: Mapping[str, Task]) -> list[str]:
        own = [command for record in entries for command in tasks[record.task].checks]
        return [*self._lane.place.settings.quality_checks, *dict.fromkeys(own)]

    def _denied(self, run: Run, record: AttemptUnderWay, task: Task, files: Sequence[str], branch: str) -> str:
        """Why a handler of `before:land` does not let the work land; "" if all agree, or a person did."""
        if record.approved:
            return ""
        assert record.result is not None
        steps = self._lane.steps
        event = BeforeLand(
            task=task.plain(),
            commit=record.result.work,
            base=record.base,
            branch=branch,
            files=list(files),
            lane=record.lane or 0,
        )
        run = replace(run, iteration=record.iteration)
        steps.new_iteration(run, self._state(run, record, task))
        with notes_collected(self._lane.place, self._lane.project):
            fired = steps.notify(run, event)
        return (fired.reason or "a handler refused it") if fired.stopped else ""

    def _state(self, run: Run, record: AttemptUnderWay, task: Task) -> StateNames:
        assert record.result is not None
        return state_of_settled(self._lane.place, run, task, record.result.settlement)

    def _conflict(self, record: AttemptUnderWay, tip: str, paths: Sequence[str], hunks: str) -> str:
        """What the next attempt reads: where it conflicts, with whose commits, and how."""
        named = listed([f"`{path}`" for path in paths], MAX_NAMED)
        others = self._refs.touching(record.base, tip, paths)
        commits = f"\nlanded meanwhile: {'; '.join(others[:MAX_NAMED])}" if others else ""
        return f"the work conflicts with what landed meanwhile in {named}{commits}\n{hunks}"


def _tampered(files: Sequence[str], prefix: str) -> str:
    """Why work may not land that changes the rules of the run; "" if it changes none."""
    below = (path.removeprefix(prefix) for path in files if path.startswith(prefix))
    rules = [
        path
        for path in below
        if not path.startswith(VOLATILE_DIRS)
        and any(path == place or path.startswith(f"{place}/") for place in PROTECTED)
    ]
    if not rules:
        return ""
    named = ", ".join(f"`{path}`" for path in rules[:MAX_NAMED])
    return f"{named} changed in a commit of the agent; an agent may not change the rules that it is judged by"
