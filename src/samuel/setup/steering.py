"""What a person can ask of a run from anywhere: each function is one command, for every view that has it.

All of them raise SamuelError inside the agent or a check of a run, and UsageError for a task that does not exist.
The run that is under way takes it in between attempts; without one, the next run does.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from samuel import config
from samuel.agents.find_agent import find as find_agent
from samuel.base import paths
from samuel.base.clock import SystemClock, iso
from samuel.base.errors import SamuelError, UsageError
from samuel.base.login_name import login_name
from samuel.base.printable import shell_word
from samuel.git.git import Git
from samuel.history.run import Run
from samuel.history.run_file import no_run
from samuel.history.steering import Guidance, Pause, Rejection, Steering, SteeringFile
from samuel.process import environment
from samuel.process.live import is_live
from samuel.setup.run_state import (
    asker_of,
    change_tasks,
    origin_file,
    run_file,
    state_directory,
    steering_file,
    task_store,
)
from samuel.tasks import changes
from samuel.tasks.task import Task, find
from samuel.workspaces.rejected_work import REJECTIONS, RejectedWork, TakenBack, branch_of, rejected_words

LONGEST_TEXT = 8_000  # characters; it has to fit into a prompt beside all else
NOTHING_TAKEN = TakenBack()
RESUME = "`samuel run resume` lets it go on"


def say(root: Path, text: str, *, task: str = "", now: bool = False, methodology: str = "") -> Guidance:
    """Say something to the next attempt, or with `task` to all attempts at this task.

    With `now` the attempts under way that it is for end without costing one, and start again with the text.
    """
    scene = _scene(root, "say something to a run", methodology)
    text = _checked(text)
    if task:
        find(task_store(scene.state).load(), task)
    at_work = [
        record.task
        for record in (scene.live_run.active.values() if now and scene.live_run else ())
        if record.result is None and task in ("", record.task)
    ]

    def add(steering: Steering) -> Steering:
        return steering.say(text, who=login_name(), at=_now(), task=task, restarts=at_work)

    return scene.steering.change(add).guidance[-1]


def pause(root: Path, *, methodology: str = "") -> Pause:
    """Let no attempt begin; those under way finish and land. It holds until `resume`, also across a kill."""
    scene = _scene(root, "pause a run", methodology)
    new = Pause(who=login_name(), at=_now())
    steering = scene.steering.change(lambda steering: _with(steering, pause=steering.pause or new))
    assert steering.pause is not None
    return steering.pause


def resume(root: Path, *, methodology: str = "") -> Pause | None:
    """Let attempts begin again; the pause that has ended, None if there was none."""
    scene = _scene(root, "resume a run", methodology)
    ended: list[Pause | None] = []

    def end(steering: Steering) -> Steering:
        ended.append(steering.pause)
        return _with(steering, pause=None)

    scene.steering.change(end)
    return ended[-1]


def stop(root: Path, *, methodology: str = "") -> str:
    """Let the run end when the attempts under way have ended; its id. Raises SamuelError if none is under way."""
    scene = _scene(root, "stop a run", methodology)
    if scene.live_run is None:
        raise SamuelError("no run is under way here", "`samuel run status` shows the last one")
    run_id = scene.live_run.run_id
    scene.steering.change(lambda steering: _with(steering, stop=run_id))
    return run_id


def retry(root: Path, task: str, *, agent: str = "", methodology: str = "") -> Task:
    """Make a task pending again and forget its attempts; with `agent`, this agent works on it, and on no other.

    Without it, the agents of the run work on it again. Raises UsageError for an agent that does not exist.
    """
    scene = _scene(root, "retry a task", methodology)
    if agent:
        find_agent(agent, config.load(root / paths.CONFIG).agents)
    find(task_store(scene.state).load(), task)

    def choose(steering: Steering) -> Steering:
        agents = {id: name for id, name in steering.agents.items() if id != task}
        return _with(steering, agents={**agents, task: agent} if agent else agents)

    # The agent first: a run could begin the task as soon as it is pending.
    scene.steering.change(choose)
    return find(change_tasks(root, lambda who, tasks: who.reset(tasks, task), methodology), task)


class Rejected(NamedTuple):
    """What came of a rejection."""

    rejection: Rejection
    taken: TakenBack = NOTHING_TAKEN
    by_run: str = ""
    """The id of the run that carries it out between attempts; "" if it is done."""

    @property
    def words(self) -> str:
        if self.by_run:
            return f"run {self.by_run} takes task `{self.rejection.task}` back between attempts"
        return rejected_words(self.rejection, self.taken)


def reject(root: Path, task: str, why: str, *, methodology: str = "") -> Rejected:
    """Send a completed task back: its commit is reverted by one commit, and its next attempts read why.

    Where that conflicts with what came later, nothing is reverted, and the task is pending all the same. Raises
    SamuelError for a task that is not completed, or whose commit is on no branch here.
    """
    scene = _scene(root, "reject a task", methodology)
    row = find(task_store(scene.state).load(), task)
    if row.status != "completed":
        hint = f"`samuel run retry {shell_word(task)}` lets it be tried again"
        raise SamuelError(f"task `{task}` is {row.status}, not completed", hint)
    rejection = Rejection(task=task, commit=row.commit_sha, why=_checked(why), who=login_name(), at=_now())
    work = _rejected_work(root, scene)
    conflicts = work.conflicts(rejection)
    if scene.live_run is not None and not conflicts:
        scene.steering.change(lambda steering: steering.reject(rejection))
        return Rejected(rejection, by_run=scene.live_run.run_id)
    if scene.live_run is not None:  # nothing is taken back, so the run need not be waited for
        scene.steering.change(lambda steering: steering.reject(rejection).strike(rejection))
        _make_pending(scene, rejection)
        return Rejected(rejection, TakenBack(conflicts=conflicts))
    record = paths.User.from_environment().record(scene.state)
    with no_run(scene.state, record, "samuel run reject"):
        taken = TakenBack()
        steering = scene.steering.change(lambda steering: steering.reject(rejection))
        for pending in steering.rejections:  # also those that a killed command left
            taken = work.take_back(pending)
            _make_pending(scene, pending)
            scene.steering.change(partial(Steering.strike, rejection=pending))
        return Rejected(rejection, taken)


def _rejected_work(root: Path, scene: _Scene) -> RejectedWork:
    last_run = run_file(scene.state).load()
    directory = paths.User.from_environment().record(scene.state) / REJECTIONS
    run_id = last_run.run_id if last_run else ""
    git = Git(root, environment.clean())
    return RejectedWork(git, directory, origin_file(scene.state), run_id, branch_of(last_run))


def _make_pending(scene: _Scene, rejection: Rejection) -> None:
    words = f"{rejection.who}: {rejection.why}"
    task_store(scene.state).change(
        lambda tasks: changes.reject(tasks, rejection.task, why=words, commit=rejection.commit), trusted=True
    )


def pause_of(root: Path, methodology: str = "") -> Pause | None:
    """The pause that holds now."""
    return steering_file(state_directory(root, methodology)).load().pause


def refuse_paused(root: Path, methodology: str = "") -> None:
    """Raise SamuelError if no attempt may begin."""
    if (pause := pause_of(root, methodology)) is not None:
        raise SamuelError(f"the run is paused by {pause.who} since {pause.at}", RESUME)


class _Scene(NamedTuple):
    state: Path
    steering: SteeringFile
    live_run: Run | None
    """The run that is under way."""


def _scene(root: Path, what: str, methodology: str) -> _Scene:
    """What a function here works with. Raises SamuelError unless a person calls."""
    state = state_directory(root, methodology)
    asker_of(task_store(state)).steer(what)
    run = run_file(state).load()
    if run is not None and not is_live(paths.User.from_environment().live, run.run_id):
        run = None
    return _Scene(state, steering_file(state), run)


def _checked(text: str) -> str:
    text = text.strip()
    if not text:
        raise UsageError("the text is empty", 'write for example `samuel run say "use the standard library"`')
    if len(text) > LONGEST_TEXT:
        raise UsageError(
            f"the text has {len(text)} characters, and at most {LONGEST_TEXT} fit beside the rest of a prompt",
            "write the rest into a file of the project, and name it",
        )
    return text


def _now() -> str:
    return iso(SystemClock().now())


def _with(steering: Steering, **fields: object) -> Steering:
    return msgspec.structs.replace(steering, **fields)
