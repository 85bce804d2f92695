"""Who may request which change: a person any, an agent inside a run only changes of the task it was given.

A check may request none. All three have the same methods, so a command does not know which of them it serves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from samuel.base.errors import SamuelError, UsageError
from samuel.tasks import changes
from samuel.tasks.question import DROP_TESTS, KEEP_TESTS
from samuel.tasks.seal import ACCEPTANCE, DISCOVERY, Seal
from samuel.tasks.task import Task, Tasks


@dataclass(frozen=True)
class Asker:
    kind: Literal["person", "agent", "check"]
    run: str = ""
    """The run of an agent or a check."""
    task_id: str = ""
    """The task that an agent works on; "" for others, and in discovery."""
    discovers: bool = False
    iteration: int = 0
    max_new_tasks: int | None = None
    """What one discovery may find."""
    busy: tuple[str, ...] = ()
    """The tasks that agents work on now, which a person can only claim."""
    writes_tests: bool = False
    """Whether an agent only writes the acceptance tests of the task."""
    acceptance_tests: int | None = None
    """How many acceptance tests of the task are locked; None if that is not known."""

    @property
    def trusted(self) -> bool:
        """Whether what they ask for counts, also while an agent is at work."""
        return self.kind == "person"

    def done(self, tasks: Tasks, id: str, *, at: str, commit: str) -> tuple[Task, ...]:
        """Complete the task. If an agent works on it, this is a claim: its checks decide."""
        self._refuse_other("claim", id)
        if self.kind != "person" or id in self.busy:
            return changes.claim(tasks, id, commit=commit)
        return changes.complete(tasks, id, at=at, commit=commit)

    def skip(self, tasks: Tasks, id: str, *, reason: str) -> tuple[Task, ...]:
        self._refuse_other("skip", id)
        return changes.skip(tasks, id, reason=reason)

    def block(self, tasks: Tasks, id: str, *, reason: str) -> tuple[Task, ...]:
        self._refuse_other("block", id)
        return changes.block(tasks, id, reason=reason)

    def reset(self, tasks: Tasks, id: str) -> tuple[Task, ...]:
        self._refuse_check(f"reset task `{id}`")
        hint = "only the loop counts attempts and failures; run it in another terminal"
        self._refuse_agent("reset a task", hint)
        return changes.reset(tasks, id)

    def steer(self, what: str) -> None:
        """Raise SamuelError unless this is a person, who alone may do this to a run."""
        self._refuse_check(what)
        self._refuse_agent(what, "only a person steers a run; run it in another terminal")

    def ask(self, tasks: Tasks, question: str, *, options: Iterable[str], at: str) -> tuple[Task, ...]:
        """Park the current task with a question. It stays as it is if a person has answered that one."""
        self._refuse_check("ask a question")
        if self.kind == "person":
            raise SamuelError(
                "this is not inside a run, so there is no task to ask about",
                "an agent asks about the task that it works on; `samuel run questions` lists what agents asked",
            )
        if not self.task_id:
            raise SamuelError(
                f"this is inside the run `{self.run}`, and this iteration works on no task to ask about",
                "a task that is added with `samuel run enqueue` can say what has to be decided",
            )
        self._refuse_author("ask a question")
        return changes.ask(
            tasks, self.task_id, question=question, options=options, iteration=self.iteration, at=at
        )

    def dispute(self, tasks: Tasks, why: str, *, at: str) -> tuple[Task, ...]:
        """Park the current task with the question whether its acceptance tests are right."""
        if not why.strip():
            raise UsageError("the reason is empty", "say which acceptance test is wrong, and why")
        if self.kind == "agent" and self.acceptance_tests == 0:
            raise SamuelError(
                f"task `{self.task_id}` has no acceptance tests",
                'anything else that a person has to decide is asked with `samuel run ask "question"`',
            )
        return self.ask(tasks, disputed_text(why), options=(KEEP_TESTS, DROP_TESTS), at=at)

    def answer(self, tasks: Tasks, id: str, *, text: str, at: str) -> tuple[Task, ...]:
        self._refuse_check(f"answer `{id}`")
        self._refuse_agent("answer a question", "only a person answers; run it in another terminal")
        return changes.answer(tasks, id, text=text, at=at)

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
        self._refuse_check("add a task")
        self._refuse_author("add a task")
        discovered = [task for task in tasks if task.source == DISCOVERY and task.iteration == self.iteration]
        if self.discovers and self.max_new_tasks is not None and len(discovered) >= self.max_new_tasks:
            raise SamuelError(
                f"this discovery has found {len(discovered)} tasks, which is the limit",
                "end this turn; the next discovery can find more",
            )
        return changes.enqueue(
            tasks,
            title,
            description=description,
            priority=priority,
            complexity=complexity,
            depends_on=depends_on,
            source="user" if self.kind == "person" else DISCOVERY if self.discovers else "agent",
            iteration=self.iteration,
        )

    def _refuse_check(self, what: str) -> None:
        if self.kind == "check":
            refusal = f"this is a check of the run `{self.run}`, which cannot {what}"
            raise SamuelError(refusal, "a check passes or fails by its exit code")

    def _refuse_agent(self, what: str, hint: str) -> None:
        if self.kind == "agent":
            raise SamuelError(f"this is inside the run `{self.run}`, which cannot {what}", hint)

    def _refuse_author(self, what: str) -> None:
        if self.writes_tests:
            hint = "write the tests and end this turn; another agent does the work"
            self._refuse_agent(f"{what} while its acceptance tests are written", hint)

    def _refuse_other(self, verb: str, id: str) -> None:
        """Refuse a task that is not the one that was given."""
        self._refuse_check(f"{verb} task `{id}`")
        self._refuse_author(f"{verb} task `{id}`")
        if id != self.task_id:
            hint = f"the current task is `{self.task_id}`" if self.task_id else "this iteration works on no task"
            self._refuse_agent(f"{verb} task `{id}`", hint)


def disputed_text(why: str) -> str:
    """The question of a worker who believes that an acceptance test is wrong."""
    return f"are the acceptance tests of this task right? {why.strip()}"


def asker(environment: Mapping[str, str], seal: Seal | None = None, above: Collection[str] = ()) -> Asker:
    """Who calls. The loop gives variables to its agents and checks; one that dropped them is still below it.

    `above` are the ids of the recorded runs that this process descends from.
    """
    if run := environment.get("SAMUEL_RUN_ID", ""):
        if environment.get("SAMUEL_STEP") == "check":
            return Asker("check", run)
        return Asker(
            "agent",
            run,
            task_id=environment.get("SAMUEL_TASK_ID", ""),
            discovers=environment.get("SAMUEL_MODE") == DISCOVERY,
            writes_tests=environment.get("SAMUEL_MODE") == ACCEPTANCE,
            acceptance_tests=_number(environment, "SAMUEL_ACCEPTANCE_TESTS"),
            iteration=_number(environment, "SAMUEL_ITERATION") or 0,
            max_new_tasks=_number(environment, "SAMUEL_MAX_NEW_TASKS"),
        )
    if seal is None:
        return Asker("person")
    if not seal.is_above and seal.run_id not in above:
        return Asker("person", busy=seal.own if seal.alive else ())
    if seal.step != "agent":
        return Asker("check", seal.run_id)
    return Asker(
        "agent",
        seal.run_id,
        task_id=next(iter(seal.own), ""),
        discovers=seal.mode == DISCOVERY,
        writes_tests=seal.mode == ACCEPTANCE,
        iteration=seal.iteration,
        max_new_tasks=seal.max_new_tasks,
    )


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isdecimal() else None
