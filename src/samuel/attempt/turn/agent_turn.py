"""One turn of an agent: its call is prepared, it works as a session, and its claim and its ending are taken in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from samuel.agents.process_files import written_log
from samuel.attempt.attempt_facts import AttemptFacts
from samuel.attempt.claims import claim_by_exit, take_claim, without_own_files
from samuel.attempt.evidence import Evidence
from samuel.attempt.run_files import RunFiles
from samuel.attempt.steps import Steps
from samuel.attempt.stop import AgentTrouble, IterationEnded
from samuel.attempt.turn.agent_ending import ending_of
from samuel.attempt.turn.session import agent_ms, can_call_abilities, invocation_of, missing_prompt, session
from samuel.attempt.workers import AGENT
from samuel.attempt.workplace import Workplace
from samuel.bridges.coverage import reported_coverage
from samuel.clients.adapter.ending import EndingKind
from samuel.confine import sandbox as sandboxes
from samuel.dispatch.record import Fired
from samuel.events import AfterAgentInvoke, AgentInvoke, BeforeAgentInvoke, Event
from samuel.events.endings import IterationOutcome
from samuel.history.availability import TROUBLE
from samuel.history.notices import AgentEnded
from samuel.history.run import MAX_FAILURE, Run
from samuel.process import spawn
from samuel.tasks.seal import ACCEPTANCE
from samuel.tasks.task import Task


class AgentTurn:
    def __init__(
        self,
        place: Workplace,
        steps: Steps,
        files: RunFiles,
        run: Run,
        task: Task | None,
        facts: AttemptFacts,
        evidence: Evidence,
    ) -> None:
        """`task` is None for a discovery. What becomes known of the turn is put into `facts`."""
        self._place = place
        self._steps = steps
        self._files = files
        self._run = run
        self._task = task
        self._facts = facts
        self._evidence = evidence

    def prepare(self) -> AgentInvoke:
        """The call of the agent: handlers may change all of it, but not the run's own variables."""
        event = BeforeAgentInvoke(
            agent=self._run.agent,
            env={**self._place.agent_env(self._run.agent), **self._own_names()},
            sandbox=self._place.sandbox,
        )
        fired = self._fire(event)
        invocation = invocation_of(fired, self._own_names())
        if why := missing_prompt(fired, invocation):
            raise IterationEnded(IterationOutcome.ABORTED, why)
        return invocation

    def work(self, invocation: AgentInvoke, changed: Callable[[], list[str]]) -> Mapping[str, Any]:
        """Run the agent with the events around it; gives the answer of agent.invoke.

        `changed` looks at the work tree and gives the files that the agent changed up to now.
        """
        return session(
            invocation.prompt,
            fire=self._fire,
            notify=self._notify,
            invoke=lambda prompt: self._invoke(replace(invocation, prompt=prompt), changed),
            changed=changed,
            suggest=lambda results: self._suggestions(results, invocation),
            agent=invocation.agent,
        )

    def dry_run(self, invocation: AgentInvoke) -> str:
        """The prompt that the agent would get, after the events before it."""
        answer = session(
            invocation.prompt,
            fire=self._fire,
            notify=self._notify,
            invoke=lambda prompt: {"prompt": prompt},
            changed=list,
            suggest=lambda results: self._suggestions(results, invocation),
            agent=invocation.agent,
        )
        return str(answer["prompt"])

    def _suggestions(self, results: Sequence[Fired], invocation: AgentInvoke) -> str:
        section = self._place.suggest(results, can_call_abilities(invocation))
        for warning in section.warnings:
            self._place.warn(warning)
        return section.text

    def _invoke(self, invocation: AgentInvoke, changed: Callable[[], list[str]]) -> Mapping[str, Any]:
        with self._evidence.window(
            self._run, "agent", self._task.id if self._task and not self._writes_tests else ""
        ):
            self._facts.agent_ran = self._steps.agent_started = True
            with self._files.repository.open(self._run, AGENT, self._files.work_tree):
                fired = self._steps.ask(self._run, invocation)
            if fired.stopped:
                self._facts.agent_ran = bool(fired.calls)
                raise IterationEnded(IterationOutcome.AGENT_FAILED, fired.reason)
            answer = fired.result
            self._facts.agent_ms = agent_ms(fired)
            self._facts.usage = dict(answer.get("usage") or {})
            self._facts.coverage = reported_coverage(answer)
            self._apply_spool()
            if self._writes_tests:  # its exit ends it; it makes no claim
                return answer
            answer = claim_by_exit(
                answer,
                self._files.tasks,
                self._own_names(),
                lambda: without_own_files(changed(), self._place.own_files(invocation.agent)),
                self._place.clock.now(),
            )
            if refusal := take_claim(answer, self._files.tasks, self._own_names()):
                self._place.warn(refusal)
        return answer

    @property
    def _writes_tests(self) -> bool:
        """Whether the agent writes acceptance tests, and does not work on the task."""
        return self._run.mode == ACCEPTANCE

    def ended(self, answer: Mapping[str, Any]) -> None:
        """Take in how the agent ended. Raises IterationEnded if it failed, AgentTrouble if it could not work."""
        facts, code = self._facts, int(answer["exit_code"])
        stdout, stderr = str(answer.get("stdout", "")), str(answer.get("stderr", ""))
        facts.exit_code, facts.log = code, self._written_log(str(answer.get("stdout_path") or ""))
        facts.ending = ending_of(answer, changed=bool(facts.changed), now=self._place.clock.now())
        self._place.watch(AgentEnded(code, facts.usage, facts.ending, facts.log, self._run.agent))
        self._fire(
            AfterAgentInvoke(
                exit_code=code, stdout=stdout, stderr=stderr, usage=facts.usage, duration_ms=facts.agent_ms
            )
        )
        is_trouble = facts.ending.kind in (*TROUBLE, EndingKind.OVER_BUDGET, EndingKind.RESTARTED)
        if is_trouble and not self._is_decided():
            raise AgentTrouble(facts.ending)
        if code != 0 and not is_trouble:  # what it decided about its task before the trouble counts
            reason = facts.ending.reason or f"the agent ended with exit code {code}"
            output = (stderr or stdout).strip()[-MAX_FAILURE:]
            why = reason if output == reason else f"{reason}\n{output}"
            raise IterationEnded(IterationOutcome.AGENT_FAILED, why.strip())

    def _is_decided(self) -> bool:
        """Whether the agent has claimed its task, skipped or blocked it, or asked about it.

        A claim does not count if a person wants the attempt to start again.
        """
        own = self._task.id if self._task else ""
        task = next((task for task in self._files.tasks.load() if task.id == own), None)
        claimed = task is not None and task.claimed and self._facts.ending.kind is not EndingKind.RESTARTED
        return task is not None and (claimed or task.status != "in_progress")

    def _written_log(self, stdout_path: str) -> str:
        """The log of the agent, relative to the root; "" if it wrote nothing."""
        log = written_log(Path(stdout_path)) if stdout_path else None
        return os.path.relpath(log, self._place.root) if log else ""

    def _apply_spool(self) -> None:
        """Run the task commands of an agent in a container: it can only record them. The same rules apply."""
        for arguments in sandboxes.apply_spool(self._place.state / "spool"):
            done = spawn.run(
                [sys.executable, "-P", "-m", "samuel", "-C", str(self._place.root), *arguments],
                cwd=str(self._place.root),
                env={**self._place.environment, **self._own_names()},
                timeout=60,
            )
            if done.returncode != 0:
                stderr = done.stderr.decode("utf-8", "replace").strip()
                self._place.warn(f"`samuel {' '.join(arguments)}` in the container: {stderr}")

    def _own_names(self) -> dict[str, str]:
        """The variables from which the agent's `samuel` knows its run and its task."""
        return {
            "SAMUEL_RUN_ID": self._run.run_id,
            "SAMUEL_STEP": "agent",
            "SAMUEL_SESSION_ID": self._run.session_id,
            "SAMUEL_ITERATION": str(self._run.iteration),
            "SAMUEL_MODE": self._run.mode,
            "SAMUEL_TASK_ID": self._task.id if self._task else "",
            "SAMUEL_ATTEMPT": str(self._attempt),
            "SAMUEL_ACCEPTANCE_TESTS": str(self._locked_tests),
            "SAMUEL_MAX_NEW_TASKS": str(self._place.settings.pilot.max_discovery_tasks),
            "SAMUEL_PROJECT_ROOT": str(self._place.root),
            "SAMUEL_METHODOLOGY": self._run.methodology,
            **({} if self._place.lane is None else {"SAMUEL_LANE": str(self._place.lane)}),
            **({"SAMUEL_MACHINE": self._place.machine} if self._place.machine else {}),
        }

    @property
    def _attempt(self) -> int:
        if self._task is None:
            return 1
        tests = self._files.acceptance.get(self._task.id) if self._writes_tests else None
        return (tests.tries if tests else 0 if self._writes_tests else self._task.attempts) + 1

    @property
    def _locked_tests(self) -> int:
        """How many acceptance tests the work is judged by."""
        return len(self._facts.acceptance.tests) if self._facts.acceptance and not self._writes_tests else 0

    def _fire(self, event: Event) -> Fired:
        return self._steps.fire(self._run, event)

    def _notify(self, event: Event) -> Fired:
        return self._steps.notify(self._run, event)
