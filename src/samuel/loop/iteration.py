"""One iteration: a task, a fresh agent, the project's own checks, a verdict.

`_work` reads like the contract. Whatever goes wrong on the way ends in a settlement too: the task goes back to
pending with the reason in its next prompt, or is blocked when it failed too often.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from samuel.clock import iso
from samuel.dispatch.record import Fired
from samuel.events import (
    AfterAgentInvoke,
    AfterIteration,
    BeforeAgentInvoke,
    BeforeIteration,
    Event,
    IterationGate,
    QualityCheck,
)
from samuel.loop.claims import take_claim
from samuel.loop.contexts import Contexts
from samuel.loop.evidence import Evidence
from samuel.loop.run import Run, Settlement
from samuel.loop.session import can_call_abilities, invocation_of, no_prompt, session
from samuel.loop.steps import Steps
from samuel.loop.stop import IterationEnded
from samuel.loop.workplace import Workplace
from samuel.loop.worktree import ProjectState, RepositoryLost
from samuel.process import sandbox as confine
from samuel.process import spawn
from samuel.tasks.queue import MET, remaining
from samuel.tasks.task import Task

FAILURE_KEPT = 4000  # characters of a failure that the next attempt gets to read


class Iteration:
    def __init__(self, place: Workplace, steps: Steps, run: Run, task: Task | None) -> None:
        self._place = place
        self._steps = steps
        self.run = run
        self._task = task
        self._usage: dict[str, Any] = {}
        self._agent_ran = False
        self._header_shown = False
        self._changed: list[str] = []  # by the agent
        self._evidence = Evidence(place, steps)

    def work(self) -> Settlement:
        """Work, and say what came of it. Raises IterationEnded only for what ends the whole loop."""
        self._steps.new_iteration(self.run)
        if not self._place.settings.pilot.enabled:  # there the gate says first whether it is about a task
            self._show_header()
        try:
            self._refuse_tampering()  # of an earlier iteration, or between two: no agent is paid for it
            return self._work()
        except IterationEnded as ended:
            self._show_header()
            if ended.exit_reason:
                raise
            return self._failed(ended.outcome, ended.why)
        except RepositoryLost as lost:  # every iteration after this one would work without it
            raise IterationEnded("aborted", str(lost), "error") from None

    def _work(self) -> Settlement:
        self._fire(BeforeIteration(task=self._task.plain() if self._task else {}))
        self._gate()
        self._show_mode()
        tasks_before = self._take_task()
        with self._place.git.one_moment():
            files_before = self._steps.worktree.look()
            state = Contexts(self._place, self._steps, self.run, self._task).generate()
        answer = self._session(self._prepare(state), files_before)
        self._after_agent(answer)
        self._refuse_tampering()
        if self.run.mode == "discovery":
            return self._discovered()
        self._check()
        self._refuse_tampering()
        return self._judge(tasks_before)

    def rehearse(self) -> dict[str, Any]:
        """The same steps without the agent; every handler is told that it is a dry run."""
        self._steps.new_iteration(self.run)
        self._fire(BeforeIteration(task=self._task.plain() if self._task else {}))
        self._gate()
        invocation = self._prepare(Contexts(self._place, self._steps, self.run, self._task).generate())
        prompt = session(
            invocation["prompt"],
            fire=self._fire,
            last_words=self._last_words,
            invoke=lambda prompt: {"prompt": prompt},
            changed=list,
            suggest=lambda results: self._suggested(results, invocation),
        )["prompt"]
        self._fire(AfterAgentInvoke(exit_code=0, stdout="", stderr="", usage={}))
        self._check()
        task = self._task.plain() if self._task else {}
        self._last_words(AfterIteration(task=task, outcome="incomplete", usage={}))
        return {
            "task": self._task.id if self._task else "",
            "mode": self.run.mode,
            "agent": invocation["agent"],
            "prompt": prompt,
        }

    # The steps, in the order they are taken

    def _gate(self) -> None:
        """May we go on, and in which mode? The gate is not for caps: those are the loop's."""
        tasks = self._steps.tasks.load()
        try:
            fired = self._fire(IterationGate(consec_fails=self.run.consec_fails, queue_size=len(remaining(tasks))))
        except IterationEnded as ended:
            raise IterationEnded("aborted", ended.why, ended.exit_reason or "strict_failure") from None
        if not fired.result.get("continue"):
            raise IterationEnded("gated", str(fired.result.get("reason") or "the gate said stop"), "gate_stop")
        mode = fired.result.get("mode") or "implementation"
        self.run = replace(self.run, mode="implementation" if mode == "impl" else str(mode))
        if self.run.mode == "implementation" and self._task is None:
            done = all(task.status in MET for task in tasks)
            raise IterationEnded(
                "gated", "there is no task to implement", "queue_empty" if done else "tasks_blocked"
            )

    def _take_task(self) -> tuple[Task, ...]:
        """The task is ours from here on; the tasks as they are now."""
        if self.run.mode == "discovery" or self._steps.dry_run:
            return self._steps.tasks.load()
        assert self._task is not None
        mine = self._task.id
        changes = {"status": "in_progress", "claimed": False, "iteration": self.run.iteration}
        return self._steps.tasks.change(
            lambda tasks: [replace(task, **changes) if task.id == mine else task for task in tasks]
        )

    def _prepare(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the agent process gets: handlers may change all of it, but not the run's own names."""
        fired = self._fire(
            BeforeAgentInvoke(
                agent=self.run.agent,
                env={**self._place.agent_env(self.run.agent), **self._own_names()},
                sandbox=self._place.sandbox,
            ),
            state,
        )
        if why := no_prompt(fired):
            raise IterationEnded("aborted", why)
        return {**fired.result, "env": {**fired.result["env"], **self._own_names()}}

    def _session(self, invocation: Mapping[str, Any], files_before: ProjectState) -> Mapping[str, Any]:
        def changed() -> list[str]:
            self._changed = self._steps.worktree.changed(files_before)
            return self._changed

        return session(
            invocation["prompt"],
            fire=self._fire,
            last_words=self._last_words,
            invoke=lambda prompt: self._invoke({**invocation, "prompt": prompt}),
            changed=changed,
            suggest=lambda results: self._suggested(results, invocation),
        )

    def _suggested(self, results: Sequence[Fired], invocation: Mapping[str, Any]) -> str:
        section = self._place.suggest(results, can_call_abilities(invocation))
        for warning in section.warnings:
            self._place.watch("warning", {"text": warning})
        return section.text

    def _invoke(self, invocation: Mapping[str, Any]) -> Mapping[str, Any]:
        self._agent_ran = True
        with self._evidence.window(self.run, "agent", self._own_task):
            try:
                answer = self._fire(invocation_of(invocation)).result
            except IterationEnded as ended:
                if ended.fired and not ended.fired.calls:
                    self._agent_ran = False
                outcome = "aborted" if ended.exit_reason else "agent_failed"  # stopped by somebody is no failure
                raise IterationEnded(outcome, ended.why, ended.exit_reason) from None
            self._usage = dict(answer.get("usage") or {})
            self._do_what_was_noted()
            if refusal := take_claim(answer, self._steps.tasks, self._own_names()):
                self._place.watch("warning", {"text": refusal})
        return answer

    def _do_what_was_noted(self) -> None:
        """An agent in a container cannot change the tasks: what it asked for is done now, by the same rules."""
        for arguments in confine.apply_spool(self._place.state / "spool"):
            done = spawn.run(
                [sys.executable, "-P", "-m", "samuel", "-C", str(self._place.root), *arguments],
                cwd=str(self._place.root),
                env={**self._place.environment, **self._own_names()},
                timeout=60,
            )
            if done.returncode != 0:
                said = done.stderr.decode("utf-8", "replace").strip()
                self._place.watch("warning", {"text": f"`samuel {' '.join(arguments)}` in the container: {said}"})

    def _after_agent(self, answer: Mapping[str, Any]) -> None:
        code = int(answer["exit_code"])
        stdout, stderr = str(answer.get("stdout", "")), str(answer.get("stderr", ""))
        self._place.watch("agent", {"exit_code": code, "usage": self._usage})
        self._fire(AfterAgentInvoke(exit_code=code, stdout=stdout, stderr=stderr, usage=self._usage))
        if code != 0:
            said = (stderr or stdout).strip()[-FAILURE_KEPT:]
            # Not executable, or not there: then nothing ran, and the one line that says why must be seen.
            why = f": {said.splitlines()[-1]}" if said and code in (126, 127) else ""
            raise IterationEnded("agent_failed", f"the agent ended with exit code {code}{why}\n{said}".strip())

    def _check(self) -> None:
        """The gate that no claim passes without."""
        with self._evidence.window(self.run, "check"):
            try:
                result = self._fire(QualityCheck(commands=list(self._place.settings.quality_checks))).result
            except IterationEnded as ended:
                failures = ended.fired.result.get("failures") if ended.fired else None
                raise IterationEnded(
                    "quality_failed", _failures(failures) or ended.why, ended.exit_reason
                ) from None
        if result.get("ok") is False:
            raise IterationEnded("quality_failed", _failures(result.get("failures")) or "a check failed")

    # The verdict

    def _judge(self, tasks_before: tuple[Task, ...]) -> Settlement:
        """The checks passed: completed if the agent claimed it, else not done yet."""
        tasks = self._steps.tasks.load()
        mine = self._current(tasks)
        if mine is None or mine.status in ("skipped", "blocked"):  # the agent's own word, with its reason
            return Settlement("incomplete", failed=False, task_id=mine.id if mine else "", usage=self._usage)
        if mine.claimed:
            row = {
                "status": "completed",
                "claimed": False,
                "completed_at": iso(self._place.clock.now()),
                "iteration": self.run.iteration,
                "last_failure": "",
            }
            commit = None
            if self._place.settings.commit:
                # The tree that the checks passed on: earlier attempts are part of it, and so is what a formatter
                # among the checks changed.
                commit = [path for path in self._steps.worktree.dirty() if path not in self.run.dirty]
            return Settlement(
                "completed", failed=False, task_id=mine.id, row=row, usage=self._usage, commit=commit
            )
        if not self._changed and _without_claims(tasks) == _without_claims(tasks_before):
            return self._failed("stalled", "the iteration changed no file and no task")
        return self._failed("incomplete", "the checks passed, but the task was not claimed with `samuel run done`")

    def _discovered(self) -> Settlement:
        new = self._evidence.new_tasks
        return Settlement("completed" if new else "incomplete", failed=False, usage=self._usage, new_tasks=new)

    def _failed(self, outcome: str, why: str) -> Settlement:
        self._place.watch("failed", {"outcome": outcome, "why": why})
        task = self._current(self._steps.tasks.load()) if self.run.mode == "implementation" else None
        if task is None or task.status != "in_progress":
            return Settlement(outcome, failed=True, task_id=task.id if task else "", usage=self._usage)
        # An iteration that failed before the agent began says nothing about the task.
        attempts = task.attempts + 1 if self._agent_ran else task.attempts
        blocked = attempts >= self._place.settings.max_task_attempts
        row = {
            "status": "blocked" if blocked else "pending",
            "claimed": False,
            "attempts": attempts,
            "iteration": self.run.iteration,
            "last_failure": f"{outcome}: {why}"[:FAILURE_KEPT],
        }
        return Settlement(outcome, failed=True, task_id=task.id, row=row, usage=self._usage)

    # Details

    def _show_header(self) -> None:
        """Which iteration this is: once, before anything that its steps have to say."""
        if self._header_shown:
            return
        self._header_shown = True
        task = self._task.plain() if self._task and self.run.mode == "implementation" else {}
        run = self.run
        facts = {"iteration": run.iteration, "max": run.max_iterations, "mode": run.mode, "task": task}
        self._place.watch("iteration", facts)

    def _show_mode(self) -> None:
        if self._header_shown and self.run.mode == "discovery":  # a gate that is not ours changed the plan
            self._place.watch("discovery", {})
        self._show_header()

    def _fire(self, event: Any, state: Mapping[str, Any] | None = None) -> Fired:
        return self._steps.fire(self.run, event, state)

    def _last_words(self, event: Event) -> Fired:
        return self._steps.last_words(self.run, event)

    def _current(self, tasks: tuple[Task, ...]) -> Task | None:
        mine = self._task.id if self._task else ""
        return next((task for task in tasks if task.id == mine), None)

    @property
    def _own_task(self) -> str:
        """The id of the task that the agent may speak of; discovery has none."""
        return self._task.id if self._task and self.run.mode == "implementation" else ""

    def _own_names(self) -> dict[str, str]:
        """What the agent's `samuel` needs to know where it is."""
        return {
            "SAMUEL_RUN_ID": self.run.run_id,
            "SAMUEL_STEP": "agent",
            "SAMUEL_SESSION_ID": self.run.session_id,
            "SAMUEL_ITERATION": str(self.run.iteration),
            "SAMUEL_MODE": self.run.mode,
            "SAMUEL_TASK_ID": self._own_task,
            "SAMUEL_ATTEMPT": str(self._task.attempts + 1 if self._task else 1),
            "SAMUEL_MAX_NEW_TASKS": str(self._place.settings.pilot.max_discovery_tasks),
            "SAMUEL_PROJECT_ROOT": str(self._place.root),
            "SAMUEL_METHODOLOGY": self.run.methodology,
        }

    def _refuse_tampering(self) -> None:
        if touched := self._steps.protected.changes():
            named = ", ".join(f"`{name}`" for name in touched[:5])
            raise IterationEnded(
                "aborted", f"{named} changed during the run; what an agent is judged by is not its to change"
            )


def _failures(failures: Any) -> str:
    """What the next attempt reads: each failure with the end of its output."""
    parts = [f"{one.get('message', '')}\n{one.get('output_tail') or ''}".strip() for one in failures or ()]
    return "\n\n".join(part for part in parts if part)


def _without_claims(tasks: tuple[Task, ...]) -> list[Task]:
    return [replace(task, claimed=False) for task in tasks]
