"""The branch that work lands on: which it is, where its tip is, and moving it in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from samuel.attempt.stop import RunStopped
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.git import worktrees
from samuel.git.git import GitFailed, branch_ref
from samuel.git.kept_refs import OWN, PREFIX, agent_ref, part
from samuel.git.landing import LandingRefs, RefChange
from samuel.git.own_index import OwnIndex
from samuel.history.notices import BranchChosen
from samuel.history.own_branch import own_branch, refuse_name_clash
from samuel.history.run import LandingRecord, LanesState
from samuel.history.run_state import RunState
from samuel.workspaces.lanes import person_tree
from samuel.workspaces.lanes.merging import PreparedLanding
from samuel.workspaces.lanes.person_marks import PersonMarks


def first_state(place: Workplace, run_id: str, count: int, *, own: bool) -> tuple[LanesState, str]:
    """What a run with lanes begins with, and why it lands on a branch of its own; "" if it does not, or shall."""
    git = place.git
    from_branch, head = git.branch(), git.head()
    why = "" if own else person_tree.why_not(git, from_branch, marked=PersonMarks(place).paths(head))
    branch = own_branch(run_id) if own or why or not from_branch else from_branch
    if branch != from_branch:
        refuse_name_clash(git, branch, f"; {why}" if why else "")
    return LanesState(count=count, branch=branch, start=head, tip=head, from_branch=from_branch), why


class Branch:
    """The branch of one run."""

    def __init__(self, place: Workplace, state: RunState, directory: Path) -> None:
        """`directory` is Samuel's own, beside the lanes."""
        self._place = place
        self._git = place.git
        self._state = state
        self._lanes = directory.parent
        own = OwnIndex(place.git, directory)
        self.marks = PersonMarks(place)
        self.refs = LandingRefs(place.git, own, state.run.run_id)
        self.notes: list[str] = []
        """What agents did to the branch, for the record of an attempt."""
        self._landed: dict[str, str] = {}  # by task: the commit that this process landed it with
        self._tip = ""  # what it was when it was last looked at, or moved; "" to look again

    @property
    def name(self) -> str:
        return self._state.lanes.branch

    @property
    def _ref(self) -> str:
        return branch_ref(self.name)

    def tip(self) -> str:
        """Where the branch is now. A commit that a person made meanwhile is built upon; an agent's is taken back.

        Raises RunStopped if a person moved it in another way than by a commit.
        """
        lanes = self._state.lanes
        if self._tip and self._tip == lanes.tip:
            return self._tip
        now = self._tip = self.refs.of(self._ref).get(self._ref, "")
        if not now and lanes.branch == own_branch(self._state.run.run_id) and not lanes.landed:
            return lanes.tip  # its first landing makes it
        if now == lanes.tip:
            return now
        if not now or not self.refs.is_ancestor(lanes.tip, now):
            if now and self._is_where_the_person_is(now):
                why = (
                    f"the branch `{self.name}` is at {now[:12]} now, which does not have {lanes.tip[:12]}: "
                    "it was moved in another way than by a commit"
                )
                raise RunStopped(IterationOutcome.ABORTED, why, ExitReason.ERROR)
            return self._take_back(now, "removed it" if not now else f"moved it to {now[:12]}")
        if lane := self._lane_that_has(now):
            what = f"moved it to {now[:12]}, a commit of lane {lane} that no check has passed on"
            return self._take_back(now, what)
        self._state.set_lanes(tip=now)
        return now

    def _is_where_the_person_is(self, commit: str) -> bool:
        """Whether the last move of the user's own HEAD was to this commit: then the user moved the branch."""
        with suppress(GitFailed):  # there may be no reflog
            last = self._git.run("log", "--walk-reflogs", "--format=%H", "--max-count=1", "HEAD")
            return last.decode().strip() == commit
        return False

    def _take_back(self, now: str, what: str) -> str:
        """Put the branch back to where Samuel had it, after an agent moved it; what it had stays in a ref."""
        run, tip, held = self._state.run, self._state.lanes.tip, ""
        if now:
            ref = agent_ref(run.run_id, run.iterations_run, f"{self._ref}/{now[:12]}")
            self.refs.hold(ref, now)
            held = f"; what it had is in `{ref}`"
        self.refs.change([RefChange(self._ref, tip, now)], "samuel: put back")
        self._tip = tip
        self.notes.append(f"the branch `{self.name}`: an agent {what}; it is at {tip[:12]} again{held}")
        self._place.warn(self.notes[-1])
        return tip

    def _lane_that_has(self, commit: str) -> str:
        """The lane whose work a commit is that the branch has and that was not landed; "" if it is a person's.

        A lane may have a person's commit too: its agent merged it. Then the user's own HEAD was there.
        """
        with suppress(GitFailed):  # there may be no reflog
            if commit in self._git.run("log", "--walk-reflogs", "--format=%H", "--max-count=50", "HEAD").decode():
                return ""
        for entry in worktrees.entries(self._git):
            if entry.path.parent == self._lanes and self.refs.is_ancestor(commit, entry.head):
                return entry.path.name
        return ""

    def restore_landed(self) -> list[str]:
        """Make the refs again of tasks that have landed since the start; those that were gone."""
        refs = self.refs.landed()
        gone = [task for task in self._landed if self.refs.landed_ref(task) not in refs]
        if gone:
            changes = [RefChange(self.refs.landed_ref(task), self._landed[task], "") for task in gone]
            self.refs.change(changes, "samuel: landed before")
        return gone

    def forget_landed(self, task: str) -> None:
        """The work on a task was taken back by a commit on the branch: it may land again."""
        self._landed.pop(task, None)
        self.look_again()

    def look_again(self) -> None:
        """Let the next `tip` ask git: time has passed, and a person may have made a commit."""
        self._tip = ""

    def move(self, prepared: PreparedLanding) -> bool:
        """Move the branch to what was prepared; False if its tip has moved meanwhile. Saved before it is done."""
        branch, old, followed = self.name, prepared.tip, False
        if branch == self._state.lanes.from_branch:
            status = self._git.status()
            if status.branch == branch and status.head != prepared.tip:
                self.look_again()
                self.tip()  # which a person moved, or something else, and then it raises
                return False
            marked = self.marks.paths(prepared.tip)
            why = person_tree.why_not(self._git, branch, prepared.added, status, marked)
            followed = not why
            if why:
                branch, old = own_branch(self._state.run.run_id), ""
                self._place.watch(BranchChosen(branch, why))
        elif not self.refs.of(self._ref):
            old = ""
        landing = LandingRecord(
            branch=branch,
            old=old,
            new=prepared.commit,
            tasks=tuple(record.task for record in prepared.landing),
            followed=followed,
            predicate=dict(prepared.predicate),
        )
        self._state.set_lanes(landing=landing, branch=branch)
        try:
            self.refs.change(self._changes(landing), f"samuel: {', '.join(landing.tasks)}")
        except GitFailed as error:
            self._state.set_lanes(landing=None)
            self.look_again()
            if existing := self._landed_already(landing):
                why = f"`{existing}` exists already, though its task has not landed: {error.message}"
                raise RunStopped(IterationOutcome.ABORTED, why, ExitReason.ERROR) from None
            if self.tip() != prepared.tip:
                return False
            raise
        self._tip = landing.new
        self._landed |= dict.fromkeys(landing.tasks, landing.new)
        self._follow(landing, prepared.tip)
        return True

    def finish(self, landing: LandingRecord) -> bool:
        """Finish a landing that was cut off; False if it did not happen and cannot any more.

        Git moves the refs of a transaction one after another, so some of them may have moved.
        """
        ref = branch_ref(landing.branch)
        refs = self.refs.of(ref, *(self.refs.landed_ref(task) for task in landing.tasks))
        now = refs.get(ref, "")
        moved = bool(now) and self.refs.is_ancestor(landing.new, now)
        if not moved and now != landing.old:
            return False
        changes = [] if moved else [RefChange(ref, landing.new, landing.old)]
        changes += [
            RefChange(name, landing.new, "")
            for name in map(self.refs.landed_ref, landing.tasks)
            if refs.get(name) != landing.new
        ]
        if changes:
            self.refs.change(changes, f"samuel: {', '.join(landing.tasks)}")
        if not moved or now == landing.new:
            self._follow(landing, landing.old)
        return True

    def sweep(self, directory: Path) -> None:
        """Remove the locks that a killed git of ours left; wait for one that still runs."""
        shared = self._git.location().shared
        own = f"{PREFIX}/{part(self._state.run.run_id)}"
        worktrees.wait_for_others(directory)
        worktrees.sweep_locks(shared, worktrees.locks_below(shared, own, branch_ref(OWN)))
        if (landing := self._state.lanes.landing) is None:
            return
        names = [f"{branch_ref(landing.branch)}.lock", *worktrees.lock_names(self._git)]
        if left := worktrees.sweep_shared_locks(self._git, names):
            raise SamuelError(f"git holds `{left[0]}` in `{shared}`", "wait until it has ended, then start again")

    def _changes(self, landing: LandingRecord) -> Sequence[RefChange]:
        landed = [RefChange(self.refs.landed_ref(task), landing.new, "") for task in landing.tasks]
        return [RefChange(branch_ref(landing.branch), landing.new, landing.old), *landed]

    def _landed_already(self, landing: LandingRecord) -> str:
        names = [self.refs.landed_ref(task) for task in landing.tasks]
        return next(iter(self.refs.of(*names)), "")

    def _follow(self, landing: LandingRecord, old: str) -> None:
        """Let the work tree of the person have what landed, and mark its tasks there, before they are settled."""
        if not landing.followed:
            return
        try:
            self.marks.carry_over(old, landing.new)
            person_tree.follow(self._git, old, landing.new)
        except SamuelError as error:
            self._place.warn(f"your work tree did not follow `{landing.branch}`: {error.message}")
            return
        self.marks.write(landing.tasks, landing.new)
