"""Who may request which change: a person any, an agent inside a run only changes of the task it was given.

A check may request none. All three have the same methods, so a command does not know which of them it serves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from samuel.base.errors import SamuelError
from samuel.tasks import changes
from samuel.tasks.seal import DISCOVERY, Seal
from samuel.tasks.task import Task, Tasks

CHECK = "check"


class Asker(Protocol):
    @property
    def trusted(self) -> bool:
        """Whether what they ask for counts, also while an agent is at work."""

    @property
    def task_id(self) -> str:
        """The task that an agent works on; "" for others."""

    def done(self, tasks: Tasks, id: str, *, at: str, commit: str) -> tuple[Task, ...]: ...

    def skip(self, tasks: Tasks, id: str, *, reason: str) -> tuple[Task, ...]: ...

    def block(self, tasks: Tasks, id: str, *, reason: str) -> tuple[Task, ...]: ...

    def reset(self, tasks: Tasks, id: str) -> tuple[Task, ...]: ...

    def ask(self, tasks: Tasks, question: str, *, options: Iterable[str], at: str) -> tuple[Task, ...]: ...

    def answer(self, tasks: Tasks, id: str, *, text: str, at: str) -> tuple[Task, ...]: ...

    def enqueue(
        self,
        tasks: Tasks,
        title: str,
        *,
        description: str = "",
        priority: str,
        complexity: str,
        depends_on: Iterable[str],
    ) -> tuple[Task, ...]: ...


def asker(environment: Mapping[str, str], seal: Seal | None = None, above: Collection[str] = ()) -> Asker:
    """Who calls. The loop gives variables to its agents and checks; one that dropped them is still below it.

    `above` are the ids of the recorded runs that this process descends from.
    """
    if run := environment.get("SAMUEL_RUN_ID", ""):
        if environment.get("SAMUEL_STEP") == CHECK:
            return CheckAsker(run)
        return AgentAsker(
            run=run,
            task_id=environment.get("SAMUEL_TASK_ID", ""),
            discovers=environment.get("SAMUEL_MODE") == DISCOVERY,
            iteration=_number(environment, "SAMUEL_ITERATION") or 0,
            max_new_tasks=_number(environment, "SAMUEL_MAX_NEW_TASKS"),
        )
    if seal is None:
        return PersonAsker()
    if not seal.is_above and seal.run_id not in above:
        return PersonAsker(busy=seal.own if seal.alive else ())
    if seal.step != "agent":
        return CheckAsker(seal.run_id)
    return AgentAsker(
        run=seal.run_id,
        task_id=next(iter(seal.own), ""),
        discovers=seal.mode == DISCOVERY,
        iteration=seal.iteration,
        max_new_tasks=seal.max_new_tasks,
    )


@dataclass(frozen=True)
class PersonAsker:
    busy: tuple[str, ...] = ()
    """The tasks that agents work on now."""

    trusted = True
    task_id = ""
    skip = staticmethod(changes.skip)
    block = staticmethod(changes.block)
    reset = staticmethod(changes.reset)
    answer = staticmethod(changes.answer)
    enqueue = staticmethod(changes.enqueue)

    def done(self, tasks: Tasks, id: str, *, at: str, commit: str) -> tuple[Task, ...]:
        """Complete the task. A task that an agent is working on is only claimed: its checks decide."""
        if id in self.busy:
            return changes.claim(tasks, id, commit=commit)
        return changes.complete(tasks, id, at=at, commit=commit)

    def ask(self, tasks: Tasks, question: str, *, options: Iterable[str], at: str) -> tuple[Task, ...]:
        raise SamuelError(
            "this is not inside a run, so there is no task to ask about",
            "an agent asks about the task that it works on; `samuel run questions` lists what agents asked",
        )


@dataclass(frozen=True)
class CheckAsker:
    run: str

    trusted = False
    task_id = ""

    def done(self, tasks: Tasks, id: str, *, at: str, commit: str) -> tuple[Task, ...]:
        raise self._refusal(f"claim task `{id}`")

    def skip(self, tasks: Tasks, id: str, *, reason: str) -> tuple[Task, ...]:
        raise self._refusal(f"skip task `{id}`")

    def block(self, tasks: Tasks, id: str, *, reason: str) -> tuple[Task, ...]:
        raise self._refusal(f"block task `{id}`")

    def reset(self, tasks: Tasks, id: str) -> tuple[Task, ...]:
        raise self._refusal(f"reset task `{id}`")

    def ask(self, tasks: Tasks, question: str, *, options: Iterable[str], at: str) -> tuple[Task, ...]:
        raise self._refusal("ask a question")

    def answer(self, tasks: Tasks, id: str, *, text: str, at: str) -> tuple[Task, ...]:
        raise self._refusal(f"answer `{id}`")

    def enqueue(
        self,
        tasks: Tasks,
        title: str,
        *,
        description: str = "",
        priority: str,
        complexity: str,
        depends_on: Iterable[str],
    ) -> tuple[Task, ...]:
        raise self._refusal("add a task")

    def _refusal(self, what: str) -> SamuelError:
        return SamuelError(
            f"this is a check of the run `{self.run}`, which cannot {what}",
            "a check passes or fails by its exit code",
        )


@dataclass(frozen=True)
class AgentAsker:
    run: str
    task_id: str = ""  # the task at hand; discovery has none
    discovers: bool = False
    iteration: int = 0
    max_new_tasks: int | None = None  # what one discovery may find

    trusted = False

    def done(self, tasks: Tasks, id: str, *, at: str, commit: str) -> tuple[Task, ...]:
        """A claim: only the loop completes a task, after the quality checks passed."""
        self._own(id, "claim")
        return changes.claim(tasks, id, commit=commit)

    def skip(self, tasks: Tasks, id: str, *, reason: str) -> tuple[Task, ...]:
        self._own(id, "skip")
        return changes.skip(tasks, id, reason=reason)

    def block(self, tasks: Tasks, id: str, *, reason: str) -> tuple[Task, ...]:
        self._own(id, "block")
        return changes.block(tasks, id, reason=reason)

    def reset(self, tasks: Tasks, id: str) -> tuple[Task, ...]:
        raise SamuelError(
            f"this is inside the run `{self.run}`, which cannot reset a task",
            "only the loop counts attempts and failures; run it in another terminal",
        )

    def ask(self, tasks: Tasks, question: str, *, options: Iterable[str], at: str) -> tuple[Task, ...]:
        """Park the current task with a question. It stays as it is if a person has answered that one."""
        if not self.task_id:
            raise SamuelError(
                f"this is inside the run `{self.run}`, and this iteration works on no task to ask about",
                "a task that is added with `samuel run enqueue` can say what has to be decided",
            )
        return changes.ask(
            tasks, self.task_id, question=question, options=options, iteration=self.iteration, at=at
        )

    def answer(self, tasks: Tasks, id: str, *, text: str, at: str) -> tuple[Task, ...]:
        raise SamuelError(
            f"this is inside the run `{self.run}`, which cannot answer a question",
            "only a person answers; run it in another terminal",
        )

    def enqueue(
        self,
        tasks: Tasks,
        title: str,
        *,
        description: str = "",
        priority: str,
        complexity: str,
        depends_on: Iterable[str],
    ) -> tuple[Task, ...]:
        if self.discovers:
            self._within_the_limit(tasks)
        return changes.enqueue(
            tasks,
            title,
            description=description,
            priority=priority,
            complexity=complexity,
            depends_on=depends_on,
            source=DISCOVERY if self.discovers else "agent",
            iteration=self.iteration,
        )

    def _own(self, id: str, verb: str) -> None:
        if id == self.task_id:
            return
        hint = f"the current task is `{self.task_id}`" if self.task_id else "this iteration works on no task"
        raise SamuelError(f"this is inside the run `{self.run}`, which cannot {verb} task `{id}`", hint)

    def _within_the_limit(self, tasks: Tasks) -> None:
        discovered = [task for task in tasks if task.source == DISCOVERY and task.iteration == self.iteration]
        if self.max_new_tasks is not None and len(discovered) >= self.max_new_tasks:
            raise SamuelError(
                f"this discovery has found {len(discovered)} tasks, which is the limit",
                "end this turn; the next discovery can find more",
            )


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isdecimal() else None
